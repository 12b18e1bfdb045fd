"""Who fits a class of a release of layout "generalized"."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from starshade.kernels.csr import keep_rows
from starshade.ratings.table import Ratings
from starshade.release.match.ratings import not_made_of
from starshade.release.table import Release

__all__ = ["refuse_misfits"]

_LOOKED_UP = 100  # users who are looked up
_CELLS = 1 << 20  # of the release, looked at at once


def refuse_misfits(release: Release, original: Ratings, common: NDArray[np.int64]) -> None:
    """Refuse ratings of users who fit no class; up to 100, evenly spread, are looked up.

    `common` says where each item of the original is among the released ones, -1: it is not.
    """
    user = np.repeat(np.arange(original.n_users), original.user_support)
    rated = np.flatnonzero(np.bincount(user[common[original.columns] >= 0]))
    users = rated[np.unique(np.linspace(0, len(rated) - 1, min(_LOOKED_UP, len(rated)), dtype=int))]
    certain = _certain_cells(release, common)
    strangers = sum(
        not _fits_some_class(release, original, user, common, certain.copy()) for user in users
    )
    # a table with more users than the release has may hold some who were not released
    if strangers and (len(rated) <= release.n_records or strangers == len(users)):
        raise not_made_of(
            f"{strangers} of {len(users)} users looked up in the ratings fit no class of the "
            "release: it was not made of them"
        )


def _certain_cells(release: Release, common: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count each class's cells without a null member, on items that both have."""
    classes = release.cells()
    of_both = np.zeros(classes.n_items, dtype=np.bool_)
    of_both[common[common >= 0]] = True
    row = np.repeat(np.arange(classes.n_groups), np.diff(classes.indptr))
    counted = ~classes.symbols.null[classes.codes] & of_both[classes.columns]
    return np.bincount(row[counted], minlength=classes.n_groups)


def _fits_some_class(
    release: Release,
    original: Ratings,
    user: int,
    common: NDArray[np.int64],
    refusing: NDArray[np.int64],
) -> bool:
    """Tell whether one class holds all ratings of a user, and null where they have none.

    `refusing` comes in as the number of cells of each class that say "rated", and is left as
    those on items where the user has no rating.
    """
    classes, by_item = release.cells(), release.cells().by_item
    cells = slice(original.indptr[user], original.indptr[user + 1])
    items = common[original.columns[cells]]
    ratings = original.levels[original.codes[cells]][items >= 0]
    levels, level = np.unique(ratings, return_inverse=True)
    holds = classes.symbols.contains(levels)
    certain = ~classes.symbols.null
    holding = np.zeros(classes.n_groups, dtype=np.int64)
    rated = items[items >= 0]
    n_pieces = 1 + int(np.diff(by_item.indptr)[rated].sum()) // _CELLS
    for piece in np.array_split(np.arange(len(rated)), n_pieces):
        starts, rows, codes, _ = keep_rows(
            by_item.indptr, by_item.users, by_item.codes, None, rated[piece]
        )
        of_cell = np.repeat(level[piece], np.diff(starts))
        holding += np.bincount(rows[holds[of_cell, codes]], minlength=classes.n_groups)
        refusing -= np.bincount(rows[certain[codes]], minlength=classes.n_groups)
    return bool(((holding == len(ratings)) & (refusing == 0)).any())
