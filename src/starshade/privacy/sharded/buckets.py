"""Buckets of records, each with its margin: whoever may be near one of them, so no ball is cut."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from starshade.engine.job import Tables
from starshade.kernels.csr import keep_rows
from starshade.privacy.sharded.order import Edge, Order, bins_of, unpacked
from starshade.ratings.proximity.space import Rule
from starshade.ratings.shards.shards import Shards
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary


@dataclass(frozen=True)
class Bucket:
    """Records between two edges of an order.

    `near` (256, 256): which bytes of a key can be those of near ratings. `most`: bytes of records
    of the margin in memory together.
    """

    shards: Shards
    order: Order
    start: Edge
    stop: Edge
    near: NDArray[np.bool_]
    most: int

    def own(self) -> Ratings:
        """Return the bucket's records; as ids they have their numbers among all."""
        rows = [part["row"] for part in self.order.within(self.start, self.stop)]
        return rows_of(self.shards, np.sort(np.concatenate([np.empty(0, np.int64), *rows])))

    def margin(self) -> Iterator[Ratings]:
        """Yield who may be near one of them, some at a time."""
        seen = [
            unpacked(np.unique(part["ratings"]))
            for part in self.order.within(self.start, self.stop)
        ]
        if not seen:
            return
        bins = np.concatenate(seen)
        allowed = np.array([self.near[np.unique(axis)].any(axis=0) for axis in bins.T])
        for rows in _batches(self._near(allowed), self.most):
            yield rows_of(self.shards, rows)

    def _near(self, allowed: NDArray[np.bool_]) -> Iterator[Tables]:
        """Yield whose bytes are all allowed; `allowed` (axes, 256)."""
        for part in self.order.beside(self.start, self.stop):
            keep = np.ones(len(part["row"]), dtype=np.bool_)
            for axis, column in zip(allowed, unpacked(part["ratings"]).T, strict=True):
                keep &= axis[column]
            yield {name: part[name][keep] for name in ("row", "bytes")}


def _batches(parts: Iterable[Tables], most: int) -> Iterator[NDArray[np.int64]]:
    """Put rows together as long as they take at most so many bytes; one at least."""
    held: list[NDArray[np.int64]] = []
    size = 0
    for part in parts:
        rows, taken = part["row"], part["bytes"]
        while len(rows):
            fits = int(np.searchsorted(np.cumsum(taken), most - size, side="right"))
            fits = max(fits, not held)
            held.append(rows[:fits])
            size += int(taken[:fits].sum())
            rows, taken = rows[fits:], taken[fits:]
            if len(rows):
                yield np.sort(np.concatenate(held))
                held, size = [], 0
    if held:
        yield np.sort(np.concatenate(held))


@dataclass(frozen=True)
class Buckets:
    """Buckets as jobs go through them, one after the other (`starshade.engine.job.Sharded`)."""

    shards: Shards
    order: Order
    edges: list[Edge]
    near: NDArray[np.bool_]
    most: int

    def __len__(self) -> int:
        return len(self.edges) - 1

    @property
    def keys(self) -> list[str]:
        """The shards, and where the bucket begins and ends."""
        all_shards = "\n".join(self.shards.keys)
        return [
            hashlib.sha256(f"{all_shards}\n{start}\n{stop}".encode()).hexdigest()
            for start, stop in pairwise(self.edges)
        ]

    @property
    def first_users(self) -> list[int]:
        """None: records have their numbers with them."""
        return [0] * len(self)

    def shard(self, number: int, /) -> Bucket:
        """Return a bucket, of which nothing is read yet."""
        start, stop = self.edges[number : number + 2]
        return Bucket(self.shards, self.order, start, stop, self.near, self.most)

    def bytes_of(self, number: int, /) -> int:
        """Return the bytes of memory that work on a bucket takes, at most."""
        return 2 * self.most


def rows_of(shards: Shards, rows: NDArray[np.int64]) -> Ratings:
    """Return some rows, ascending, of all shards as a table; as ids they have their numbers."""
    firsts = [*shards.first_users, shards.n_users]
    none = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.uint8)
    lengths, columns, codes = [np.empty(0, dtype=np.int64)], [none[0]], [none[1]]
    for number, (first, stop) in enumerate(pairwise(firsts)):
        here = rows[slice(*np.searchsorted(rows, [first, stop]))] - first
        if len(here):
            part = shards.shard(number)
            cells = keep_rows(part.indptr, part.columns, part.codes, None, here)
            lengths.append(np.diff(cells[0]))
            columns.append(cells[1])
            codes.append(cells[2])
    return Ratings(
        scale=shards.scale,
        users=Vocabulary(rows),
        items=shards.items,
        indptr=np.concatenate([[0], np.cumsum(np.concatenate(lengths))]).astype(np.int64),
        columns=np.concatenate(columns),
        codes=np.concatenate(codes[1:] or codes),
        levels=shards.levels,
    )


def near_bins(rule: Rule) -> NDArray[np.bool_]:
    """Tell which bytes of keys can be those of near ratings; (256, 256)."""
    n_levels = len(rule.low) - 1
    near = np.zeros((256, 256), dtype=np.bool_)
    near[0, 0] = True
    if not n_levels:
        return near
    # code c stands in `rule` at c + 1
    bins = np.concatenate([[0], bins_of(np.arange(n_levels), n_levels)]).astype(np.int64)
    for code in range(1, n_levels + 1):
        low, high = int(rule.low[code]), int(rule.high[code])
        if low <= high:
            near[bins[code], bins[low] : bins[high] + 1] = True
        if rule.null[code]:
            near[bins[code], 0] = near[0, bins[code]] = True
    return near
