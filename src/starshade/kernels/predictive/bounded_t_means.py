"""Rows to centres so that every centre has its least number of rows.

Pairs (row, centre) are met in increasing distance; a pair counts when its row has no centre yet
and its centre has fewer rows than the bound. When every centre has as many as the bound, the rows
left go to their nearest. Ties: the earlier row, then the earlier centre.

Sorting all pairs is not needed. Each row without a centre waits with the nearest centre that still
takes rows; the row that waits with the least distance is next in the order of pairs. Should its
centre have filled meanwhile, it looks for its next one and waits again: no pair before that one
could have counted.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from starshade.kernels.arrays import Ints, inner
from starshade.kernels.warm import announce

_FULL = np.uint32(0xFFFF_FFFF)


def assign(distances: NDArray[np.float32], lower: int) -> Ints:
    """Give every row a centre, and every centre `lower` rows at least.

    `lower`: t · lower ≤ b.

    >>> assign(np.array([[0, 9], [1, 5], [2, 7]], dtype=np.float32), 1).tolist()
    [0, 1, 0]
    """
    announce("bounded t-means", _assign)
    # floats that are not negative are in the order of their bits; a sign on 0 would spoil that
    found: Ints = _assign(np.abs(distances).view(np.uint32), lower)
    return found


@njit(cache=True, nogil=True)
def _assign(keys, lower):  # type: ignore[no-untyped-def]
    b, t = keys.shape
    out = np.full(b, -1, np.int64)
    count, full = np.zeros(t, np.int64), np.zeros(t, np.uint32)
    open_centres = t if lower > 0 else 0
    if open_centres > 0:
        best = np.empty(b, np.int64)
        heap = np.empty(b, np.uint64)
        for r in range(b):
            best[r] = _nearest(keys[r], full)
            heap[r] = _waits(keys[r, best[r]], r)
        heap.sort()  # a sorted array is a heap
    waiting = b  # in the heap
    while open_centres > 0:
        row = np.int64(heap[0] & np.uint64(_FULL))
        c = best[row]
        if count[c] < lower:
            out[row] = c
            count[c] += 1
            if count[c] == lower:
                full[c] = _FULL
                open_centres -= 1
            waiting -= 1
            _sink(heap, heap[waiting], waiting)
        else:
            best[row] = _nearest(keys[row], full)
            _sink(heap, _waits(keys[row, best[row]], row), waiting)
    full[:] = 0
    for r in range(b):
        if out[r] < 0:
            out[r] = _nearest(keys[r], full)
    return out


@inner
def _waits(key, row):  # type: ignore[no-untyped-def]
    """Put distance and row into one number: the least is the next in the order of pairs."""
    return (np.uint64(key) << np.uint64(32)) | np.uint64(row)


@inner
def _nearest(keys, full):  # type: ignore[no-untyped-def]
    """Find the first least key among centres that are not full; one is open at least."""
    least = _FULL
    for c in range(len(keys)):
        least = min(least, np.uint32(keys[c] | full[c]))
    for c in range(len(keys)):
        if keys[c] | full[c] == least:
            return c
    return -1


@inner
def _sink(heap, entry, size):  # type: ignore[no-untyped-def]
    """Put an entry in the place of the first and let it sink, in a heap of `size` entries."""
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= entry:
            break
        heap[at] = heap[child]
        at = child
    if size > 0:
        heap[at] = entry
