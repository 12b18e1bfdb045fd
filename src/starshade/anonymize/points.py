"""What groups are formed on: records as rows of numbers, null at its level."""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade import budget
from starshade.errors import ConfigError
from starshade.kernels.arrays import Array, Floats
from starshade.kernels.csr import keep_rows
from starshade.kernels.likeness.sparse import SparseRows
from starshade.naming import named
from starshade.ratings.scale import SLACK
from starshade.ratings.table import Ratings


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
            f"{('columns' if beside.shape[1] else 'items')} as a full table need "
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


_FINEST = 2**30  # places are told apart to a billionth of a column
_TENS = tuple(10**d for d in range(7))
_TRIED_FIRST = 64


def positions(matrix: Array) -> tuple[Array, int]:
    """Place each value between the least (0) and the greatest (`unit`) of its column.

    Shares of a column's range, as the baselines add and compare them, are then whole numbers, so
    that equal sums are equal whatever the order in which they were added.

    Returns `places` (int8 or int32 (n, n_columns)): all 0 in a constant column. `unit`: the place
    of every other column's greatest value. Where all numbers stand whole steps of 1, 0.1, … or
    0.000001 above their column's least (within 1e-9, which is no difference between ratings), it is
    the least common multiple of the ranges counted in these steps, so that no place is rounded.
    About 2³⁰ where some do not or that multiple is larger, and places are rounded to it.

    >>> places, unit = positions(np.array([[0, 3], [1, 0], [2, 1]], dtype=np.uint8))
    >>> places.tolist(), unit
    ([[0, 6], [3, 0], [6, 2]], 6)
    """
    low = matrix.min(axis=0).astype(np.float64)
    width = matrix.max(axis=0).astype(np.float64) - low
    varied = [int(j) for j in np.flatnonzero(width)]
    whole = matrix.dtype.kind != "f"
    tens = {j: 1 if whole else _decimal(matrix[:, j] - low[j]) for j in varied}
    unit = lcm(*(round(float(width[j]) * ten) for j, ten in tens.items() if ten))
    if unit > _FINEST:
        unit = _FINEST
    elif not all(tens.values()):
        unit *= _FINEST // unit
    places = np.zeros(matrix.shape, dtype=np.int8 if unit < 2**7 else np.int32)
    for j, ten in tens.items():
        away, range_ = matrix[:, j].astype(np.float64) - low[j], width[j]
        if ten:  # whole again: 0.1 + 0.2 has no place here
            away, range_ = np.rint(away * ten), np.rint(range_ * ten)
        # the product of whole numbers is exact below 2**53, and so is what it is divided by
        places[:, j] = np.rint(away * unit / range_)
    return places, unit


def _decimal(away: Floats) -> int:
    for ten in _TENS:
        if ten > 1 and away.max() * ten > _FINEST:
            return 0
        # a few are looked at first: most columns of real numbers show there what they are
        if _is_whole(away[:_TRIED_FIRST], ten) and _is_whole(away, ten):
            return ten if round(float(away.max()) * ten) else 0
    return 0


def _is_whole(away: Floats, ten: int) -> bool:
    steps = away * ten
    return bool((np.abs(steps - np.rint(steps)) <= SLACK * ten).all())


_SHARE = 0.1  # of cells rated, below which walking the raters is faster
_ITEMS = 64  # below, a full table is faster whatever it holds
_CELL = 60  # bytes for each rating, all copies at their largest counted


def is_sparse(points: Points, copies: int) -> bool:
    """Tell whether distances are better taken from sparse rows, or only those fit into memory."""
    ratings = points.ratings
    cells = ratings.n_users * ratings.n_items
    if ratings.n_items >= _ITEMS and ratings.n_ratings < _SHARE * cells:
        return True
    full = cells * copies  # a byte for each at least
    return _CELL * ratings.n_ratings < budget.memory() < full


def sparse_rows(points: Points, order: NDArray[np.integer]) -> SparseRows:
    """Return the records in a given order, without making a full table."""
    ratings = points.ratings
    needed = _CELL * ratings.n_ratings
    if needed > budget.memory():
        raise ConfigError(
            f"{ratings.n_ratings:,} ratings as sparse rows take {budget.amount(needed)}; the "
            f"budget is {budget.amount(budget.memory())}",
            advice=f"Choose fewer items, e.g. {named('items', 'top:100')}, or allow more with "
            f"{named('memory')}.",
        )
    indptr, columns, codes, _ = keep_rows(
        ratings.indptr, ratings.columns, ratings.codes, None, order.astype(np.int64)
    )
    beside = points.extra[order].astype(np.float64)
    if ratings.scale.step is not None:
        steps = codes.astype(np.int32) + np.int32(1)
        return SparseRows(indptr, columns, steps, 0.0, beside, ratings.n_items)
    cells, null = ratings.levels[codes], ratings.scale.null_level
    return SparseRows(indptr, columns, cells, null, beside, ratings.n_items)
