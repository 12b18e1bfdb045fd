"""What must be known and does not decide, and whether a release may stand beside earlier ones."""

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

    The verdict's figure is of `worst`; `known`: the numbers of known cells that were requested.
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
    """Say that less was tried than usual, as nobody rated so many items."""
    most = original.knowable(sensitive_of(original.release.manifest.claims)).most
    left = [m for m in known if m > most]
    if left and tuple(known) == USUAL:
        rest = [m for m in known if m <= most] or [max(most, 1)]
        yield (
            f"Nobody rated {_listed(left, 'or')} of the released items that can be known: the "
            f"attacks were tried with {_listed(rest, 'and')} known "
            f"rating{'s' * (rest != [1])} alone."
        )


def _of_receipt(release: Release) -> Iterator[str]:
    if release.private is None:
        why = understated(release)
        yield (
            "Without the receipt answers were credited when compatible with the "
            "truth, which can "
            + ("only overstate" if why is None else f"overstate and, as {why[0]}, understate")
            + " the attack, and original cells"
            + " and personal attributes" * bool(release.manifest.attribute_columns)
            + " were not looked up."
        )


def of_release(release: Release) -> Iterator[str]:
    """Say what the release shows by itself, whatever it was made of."""
    single = release.manifest.single_rater_cells
    if single and single != "none" and release.manifest.profile == "simple":
        exact = release.exact
        many = in_words(single) if exact is None else percent(exact.single_rater_cells)
        yield (
            f"{many.capitalize()} of the filled cells rest on one person's rating and say just "
            "that rating. A release that asks for two raters of a cell leaves such cells empty."
        )
    if listed := exact_values_warning(release.manifest):
        yield listed
    if release.manifest.attributes == "generalized":
        yield _of_attributes(release)


