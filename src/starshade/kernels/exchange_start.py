"""The groups that k-exchange begins with: greedy, each chosen for what the whole group costs.

A nucleus, the first record left, looks at a *shortlist* of the records nearest to it (L1), and
takes from it k-1 times the one that widens the group least. (A nucleus that takes the nearest,
as in k-Likeness, ends in groups a tenth to a fifth wider; all records instead of a shortlist
bring nothing more.) What is left over joins the group whose cost it raises least.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from starshade.kernels.exchange_anneal import distance, widened

__all__ = ["greedy_groups"]

_SHORTLIST = 64
_PER_K = 3


@njit(cache=True, nogil=True)
def greedy_groups(table, k):  # type: ignore[no-untyped-def]
    """Return the group of each record, 0…⌊n/k⌋−1, and the groups' widths.

    table : int16, (n, n_columns), n ≥ k
    """
    n, m = table.shape
    group = np.full(n, -1, np.int64)
    n_groups = n // k
    low, high = np.empty((n_groups, m), np.int16), np.empty((n_groups, m), np.int16)
    free = np.arange(n)
    n_free = n
    wanted = max(_SHORTLIST, _PER_K * k)
    near = np.empty(wanted, np.int64)
    least = np.empty(wanted, np.int32)
    for g in range(n_groups):
        nucleus = table[free[0]]
        group[free[0]] = g
        found = _shortlist(table, free[1:n_free], nucleus, near, least)
        low[g], high[g] = nucleus, nucleus
        for _ in range(k - 1):
            best = 0
            narrowest = widened(low[g], high[g], table[near[0]])
            for c in range(1, found):
                wide = widened(low[g], high[g], table[near[c]])
                if wide < narrowest:
                    best, narrowest = c, wide
            _take(low[g], high[g], table[near[best]])
            group[near[best]] = g
            for c in range(best, found - 1):
                near[c] = near[c + 1]
            found -= 1
        n_free = _close_ranks(free, n_free, group)
    for p in range(n_free):
        _join(table, free[p], group, low, high)
    width = np.empty(n_groups, np.int64)
    for g in range(n_groups):
        width[g] = widened(low[g], high[g], low[g])
    return group, width


@njit(cache=True, nogil=True)
def _shortlist(table, free, nucleus, near, least):  # type: ignore[no-untyped-def]
    """Write the nearest to `near`, ties to the earlier; return how many they are."""
    wanted = len(near)
    found = 0
    for i in free:
        away = distance(nucleus, table[i])
        if found == wanted and away >= least[wanted - 1]:
            continue
        found = min(found + 1, wanted)
        p = found - 1
        while p > 0 and least[p - 1] > away:
            least[p] = least[p - 1]
            near[p] = near[p - 1]
            p -= 1
        least[p] = away
        near[p] = i
    return found


@njit(cache=True, nogil=True)
def _close_ranks(free, n_free, group):  # type: ignore[no-untyped-def]
    end = 0
    for p in range(n_free):
        if group[free[p]] < 0:
            free[end] = free[p]
            end += 1
    return end


@njit(cache=True, nogil=True)
def _join(table, record, group, low, high):  # type: ignore[no-untyped-def]
    """Put a record that is left over into the group whose cost it raises least."""
    sizes = np.zeros(len(low), np.int64)
    for g in group:
        if g >= 0:
            sizes[g] += 1
    best, least = 0, np.int64(-1)
    for g in range(len(low)):
        wide = widened(low[g], high[g], table[record])
        rise = (sizes[g] + 1) * wide - sizes[g] * widened(low[g], high[g], low[g])
        if least < 0 or rise < least:
            best, least = g, rise
    group[record] = best
    _take(low[best], high[best], table[record])


@njit(cache=True, nogil=True)
def _take(low, high, comes):  # type: ignore[no-untyped-def]
    for j in range(len(low)):
        low[j] = min(low[j], comes[j])
        high[j] = max(high[j], comes[j])
