"""L1 distances of neighbouring records to one record: as bits that differ, or item by item."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import overload

from starshade.kernels.bits import ones
from starshade.kernels.inner import inner

__all__ = ["fill", "fill_sums", "least_away"]


def fill(cells: Any, low: int, high: int, query: Any, out: Any) -> None:
    """Fill in the distances of records low…high−1; bits or numbers is settled by compiling."""
    (_fill_ones if cells.dtype == np.uint64 else fill_sums)(cells, low, high, query, out)


@overload(fill, inline="always")  # a call costs as much as its work
def _fill(cells, low, high, query, out):  # type: ignore[no-untyped-def]
    if cells.dtype == types.uint64:
        return lambda cells, low, high, query, out: _fill_ones(cells, low, high, query, out)
    return lambda cells, low, high, query, out: fill_sums(cells, low, high, query, out)


def least_away(cells: Any, low: int, high: int, query: Any, buffer: Any) -> Any:
    """Return the least distance of records low…high−1; what `buffer` holds is spoilt."""
    least = _least_ones if cells.dtype == np.uint64 else _least_sums
    return least(cells, low, high, query, buffer)


@overload(least_away, inline="always")
def _least_away(cells, low, high, query, buffer):  # type: ignore[no-untyped-def]
    if cells.dtype == types.uint64:
        return lambda cells, low, high, query, buffer: _least_ones(cells, low, high, query, buffer)
    return lambda cells, low, high, query, buffer: _least_sums(cells, low, high, query, buffer)


@njit(cache=True, nogil=True, inline="always")
def _least_ones(words, low, high, query, buffer):  # type: ignore[no-untyped-def]
    least = np.int64(64) * len(words)
    if len(words) == 2:  # one and two words: nothing goes through memory
        a, b, p, q = words[0, low:high], words[1, low:high], query[0], query[1]
        for i in range(high - low):
            least = min(least, np.int64(ones(a[i] ^ p) + ones(b[i] ^ q)))
    elif len(words) == 1:
        a, p = words[0, low:high], query[0]
        for i in range(high - low):
            least = min(least, np.int64(ones(a[i] ^ p)))
    else:
        _fill_ones(words, low, high, query, buffer)
        for i in range(high - low):
            least = min(least, buffer[i])
    return least


@njit(cache=True, nogil=True)
def _least_sums(table, low, high, query, buffer):  # type: ignore[no-untyped-def]
    fill_sums(table, low, high, query, buffer)
    least = buffer[0]
    for i in range(high - low):
        least = min(least, buffer[i])
    return least


@njit(cache=True, nogil=True)
def _fill_ones(words, low, high, query, out):  # type: ignore[no-untyped-def]
    n = high - low
    out[:n] = 0
    m = len(words)
    for j in range(0, m - 1, 2):  # two words a pass: half of the loads and stores of `out`
        a, b, p, q = words[j, low:high], words[j + 1, low:high], query[j], query[j + 1]
        for i in range(n):
            out[i] += np.int64(ones(a[i] ^ p) + ones(b[i] ^ q))
    if m % 2:
        a, p = words[m - 1, low:high], query[m - 1]
        for i in range(n):
            out[i] += np.int64(ones(a[i] ^ p))


@njit(cache=True, nogil=True)
def fill_sums(table, low, high, query, out):  # type: ignore[no-untyped-def]
    """Fill in the L1 distances of records low…high−1 of a table of numbers, items in order.

    `table` (uint8, uint16 or float64 (n_items, n)): its dtype holds every distance that can occur.
    `out` (≥ high − low,): both of the same dtype.
    """
    n = high - low
    out[:n] = 0
    m = len(table)
    for j in range(0, m - 3, 4):  # four items a pass
        _add_four(table[j : j + 4, low:high], query[j : j + 4], out)
    for j in range(m - m % 4, m):
        _add_one(table[j, low:high], query[j], out)


@inner
def _add_four(four, query, out):  # type: ignore[no-untyped-def]
    a, b, c, d = four[0], four[1], four[2], four[3]
    p, q, r, s = query[0], query[1], query[2], query[3]
    for i in range(len(a)):
        # greater minus lesser: never below zero, so it needs no wider type
        total = out[i] + (max(a[i], p) - min(a[i], p))
        total = total + (max(b[i], q) - min(b[i], q))
        total = total + (max(c[i], r) - min(c[i], r))
        out[i] = total + (max(d[i], s) - min(d[i], s))


@inner
def _add_one(a, p, out):  # type: ignore[no-untyped-def]
    for i in range(len(a)):
        out[i] = out[i] + (max(a[i], p) - min(a[i], p))