def _of_attributes(release: Release) -> str:
    manifest = release.manifest
    text = "The attacks tried know ratings, and no personal attributes."
    if manifest.quasi_identifiers:
        names = manifest.quasi_identifiers
        text += (
            f" {', '.join(names)} {'is' if len(names) == 1 else 'are'} part of what the records of "
            "a class share: who knows them too still finds "
            f"{counted(manifest.claimed_k or 1, 'record')} or more."
        )
    if manifest.sensitive_attributes:
        names = manifest.sensitive_attributes
        stand = "stands there as it is" if len(names) == 1 else "stand there as they are"
        text += (
            f" {', '.join(names)} {stand}: whoever finds a "
            "person's class reads the values in it, one of which is theirs."
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
    text = f"{which} had only {least}, so that the interval is wide"
    yield f"{text}; the verdict's figure is one of these." if worst in small else f"{text}."


def _of_scale(release: Release, ratings: Given) -> Iterator[str]:
    """Say that an end of a scale which nobody declared is the rating of few."""
    k = release.manifest.claimed_k
    if not ratings.inferred or k is None:
        return
    rare = rare_ends(release.scale, ratings.shared(k))
    if rare:
        yield (
            f"For the owner alone: fewer than {k} users gave the {' or the '.join(rare)} rating "
            "of the scale that the release states. If the scale was found in the data, it tells "
            "their rating: declare it when the release is made. If it was "
            "declared, declare it here too."
        )


def _listed(numbers: Sequence[int | str], word: str) -> str:
    *head, last = (str(n) for n in numbers)
    return f"{', '.join(head)} {word} {last}" if head else last


Relation = Literal["identical", "continued", "same", "fits", "unknown", "other"]

#: of one release, and of several
_SENTENCES: dict[Relation, tuple[str, str]] = {
    "identical": (
        "{} is this same release, file by file: who has the one has the other.",
        "{} are this same release, file by file: who has one has all.",
    ),
    "continued": (
        "{} is a release of the same people, in which who hides together here did so too.",
        "{} are releases of the same people, in which who hides together here did so too.",
    ),
    "same": ("{} is a release of the same data.", "{} are releases of the same data."),
    "fits": (
        "{} fits these ratings, so it may well be of the same data.",
        "{} fit these ratings, so they may well be of the same data.",
    ),
    "unknown": (
        "{} was not made of these ratings, but may be of the same people at another time: nobody "
        "can tell.",
        "{} were not made of these ratings, but may be of the same people at another time: nobody "
        "can tell.",
    ),
    "other": (
        "{} is of other data: it has another lineage, and no item in common with these ratings.",
        "{} are of other data: they have other lineages, and no item in common with these ratings.",
    ),
}


def _advice() -> str:
    return (
        "Releases made from one store of ratings are known to belong together. If you know "
        "that these are other people's, audit this one without them."
    )


_APART: frozenset[Relation] = frozenset({"identical", "other"})  # together they tell no more
_TOGETHER = (
    "Whoever holds two releases of the same people can intersect their groups, and then nobody "
    "hides among k any more."
)


@dataclass(frozen=True)
class Earlier:
    """What there is to say of earlier releases.

    `holds`: whether this release may stand beside them. `composed`: or why it was not measured;
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
    """Say whether any release published before is, or may be, of the same people; None without.

    With the key files of all that are, and of this one, people in joint classes of fewer than k are
    counted; without, nobody can say that there are none.

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
        sentences += [_TOGETHER, f"It is not measured for how many: {error.message}."]
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
    """Say what can change it: a release that continues the last one keeps its groups together."""
    if any(each.manifest.attributes != "none" for each in earlier):
        return (
            "A release with personal attributes cannot be continued, so publish one of these "
            "alone; for releases again and again leave personal attributes out from the first on."
        )
    without = "without personal attributes, " * (release.manifest.attributes != "none")
    if any(each.manifest.layout == "record" for each in earlier):
        return "Releases of single records cannot be continued: publish one of these alone."
    return (
        f"Make it again {without}as the continuation of the last release before it, by the same "
        "method: who is together there then stays together here."
    )


def judge_alone(release: Release) -> Earlier | None:
    """Ask the same where no earlier release is named."""
    return None if _gap([release]) is None else _part_of_a_chain("This release", ())


def _part_of_a_chain(which: str, sentences: Sequence[str]) -> Earlier:
    why = (
        "among how many people who hides is not measured unless every release of the chain is "
        "named, the oldest first, each with its receipt."
    )
    told = f"{which} continues a release that is not named before it: {why}"
    return Earlier(False, " ".join([*sentences, told]), why)


def _of_chain(release: Release, others: Sequence[Release]) -> set[int]:
    """Return the places of the releases that lead to this one, as the receipts say."""
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
    """Return the place of a release that continues one which does not stand before it."""
    last = releases[-1]
    if last.private is None and last.manifest.dummy_records is not None:
        return len(releases) - 1  # it continues one, and which is not known
    return chain_break(releases)


def _strange(earlier: Release, release: Release) -> bool:
    """Tell whether nobody is in both by their ids."""
    own, its = release.private, earlier.private
    if own is None or its is None:
        return True
    return not bool((own.link.users.indices(its.link.users) >= 0).any())


_STRANGERS = (
    "Its receipt and that of this release have no id in common: whether they are of the same "
    "people under other ids is not measured."
)


def _unmeasured() -> str:
    return (
        "How many people that leaves alone is not measured: it takes the receipts of this release "
        "and of each earlier one."
    )


def _composed(
    earlier: Sequence[Release], release: Release, ratings: Ratings, k: int | None
) -> Composed:
    unchanged = all(_fits(each, ratings) for each in earlier)
    return composition_of([*earlier, release], ratings, "none" if unchanged else "revised", k=k)


def _told(found: Composed) -> str:
    """Say how many people the releases together leave among fewer than k."""
    counts, k = found.counts, found.k
    people = counted(counts.people, "person", "people")
    where = f"of the {people} in one or more of them ({found.in_all:,} are in every one)"
    below, alone = counts.people_below_k, counts.people_unique
    if below is None:
        text = f"{_TOGETHER} No k is claimed; together they leave {alone:,} {where} alone."
    elif below == 0:
        text = f"Together they leave everybody {where} among {k} or more of the same classes."
    else:
        text = (
            f"{_TOGETHER} Together they leave {below:,} {where}, {percent(below / counts.people)}, "
            f"among fewer than {k} of the same classes, {alone:,} of them alone."
        )
    return f"{text}{_absent(found)}{_pinned(found)}"


def _absent(found: Composed) -> str:
    """Say how few people share the absences of a person, as an adversary may know these."""
    fewest, below = found.by_absence
    if not below or below == found.counts.people_below_k:
        return ""
    return (
        f" An adversary who knows who is missing from which finds {below:,} of these people "
        f"among fewer than {found.k}, the fewest among {fewest:,}: each set of absences that "
        "occurs was counted."
    )


def _pinned(found: Composed) -> str:
    pinned = found.counts.people_certain
    if pinned is None:
        return ""
    alone = max(each.people_certain or 0 for each in found.each)
    return (
        f" Whoever finds somebody's classes reads a rating of theirs for "
        f"{percent(pinned / found.counts.people)} of the people, from one release alone for "
        f"{percent(alone / found.counts.people)}."
    )


def relation_to(release: Release, other: Release, ratings: Ratings) -> Relation:
    """Tell what another release is to this one, by files, lineages and ratings.

    A lineage that differs does not settle it: a file that is stored again, a year later too, has
    another. On layout "profile", whose means refute no ratings, only items and number of people
    are held against them.

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
