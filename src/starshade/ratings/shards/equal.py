"""Which rows are equal, in whatever shards they lie: by two hashes of 64 bits of their content.

Two different rows pass for equal with a chance of n²/2¹²⁹ among n.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.engine.job import Engine, Job, Tables
from starshade.kernels.arrays import fixed
from starshade.kernels.csr import keep_columns
from starshade.kernels.fingerprint import hash_rows, keyed_numbers, row_fingerprints
from starshade.ratings.shards.entries import Entries
from starshade.ratings.shards.kept import AnyShards
from starshade.ratings.table import UNKNOWN_DAY, Ratings
from starshade.rng import stream_key
from starshade.scratch import scratch_folder

_KEY = np.uint64(stream_key(0, "equal rows"))
_OF_DAYS = np.uint64(stream_key(0, "days of equal rows"))


def equal_rows(
    shards: AnyShards, engine: Engine, *, days: bool = True
) -> dict[str, NDArray[np.int64]]:
    """Find rows that are equal, `days` as of `class_sizes`.

    Returns `repeats`: those that equal an earlier one. `alike`: all that equal another. `copies`:
    how many equal each of these, itself included. All grow with such rows alone.
    """
    job = Job("finding equal rows", _hash, {"days": days})
    none = np.empty(0, dtype=np.int64)
    found = [(none, none, none)]
    with scratch_folder() as folder:
        entries = Entries(folder)
        firsts = shards.first_users
        for number, part in enumerate(engine.run(job, shards, {})):
            keys = part["hashes"]
            entries.add(keys, {"row": np.arange(len(keys)) + firsts[number]})
        for group in entries.groups():
            rows = group.columns["row"]
            sizes = np.diff(group.starts, append=len(rows))
            copies = np.repeat(sizes, sizes)
            later = np.ones(len(rows), dtype=np.bool_)
            later[group.starts] = False
            found.append((rows[later], rows[copies > 1], copies[copies > 1]))
    repeats, alike, copies = (np.concatenate(each) for each in zip(*found, strict=True))
    order = np.argsort(alike)
    return {"repeats": np.sort(repeats), "alike": alike[order], "copies": copies[order]}


def _hash(shard: Ratings, _first: int, settings: Mapping[str, Any], _tables: Tables) -> Tables:
    return {"hashes": hashes_of(shard, days=settings["days"])}


def class_sizes(
    shards: AnyShards,
    engine: Engine,
    *,
    days: bool,
    ratings: bool = True,
    items: NDArray[np.bool_] | None = None,
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield, of some classes of equal rows after the other, the first row and the size of each.

    `days`, `ratings`: whether these must be equal too. `items` (n_items,): those looked at; None:
    all.
    """
    job = Job("finding equal rows", _classes, {"days": days, "ratings": ratings})
    tables = {} if items is None else {"items": items}
    with scratch_folder() as folder:
        entries = Entries(folder)
        for part in engine.run(job, shards, tables):
            entries.add(part["keys"], {"row": part["row"], "size": part["size"]})
        for group in entries.groups():
            yield group.least("row"), group.total("size")


def _classes(shard: Ratings, first: int, settings: Mapping[str, Any], tables: Tables) -> Tables:
    """Return the classes of a shard by themselves."""
    hashes = hashes_of(shard, **settings, items=tables.get("items"))
    order = np.lexsort((hashes[:, 1], hashes[:, 0]))
    hashes = hashes[order]
    begins = np.ones(len(order), dtype=np.bool_)
    begins[1:] = (hashes[1:] != hashes[:-1]).any(axis=1)
    starts = np.flatnonzero(begins)
    size = np.diff(starts, append=len(order))
    return {"keys": hashes[starts], "row": order[starts] + first, "size": size}


def hashes_of(
    shard: Ratings,
    *,
    days: bool,
    ratings: bool = True,
    items: NDArray[np.bool_] | None = None,
) -> NDArray[np.uint64]:
    """Hash each row twice, each time otherwise; `days`, `ratings`, `items` as of `class_sizes`."""
    indptr, columns, codes, dated = shard.indptr, shard.columns, shard.codes, shard.days
    if items is not None:
        indptr, columns, codes, dated = keep_columns(indptr, columns, codes, dated, items)
    if not ratings:
        codes = np.zeros(len(columns), dtype=np.uint8)
    if not days:
        dated = None
    levels = keyed_numbers(np.arange(max(1, len(shard.levels)), dtype=np.uint64), _KEY)
    indptr, columns, codes = fixed(indptr), fixed(columns), fixed(codes)
    once = hash_rows(indptr, columns, codes, dated)
    again = row_fingerprints(indptr, columns, codes, levels, _KEY)
    if dated is not None:
        numbers = keyed_numbers(np.arange(UNKNOWN_DAY + 1, dtype=np.uint64), _OF_DAYS)
        again = again + row_fingerprints(indptr, columns, fixed(dated), numbers, _OF_DAYS)
    return np.stack([once, again], axis=1)
