"""Choose the groups that get an item's fake edges (PA §5.1; definitions, "predictive")."""

from __future__ import annotations

import numpy as np
from numba import njit

from starshade.kernels.arrays import Floats, Ints, Words
from starshade.kernels.inner import inner
from starshade.kernels.readonly import fixed
from starshade.kernels.warm import announce

__all__ = ["choose_groups"]


def choose_groups(open_to: Words, missing: Ints, sizes: Ints, spread: Floats, tie: Ints) -> Ints:
    """Choose groups until every set is shown often enough, the cheapest first.

    `open_to` (sets, words): bit g: group g would show the set if it got the item. `missing`
    (sets,): groups that the set lacks, at most as many as it has bits. `sizes`, `spread`, `tie`
    (groups,): a group's members; the spread of their padded values; its place in the draw that
    settles ties, no two alike. Returns: groups in the order chosen: each time the one with the
    fewest members for every set it serves, then with the fewest members, then with the least
    spread, then by the draw.
    """
    announce("the repair of diversity", _choose)
    out = np.empty(len(sizes), np.int64)
    n = _choose(open_to.copy(), missing.copy(), fixed(sizes), fixed(spread), fixed(tie), out)
    return out[:n]


@njit(cache=True, nogil=True)
def _choose(open_to, missing, sizes, spread, tie, out):  # type: ignore[no-untyped-def]
    serves = np.zeros(len(sizes), np.int64)
    lacking = 0
    for s in range(len(missing)):
        if missing[s] > 0:
            lacking += 1
            _add(open_to[s], serves, 1)
    n = 0
    while lacking > 0:
        best = -1
        for g in range(len(sizes)):
            if serves[g] > 0 and (best < 0 or _cheaper(g, best, serves, sizes, spread, tie)):
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
def _cheaper(a, b, serves, sizes, spread, tie):  # type: ignore[no-untyped-def]
    per_set = sizes[a] * serves[b] - sizes[b] * serves[a]
    if per_set != 0:
        return per_set < 0
    if sizes[a] != sizes[b]:
        return sizes[a] < sizes[b]
    if spread[a] != spread[b]:
        return spread[a] < spread[b]
    return tie[a] < tie[b]


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
