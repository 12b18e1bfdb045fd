"""The warnings of an audit, and the composition with earlier releases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from starshade.anonymize.prepare import rare_ends
from starshade.attack.composition.composed import Composed, chain_break, composition_of
from starshade.audit.evidence import USUAL, Evidence
from starshade.audit.findings import understated
from starshade.audit.original.original import Given, Original
from starshade.errors import ConfigError
from starshade.plain import counted, percent
from starshade.ratings.table import Ratings
from starshade.release.band import in_words
from starshade.release.figures import exact_values_warning
from starshade.release.folder.read import read_releases
from starshade.release.manifest import sensitive_of
from starshade.release.match.match import Match
from starshade.release.table import Release

FEW = 100  # targets below which an interval says little


def to_know(
    original: Original,
    evidence: Sequence[Evidence],
    worst: Evidence,
    known: Sequence[int],
) -> tuple[str, ...]:
    """Return the warnings of an audit.

    `worst`: the evidence with the decisive figure; `known`: the requested numbers of known cells.
    """
    release = original.release
    return (
        *_of_knowledge(original, known),
        *_of_receipt(release),
        *of_release(release),
        *_of_small(evidence, worst),
        *_of_scale(release, original.given),
    )


def _of_knowledge(original: Original, known: Sequence[int]) -> Iterator[str]:
    """Say that fewer known ratings were tested than usual, as no person has so many."""
    most = original.knowable(sensitive_of(original.release.manifest.claims)).most
    left = [m for m in known if m > most]
    if left and tuple(known) == USUAL:
        rest = [m for m in known if m <= most] or [max(most, 1)]
        yield (
            f"No person has {_listed(left, 'or')} ratings that an adversary can know: the attacks "
            f"were tested with {_listed(rest, 'and')} known rating{'s' * (rest != [1])} only."
        )


def _of_receipt(release: Release) -> Iterator[str]:
    if release.private is None:
        why = understated(release)
        yield (
            "No private key file: an answer counts as correct if it is compatible with the truth. "
            "This can "
            + ("only overstate" if why is None else f"overstate and, as {why[0]}, understate")
            + " the attack. Original cells"
            + " and personal attributes" * bool(release.manifest.attribute_columns)
            + " were not compared with the release."
        )


def of_release(release: Release) -> Iterator[str]:
    """Say what the release discloses by itself."""
    single = release.manifest.single_rater_cells
    if single and single != "none" and release.manifest.profile == "simple":
        exact = release.exact
        many = in_words(single) if exact is None else percent(exact.single_rater_cells)
        yield (
            f"{many.capitalize()} of the filled cells show one person's exact rating. A minimum of "
            "two raters per cell leaves such cells empty."
        )
    if listed := exact_values_warning(release.manifest):
        yield listed
    if release.manifest.attributes == "generalized":
        yield _of_attributes(release)


def _of_attributes(release: Release) -> str:
    manifest = release.manifest
    text = "The attacks know ratings, but no personal attributes."
    if manifest.quasi_identifiers:
        names = manifest.quasi_identifiers
        text += (
            f" The records of a class share {', '.join(names)}: an adversary who also knows "
            f"{'it' if len(names) == 1 else 'them'} still finds at least "
            f"{counted(manifest.claimed_k or 1, 'record')}."
        )
    if manifest.sensitive_attributes:
        names = manifest.sensitive_attributes
        text += (
            f" {', '.join(names)} {'is' if len(names) == 1 else 'are'} released unchanged: an "
            "adversary who finds a person's class reads its values, one of which is theirs."
        )
    return text


def _of_small(evidence: Sequence[Evidence], worst: Evidence) -> Iterator[str]:
    small = [e for e in evidence if e.after.targets < FEW]
    if not small:
        return
    which = "All attacks"
    if len(small) < len(evidence):
        which = f"{len(small)} of the {len(evidence)} attacks ({'; '.join(e.title for e in small)})"
    sizes = sorted({e.after.targets for e in small})
    many = counted(sizes[-1], "target")
    least = f"{sizes[0]:,} to {many}" if len(sizes) > 1 else many
    text = f"{which} had only {least}, so intervals are wide"
    yield f"{text}; the re-identification figure is one of these." if worst in small else f"{text}."


def _of_scale(release: Release, ratings: Given) -> Iterator[str]:
    """Say that few users gave a rating at an end of an undeclared scale."""
    k = release.manifest.claimed_k
    if not ratings.inferred or k is None:
        return
    rare = rare_ends(release.scale, ratings.shared(k))
    if rare:
        yield (
            f"Internal: fewer than {k} users gave the {' or the '.join(rare)} rating of the "
            "released scale. If the scale was inferred from the data, it discloses their rating: "
            "declare the scale for the release. If it was declared, declare it here too."
        )


def _listed(numbers: Sequence[int | str], word: str) -> str:
    *head, last = (str(n) for n in numbers)
    return f"{', '.join(head)} {word} {last}" if head else last


Relation = Literal["identical", "continued", "same", "fits", "unknown", "other"]

#: of one release, and of several
_SENTENCES: dict[Relation, tuple[str, str]] = {
    "identical": (
        "{} is identical to this release, file by file.",
        "{} are identical to this release, file by file.",
    ),
    "continued": (
        "{} is a release of the same people; people who share a class here share one there.",
        "{} are releases of the same people; people who share a class here share one there.",
    ),
    "same": ("{} is a release of the same data.", "{} are releases of the same data."),
    "fits": (
        "{} fits these ratings, so it may be of the same data.",
        "{} fit these ratings, so they may be of the same data.",
    ),
    "unknown": (
        "{} was not made of these ratings; whether it is of the same people at another time is "
        "unknown.",
        "{} were not made of these ratings; whether they are of the same people at another time is "
        "unknown.",
    ),
    "other": (
        "{} is of other data: another lineage, and no item in common with these ratings.",
        "{} are of other data: other lineages, and no item in common with these ratings.",
    ),
}


def _advice() -> str:
    return (
        "Releases made from one store are recognised as related. If you know that these are of "
        "other people, audit this release without them."
    )


_APART: frozenset[Relation] = frozenset({"identical", "other"})  # they disclose no more together
_TOGETHER = (
    "Two releases of the same people can be intersected; their joint classes may be smaller than k."
)


@dataclass(frozen=True)
class Earlier:
    """The composition with earlier releases.

    `holds`: whether this release may be published too. `composed`: or why it was not measured;
    None: none of them is of the same people. `below`: people in a joint class that is too small.
    """

    holds: bool
    text: str
    composed: Composed | str | None
    below: int | None = None


def judge_earlier(
    release: Release,
    earlier: Sequence[str | Path],
    ratings: Ratings,
    private: Sequence[str | Path] = (),
    most: float = 0.0,
    k: int | None = None,
) -> Earlier | None:
    """Return whether an earlier release is, or may be, of the same people; None without any.

    With the key files of all of these, and of this one, people in joint classes of fewer than k
    are counted; without, it is unknown whether there are any.

    `ratings`: what `release` was made of. `private`: key files of earlier releases, in any order.
    `most`: the share of people that may be in a joint class below `k`, which is the smallest that
    is claimed where it is None.
    """
    if not earlier:
        return judge_alone(release)
    places = list(dict.fromkeys(map(str, earlier)))
    others = read_releases(places, private=private)
    chain = _of_chain(release, others)
    relations: list[Relation] = [
        "continued" if j in chain else relation_to(release, other, ratings)
        for j, other in enumerate(others)
    ]
    sentences = []
    for relation in dict.fromkeys(relations):
        own = [place for place, its in zip(places, relations, strict=True) if its == relation]
        sentences.append(_SENTENCES[relation][len(own) > 1].format(_listed(own, "and")))
    near = [each for each, its in zip(others, relations, strict=True) if its not in _APART]
    related = [j for j, its in enumerate(relations) if its != "other"]
    gap = _gap([*(others[j] for j in related), release])
    if near and (release.private is None or any(each.private is None for each in near)):
        sentences += [_TOGETHER, _unmeasured()]
        sentences += [_advice()] * ("same" not in relations)
        return Earlier(False, " ".join(sentences), _unmeasured())
    if gap is not None:
        which = places[related[gap]] if gap < len(related) else "This release"
        return _part_of_a_chain(which, sentences)
    if not near:
        return Earlier(True, " ".join(sentences), None)
    try:
        found = _composed(near, release, ratings, k)
    except ConfigError as error:
        sentences += [_TOGETHER, f"Joint class sizes are not measured: {error.message}."]
        return Earlier(False, " ".join(sentences), error.message)
    if any(_strange(each, release) for each in near):
        sentences += [_STRANGERS, _advice()]
        return Earlier(False, " ".join(sentences), _STRANGERS)
    below = found.counts.people_below_k
    held = below is not None and below <= most * found.counts.people + 1e-9
    sentences += [_told(found)] + [_to_stand_together(near, release)] * (not held)
    composed = "none of the releases claims a k" if below is None else found
    return Earlier(held, " ".join(sentences), composed, below)


def _to_stand_together(earlier: Sequence[Release], release: Release) -> str:
    """Say what can change it: a release that continues the last one keeps its classes."""
    if any(each.manifest.attributes != "none" for each in earlier):
        return (
            "A release with personal attributes cannot be continued: publish only one of these. "
            "For repeated releases, leave personal attributes out from the start."
        )
    without = "without personal attributes, " * (release.manifest.attributes != "none")
    if any(each.manifest.layout == "record" for each in earlier):
        return "Releases of single records cannot be continued: publish only one of these."
    return (
        f"Make it again {without}as a continuation of the previous release, by the same method: "
        "its classes are then kept."
    )


def judge_alone(release: Release) -> Earlier | None:
    """Do the same where no earlier release is named."""
    return None if _gap([release]) is None else _part_of_a_chain("This release", ())


def _part_of_a_chain(which: str, sentences: Sequence[str]) -> Earlier:
    why = (
        "joint class sizes are not measured unless every release of the chain is named, the oldest "
        "first, each with its private key file."
    )
    text = f"{which} continues a release that is not named before it: {why}"
    return Earlier(False, " ".join([*sentences, text]), why)


def _of_chain(release: Release, others: Sequence[Release]) -> set[int]:
    """Return the places of the releases that lead to this one, by the key files."""
    found: set[int] = set()
    place = {each.private.release: j for j, each in enumerate(others) if each.private is not None}
    private = release.private
    while private is not None and private.chain is not None:
        j = place.get(private.chain.after or "")
        if j is None or j in found:
            break
        found.add(j)
        private = others[j].private
    return found


def _gap(releases: Sequence[Release]) -> int | None:
    """Return the place of a release that continues one not listed before it."""
    last = releases[-1]
    if last.private is None and last.manifest.dummy_records is not None:
        return len(releases) - 1  # it continues an unknown one
    return chain_break(releases)


def _strange(earlier: Release, release: Release) -> bool:
    """Return whether the two releases have no user id in common."""
    own, its = release.private, earlier.private
    if own is None or its is None:
        return True
    return not bool((own.link.users.indices(its.link.users) >= 0).any())


_STRANGERS = (
    "Its key file and that of this release have no user id in common: whether they are of the same "
    "people under other ids is not measured."
)


def _unmeasured() -> str:
    return (
        "Joint class sizes are not measured without the private key files of this release and of "
        "each earlier one."
    )


def _composed(
    earlier: Sequence[Release], release: Release, ratings: Ratings, k: int | None
) -> Composed:
    unchanged = all(_fits(each, ratings) for each in earlier)
    return composition_of([*earlier, release], ratings, "none" if unchanged else "revised", k=k)


def _told(found: Composed) -> str:
    """Say how many people are in joint classes of fewer than k."""
    counts, k = found.counts, found.k
    people = counted(counts.people, "person", "people")
    where = f"the {people} in at least one release ({found.in_all:,} in all)"
    below, alone = counts.people_below_k, counts.people_unique
    if below is None:
        text = f"{_TOGETHER} No k is claimed; {alone:,} of {where} are unique."
    elif below == 0:
        text = f"The joint classes of {where} have at least {k} people."
    else:
        text = (
            f"{_TOGETHER} {below:,} of {where}, {percent(below / counts.people)}, are in a joint "
            f"class of fewer than {k}; {alone:,} of them are unique."
        )
    return f"{text}{_absent(found)}{_pinned(found)}"


def _absent(found: Composed) -> str:
    """Say how few people share the absences of a person, which an adversary may know."""
    fewest, below = found.by_absence
    if not below or below == found.counts.people_below_k:
        return ""
    return (
        f" An adversary who also knows from which releases a person is missing narrows {below:,} "
        f"of these people down to fewer than {found.k} (minimum {fewest:,}, over all sets of "
        "absences that occur)."
    )


def _pinned(found: Composed) -> str:
    pinned = found.counts.people_certain
    if pinned is None:
        return ""
    alone = max(each.people_certain or 0 for each in found.each)
    return (
        f" Once the classes are found, a rating can be read for "
        f"{percent(pinned / found.counts.people)} of people, and from one release alone for "
        f"{percent(alone / found.counts.people)}."
    )


def relation_to(release: Release, other: Release, ratings: Ratings) -> Relation:
    """Return the relation of another release to this one, by files, lineages and ratings.

    A lineage that differs does not settle it: a file that is stored again, a year later too, has
    another. On layout "profile", whose means refute no ratings, only items and number of people
    are compared.

    `ratings` are what `release` was made of. "identical": the same files; "same": of the same
    lineage; "fits": it may have been made of the same ratings; "other": of another lineage and
    other items; "unknown": anything else. ("continued": `_of_chain`.)
    """
    own, its = release.manifest.lineage, other.manifest.lineage
    if other.manifest.files and other.manifest.files == release.manifest.files:
        return "identical"
    if own is not None and own == its:
        return "same"
    if _fits(other, ratings):
        return "fits"
    apart = own is not None and its is not None and not _shares_items(other, ratings)
    return "other" if apart else "unknown"


def _shares_items(release: Release, ratings: Ratings) -> bool:
    return bool((ratings.items.indices(release.classes.items) >= 0).any())


def _fits(release: Release, ratings: Ratings) -> bool:
    try:
        _ = Match(release, ratings).made_of
    except ConfigError:
        return False
    return True
