"""SUM, AVG and COUNT of an attribute in strict mode: from totals of blocks and declared bounds.

A block (`blocks.py`) has n known values with the total X, each within the declared bounds [L, H].
Of a block all of whose classes are certain to satisfy, n and X are taken as they are. Of a block
of one class that may satisfy, any m of the n values may count; they add up to at least
max(mL, X - (n - m)H) and at most min(mH, X - (n - m)L), since the rest cannot be above H or below L
either. The least mean takes m* = (nH - X)/(H - L) values of L from each such block, where the two
terms meet; the greatest mirrors it. m may be a fraction here: that widens the bounds and never
breaks them. Of a block of several classes only some of which may satisfy, even the number of
values is known only within limits, and nothing of X is used for the bounds.

So every answer is a function of (n, X) of blocks, of released cells, and of L and H.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from starshade.query.aggregate import Answer, Chosen
from starshade.query.columns import Column
from starshade.query.regions import NEVER, SURELY

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def strict_count(blocks: Blocks, chosen: Chosen) -> Answer:
    """COUNT(attribute)."""
    parts = _Parts.of(blocks, chosen)
    low, high = parts.count + int(parts.least_odd.sum()), parts.most
    value = low if low == high else _expected(blocks, chosen)[0]
    return Answer(value, low, high, high)


def strict_total(blocks: Blocks, chosen: Chosen, bounds: tuple[float, float]) -> Answer:
    """SUM(attribute)."""
    parts = _Parts.of(blocks, chosen)
    if not parts.most:
        return Answer(None, None, None, 0)
    low = _least_total(parts, *bounds)
    high = -_least_total(parts.mirrored(), -bounds[1], -bounds[0])
    return Answer(_expected(blocks, chosen)[1], low, high, parts.most)


def strict_mean(blocks: Blocks, chosen: Chosen, bounds: tuple[float, float]) -> Answer:
    """AVG(attribute)."""
    parts = _Parts.of(blocks, chosen)
    if not parts.most:
        return Answer(None, None, None, 0)
    number, total = _expected(blocks, chosen)
    low = _least_mean(parts, *bounds)
    high = -_least_mean(parts.mirrored(), -bounds[1], -bounds[0])
    return Answer(total / number if number > 0 else None, low, high, parts.most)


@dataclass(frozen=True, eq=False)
class _Parts:
    """What is known of a choice of classes.

    `count`, `total`: of the blocks that are certain. `loose_count`, `loose_total` (n_loose,): of
    blocks of one class that may satisfy. `least_odd`, `most_odd` (n_odd,): limits to the number of
    values in blocks of several classes of which only some may satisfy, or not all are certain.
    """

    count: int
    total: float
    loose_count: Ints
    loose_total: Floats
    least_odd: Ints
    most_odd: Ints

    @classmethod
    def of(cls, blocks: Blocks, chosen: Chosen) -> _Parts:
        n = len(blocks.sizes)
        certain, possible = (
            np.bincount(blocks.of_class, weights=chosen.sizes * hit, minlength=n).astype(np.int64)
            for hit in (chosen.status == SURELY, chosen.status > NEVER)
        )
        several = np.bincount(blocks.of_class, minlength=n) > 1
        whole = certain == blocks.sizes
        loose = ~whole & ~several & (possible > 0)
        odd = ~whole & several & (possible > 0)
        return cls(
            int(blocks.counts[whole].sum()),
            float(blocks.totals[whole].sum()),
            blocks.counts[loose],
            blocks.totals[loose],
            np.maximum(0, blocks.counts - (blocks.sizes - certain))[odd],
            np.minimum(possible, blocks.counts)[odd],
        )

    @property
    def most(self) -> int:
        """How many values may count at most: none, or at least k."""
        return self.count + int(self.loose_count.sum() + self.most_odd.sum())

    def mirrored(self) -> _Parts:
        """Turn the greatest into the least."""
        return replace(self, total=-self.total, loose_total=-self.loose_total)

    def at_low(self, low: float, high: float) -> Floats:
        """m* of each block that may satisfy: how many of its values can be `low` together."""
        if high <= low:
            return self.loose_count.astype(np.float64)
        most = (self.loose_count * high - self.loose_total) / (high - low)
        return np.clip(most, 0.0, self.loose_count)


def _expected(blocks: Blocks, chosen: Chosen) -> tuple[float, float]:
    """Return Σp and Σpx over the values, a block's shared out to its classes by size."""
    weight = np.bincount(
        blocks.of_class, weights=chosen.share * chosen.sizes, minlength=len(blocks.sizes)
    ) / np.maximum(blocks.sizes, 1)
    return float((weight * blocks.counts).sum()), float((weight * blocks.totals).sum())


def _least_total(parts: _Parts, low: float, high: float) -> float:
    if low >= 0:
        least = parts.total + low * float(parts.least_odd.sum())
        return max(least, low)  # no set is empty
    loose = parts.loose_total if high <= 0 else low * parts.at_low(low, high)
    return parts.total + float(loose.sum()) + low * float(parts.most_odd.sum())


def _least_mean(parts: _Parts, low: float, high: float) -> float:
    number = float(parts.at_low(low, high).sum()) + float(parts.most_odd.sum())
    if not parts.count:
        # values of `low` alone, unless no block can have any
        return low if number > 0 else high
    return (parts.total + low * number) / (parts.count + number)


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
