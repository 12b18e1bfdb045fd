"""From the classes of buckets to those of a release, and from these to everybody's record.

Profiles of all buckets are merged in the order of their content, a row of each bucket at a time;
equal ones are one class. Records are numbered class by class, within a class in the order of users,
so each shard finds those of its own users from how many of a class the shards before it have.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.anonymize.sharded.groups import Grouped, count_shared
from starshade.anonymize.sharded.records import RecordShards
from starshade.engine.journal import filling
from starshade.kernels.arrays import Bytes, Ints
from starshade.progress import task
from starshade.release.match.match import RecordFiles
from starshade.scratch import put_down, scratch_bytes

_BUFFER = 1 << 22  # bytes of a bucket's profiles that are read together
_PIECE = 1 << 26  # bytes of merged profiles that are held before they are put down
_CELLS = 1 << 23  # cells of classes of several buckets that are counted together


@dataclass(frozen=True, eq=False)
class Classes:
    """The classes of a release. `number`: of each bucket, which of them each of its classes is."""

    levels: Bytes
    sizes: Ints
    number: Sequence[Ints]


def merged(grouped: Grouped) -> Classes:
    """Merge the classes of all buckets."""
    most, n_items = sum(map(len, grouped.sizes)), grouped.buckets.records.n_items
    levels = scratch_bytes(most, n_items)
    number = [np.empty(len(each), dtype=np.int64) for each in grouped.sizes]
    rows = (_rows_of(grouped, bucket) for bucket in range(len(number)))
    n, last = 0, None
    with task("merging profiles", most) as step:
        for row, bucket, place in heapq.merge(*rows):
            if row != last:
                levels[n] = np.frombuffer(row, np.uint8)
                n, last = n + 1, row
                if n % max(1, _PIECE // n_items) == 0:
                    put_down()
            number[bucket][place] = n - 1
            step(1)
    sizes = np.zeros(n, dtype=np.int64)
    for mine, each in zip(number, grouped.sizes, strict=True):
        sizes[mine] += each
    return Classes(levels[:n], sizes, number)


def _rows_of(grouped: Grouped, bucket: int) -> Iterator[tuple[bytes, int, int]]:
    n, n_items = len(grouped.sizes[bucket]), grouped.buckets.records.n_items
    size = max(1, _BUFFER // n_items)
    for first in range(0, n, size):
        # mapped anew each time: what was read is held no longer
        rows = np.array(grouped.levels(bucket)[first : first + size])
        for place, row in enumerate(rows, first):
            yield row.tobytes(), bucket, place


def counted(grouped: Grouped, classes: Classes, asked: Mapping[str, Any]) -> Ints:
    """Return what `rests_on` counts over all classes, shape (3,)."""
    seen = np.bincount(np.concatenate(list(classes.number)), minlength=len(classes.sizes))
    total = np.zeros(3, dtype=np.int64)
    for number, each in zip(classes.number, grouped.counted, strict=True):
        total += each[seen[number] == 1].sum(axis=0)
    shared = np.flatnonzero(seen > 1)
    size = max(1, _CELLS // classes.levels.shape[1])
    for first in range(0, len(shared), size):
        some = shared[first : first + size]
        own = count_shared(grouped, classes.number, some, classes.levels[some], asked)
        total += own.sum(axis=0)
    return total


def link(grouped: Grouped, classes: Classes, place: Path) -> RecordFiles:
    """Find everybody's record, shard by shard, and keep it in files of `place`."""
    buckets = grouped.buckets
    records = buckets.records
    files = [place / f"record-{shard:05}.npy" for shard in range(len(records))]
    free = np.cumsum(classes.sizes) - classes.sizes  # the first record of each class not yet had
    with task("finding records", len(records)) as step, filling(place):
        for shard, file in enumerate(files):
            own = np.empty(records.table.users[shard], dtype=np.int64)
            for bucket in range(len(buckets)):
                rows = slice(*buckets.ends(bucket)[shard : shard + 2].tolist())
                number = classes.number[bucket][grouped.classes(bucket)[rows]]
                own[buckets.users_of(bucket, shard)] = number
            order = np.argsort(own, kind="stable")
            sizes = np.bincount(own, minlength=len(free))
            within = np.arange(len(own)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
            record = np.empty_like(own)
            record[order] = free[own[order]] + within
            free += sizes
            np.save(file, _of_all(records, shard, record))
            step(1)
    return RecordFiles(records.table, files)


def _of_all(records: RecordShards, shard: int, record: Ints) -> NDArray[np.int64]:
    """Return the record of every user of the store's shard, -1 of those who do not stay."""
    table = records.table
    out = np.full(table.store.manifest.shards[shard].users, -1, dtype=np.int64)
    out[table.who_stays(shard)] = record
    return out
