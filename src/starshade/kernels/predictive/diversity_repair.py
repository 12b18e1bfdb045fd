"""Choose the groups that get an item's fake edges (PA §5.1; definitions, "predictive")."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from starshade.kernels.arrays import Floats, Int32s, Ints, Words, fixed, inner
from starshade.kernels.warm import announce


def choose_groups(open_to: Words, missing: Ints, cost: Floats, first: Ints) -> Ints:
    """Choose groups until every set is shown often enough, the cheapest first.

    `open_to` (sets, words): bit g: group g would show the set if it got the item. `missing`
    (sets,): groups that the set lacks, at most as many as it has bits. `cost`, `first` (groups,):
    what a group costs, above 0, and its place among those that cost as much, no two alike. Returns:
    groups in the order chosen: each time the one that costs least for every set it serves, then the
    one whose place is first.
    """
    announce("the repair of diversity", _choose)
    out = np.empty(len(cost), np.int64)
    n = _choose(open_to.copy(), missing.copy(), fixed(cost), fixed(first), out)
    return out[:n]


@njit(cache=True, nogil=True)
def _choose(open_to, missing, cost, first, out):  # type: ignore[no-untyped-def]
    serves = np.zeros(len(cost), np.int64)
    lacking = 0
    for s in range(len(missing)):
        if missing[s] > 0:
            lacking += 1
            _add(open_to[s], serves, 1)
    n = 0
    while lacking > 0:
        best = -1
        for g in range(len(cost)):
            if serves[g] > 0 and (best < 0 or _cheaper(g, best, serves, cost, first)):
                best = g
        if best < 0:
            break
        out[n] = best
        n += 1
        word, bit = best // 64, np.uint64(1) << np.uint64(best % 64)
        serves[best] = 0
        for s in range(len(missing)):
            if missing[s] > 0 and open_to[s, word] & bit:
                open_to[s, word] &= ~bit
                missing[s] -= 1
                if missing[s] == 0:
                    lacking -= 1
                    _add(open_to[s], serves, -1)
    return n


@inner
def _cheaper(a, b, serves, cost, first):  # type: ignore[no-untyped-def]
    per_set = cost[a] * serves[b] - cost[b] * serves[a]
    if per_set != 0:
        return per_set < 0
    return first[a] < first[b]


@inner
def _add(words, serves, amount):  # type: ignore[no-untyped-def]
    for w in range(len(words)):
        word = words[w]
        g = 64 * w
        while word != np.uint64(0):
            if word & np.uint64(1):
                serves[g] += amount
            word >>= np.uint64(1)
            g += 1


_BLOCK = 2**24  # cells packed together


def bits_of_levels(levels: NDArray[np.generic]) -> Words:
    """Pack what groups show (nonzero) into rows of bits by item, group g in bit g % 64."""
    n_groups, n_items = levels.shape
    words = max(1, -(-n_groups // 64))
    out = np.zeros((n_items, words * 8), dtype=np.uint8)
    step = max(8, _BLOCK // max(n_items, 1) // 8 * 8)
    for start in range(0, n_groups, step):
        packed = np.packbits(levels[start : start + step] != 0, axis=0, bitorder="little")
        out[:, start // 8 : start // 8 + len(packed)] = packed.T
    return out.view("<u8").astype(np.uint64, copy=False)


def bits_of_rows(indptr: Ints, columns: Int32s, n_items: int) -> Words:
    """Pack what groups show, a row of columns each, into rows of bits by item."""
    out = np.zeros((n_items, max(1, -(-(len(indptr) - 1) // 64))), dtype=np.uint64)
    _set_bits(fixed(indptr), fixed(columns), out)
    return out


@njit(cache=True, nogil=True)
def _set_bits(indptr, columns, out):  # type: ignore[no-untyped-def]
    for row in range(len(indptr) - 1):
        bit = np.uint64(1) << np.uint64(row % 64)
        for p in range(indptr[row], indptr[row + 1]):
            out[columns[p], row // 64] |= bit
