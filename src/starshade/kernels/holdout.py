"""Draw a share of the cells of a sparse table, each by a number of its own.

A cell's number is a function of the seed, its user's id and its item's id alone; the cells with
the lowest numbers are drawn. So the draw is the same in any order and on any number of threads.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from starshade.kernels.arrays import Bools, Int32s, Ints, Words
from starshade.kernels.fingerprint import keyed_numbers, mix
from starshade.kernels.lanes import cut, run

__all__ = ["draw_cells", "drawing_bytes"]

_BUCKETS = 1 << 16  # by the highest bits; the cells of one bucket are few enough to be sorted
_SHIFT = np.uint64(48)


def drawing_bytes(sizes: Ints) -> int:
    """Return the bytes that `draw_cells` counts in, of rows of these sizes."""
    return 8 * _BUCKETS * (len(cut(sizes, _BUCKETS)) + 2)


def draw_cells(
    indptr: Ints, columns: Int32s, users: Words, items: Words, key: np.uint64, count: int
) -> tuple[Bools, Ints]:
    """Mark the `count` cells with the lowest numbers; count them row by row, too."""
    keys = keyed_numbers(users, key)
    lanes = cut(np.diff(indptr), _BUCKETS)
    counts = np.zeros((len(lanes), _BUCKETS), dtype=np.int64)
    cells = indptr, columns, keys, items
    with np.errstate(over="ignore"):  # hashes wrap around, also where run interpreted
        run(lambda lane: _count(*lanes[lane], *cells, counts[lane]), len(lanes))
        below = np.cumsum(counts.sum(axis=0))
        bucket = int(np.searchsorted(below, count))
        found = np.empty(int(counts[:, bucket].sum()), dtype=np.uint64)
        _collect(*cells, np.uint64(bucket), found)
        found.sort()
        highest = found[count - 1 - (int(below[bucket - 1]) if bucket else 0)]
        drawn = np.empty(len(columns), dtype=np.bool_)
        per_row = np.zeros(len(indptr) - 1, dtype=np.int64)
        run(lambda lane: _mark(*lanes[lane], *cells, highest, drawn, per_row), len(lanes))
    return drawn, per_row


@njit(cache=True, nogil=True)
def _count(first, last, indptr, columns, keys, items, counts):  # type: ignore[no-untyped-def]
    for u in range(first, last):
        for p in range(indptr[u], indptr[u + 1]):
            counts[mix(keys[u] ^ items[columns[p]]) >> _SHIFT] += 1


@njit(cache=True, nogil=True)
def _collect(indptr, columns, keys, items, bucket, found):  # type: ignore[no-untyped-def]
    n = 0
    for u in range(len(indptr) - 1):
        for p in range(indptr[u], indptr[u + 1]):
            number = mix(keys[u] ^ items[columns[p]])
            if number >> _SHIFT == bucket:
                found[n] = number
                n += 1


@njit(cache=True, nogil=True)
def _mark(first, last, indptr, columns, keys, items, highest, drawn, per_row):  # type: ignore[no-untyped-def]
    for u in range(first, last):
        for p in range(indptr[u], indptr[u + 1]):
            drawn[p] = mix(keys[u] ^ items[columns[p]]) <= highest
            per_row[u] += drawn[p]
