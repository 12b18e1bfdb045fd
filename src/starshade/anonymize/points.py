"""What groups are formed on: records as rows of numbers, null at its level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from starshade import budget
from starshade.errors import ConfigError
from starshade.kernels.arrays import Array
from starshade.naming import named
from starshade.ratings.table import Ratings

__all__ = ["Points", "dense_levels", "narrowest"]


@dataclass(frozen=True, eq=False)
class Points:
    """The records that a method groups.

    `extra` (n_users, n_extra): quasi-identifiers as further columns, in the unit of `dense`: steps
    of the scale, on a real scale ratings (`starshade.anonymize.personal.quasi`). Whole numbers or
    float64. No column where personal attributes are not part of the groups.
    """

    ratings: Ratings
    extra: Array

    @property
    def n_records(self) -> int:
        """Records to group."""
        return self.ratings.n_users

    def dense(self, *, copies: int = 1) -> Array:
        """Return records × (items, then quasi-identifiers) as numbers; see `dense_levels`."""
        return dense_levels(self.ratings, copies=copies, beside=self.extra)


def dense_levels(ratings: Ratings, *, copies: int = 1, beside: Array | None = None) -> Array:
    """Return users × items as numbers in which null counts as the level below the scale.

    `copies`: tables of this size that the caller will hold at once; all must fit the budget.
    Returns (n_users, n_items + n_beside): on a stepped scale the number of steps above null's
    level, so that comparisons are exact: unsigned integers of the narrowest type that holds the L1
    distance of any two rows, or float64 where further columns are no whole numbers. On a real scale
    the ratings themselves, float64.
    """
    beside = np.empty((ratings.n_users, 0), dtype=np.uint8) if beside is None else beside
    stepped = ratings.scale.step is not None
    kind = _kind(ratings, beside) if stepped else np.dtype(np.float64)
    shape = (ratings.n_users, ratings.n_items + beside.shape[1])
    needed = shape[0] * shape[1] * kind.itemsize * copies
    if needed > budget.memory():
        raise ConfigError(
            f"{ratings.n_users:,} records x {shape[1]:,} "
            f"{'columns' if beside.shape[1] else 'items'} as a full table take "
            f"{budget.amount(needed)}; the budget is {budget.amount(budget.memory())}",
            advice=f"Choose fewer items, e.g. {named('items', 'top:100')}, or allow more with "
            f"{named('memory')}.",
        )
    rows = np.repeat(np.arange(ratings.n_users), ratings.user_support)
    table = np.full(shape, 0 if stepped else ratings.scale.null_level, dtype=kind)
    table[rows, ratings.columns] = (
        ratings.codes.astype(np.int64) + 1 if stepped else ratings.values()
    )
    table[:, ratings.n_items :] = beside
    return table


def _kind(ratings: Ratings, beside: Array) -> np.dtype[Any]:
    if beside.dtype.kind == "f":
        return np.dtype(np.float64)
    furthest = ratings.n_items * len(ratings.levels) + int(beside.max(axis=0, initial=0).sum())
    return narrowest(furthest)


def narrowest(greatest: int) -> np.dtype[Any]:
    """Return the narrowest type, of those the kernels know, that holds 0…greatest exactly."""
    for kind in (np.uint8, np.uint16):
        if greatest <= np.iinfo(kind).max:
            return np.dtype(kind)
    return np.dtype(np.float64)  # exact for integers below 2**53
