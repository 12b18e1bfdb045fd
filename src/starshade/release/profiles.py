"""`Profiles`: one released profile per class, a byte a cell, for releases of layout "profile".

A padded release has no null: at the size of the Netflix prize 96,000 profiles × 17,770 items are
1.7 GB as bytes, and five times that as `Cells`. So profiles stay bytes: whoever needs cells asks
for those of some rows or some items, and whoever looks item by item has `Columns`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from starshade import budget
from starshade.errors import ConfigError
from starshade.kernels.arrays import fixed
from starshade.kernels.columns import transpose_bytes
from starshade.naming import aside
from starshade.ratings.scale import Scale
from starshade.release.cells import Cells, Rows, Symbols
from starshade.release.columns import Columns
from starshade.release.content import code_type
from starshade.scratch import put_down, scratch_bytes

MOST_LEVELS = 255  # of one byte, in which 0 is null
_BLOCK = 2**24  # cells looked at together
_PARTS = (100, 50, 20, 10, 5, 2, 1)  # of a scale's step, by default
_USUAL = 100  # steps between released levels, at most, by default


def refuse_large(what: str, needed: int, held: int, instead: str = "") -> None:
    """Refuse what needs more bytes than are allowed in addition to the `held` ones of its data."""
    left = budget.left(held)
    if needed > left:
        raise ConfigError(
            f"{what}: {budget.amount(needed)} needed, {budget.amount(max(left, 0))} allowed",
            advice=f"Allow more memory{aside('memory')}{instead}.",
        )


def released_levels(scale: Scale, step: float) -> NDArray[np.float64]:
    """Return the ratings that a cell can hold: level by level from 1.

    `step`: between released levels; it divides the scale's width.

    >>> released_levels(Scale(1, 5, 1), 0.5).tolist()
    [1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0]
    """
    if not (math.isfinite(step) and step > 0):
        raise ConfigError(f"a profile step of {step:g}: must be above 0")
    steps = scale.width / step
    if steps > MOST_LEVELS - 0.5:
        raise ConfigError(
            f"a profile step of {step:g} on the scale {scale}: more than {MOST_LEVELS} levels",
            advice=f"The smallest step of one byte is {scale.width / (MOST_LEVELS - 1):.6g}.",
        )
    if abs(steps - round(steps)) > 1e-6 or (scale.width and not round(steps)):
        raise ConfigError(
            f"a profile step of {step:g} does not divide the scale {scale}",
            advice=f"For example {scale.width / 80:.6g}: eighty steps.",
        )
    return np.round(scale.minimum + step * np.arange(round(steps) + 1), 9)


def default_step(scale: Scale) -> float:
    """Return a step of released levels that leaves every rating of a stepped scale one of them.

    The scale's step divided by the largest of 1, 2, 5, 10, 20, 50 and 100 that makes no more
    than a hundred steps in all, or the scale's own step where it has more, up to 254; an eightieth
    of the width where the scale is real-valued, or has more than a byte can tell. 1 where all
    ratings are equal.

    >>> default_step(Scale(0.5, 5, 0.5)), default_step(Scale(-10, 10, 1)), default_step(Scale(0, 4))
    (0.05, 0.2, 0.05)
    """
    if not scale.width:
        return 1.0
    if scale.step is not None:
        steps = round(scale.width / scale.step)
        for parts in _PARTS:
            if steps * parts <= _USUAL:
                return scale.step / parts
        if steps < MOST_LEVELS:
            return scale.step
    return scale.width / 80


def quantize(values: NDArray[np.floating], scale: Scale, step: float) -> NDArray[np.uint8]:
    """Return the level nearest to each value, the upper of two as near; 0 where it is NaN.

    `values`: ratings, means or predictions; clipped to the scale here.

    >>> quantize(np.array([1.0, 1.25, np.nan, 7.0]), Scale(1, 5, 1), 0.5).tolist()
    [1, 2, 0, 9]
    """
    n_levels = len(released_levels(scale, step))
    # adding a little takes the float dust off exact halves
    place = np.floor((np.asarray(values, np.float64) - scale.minimum) / step + (0.5 + 1e-9))
    return np.asarray(np.nan_to_num(np.clip(place, 0, n_levels - 1) + 1, nan=0.0), dtype=np.uint8)


@dataclass(frozen=True, eq=False)
class Profiles(Rows):
    """Rows of levels.

    `levels` (n_groups, n_items): 0 is null; level v is the rating ``scale.minimum + (v - 1) *
    step``. `scale`: of the original ratings. `step`: between released levels.
    """

    levels: NDArray[np.uint8]
    scale: Scale
    step: float

    @cached_property
    def ratings(self) -> NDArray[np.float64]:
        """The rating of each level from 1, shape (n_levels,)."""
        return released_levels(self.scale, self.step)

    def n_rated(self) -> NDArray[np.int64]:
        """Return how many cells of each row are not null, shape (n_groups,)."""
        out = np.empty(self.n_groups, dtype=np.int64)
        for rows in self.blocks():
            out[rows] = np.count_nonzero(self.levels[rows], axis=1)
            put_down()
        return out

    def blocks(self, cells: int = _BLOCK) -> list[slice]:
        """Cut the rows into slices of about so many cells, at least a row each."""
        step = max(1, cells // max(self.n_items, 1))
        return [
            slice(start, min(start + step, self.n_groups))
            for start in range(0, self.n_groups, step)
        ]

    def values(self, rows: NDArray[np.integer] | slice | None = None) -> NDArray[np.float64]:
        """Return the ratings of these rows (all by default), NaN for null."""
        rows = slice(None) if rows is None else rows
        n_rows = len(range(*rows.indices(self.n_groups))) if isinstance(rows, slice) else len(rows)
        self._refuse("as numbers", 8 * n_rows * self.n_items)
        return np.concatenate([[np.nan], self.ratings])[self.levels[rows]]

    def keep_items(self, indices: NDArray[np.integer]) -> Profiles:
        """Return these items (ascending order); rows stay, even if some become equal."""
        keep = np.unique(np.asarray(indices, dtype=np.int64))
        return replace(self, items=self.items.take(keep), levels=self.levels[:, keep])

    def keep_rows(self, indices: NDArray[np.integer]) -> Profiles:
        """Return these rows, in the order given."""
        rows = np.asarray(indices, dtype=np.int64)
        return replace(self, sizes=self.sizes[rows], levels=self.levels[rows])

    def cells(self, rows: NDArray[np.integer] | None = None) -> Cells:
        """Return these rows (all by default) as `Cells`: a level a cell, none where null is."""
        here = self if rows is None else self.keep_rows(rows)
        counts = here.n_rated()
        total = int(counts.sum())
        codes_of = code_type(len(self.ratings))
        self._refuse("as cells", total * 5 + 16 * min(_BLOCK, total))
        columns, codes = np.empty(total, dtype=np.int32), np.empty(total, dtype=codes_of)
        indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        for block in here.blocks():
            part = slice(int(indptr[block.start]), int(indptr[block.stop]))
            dense = here.levels[block]
            row, columns[part] = np.nonzero(dense)
            codes[part] = dense[row, columns[part]] - 1
        symbols = Symbols.exact(self.scale, self.ratings)
        return Cells(here.items, here.sizes, indptr, columns, codes, symbols)

    @cached_property
    def columns(self) -> Columns:
        """The same item by item; more than a little of it is a file, of which nothing is held."""
        turned = scratch_bytes(self.n_items, self.n_groups)
        transpose_bytes(fixed(self.levels), turned)
        put_down()
        symbols = Symbols.exact(self.scale, self.ratings)
        return Columns(self.items, self.sizes, turned, symbols)

    def _refuse(self, how: str, needed: int) -> None:
        what = f"{self.n_groups:,} profiles of {self.n_items:,} items {how}"
        fewer = ", or take fewer rows or items at a time"
        refuse_large(what, needed, self.levels.nbytes, fewer)

    def __repr__(self) -> str:
        return (
            f"Profiles({self.n_groups:,} rows x {self.n_items:,} items, {len(self.ratings)} "
            f"levels, {self.n_records:,} records)"
        )
