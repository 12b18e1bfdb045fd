"""Who cannot be behind a release: told by the released cells alone, or with a link."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from starshade.errors import ConfigError
from starshade.ratings.scale import SLACK
from starshade.ratings.table import Ratings
from starshade.release.match.cells import refuse_misfits
from starshade.release.match.changes import Changes
from starshade.release.match.ratings import not_made_of
from starshade.release.table import Release

__all__ = ["refuse_changed_link", "refuse_unknown_users"]


def refuse_unknown_users(release: Release, original: Ratings) -> None:
    """Refuse ratings that a release cannot have been made of."""
    if release.manifest.layout == "profile":
        return  # means of ratings are nobody's
    common = release.classes.items.indices(original.items)  # place of each item, or -1
    if not (common >= 0).any():
        raise not_made_of("the release and the ratings have no item in common")
    if release.manifest.layout == "record":
        _refuse_unknown_records(release, original, common)
    else:
        refuse_misfits(release, original, common)


def refuse_changed_link(release: Release, original: Ratings, moved: Changes) -> None:
    """Refuse the link under which ratings were moved so, if a release says otherwise."""
    unmoved = _never_moved(release)
    changed = int((np.abs(moved.true - moved.shown)[unmoved[moved.item]] > SLACK).sum())
    changed += int(unmoved[moved.suppressed].sum() + unmoved[moved.invented].sum())
    stated = None if release.exact is None else release.exact.invented_cells
    whole = moved.records == release.n_records and bool(
        (original.items.indices(release.classes.items) >= 0).all()
    )
    odd = whole and stated is not None and abs(moved.invented_share - stated) > SLACK
    if changed or odd:
        reason = (
            f"{changed:,} ratings differ where none was changed"
            if changed
            else f"{moved.invented_share:.2%} of the released ratings are of nobody, "
            f"{stated:.2%} are stated"
        )
        raise ConfigError(
            f"{reason}: link and ratings do not belong together",
            advice="Give the ratings that the release was made from, with the ids they had then.",
        )


def _never_moved(release: Release) -> NDArray[np.bool_]:
    """Tell on which items every released rating is the true one, shape (n_items,).

    All of them where the method invents nothing, and those that a claim names as sensitive.
    """
    if release.manifest.invented_cells is None:
        return np.ones(release.classes.n_items, dtype=np.bool_)
    named = set(release.manifest.sensitive_items)
    return np.array([key in named for key in release.classes.items], dtype=np.bool_)


def _refuse_unknown_records(release: Release, original: Ratings, common: NDArray[np.int64]) -> None:
    """Refuse ratings without enough users, or in which records have no user on unmoved items.

    On items that no rating was moved on, each record says exactly what its user's ratings say:
    as many users must say so as records do. How other ratings were moved is not told, and only
    the link can show that they fit (`refuse_changed_link`).
    """
    classes = release.cells()
    there = np.zeros(classes.n_items, dtype=np.bool_)
    there[common[common >= 0]] = True
    # where items are missing, so may be those who rated no other
    if there.all() and original.n_users < release.n_records:
        raise not_made_of(
            f"{original.n_users:,} users in the ratings, {release.n_records:,} records in the "
            "release: it was not made of them"
        )
    unmoved = there & _never_moved(release)
    members = classes.symbols.members[classes.symbols.offsets[:-1]]
    on = (common >= 0) & unmoved[common]
    users = _digests(
        original.indptr, common[original.columns], original.values(), on[original.columns]
    )
    records = _digests(
        classes.indptr, classes.columns, members[classes.codes], unmoved[classes.columns]
    )
    says = np.diff(np.append(0, np.cumsum(unmoved[classes.columns]))[classes.indptr]) > 0
    strange = _without_a_match(records[says], users)
    if strange:
        raise not_made_of(
            f"{strange:,} of {release.n_records:,} records are no user's ratings on items where "
            "nothing was changed: the release was not made of them"
        )


def _digests(
    indptr: NDArray[np.int64],
    items: NDArray[np.integer],
    ratings: NDArray[np.float64],
    counted: NDArray[np.bool_],
) -> NDArray[np.uint64]:
    """Return a number per row that says which ratings it has on counted cells.

    Equal rows have equal numbers; different ones by chance, with a probability of 2⁻⁶⁴ each.
    """
    cell = items.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    cell += np.rint(ratings / SLACK).astype(np.int64).view(np.uint64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
        cell ^= cell >> np.uint64(shift)
        cell *= np.uint64(factor)
    cell[~counted] = 0
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(cell, dtype=np.uint64)])
    return np.asarray(sums[indptr[1:]] - sums[indptr[:-1]])


def _without_a_match(records: NDArray[np.uint64], users: NDArray[np.uint64]) -> int:
    what, count = np.unique(records, return_counts=True)
    known, available = np.unique(users, return_counts=True)
    place = np.minimum(np.searchsorted(known, what), max(len(known) - 1, 0))
    there = np.where(known[place] == what, available[place], 0) if len(known) else 0
    return int(np.maximum(count - there, 0).sum())
