"""Find rows that are equal cell by cell, days included: one profile each."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from starshade.kernels.arrays import Array, Int32s, Ints
from starshade.kernels.fingerprint import mix
from starshade.kernels.inner import inner
from starshade.kernels.readonly import fixed

__all__ = ["first_equal_row"]

_NO_DAYS = np.empty(0, dtype=np.uint16)


def first_equal_row(
    indptr: Ints, columns: Int32s, codes: Array, days: NDArray[np.uint16] | None
) -> Ints:
    """Return, for each row, the first row that equals it (itself, where it is the first)."""
    indptr, columns, codes = fixed(indptr), fixed(columns), fixed(codes)
    days = fixed(_NO_DAYS if days is None else days)
    with np.errstate(over="ignore"):  # hashes wrap around, also where run interpreted
        hashes = _hash_rows(indptr, columns, codes, days)
    order = np.argsort(hashes, kind="stable")  # rows ascending within a hash
    return np.asarray(_first_equal(order, hashes, indptr, columns, codes, days))


@njit(cache=True, nogil=True)
def _hash_rows(indptr, columns, codes, days):  # type: ignore[no-untyped-def]
    out = np.empty(len(indptr) - 1, np.uint64)
    for row in range(len(out)):
        h = np.uint64(indptr[row + 1] - indptr[row])
        for p in range(indptr[row], indptr[row + 1]):
            h = mix(h ^ ((np.uint64(columns[p]) << np.uint64(32)) | np.uint64(codes[p])))
            if len(days) > 0:
                h = mix(h + np.uint64(days[p]))
        out[row] = h
    return out


@njit(cache=True, nogil=True)
def _first_equal(order, hashes, indptr, columns, codes, days):  # type: ignore[no-untyped-def]
    first = np.arange(len(order))
    start = 0
    for i in range(1, len(order)):
        if hashes[order[i]] != hashes[order[start]]:
            start = i
            continue
        for j in range(start, i):  # one step, unless two different rows share a hash
            if first[order[j]] == order[j] and _equal(
                order[i], order[j], indptr, columns, codes, days
            ):
                first[order[i]] = order[j]
                break
    return first


@inner
def _equal(a, b, indptr, columns, codes, days):  # type: ignore[no-untyped-def]
    n = indptr[a + 1] - indptr[a]
    if indptr[b + 1] - indptr[b] != n:
        return False
    p, q = indptr[a], indptr[b]
    for _ in range(n):
        if columns[p] != columns[q] or codes[p] != codes[q]:
            return False
        if len(days) > 0 and days[p] != days[q]:
            return False
        p += 1
        q += 1
    return True
