"""What does not decide whether a release may leave, but must be known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from starshade.anonymize.prepare import rare_ends, shared_levels
from starshade.audit.evidence import USUAL, Evidence, knowable
from starshade.audit.findings import understated
from starshade.errors import ConfigError
from starshade.plain import counted, percent
from starshade.ratings.table import Ratings
from starshade.release.part import released_part
from starshade.release.read import read_release
from starshade.release.table import Release

__all__ = ["OWNERS_ALONE", "Earlier", "look_at", "to_know"]

OWNERS_ALONE = "For the owner alone: "  # how a warning begins that no public edition has
_FEW = 100  # targets below which an interval says little


@dataclass(frozen=True)
class Earlier:
    """Releases published before, by what can be told of each.

    Attributes
    ----------
    same : tuple of str
        Of the same data.
    told : tuple of str
        A sentence on each of the others that there is something to say about.
    """

    same: tuple[str, ...] = ()
    told: tuple[str, ...] = ()


def look_at(release: Release, earlier: Sequence[str | Path], ratings: Ratings) -> Earlier:
    """Look at the releases published before, whether they are of the same data.

    Parameters
    ----------
    release : Release
    earlier : sequence of path
    ratings : Ratings
        What `release` was made of; an earlier one without a lineage is held against them.
    """
    own, same, told = release.manifest.lineage, [], []
    for path in earlier:
        other = read_release(path)
        lineage = other.manifest.lineage
        if other.manifest.files and other.manifest.files == release.manifest.files:
            told.append(
                f"{path} is this same release, file by file: who has the one has the other."
            )
        elif own is None or lineage is None:
            told.append(_without_lineage(str(path), other, ratings))
        elif lineage == own:
            same.append(str(path))
    return Earlier(tuple(same), tuple(told))


def _without_lineage(path: str, other: Release, ratings: Ratings) -> str:
    """Say what the ratings tell of a release that carries no lineage to compare."""
    advice = (
        "Nobody can tell for sure (no lineage): convert the ratings to a store first (starshade "
        "data convert RATINGS --out store/) and make all releases from it."
    )
    if other.manifest.layout == "profile":  # means are nobody's ratings
        return f"{path} may be of the same data. {advice}"
    try:
        released_part(other, ratings)
    except ConfigError:
        return (
            f"{path} was not made of these ratings, but may be of the same people at another "
            f"time. {advice}"
        )
    return (
        f"{path} fits these ratings, so it may well be of the same data; if it is, whoever holds "
        f"both can intersect their groups, and then nobody hides among k any more. {advice}"
    )


def to_know(
    release: Release,
    ratings: Ratings,
    original: Ratings,
    evidence: Sequence[Evidence],
    worst: Evidence,
    known: Sequence[int],
    earlier: Earlier,
) -> tuple[str, ...]:
    """Return the warnings of an audit, earlier releases of the same data first.

    Parameters
    ----------
    release : Release
    ratings, original : Ratings
        What it was made of, and the released users and items of it.
    evidence : sequence of Evidence
    worst : Evidence
        The one that the verdict's figure is of.
    known : sequence of int
        Numbers of known cells that were asked for.
    earlier : Earlier
    """
    return (
        *(
            f"{path} is a release of the same data: whoever holds both can intersect their groups, "
            "and then nobody hides among k any more."
            for path in earlier.same
        ),
        *_of_knowledge(release, original, known),
        *_of_receipt(release),
        *_of_release(release),
        *_of_few(evidence, worst),
        *_of_scale(release, ratings),
        *earlier.told,
    )


def _of_knowledge(release: Release, original: Ratings, known: Sequence[int]) -> Iterator[str]:
    """Say that less was tried than usual, as nobody rated so many items."""
    most = knowable(original, release.manifest.claims)
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
            "Without the receipt (--private) answers were credited when compatible with the "
            "truth, which can "
            + ("only overstate" if why is None else f"overstate and, as {why[0]}, understate")
            + " the attack, and original cells were not looked up."
        )


def _of_release(release: Release) -> Iterator[str]:
    single = release.manifest.single_rater_cells
    if single and release.manifest.profile == "simple":
        yield (
            f"{percent(single)} of the filled cells rest on one person's rating and say just that "
            "rating (--min-raters 2 leaves such cells empty)."
        )
    if release.manifest.attributes == "generalized":
        yield _of_attributes(release)


def _of_attributes(release: Release) -> str:
    """Say what the released attributes mean for the attacks, which know ratings alone."""
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


def _of_few(evidence: Sequence[Evidence], worst: Evidence) -> Iterator[str]:
    """Say which attacks had few targets, and whether the verdict's figure is one of theirs."""
    few = [e for e in evidence if e.after.targets < _FEW]
    if not few:
        return
    which = "All attacks"
    if len(few) < len(evidence):
        which = f"{len(few)} of the {len(evidence)} attacks ({'; '.join(e.title for e in few)})"
    sizes = sorted({e.after.targets for e in few})
    many = counted(sizes[-1], "target")
    least = f"{sizes[0]:,} to {many}" if len(sizes) > 1 else many
    text = f"{which} had only {least}, so that the interval is wide"
    yield f"{text}; the verdict's figure is one of these." if worst in few else f"{text}."


def _of_scale(release: Release, ratings: Ratings) -> Iterator[str]:
    """Say that an end of a scale which nobody declared is the rating of few."""
    k = release.manifest.claimed_k
    if not ratings.report.scale_inferred or k is None:
        return
    rare = rare_ends(release.scale, shared_levels(ratings, k))
    if rare:
        yield (
            f"{OWNERS_ALONE}fewer than {k} users gave the {' or the '.join(rare)} rating of the "
            "scale that the release states. If the scale was found in the data, it tells their "
            "rating: declare it (--scale) when the release is made. If it was declared, "
            "declare it here too."
        )


def _listed(numbers: Sequence[int], word: str) -> str:
    *head, last = (str(n) for n in numbers)
    return f"{', '.join(head)} {word} {last}" if head else last
