"""Write a sharded store: of a table at hand, or of shards that come one by one."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from starshade import budget
from starshade.files.side import STORE_MANIFEST, read_side
from starshade.progress import announced
from starshade.ratings.places.atomic import atomic_folder
from starshade.ratings.places.checked import check_files, write_arrays
from starshade.ratings.places.place import Where
from starshade.ratings.shards.manifest import (
    MANIFEST,
    PER_RATING,
    ShardEntry,
    ShardsManifest,
    checksum_of,
    folder_of,
)
from starshade.ratings.store import MANIFEST as OF_SHARD
from starshade.ratings.store import Manifest, items_as_arrays, write_shard
from starshade.ratings.table import Ratings, ReadReport


def shards_for(n_ratings: int) -> int:
    """Return into how many shards so many ratings go, so that work on one fits the memory."""
    return max(1, -(-n_ratings * PER_RATING // budget.memory()))


@announced("writing the store")
def write_shards(ratings: Ratings, path: Where, shards: int | None = None) -> int:
    """Write a table as a sharded store; returns into how many shards.

    `path`: a folder that does not exist yet. `shards`: of about equally many ratings; fewer where
    there are fewer users; None: as many as `shards_for` says.
    """
    with atomic_folder(path) as folder:
        _, entries = fill(folder, ratings, shards or shards_for(ratings.n_ratings))
    return len(entries)


def fill(folder: Path, ratings: Ratings, shards: int) -> tuple[Ratings, list[ShardEntry]]:
    """Write a table into the folder of a store, as `Sorted.write` does; it has a lineage then."""
    lineage = ratings.lineage or secrets.token_hex(16)
    entries = [
        add_shard(folder, part, i, first, lineage)
        for i, (first, part) in enumerate(_cut(ratings, shards))
    ]
    finish(folder, ratings, ratings.report, lineage, entries)
    object.__setattr__(ratings, "lineage", lineage)
    return ratings, entries


def add_shard(folder: Path, part: Ratings, number: int, first: int, lineage: str) -> ShardEntry:
    """Write a shard into the folder of a store; `first`: its first user's number among all."""
    name = folder_of(number)
    # what reading found is in the manifest of all shards
    manifest = write_shard(part.annotate(report=ReadReport()), folder / name, lineage)
    return ShardEntry(
        folder=name,
        first_user=first,
        users=part.n_users,
        ratings=part.n_ratings,
        checksum=checksum_of(manifest),
    )


def written(entry: ShardEntry, folder: Path) -> Manifest:
    """Return the manifest of a shard in the folder of a store; ValueError if it is another now."""
    text = read_side(folder / entry.folder / OF_SHARD, STORE_MANIFEST)
    if checksum_of(text) != entry.checksum:
        raise ValueError("another partition")
    manifest = Manifest.from_json(text, entry.folder)
    check_files(folder / entry.folder, manifest.files)
    return manifest


def finish(
    folder: Path, like: Ratings, report: ReadReport, lineage: str, entries: list[ShardEntry]
) -> None:
    """Write what the shards have in common, and last of all the manifest; `like`: any of them."""
    arrays = items_as_arrays(like.items, like.item_names) | {"levels": like.levels}
    manifest = ShardsManifest.of(like, report, lineage, write_arrays(folder, arrays), entries)
    (folder / MANIFEST).write_text(manifest.to_json(), encoding="utf-8")


def _cut(ratings: Ratings, n: int) -> Iterator[tuple[int, Ratings]]:
    """Cut a table into at most `n` ranges of users of about equally many ratings."""
    edges = edges_of(ratings.indptr, n)
    for start, stop in pairwise(edges):
        cells = slice(int(ratings.indptr[start]), int(ratings.indptr[stop]))
        yield (
            start,
            replace(
                ratings,
                users=ratings.users.take(np.arange(start, stop)),
                indptr=ratings.indptr[start : stop + 1] - ratings.indptr[start],
                columns=ratings.columns[cells],
                codes=ratings.codes[cells],
                days=None if ratings.days is None else ratings.days[cells],
                attributes=None if ratings.attributes is None else ratings.attributes[start:stop],
            ),
        )


def edges_of(indptr: Iterable[int], n: int) -> list[int]:
    """Return where ranges of users begin and end: each holds somebody, if anybody is there.

    >>> edges_of([0, 5, 6, 7, 8], 2)
    [0, 1, 4]
    >>> edges_of([0, 5, 6, 7, 8], 10**12)
    [0, 1, 2, 3, 4]
    """
    ends = np.asarray(indptr, dtype=np.int64)
    last = len(ends) - 1
    n = min(n, max(1, int(ends[-1])))  # no finer than a rating each: all edges
    wanted = ends[-1] * np.arange(1, n) / n
    after = np.searchsorted(ends, wanted)
    nearer = np.abs(ends[np.maximum(after - 1, 0)] - wanted) < np.abs(ends[after] - wanted)
    inner = {int(edge) for edge in after - nearer if 0 < edge < last}
    return sorted({0, last} | inner) if last else [0, 0]
