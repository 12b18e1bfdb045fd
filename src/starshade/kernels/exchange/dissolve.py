"""Dissolve groups: where k-exchange has more of them than is good.

Three records that are equal are a group without cost where k is 2. With ⌊n/k⌋ groups, each in
need of k members, one of the three must leave for a group that lacks somebody. So a group goes
where giving its members to others, each to the one whose cost rises least, costs less than it
does; those others become larger than k, and moves have room again. No group need ever have 2k
members: cut in two, it costs no more.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from starshade.kernels.exchange.anneal import widened
from starshade.kernels.inner import copy_to, inner

__all__ = ["dissolve"]


@njit(cache=True, nogil=True)
def dissolve(table, group, n_groups, k):  # type: ignore[no-untyped-def]
    """Dissolve what groups cost more than their members elsewhere, the dearest first.

    A group that somebody has just joined stays. `group` is changed in place; numbers of groups
    that are no more stay free.

    table : int16, (n, n_columns)
    group : int64, (n,): 0…n_groups−1, each with k members or more, fewer than 2k, or none

    Returns how many are no more.
    """
    n, m = table.shape
    low, high = np.full((n_groups, m), 32767, np.int16), np.full((n_groups, m), -1, np.int16)
    size = np.zeros(n_groups, np.int64)
    for i in range(n):
        size[group[i]] += 1
        _reach(low[group[i]], high[group[i]], table[i])
    width = np.zeros(n_groups, np.int64)
    first = np.zeros(n_groups + 1, np.int64)
    for g in range(n_groups):
        first[g + 1] = first[g] + size[g]
        if size[g] > 0:
            width[g] = widened(low[g], high[g], low[g])
    members = np.argsort(group, kind="mergesort")
    joined = np.zeros(n_groups, np.bool_)
    taken = np.empty(2 * k, np.int64)
    before = np.empty((2 * k, 2, m), np.int16)
    gone = 0
    for g in np.argsort(-size * width, kind="mergesort"):
        if joined[g] or width[g] == 0:
            continue
        leaving = members[first[g] : first[g + 1]]
        room = len(leaving) * width[g]
        placed = 0
        while placed < len(leaving):
            row = table[leaving[placed]]
            b, rise = _cheapest(row, g, low, high, size, width, k, room)
            if b < 0:
                break
            room -= rise
            taken[placed] = b
            copy_to(before[placed, 0], low[b])
            copy_to(before[placed, 1], high[b])
            placed += 1
            _reach(low[b], high[b], row)
            size[b] += 1
            width[b] = widened(low[b], high[b], row)
        if placed == len(leaving):
            for p in range(placed):
                group[leaving[p]] = taken[p]
                joined[taken[p]] = True
            size[g], width[g] = 0, 0
            gone += 1
            continue
        for p in range(placed - 1, -1, -1):  # it costs too much: all as it was
            b = taken[p]
            copy_to(low[b], before[p, 0])
            copy_to(high[b], before[p, 1])
            size[b] -= 1
            width[b] = widened(low[b], high[b], low[b])
    return gone


@inner
def _reach(low, high, row):  # type: ignore[no-untyped-def]
    for j in range(len(row)):
        low[j] = min(low[j], row[j])
        high[j] = max(high[j], row[j])


@inner
def _cheapest(row, own, low, high, size, width, k, room):  # type: ignore[no-untyped-def]
    """Return the first other group whose cost rises least, by less than `room`; else −1."""
    best, least = -1, room
    for b in range(len(size)):
        # the newcomer pays the group's width at least
        if b == own or width[b] >= least or size[b] < k or size[b] == 2 * k - 1:
            continue
        rise = (size[b] + 1) * widened(low[b], high[b], row) - size[b] * width[b]
        if rise < least:
            best, least = b, rise
    return best, least
