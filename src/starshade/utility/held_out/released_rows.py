"""A release as numbers: the rating that each released cell stands for, on any layout."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from starshade.kernels.lookup import find_cells
from starshade.release.cells import Cells
from starshade.release.content import canonical, class_numbers
from starshade.release.symbols import Symbols
from starshade.release.table import Release

__all__ = ["ReleasedRows", "expected_ratings", "with_null"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ReleasedRows:
    """The rows of a release as ratings: means of what a cell says is possible."""

    release: Release

    @cached_property
    def distinct(self) -> NDArray[np.int64]:
        """The first row of each profile: rows that say the same are one; ascending."""
        return np.unique(self.profile_of_row, return_index=True)[1]

    @cached_property
    def profile_of_row(self) -> NDArray[np.int64]:
        """The profile of each row, shape (n_rows,), numbered 0…p-1."""
        classes = self.release.classes
        if not isinstance(classes, Cells):  # profiles are distinct as they stand
            return np.arange(len(classes.sizes))
        return class_numbers(canonical(classes))

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Records of each profile, shape (p,)."""
        # whole numbers below 2**53 are exact in float64, which is what bincount sums in
        records = np.bincount(self.profile_of_row, weights=self.release.classes.sizes)
        return records.astype(np.int64)

    def values(self, rows: NDArray[np.int64]) -> Floats:
        """Return rows as ratings, shape (len(rows), n_items); NaN where none is released."""
        classes = self.release.classes
        if not isinstance(classes, Cells):
            return classes.values(rows)
        return _dense(classes.keep_rows(rows), expected_ratings(classes.symbols), np.nan)

    def readings(self, rows: NDArray[np.int64]) -> Floats:
        """Return rows as a reader takes them (`read`), shape (len(rows), n_items)."""
        classes, null = self.release.classes, self.release.scale.null_level
        if not isinstance(classes, Cells):
            return np.nan_to_num(classes.values(rows), nan=null)
        return _dense(classes.keep_rows(rows), with_null(classes.symbols), null)

    def read(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> Floats:
        """Return single cells as a reader takes them, null counting as the level below the scale.

        `rows`, `columns` (p,): released rows and items.
        """
        classes, null = self.release.classes, self.release.scale.null_level
        if not isinstance(classes, Cells):
            return np.append(null, classes.ratings)[classes.levels[rows, columns]]
        place = find_cells(classes.indptr, classes.columns, rows, columns)
        present = place >= 0
        out = np.full(len(rows), null)
        out[present] = with_null(classes.symbols)[classes.codes[place[present]]]
        return out


def _dense(rows: Cells, means: Floats, null: float) -> Floats:
    out = np.full((rows.n_groups, rows.n_items), null)
    owner = np.repeat(np.arange(rows.n_groups), np.diff(rows.indptr))
    out[owner, rows.columns] = means[rows.codes]
    return out


def expected_ratings(symbols: Symbols) -> Floats:
    """Return the mean of each content's ratings, shape (n,); NaN where it has none.

    The mean of a range is its middle, of the part that lies within the scale.
    """
    sums = np.concatenate([[0.0], np.cumsum(symbols.members)])
    count = symbols.n_members
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = (sums[symbols.offsets[1:]] - sums[symbols.offsets[:-1]]) / count
    single = np.flatnonzero(count == 1)  # exactly, without the cumulative dust
    mean[single] = symbols.members[symbols.offsets[single]]
    middle = (np.maximum(symbols.low, symbols.scale.minimum) + symbols.high) / 2
    return np.where(symbols.is_range, np.where(symbols.has_rating, middle, np.nan), mean)


def with_null(symbols: Symbols) -> Floats:
    """Return the mean of each content's members, shape (n,), null counting as its level."""
    scale = symbols.scale
    rating = expected_ratings(symbols)
    with np.errstate(invalid="ignore", divide="ignore"):
        below = np.where(symbols.low < scale.minimum, scale.minimum - symbols.low, 0.0)
        of_range = np.minimum(below / (symbols.high - symbols.low), 1.0)
        of_set = symbols.null / (symbols.n_members + symbols.null)
    null = np.where(symbols.is_range, np.where(np.isfinite(of_range), of_range, 0.0), of_set)
    return np.where(null >= 1, scale.null_level, (1 - null) * rating + null * scale.null_level)
