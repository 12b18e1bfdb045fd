"""Joining null patterns that too few records share to their nearest pattern.

Patterns are words of bits, one for each item. Small patterns are met in a given order; each joins
the nearest one left, by the number of items in which they differ, and is repaired to it. What is
still too small is met again.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from starshade.kernels.arrays import Ints, Words
from starshade.kernels.bits import ones
from starshade.kernels.inner import inner

__all__ = ["join_small"]


def join_small(words: Words, sizes: Ints, k: int) -> Ints:
    """Join patterns, the earlier first, until each has k records; return what each has become."""
    with np.errstate(over="ignore"):  # counting bits wraps around where run interpreted
        return np.asarray(_join(words, sizes.copy(), k))


@njit(cache=True, nogil=True)
def _join(words, sizes, k):  # type: ignore[no-untyped-def]
    n = len(words)
    into = np.arange(n)
    alive = n
    small = True
    while small and alive > 1:
        small = False
        for p in range(n):
            if into[p] != p or sizes[p] >= k or alive == 1:
                continue
            target = _nearest(words, into, p)
            into[p] = target
            sizes[target] += sizes[p]
            alive -= 1
            small = small or sizes[target] < k
    for p in range(n):
        root = p
        while into[root] != root:
            root = into[root]
        into[p] = root
    return into


@inner
def _nearest(words, into, p):  # type: ignore[no-untyped-def]
    best, least = -1, 64 * words.shape[1] + 1
    for q in range(len(words)):
        if into[q] != q or q == p:
            continue
        away = np.int64(0)
        for w in range(words.shape[1]):
            away += np.int64(ones(words[p, w] ^ words[q, w]))
            if away >= least:
                break
        if away < least:
            best, least = q, away
    return best
