"""Blocks of classes: what strict mode looks at in the place of single classes.

The total of a class rests on those of its records whose attribute has a value. Where these are
fewer than k (and not none), classes are put together, in the order of the release, until k values
stand behind every total. Nothing finer than a block's number of values and total ever enters an
answer. Which classes make a block follows from which have no value, fewer than k, or at least k of
them; that much of a class may be found out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from starshade.query.columns import Column

__all__ = ["Blocks", "blocks_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Blocks:
    """Classes put together so that no total rests on few values.

    `of_class` (int64 (n_classes,)): block of each class. `sizes` (int64 (n_blocks,)): records.
    `counts` (int64 (n_blocks,)): records with a value: none, or at least k. `totals` (float64
    (n_blocks,)). `least`, `greatest`: of all values; looked at only to check the declared bounds.
    """

    of_class: Ints
    sizes: Ints
    counts: Ints
    totals: Floats
    least: float
    greatest: float

    @property
    def withheld(self) -> bool:
        """Whether all values together are fewer than k, so that none may be used."""
        return not len(self.counts)


def blocks_of(column: Column, sizes: Ints, k: int) -> Blocks:
    """Put classes together.

    `sizes` (int64 (n_classes,)).
    """
    counts = column.counts
    empty = np.empty(0, np.int64)
    least, greatest = np.nan, np.nan
    if column.kind == "number" and column.low is not None and column.maybe.any():
        values, codes = column.low.values, column.low.codes[column.maybe]
        least, greatest = float(values[codes.min()]), float(values[codes.max()])
    if 0 < counts.sum() < k:
        return Blocks(empty, empty, empty, np.empty(0), least, greatest)
    of_class = np.arange(len(counts))
    small = np.flatnonzero((counts > 0) & (counts < k)).tolist()
    opened, held = -1, 0
    closed = -1
    for c in small:
        if opened < 0:
            opened, held = c, 0
        of_class[c] = opened
        held += int(counts[c])
        if held >= k:
            closed, opened = opened, -1
    if opened >= 0:  # what is left joins the last block, or the first class that has enough
        other = closed if closed >= 0 else int(np.flatnonzero(counts >= k)[0])
        of_class[of_class == opened] = other
    _, of_class = np.unique(of_class, return_inverse=True)
    n = int(of_class.max(initial=-1)) + 1
    return Blocks(
        of_class,
        np.bincount(of_class, weights=sizes, minlength=n).astype(np.int64),
        np.bincount(of_class, weights=counts, minlength=n).astype(np.int64),
        np.asarray(np.bincount(of_class, weights=column.totals, minlength=n), np.float64),
        least,
        greatest,
    )
