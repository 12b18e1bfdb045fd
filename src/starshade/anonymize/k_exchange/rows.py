"""Records as small integers: each column on a grid over which its whole range is one unit."""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm

import numpy as np
from numpy.typing import NDArray

from starshade.anonymize.points import Points
from starshade.kernels.arrays import Array, Floats, Ints
from starshade.kernels.csr import keep_rows
from starshade.kernels.exchange.leaves import Rows

__all__ = ["FINEST", "GridRows", "grid_rows"]

FINEST = 16_383  # steps of the grid at most: two bytes hold them, and their differences


@dataclass(frozen=True, eq=False)
class GridRows:
    """The records in the order in which a method meets them.

    `arrays`: what is above zero as CSR, and further full columns. `unit`: every column that is not
    constant reaches from 0 to `unit`.
    """

    arrays: Rows
    n_columns: int
    unit: int

    @property
    def n(self) -> int:
        """Records."""
        return len(self.arrays[0]) - 1

    @property
    def filled(self) -> int:
        """Cells of the CSR part."""
        return len(self.arrays[1])

    def take(self, places: Ints) -> GridRows:
        """Return some of the rows, in the order given, on the same grid."""
        indptr, columns, values, extra = self.arrays
        indptr, columns, values, _ = keep_rows(indptr, columns, values, None, places)
        return GridRows((indptr, columns, values, extra[places]), self.n_columns, self.unit)


def grid_rows(points: Points, order: Ints) -> GridRows:
    """Put the values of every column on a grid from its least (0) to its greatest (`unit`).

    So the differences of all columns weigh alike, and sums of them are exact integers. Where
    the columns' ranges in steps have a least common multiple up to 16,383, that is the unit and
    nothing is rounded; else (real scales, mostly) values are rounded to 1/16,383 of the range.
    """
    ratings = points.ratings
    stepped = ratings.scale.step is not None
    # of one type with `low`: minimum.at is ten times as fast then
    cells = ratings.codes + 1.0 if stepped else ratings.values()
    null = 0 if stepped else ratings.scale.null_level
    low = np.full(ratings.n_items, np.inf)
    high = np.full(ratings.n_items, -np.inf)
    np.minimum.at(low, ratings.columns, cells)
    np.maximum.at(high, ratings.columns, cells)
    holed = ratings.item_support < ratings.n_users
    low[holed] = null
    high[ratings.item_support == 0] = null
    width = high - low
    beside = np.asarray(points.extra)
    side_low = beside.min(axis=0)
    side_width = (beside.max(axis=0) - side_low).astype(np.float64)
    whole = stepped and bool((beside == np.rint(beside)).all())
    unit = _unit(np.concatenate([width, side_width])) if whole else FINEST
    placed = _on_grid(cells - low[ratings.columns], width[ratings.columns], unit)
    indptr, columns, values, _ = keep_rows(ratings.indptr, ratings.columns, placed, None, order)
    extra = _on_grid(beside[order] - side_low, side_width[None, :], unit)
    return GridRows((indptr, columns, values, extra), ratings.n_items, unit)


def _unit(widths: Floats) -> int:
    unit = 1
    for width in np.unique(widths[widths > 0]).tolist():
        unit = lcm(unit, int(width))
        if unit > FINEST:
            return FINEST
    return unit


def _on_grid(above: Array, width: Array, unit: int) -> NDArray[np.int16]:
    share = np.divide(above * float(unit), width, out=np.zeros(above.shape), where=width > 0)
    placed: NDArray[np.int16] = np.rint(share).astype(np.int16)
    return placed
