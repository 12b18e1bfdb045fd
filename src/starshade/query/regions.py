"""The ratings of one item, cut where the conditions of a query tell them apart.

With the constants c₁ < … < c_m in the conditions on an item, no condition can tell two ratings
apart that lie strictly between the same neighbours. So 2m + 2 *regions* are enough: below c₁, c₁
itself, between c₁ and c₂, …, above c_m, and null. A condition is the set of regions in which it is
true; sets are the bits of an int, so that merging conditions is & and |. This holds on stepped and
on real scales alike.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from starshade.query.statement import Comparison
from starshade.ratings.scale import SLACK
from starshade.release.symbols import Symbols

__all__ = ["NEVER", "PERHAPS", "SURELY", "Regions"]

NEVER, PERHAPS, SURELY = 0, 1, 2

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Regions:
    """Regions of one item; the last bit of a set is null's.

    Attributes
    ----------
    constants : tuple of float
        Ascending, further apart than 1e-9.
    """

    constants: tuple[float, ...]

    @classmethod
    def of(cls, tests: list[Comparison]) -> Regions:
        """Cut the line at the constants of these tests."""
        kept: list[float] = []
        for value in sorted({c for test in tests for c in test.constants}):
            if not kept or value - kept[-1] > SLACK:
                kept.append(value)
        return cls(tuple(kept))

    @property
    def count(self) -> int:
        """Regions, null's included."""
        return 2 * len(self.constants) + 2

    @property
    def everything(self) -> int:
        """The set of all regions."""
        return (1 << self.count) - 1

    @property
    def null(self) -> int:
        """The set of null's region alone."""
        return 1 << (self.count - 1)

    def true_in(self, test: Comparison) -> int:
        """Return the set of regions in which a test is true."""
        if test.operator == "null":
            return self.everything ^ self.null if test.negated else self.null
        places = [self._place(c) for c in test.constants]
        if test.operator == "in":
            found = 0
            for place in places:
                found |= 1 << place
        elif test.operator == "between":
            low, high = places
            found = ((1 << (high + 1)) - 1) & ~((1 << low) - 1) if low <= high else 0
        else:
            found = (1 << (places[0] + (test.operator == "<="))) - 1
        return (self.everything ^ self.null ^ found) if test.negated else found

    def _place(self, constant: float) -> int:
        """Return the region of one of the constants."""
        return 2 * int(np.argmin(np.abs(self._grid - constant))) + 1

    @property
    def _grid(self) -> Floats:
        return np.array(self.constants, dtype=np.float64)

    def of_values(self, values: Floats) -> NDArray[np.int64]:
        """Return the region of each rating."""
        below = np.searchsorted(self._grid, values - SLACK, side="left")
        at = np.searchsorted(self._grid, values + SLACK, side="right") > below
        return np.asarray(2 * below + at, dtype=np.int64)

    def judge(self, symbols: Symbols, regions: int) -> tuple[Floats, NDArray[np.uint8]]:
        """Tell how much of each symbol lies in a set of regions.

        Parameters
        ----------
        symbols : Symbols
        regions : int
            A set of regions.

        Returns
        -------
        share : ndarray of float64, shape (n + 1,)
            Of the members; of the length on a real scale. The last entry is for a cell that is
            null alone, which has no symbol.
        status : ndarray of uint8, shape (n + 1,)
            NEVER, PERHAPS or SURELY, found in logic: a share of 0 or of 1 can also be PERHAPS.
        """
        inside = np.array([regions >> r & 1 for r in range(self.count)], dtype=np.bool_)
        hits, total = self._members(symbols, inside)
        share = hits / np.maximum(total, 1)
        some, all_ = hits > 0, hits == total
        ranges = np.flatnonzero(symbols.is_range)
        if len(ranges):
            share[ranges], some[ranges], all_[ranges] = self._ranges(
                symbols.low[ranges], symbols.high[ranges], symbols.scale.minimum, inside
            )
        status = np.where(all_, SURELY, np.where(some, PERHAPS, NEVER)).astype(np.uint8)
        share[status == NEVER], share[all_] = 0.0, 1.0
        alone = inside[-1]
        return np.append(share, float(alone)), np.append(status, np.uint8(SURELY * alone))

    def _members(
        self, symbols: Symbols, inside: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Count members, null among them, in the set and in all."""
        member_in = inside[self.of_values(symbols.members)]
        before = np.concatenate([[0], np.cumsum(member_in)])
        hits = before[symbols.offsets[1:]] - before[symbols.offsets[:-1]]
        return hits + (symbols.null & inside[-1]), symbols.n_members + symbols.null

    def _ranges(
        self, low: Floats, high: Floats, minimum: float, inside: NDArray[np.bool_]
    ) -> tuple[Floats, NDArray[np.bool_], NDArray[np.bool_]]:
        """Return the share, whether some and whether all of each range lies in the set."""
        start = np.maximum(low, minimum)
        null = low < minimum - SLACK  # that part of the range stands for null
        length = np.where(null, np.minimum(high, minimum) - low, 0.0)
        hit = length * inside[-1]
        some, all_, seen = null & inside[-1], ~null | inside[-1], null
        edges = np.concatenate([[-np.inf], self._grid, [np.inf]])
        for region in range(self.count - 1):
            before, after = edges[region // 2], edges[region // 2 + 1]
            if region % 2:  # a constant: it can be hit, and has no length
                touched = (start <= after + SLACK) & (high >= after - SLACK)
            else:
                span = np.maximum(np.minimum(high, after) - np.maximum(start, before), 0.0)
                length, hit = length + span, hit + span * inside[region]
                touched = span > SLACK
            some, all_ = some | (touched & inside[region]), all_ & (~touched | inside[region])
            seen = seen | touched
        point = inside[self.of_values(high)]  # a range without length, away from all constants
        some, all_ = np.where(seen, some, point), np.where(seen, all_, point)
        share = np.where(length > SLACK, hit / np.maximum(length, SLACK), 0.5 * some + 0.5 * all_)
        return share, some, all_
