"""Records of all shards in an order in which those that may be near stand together, on disk.

A record has two keys of 64 bits: a hash of the items that it rated, where only records with the
same items can be near, and its ratings of some much rated items, a byte each. Ties go by row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from starshade.engine.job import Tables
from starshade.scratch import filling

AXES = 8  # items whose ratings stand in a key
_AT_ONCE = 1 << 18  # records looked at together
_FINE = 8  # a bucket is cut to so many parts of it exactly, at least


class Edge(NamedTuple):
    """A place in the order: before the record with these keys."""

    pattern: int
    ratings: int
    row: int


FIRST = Edge(0, 0, 0)
LAST = Edge((1 << 64) - 1, (1 << 64) - 1, (1 << 63) - 1)


@dataclass
class Order:
    """Records in a folder, sorted shard by shard; any range of the order is a slice of each.

    `by_pattern`: whether the first key tells patterns apart; else it is 0.
    """

    folder: Path
    by_pattern: bool
    _sizes: list[int] = field(default_factory=list)
    _mapped: dict[str, NDArray[Any]] = field(default_factory=dict)

    def add(self, part: Tables) -> None:
        """Take a shard: `pattern`, `ratings`, `row`, and the `bytes` that each record takes."""
        order = np.lexsort((part["row"], part["ratings"], part["pattern"]))
        below = np.concatenate([[0], np.cumsum(part["bytes"][order])])
        columns = {name: part[name][order] for name in ("pattern", "ratings", "row")}
        with filling(self.folder):
            for name, column in {**columns, "below": below}.items():
                np.save(self._file(len(self._sizes), name), column)
        self._sizes.append(len(order))

    def edges(self, most: int) -> list[Edge]:
        """Cut the order into ranges of at most so many bytes, as nearly as single records allow."""
        n = len(self._sizes)
        below = [self._column(part, "below") for part in range(n)]
        step = max(1, most // (_FINE * n))
        candidates = set()
        for part in range(n):
            wanted = np.arange(step, below[part][-1], step)
            for at in np.unique(np.searchsorted(below[part], wanted)).tolist():
                if at < self._sizes[part]:
                    candidates.add(self._edge(part, at))
        edges, begun, before, last = [FIRST], 0, 0, FIRST
        for edge in sorted(candidates):
            here = sum(int(below[part][self.place(part, edge)]) for part in range(n))
            if here - begun > most and before > begun:
                edges.append(last)
                begun = before
            before, last = here, edge
        total = sum(int(each[-1]) for each in below)
        if total - begun > most and before > begun:
            edges.append(last)
        return [*edges, LAST]

    def place(self, part: int, edge: Edge) -> int:
        """Return how many records of a shard come before an edge."""
        start, stop = 0, self._sizes[part]
        for name, value in zip(("pattern", "ratings"), edge, strict=False):
            column = self._column(part, name)[start:stop]
            wanted = np.uint64(value)
            low = int(np.searchsorted(column, wanted))
            high = int(np.searchsorted(column, wanted, side="right"))
            start, stop = start + low, start + high
        return start + int(np.searchsorted(self._column(part, "row")[start:stop], edge.row))

    def around(self, row: int) -> tuple[Edge, Edge]:
        """Return the edges before and behind a record."""
        for part in range(len(self._sizes)):
            found = np.flatnonzero(self._column(part, "row") == row)
            if len(found):
                edge = self._edge(part, int(found[0]))
                return edge, edge._replace(row=row + 1)
        raise KeyError(row)

    def within(self, start: Edge, stop: Edge) -> Iterator[Tables]:
        """Yield the records between two edges, some of one shard at a time."""
        for part in range(len(self._sizes)):
            first, last = self.place(part, start), self.place(part, stop)
            for at in range(first, last, _AT_ONCE):
                here = slice(at, min(at + _AT_ONCE, last))
                told = {n: self._column(part, n)[here] for n in ("pattern", "ratings", "row")}
                below = self._column(part, "below")[at : here.stop + 1]
                yield told | {"bytes": np.diff(below)}

    def beside(self, start: Edge, stop: Edge) -> Iterator[Tables]:
        """Yield those outside a range that may be near one in it, some at a time."""
        first, last = FIRST, LAST
        if self.by_pattern:
            patterns = [part["pattern"][[0, -1]] for part in self.within(start, stop)]
            if not patterns:
                return
            low, high = min(int(p[0]) for p in patterns), max(int(p[1]) for p in patterns)
            first, last = Edge(low, 0, 0), Edge(high, *LAST[1:])
        yield from self.within(first, start)
        yield from self.within(stop, last)

    def _edge(self, part: int, at: int) -> Edge:
        names = ("pattern", "ratings", "row")
        return Edge(*(int(self._column(part, name)[at]) for name in names))

    def _column(self, part: int, name: str) -> NDArray[Any]:
        key = f"{part}.{name}"
        if key not in self._mapped:
            self._mapped[key] = np.load(self._file(part, name), mmap_mode="r")
        return self._mapped[key]

    def _file(self, part: int, name: str) -> Path:
        return self.folder / f"{part}.{name}.npy"


def bins_of(codes: NDArray[Any], n_levels: int) -> NDArray[np.uint64]:
    """Return the byte that stands for each code: from 1 on; 0 is null."""
    place = codes.astype(np.uint64)
    return 1 + (place * np.uint64(255) // np.uint64(n_levels) if n_levels > 255 else place)


def packed(bins: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Put bytes (n, up to `AXES`) into one number, the first highest."""
    out = np.zeros(len(bins), dtype=np.uint64)
    for axis in range(bins.shape[1]):
        out |= bins[:, axis] << np.uint64(8 * (AXES - 1 - axis))
    return out


def unpacked(ratings: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """Return the bytes (n, `AXES`) of numbers."""
    shifts = np.uint64(8) * np.arange(AXES - 1, -1, -1, dtype=np.uint64)
    return (ratings[:, None] >> shifts & np.uint64(255)).astype(np.uint8)
