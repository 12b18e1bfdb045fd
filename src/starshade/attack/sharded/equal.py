"""Which rows are equal, in whatever shards they lie: by two hashes of 64 bits of their content."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade import budget
from starshade.attack.view import View
from starshade.engine.job import Engine, Job, Tables
from starshade.kernels.arrays import fixed
from starshade.kernels.fingerprint import hash_rows, keyed_numbers, row_fingerprints
from starshade.ratings.shards.shards import Shards
from starshade.ratings.table import Ratings
from starshade.release.cells import cells_of
from starshade.rng import stream_key
from starshade.scratch import filling, scratch_folder

_KEY = np.uint64(stream_key(0, "equal rows"))
_PER_ROW = 128  # bytes of memory that looking at a row's hashes takes


def equal_rows(shards: Shards, engine: Engine) -> dict[str, NDArray[np.int64]]:
    """Find rows that are equal.

    Returns `repeats`: those that equal an earlier one. `alike`: all that equal another. `copies`:
    how many equal each of these, itself included. All grow with such rows alone.

    Two different rows pass for equal with a chance of n²/2¹²⁹ among n. Hashes wait on disk and are
    looked at range by range.
    """
    found: list[tuple[Any, Any, Any]] = []
    with scratch_folder() as folder:
        firsts = shards.first_users
        for number, part in enumerate(engine.run(Job("looking for equal rows", _hash), shards, {})):
            order = np.argsort(part["hashes"][:, 0], kind="stable")
            with filling(folder):
                np.save(folder / f"{number}.npy", part["hashes"][order])
                np.save(folder / f"{number}-rows.npy", order + firsts[number])
        ranges = max(1, _PER_ROW * shards.n_users // budget.memory())
        edges = [(i << 64) // ranges for i in range(ranges + 1)]
        for low, high in pairwise(edges):
            hashes, rows = _between(folder, len(shards), low, high)
            found.append(_equal(hashes, rows))
    repeats, alike, copies = (np.concatenate(each) for each in zip(*found, strict=True))
    order = np.argsort(alike)
    return {"repeats": np.sort(repeats), "alike": alike[order], "copies": copies[order]}


def _hash(shard: Ratings, _first: int, _settings: Mapping[str, Any], _tables: Tables) -> Tables:
    """Hash each row twice, each time otherwise; the first time with its days."""
    levels = keyed_numbers(np.arange(len(shard.levels), dtype=np.uint64), _KEY)
    cells = fixed(shard.indptr), fixed(shard.columns), fixed(shard.codes)
    hashes = hash_rows(*cells, shard.days), row_fingerprints(*cells, levels, _KEY)
    return {"hashes": np.stack(hashes, axis=1)}


def _between(
    folder: Path, n: int, low: int, high: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Read the rows whose first hash is in a range."""

    def parts() -> Iterator[tuple[Any, Any]]:
        for number in range(n):
            hashes = np.load(folder / f"{number}.npy", mmap_mode="r")
            start = np.searchsorted(hashes[:, 0], np.uint64(low))
            top = len(hashes) if high >> 64 else np.searchsorted(hashes[:, 0], np.uint64(high))
            rows = np.load(folder / f"{number}-rows.npy", mmap_mode="r")
            yield hashes[start:top], rows[start:top]

    hashes, rows = zip(*parts(), strict=True)
    return np.concatenate(hashes), np.concatenate(rows)


def _equal(
    hashes: NDArray[np.uint64], rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    order = np.lexsort((rows, hashes[:, 1], hashes[:, 0]))
    hashes, rows = hashes[order], rows[order]
    begins = np.ones(len(rows), dtype=np.bool_)
    begins[1:] = (hashes[1:] != hashes[:-1]).any(axis=1)
    group = np.cumsum(begins) - 1
    copies = np.bincount(group)[group] if len(group) else np.empty(0, dtype=np.int64)
    return rows[~begins], rows[copies > 1], copies[copies > 1]


def view_of_shard(shard: Ratings, first: int, tables: Tables) -> View:
    """Show the rows of a shard; what equals another row is known of all shards."""
    rows = np.arange(shard.n_users)
    copies = np.ones(shard.n_users, dtype=np.int64)
    here = slice(*np.searchsorted(tables["alike"], [first, first + shard.n_users]))
    copies[tables["alike"][here] - first] = tables["copies"][here]
    again = slice(*np.searchsorted(tables["repeats"], [first, first + shard.n_users]))
    view = View(
        original=shard,
        cells=cells_of(shard),
        postings=shard.by_item,
        row_of_user=rows,
        item_of=np.arange(shard.n_items, dtype=np.int32),
        credit="linked",
        ungeneralized=True,
    )
    # what the cached properties would compute, of all shards
    view.__dict__.update(repeats=tables["repeats"][again] - first, copies=copies)
    return view
