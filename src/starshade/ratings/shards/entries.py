"""Entries from all shards with keys of 128 bits, sorted on disk and looked at range by range."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade import budget
from starshade.engine.job import Tables
from starshade.scratch import filling

_PER_ENTRY = 128  # bytes of memory that looking at an entry takes
_HALVES = ("high", "low")


@dataclass(frozen=True)
class Group:
    """Entries in the order of their keys; those of one key stand together, in the order added.

    `columns`: by name. `starts` (n_keys,): where each key begins.
    """

    columns: Mapping[str, NDArray[Any]]
    starts: NDArray[np.int64]

    def least(self, name: str) -> NDArray[Any]:
        """Return the least of a column for each key."""
        return np.asarray(np.minimum.reduceat(self.columns[name], self.starts))

    def total(self, name: str) -> NDArray[Any]:
        """Sum up a column for each key."""
        return np.asarray(np.add.reduceat(self.columns[name], self.starts))


@dataclass
class Entries:
    """Entries in a folder: a part is sorted when it comes, ranges of keys are read from all parts.

    Keys are hashes: ranges of equal width hold about equally many.
    """

    folder: Path
    _sizes: list[int] = field(default_factory=list)

    def add(self, keys: NDArray[np.uint64], columns: Tables) -> None:
        """Take a part: keys (n, 2), and columns beside them."""
        order = np.lexsort((keys[:, 1], keys[:, 0]))
        told = {"high": keys[:, 0], "low": keys[:, 1], **columns}
        with filling(self.folder):
            for name, column in told.items():
                np.save(self._file(len(self._sizes), name), column[order])
        self._sizes.append(len(keys))

    def groups(self) -> Iterator[Group]:
        """Yield range after range, in the order of the keys; what has one key is in one range."""
        n = max(1, _PER_ENTRY * sum(self._sizes) // budget.memory())
        names = [file.stem.partition(".")[2] for file in self.folder.glob("0.*.npy")]
        for low, high in pairwise((i << 64) // n for i in range(n + 1)):
            read = self._between(names, low, high)
            order = np.lexsort((read["low"], read["high"]))
            columns = {name: column[order] for name, column in read.items()}
            if len(order):
                begins = np.ones(len(order), dtype=np.bool_)
                begins[1:] = False
                for half in _HALVES:
                    begins[1:] |= columns[half][1:] != columns[half][:-1]
                yield Group(columns, np.flatnonzero(begins))

    def _between(self, names: list[str], low: int, high: int) -> dict[str, NDArray[Any]]:
        parts: dict[str, list[NDArray[Any]]] = {name: [] for name in names}
        for part in range(len(self._sizes)):
            keys = np.load(self._file(part, "high"), mmap_mode="r")
            start = np.searchsorted(keys, np.uint64(low))
            stop = len(keys) if high >> 64 else np.searchsorted(keys, np.uint64(high))
            for name, found in parts.items():
                found.append(np.load(self._file(part, name), mmap_mode="r")[start:stop])
        return {name: np.concatenate(found) for name, found in parts.items()}

    def _file(self, part: int, name: str) -> Path:
        return self.folder / f"{part}.{name}.npy"
