"""k-Likeness's distance pass: group records around nuclei, the least L1 distance first.

The method is sequential: each nucleus chooses among the records that earlier ones left. The
pass is made parallel, and kind to the cache, by guessing that neighbours in time do not want the
same records: for a whole *batch* of coming nuclei the nearest records are listed, more of them
than needed, and the lists are then worked through in order. As long as a list still holds k−1
records that are free, they are exactly those that the nucleus would have chosen alone, because
whatever is not on the list is further away. At the first list that ran short the rest of the
batch is thrown away and the next one starts there. So the batch's size changes the time, never
the groups.

Records stand as columns-by-item, ``table[item, position]``, in the order of the permutation, so
that a tie goes to the lower position. The dtype of the table must hold the largest distance that
can occur: unsigned integers of one byte are 32 distances at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from starshade.kernels.warm import announce
from starshade.progress import task

__all__ = ["distances", "nucleus_groups"]

_BATCH = 64  # nuclei listed together, at most
_CHUNK = 8  # nuclei that one thread carries through the table together
_BLOCK = 2048  # records whose distances are computed together
_STRIP = 128  # records of a block whose least distance is looked at first
_WORTH_THREADS = 16_000_000  # comparisons of two ratings; below, waking threads costs more
_SPARE = 256  # neighbours listed beyond those needed, at most; 3k where that is less


def distances(table: NDArray[Any], query: NDArray[Any]) -> NDArray[Any]:
    """L1 distance of one record to every record.

    Parameters
    ----------
    table : ndarray of uint8, uint16 or float64, shape (n_items, n)
        Its dtype holds every distance that can occur.
    query : ndarray, shape (n_items,)
        Of the same dtype.

    Returns
    -------
    ndarray, shape (n,)
        Of the same dtype; items are added in order.
    """
    out = np.empty(table.shape[1], table.dtype)
    _distances(table, query, out)
    return out


def nucleus_groups(table: NDArray[Any], k: int) -> tuple[NDArray[np.int64], int]:
    """Form groups of k while at least k records are left.

    Parameters
    ----------
    table : ndarray of uint8, uint16 or float64, shape (n_items, n)
        Records in the order of the permutation.
    k : int
        2 ≤ k ≤ n.

    Returns
    -------
    group : ndarray of int64, shape (n,)
        Groups are numbered as they are formed; −1 for the fewer than k records left over.
    n_groups : int
    """
    announce("k-Likeness", _resolve)
    n = table.shape[1]
    group = np.full(n, -1, np.int64)
    work = table.copy()  # closes ranks as records leave
    place = np.arange(n)  # position in `table` of each record in `work`
    free = np.ones(n, np.bool_)
    length = kept = n  # records in `work`; those of them that are free
    formed, batch, spare = 0, 1, min(3 * k, _SPARE)
    with task("grouping records", n) as step:
        while kept >= k:
            if length - kept > length // 8:
                length = _close_ranks(work, place, free, length)
            nuclei = _first_free(free, length, min(batch, kept // k))
            wanted = min(k - 1 + spare, kept - 1)
            small = length * len(work) * len(nuclei) < _WORTH_THREADS
            list_nearest = _nearest_alone if small else _nearest
            announce("k-Likeness", list_nearest)
            near = list_nearest(work, free, length, nuclei, wanted)
            new, dealt = _resolve(near, nuclei, k, free, place, group, formed)
            formed += new
            kept -= k * new
            batch = min(_BATCH, 2 * dealt)
            step(k * new)
    return group, formed


@njit(cache=True, nogil=True)
def _first_free(free, length, count):  # type: ignore[no-untyped-def]
    out = np.empty(count, np.int64)
    found = 0
    for i in range(length):
        if found == count:
            break
        if free[i]:
            out[found] = i
            found += 1
    return out


@njit(cache=True, nogil=True)
def _resolve(near, nuclei, k, free, place, group, formed):  # type: ignore[no-untyped-def]
    """Work through the lists in order; return (groups formed, nuclei dealt with)."""
    done = 0
    chosen = np.empty(k - 1, np.int64)
    for b in range(len(nuclei)):
        if not free[nuclei[b]]:
            continue  # an earlier nucleus took it
        found = 0
        for c in range(near.shape[1]):
            if near[b, c] >= 0 and free[near[b, c]]:
                chosen[found] = near[b, c]
                found += 1
                if found == k - 1:
                    break
        if found < k - 1:
            return done, b
        free[nuclei[b]] = False
        group[place[nuclei[b]]] = formed + done
        for c in chosen:
            free[c] = False
            group[place[c]] = formed + done
        done += 1
    return done, len(nuclei)


@njit(cache=True, nogil=True)
def _close_ranks(work, place, free, length):  # type: ignore[no-untyped-def]
    """Move the free records to the front, order kept; return how many they are."""
    for j in range(len(work)):
        row = work[j]
        end = 0
        for i in range(length):
            row[end] = row[i]
            end += free[i]
    end = 0
    for i in range(length):
        if free[i]:
            place[end] = place[i]
            end += 1
    free[:end] = True
    return end


@njit(cache=True, nogil=True, parallel=True)
def _nearest(work, free, length, nuclei, wanted):  # type: ignore[no-untyped-def]
    """List for each nucleus the `wanted` nearest free records, ties to the lower position."""
    near = np.full((len(nuclei), wanted), -1, np.int64)
    n_chunks = (len(nuclei) + _CHUNK - 1) // _CHUNK
    for chunk in prange(n_chunks):
        first = chunk * _CHUNK
        last = min(first + _CHUNK, len(nuclei))
        _nearest_chunk(work, free, length, nuclei[first:last], near[first:last])
    return near


@njit(cache=True, nogil=True)
def _nearest_alone(work, free, length, nuclei, wanted):  # type: ignore[no-untyped-def]
    """Do what `_nearest` does on one thread."""
    near = np.full((len(nuclei), wanted), -1, np.int64)
    for first in range(0, len(nuclei), _CHUNK):
        last = min(first + _CHUNK, len(nuclei))
        _nearest_chunk(work, free, length, nuclei[first:last], near[first:last])
    return near


@njit(cache=True, nogil=True)
def _nearest_chunk(work, free, length, nuclei, near):  # type: ignore[no-untyped-def]
    queries = np.empty((len(nuclei), len(work)), work.dtype)
    for b in range(len(nuclei)):
        queries[b] = work[:, nuclei[b]]
    least = np.empty(near.shape, work.dtype)
    found = np.zeros(len(nuclei), np.int64)
    buffer = np.empty(_BLOCK, work.dtype)
    for low in range(0, length, _BLOCK):
        high = min(low + _BLOCK, length)
        for b in range(len(nuclei)):
            out = buffer[: high - low]
            _distances(work[:, low:high], queries[b], out)
            found[b] = _keep_least(out, low, free, nuclei[b], near[b], least[b], found[b])


@njit(cache=True, nogil=True)
def _keep_least(block, low, free, nucleus, near, least, found):  # type: ignore[no-untyped-def]
    """Insert a block's distances into one sorted list; return its new length."""
    wanted = len(near)
    for start in range(0, len(block), _STRIP):
        strip = block[start : start + _STRIP]
        if found == wanted and _minimum(strip) >= least[wanted - 1]:
            continue
        for r in range(len(strip)):
            d = strip[r]
            i = low + start + r
            if (found == wanted and d >= least[wanted - 1]) or not free[i] or i == nucleus:
                continue
            found = min(found + 1, wanted)
            p = found - 1
            while p > 0 and least[p - 1] > d:
                least[p] = least[p - 1]
                near[p] = near[p - 1]
                p -= 1
            least[p] = d
            near[p] = i
    return found


