"""Whether a release may stand beside those that were published before."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from starshade.audit.result import Finding
from starshade.errors import ConfigError
from starshade.naming import named
from starshade.ratings.table import Ratings
from starshade.release.folder.read import read_release
from starshade.release.match.match import Match
from starshade.release.table import Release

__all__ = ["Relation", "judge_earlier", "relation_to"]

Relation = Literal["identical", "same", "fits", "unknown", "other"]

_SENTENCES: dict[Relation, str] = {
    "identical": "{} is this same release, file by file: who has the one has the other.",
    "same": "{} is a release of the same data.",
    "fits": "{} fits these ratings, so it may well be of the same data.",
    "unknown": "{} was not made of these ratings, but may be of the same people at another time: "
    "nobody can tell.",
    "other": "{} is of other data: it has another lineage, and no item in common with these "
    "ratings.",
}


def _advice() -> str:
    return (
        "Releases made from one store are known to be of the same data (starshade data convert "
        "RATINGS --out store/). If you know that these are other people's, leave "
        f"{named('earlier')} out."
    )


_APART: frozenset[Relation] = frozenset({"identical", "other"})  # together they tell no more
_TOGETHER = (
    "Whoever holds two releases of the same people can intersect their groups, and then nobody "
    "hides among k any more."
)


def judge_earlier(
    release: Release, earlier: Sequence[str | Path], ratings: Ratings
) -> Finding | None:
    """Ask whether any release published before is, or may be, of the same people; None without.

    `ratings`: what `release` was made of.
    """
    if not earlier:
        return None
    others = [read_release(path) for path in earlier]
    relations = [relation_to(release, other, ratings) for other in others]
    sentences = [
        _SENTENCES[each].format(path) for path, each in zip(earlier, relations, strict=True)
    ]
    passed = _APART.issuperset(relations)
    if not passed:
        sentences.append(_TOGETHER)
        sentences += [_advice()] * ("same" not in relations)
    return Finding("earlier", passed, " ".join(sentences))


def relation_to(release: Release, other: Release, ratings: Ratings) -> Relation:
    """Tell what another release is to this one, by files, lineages and ratings.

    A lineage that differs does not settle it: a file that is stored again, a year later too, has
    another. On layout "profile", whose means refute no ratings, only items and number of people
    are held against them.

    `ratings` are what `release` was made of. "identical": the same files; "same": of the same
    lineage; "fits": it may have been made of the same ratings; "other": of another lineage and
    other items; "unknown": anything else.
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
