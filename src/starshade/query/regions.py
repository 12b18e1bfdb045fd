"""The ratings of one item, cut where the conditions of a query tell them apart.

With the constants c₁ < … < c_m in the conditions on an item, no condition can tell two ratings
apart that lie strictly between the same neighbours. So 2m + 2 *regions* are enough: below c₁, c₁
itself, between c₁ and c₂, …, above c_m, and null. A condition is the set of regions in which it is
true; sets are the bits of an int, so that merging conditions is & and |. This holds on stepped and
on real scales alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from starshade.query.statement import Comparison
from starshade.ratings.scale import SLACK
from starshade.release.cells import Symbols

NEVER, PERHAPS, SURELY = 0, 1, 2

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Regions:
    """Regions of one item; the last bit of a set is null's.

    `constants`: ascending, further apart than 1e-9.
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
        places = self._places(test.constants)
        if test.operator == "in":
            regions = sum(1 << place for place in set(places))
        elif test.operator == "between":
            low, high = places
            regions = ((1 << (high + 1)) - 1) & ~((1 << low) - 1)
        else:
            regions = (1 << (places[0] + (test.operator == "<="))) - 1
        return (self.everything ^ self.null ^ regions) if test.negated else regions

    def _places(self, constants: Sequence[float]) -> list[int]:
        """Return the regions of some of the constants: the nearest of those kept."""
        if not constants:
            return []
        wanted = np.array(constants, dtype=np.float64)
        after = np.searchsorted(self._grid, wanted).clip(max=len(self._grid) - 1)
        before = (after - 1).clip(min=0)
        nearer = wanted - self._grid[before] <= self._grid[after] - wanted
        places: list[int] = (2 * np.where(nearer, before, after) + 1).tolist()
        return places

    @cached_property
    def _grid(self) -> Floats:
        return np.array(self.constants, dtype=np.float64)

    def of_values(self, values: Floats) -> Ints:
        """Return the region of each rating."""
        below = np.searchsorted(self._grid, values - SLACK, side="left")
        at = np.searchsorted(self._grid, values + SLACK, side="right") > below
        return np.asarray(2 * below + at, dtype=np.int64)

    def members(self, regions: int) -> Bools:
        """Tell which regions are in a set, shape (count,)."""
        packed = np.frombuffer(regions.to_bytes(self.count // 8 + 1, "little"), dtype=np.uint8)
        return np.unpackbits(packed, count=self.count, bitorder="little").astype(np.bool_)

    def locate(self, symbols: Symbols) -> Located:
        """Find the regions of all symbols, once for all sets that they will be judged by."""
        at = np.flatnonzero(symbols.is_range)
        low, high, minimum = symbols.low[at], symbols.high[at], symbols.scale.minimum
        start = np.maximum(low, minimum)
        end = np.maximum(high, start)
        edges = self._grid
        if len(at):  # far constants would drown the lengths
            edges = edges.clip(start.min(), end.max())
        null = low < minimum - SLACK  # that part of the range stands for null
        return Located(
            self,
            symbols,
            self.of_values(symbols.members),
            at,
            start,
            end,
            np.where(null, np.minimum(high, minimum) - low, 0.0),
            null,
            high >= minimum - SLACK,
            self.of_values(start),
            self.of_values(end),
            edges,
        )


@dataclass(frozen=True, eq=False)
class Located:
    """The symbols of a table among the regions of one item.

    A range is a part that stands for null and a closed stretch of ratings, either of which may be
    missing. The stretch may be one point: it then has no length, but its rating can be meant.

    `of_members` (int64): region of each of ``Symbols.members``. `ranges` (int64 (n_ranges,)): which
    symbols are ranges; what follows is of them. `start`, `end` (float64 (n_ranges,)): least and
    greatest rating. `null_length` (float64 (n_ranges,)). `null`, `rated` (bool (n_ranges,)):
    whether null can be meant, whether a rating can. `first`, `last` (int64 (n_ranges,)): regions of
    start and end: those between are touched too, and no others. `edges` (float64): the constants,
    brought within the ranges.
    """

    regions: Regions
    symbols: Symbols
    of_members: Ints
    ranges: Ints
    start: Floats
    end: Floats
    null_length: Floats
    null: Bools
    rated: Bools
    first: Ints
    last: Ints
    edges: Floats

    def judge(self, regions: int) -> tuple[Floats, NDArray[np.uint8]]:
        """Tell how much of each symbol lies in a set of regions.

        `regions`: a set of regions. Returns `share` (float64 (n + 1,)): of the members; of the
        length on a real scale. The last entry is for a cell that is null alone, which has no
        symbol. `status` (n + 1,): NEVER, PERHAPS or SURELY, found in logic: a share of 0 or of 1
        can also be PERHAPS.
        """
        inside = self.regions.members(regions)
        hits, total = self._members(inside)
        share = hits / np.maximum(total, 1)
        some, all_ = hits > 0, hits == total
        if len(self.ranges):
            at = self.ranges
            share[at], some[at], all_[at] = self._ranges(inside)
        status = np.where(all_, SURELY, np.where(some, PERHAPS, NEVER)).astype(np.uint8)
        share[status == NEVER], share[all_] = 0.0, 1.0
        alone = inside[-1]
        return np.append(share, float(alone)), np.append(status, np.uint8(SURELY * alone))

    def _members(self, inside: Bools) -> tuple[Ints, Ints]:
        symbols = self.symbols
        before = np.concatenate([[0], np.cumsum(inside[self.of_members])])
        hits = before[symbols.offsets[1:]] - before[symbols.offsets[:-1]]
        return hits + (symbols.null & inside[-1]), symbols.n_members + symbols.null

    def _ranges(self, inside: Bools) -> tuple[Floats, Bools, Bools]:
        """Return the share, whether some and whether all of each range lies in the set."""
        before = np.concatenate([[0], np.cumsum(inside[:-1])])
        hits = before[self.last + 1] - before[self.first]
        touched = self.last - self.first + 1
        some = (self.rated & (hits > 0)) | (self.null & inside[-1])
        all_ = (~self.rated | (hits == touched)) & (~self.null | inside[-1])
        stretch = np.where(self.rated, self.end - self.start, 0.0)
        length = self.null_length + stretch
        covered = np.clip(self._covered(inside, self.end) - self._covered(inside, self.start),
                          0.0, stretch)  # fmt: skip
        hit = covered + self.null_length * inside[-1]
        share = np.where(length > SLACK, hit / np.maximum(length, SLACK), 0.5 * some + 0.5 * all_)
        return share, some, all_

    def _covered(self, inside: Bools, to: Floats) -> Floats:
        """Return the length that is in the set, from the first constant up to some ratings.

        Equal, to the last bit, for two ratings without any length in the set between them.
        """
        between = inside[:-1:2].astype(np.float64)  # constants have no length
        if not len(self.edges):
            return np.asarray(to * between[0])
        before = np.concatenate([[0.0], np.cumsum(np.diff(self.edges) * between[1:-1])])
        after = np.searchsorted(self.edges, to, side="right")
        at = np.maximum(after - 1, 0)
        return np.asarray(before[at] + (to - self.edges[at]) * between[after])