@njit(cache=True, nogil=True)
def _minimum(values):  # type: ignore[no-untyped-def]
    least = values[0]
    for i in range(len(values)):
        least = min(least, values[i])
    return least


@njit(cache=True, nogil=True)
def _distances(table, query, out):  # type: ignore[no-untyped-def]
    out[:] = 0
    m = len(table)
    for j in range(0, m - 3, 4):  # four items a pass: a quarter of the loads and stores of `out`
        _add_four(table[j], table[j + 1], table[j + 2], table[j + 3], query[j : j + 4], out)
    for j in range(m - m % 4, m):
        _add_one(table[j], query[j], out)


@njit(cache=True, nogil=True)
def _add_four(a, b, c, d, query, out):  # type: ignore[no-untyped-def]
    p, q, r, s = query[0], query[1], query[2], query[3]
    for i in range(len(out)):
        # greater minus lesser: never below zero, so it needs no wider type
        total = out[i] + (max(a[i], p) - min(a[i], p))
        total = total + (max(b[i], q) - min(b[i], q))
        total = total + (max(c[i], r) - min(c[i], r))
        out[i] = total + (max(d[i], s) - min(d[i], s))


@njit(cache=True, nogil=True)
def _add_one(a, p, out):  # type: ignore[no-untyped-def]
    for i in range(len(out)):
        out[i] = out[i] + (max(a[i], p) - min(a[i], p))
