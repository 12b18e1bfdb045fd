"""Ratings of some items at a time, gathered from all shards."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from starshade.ratings.shards.kept import AnyShards
from starshade.ratings.shards.manifest import PER_RATING
from starshade.ratings.table import ByItem

Part = tuple[NDArray[np.int64], NDArray[Any], NDArray[Any], NDArray[Any] | None]


@dataclass(frozen=True)
class ItemBlocks:
    """Ranges of items as jobs go through them (`starshade.engine.job.Sharded`).

    `edges`: where each range begins, and the last one ends. `sizes`: ratings in each.
    """

    shards: AnyShards
    edges: list[int]
    sizes: list[int]

    @classmethod
    def of(cls, shards: AnyShards, support: NDArray[np.int64]) -> Self:
        """Cut the items so that a range has no more ratings than a shard, or is one item."""
        most = max(shards.bytes_of(number) for number in range(len(shards))) // PER_RATING
        below = np.concatenate([[0], np.cumsum(support)])
        edges = [0]
        while edges[-1] < len(support):
            fits = int(np.searchsorted(below, below[edges[-1]] + most, side="right")) - 1
            edges.append(max(fits, edges[-1] + 1))
        return cls(shards, edges, np.diff(below[edges]).tolist())

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def keys(self) -> list[str]:
        """The shards, and the items."""
        every = "\n".join(self.shards.keys)
        ranges = zip(self.edges, self.edges[1:], strict=False)
        return [hashlib.sha256(f"{every}\n{r}".encode()).hexdigest() for r in ranges]

    @property
    def first_users(self) -> list[int]:
        """The first item of each range: users are numbered shard by shard, and play no part."""
        return self.edges[:-1]

    def bytes_of(self, number: int, /) -> int:
        """Return the bytes of memory that work on a range takes, at most."""
        return 64 * self.sizes[number]

    def shard(self, number: int, /) -> ByItem:
        """Return the ratings of a range of items, those of one item in the order of the shards."""
        first, last = self.edges[number], self.edges[number + 1]
        parts = [self.part(each, first, last) for each in range(len(self.shards))]
        lengths = np.array([part[0] for part in parts])
        indptr = np.concatenate([[0], np.cumsum(lengths.sum(axis=0))])
        # an item's ratings lie in each part one after the other
        item = np.concatenate([np.repeat(np.arange(last - first), part[0]) for part in parts])
        order = np.argsort(item, kind="stable")
        users, codes = (np.concatenate([part[i] for part in parts])[order] for i in (1, 2))
        dated = [part[3] for part in parts if part[3] is not None]
        days = np.concatenate(dated)[order] if dated else None
        return ByItem(indptr, users, codes, days)

    def part(self, shard: int, first: int, last: int) -> Part:
        """Return what a shard has of the items from the first to before the last.

        That is how many ratings of each, and of all of them users, codes and days.
        """
        cells = self.shards.shard(shard).by_item
        bounds = cells.indptr[first : last + 1]
        here = slice(int(bounds[0]), int(bounds[-1]))
        days = None if cells.days is None else cells.days[here]
        return np.diff(bounds), cells.users[here], cells.codes[here], days
