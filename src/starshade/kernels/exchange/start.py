"""The groups that k-exchange begins with: greedy, each chosen for what the whole group costs.

A nucleus, the first record left, takes k-1 times the record that widens its group least, of all
that are left. What the group costs each record is kept and mended (`widening`), in the
narrowest numbers that hold it: bytes, for twenty items of five steps.

Ties are many, and who wins them matters: the record that stands most *apart*. It will hardly be
taken so cheaply again, while those in the thick of it find a place in any group. (Beside ties in
the seeded order that is worth a fiftieth of the loss. Nuclei that stand apart, or cost that
counts it, lose more again.) What is left over joins the group whose cost it raises least.
"""

from __future__ import annotations

import numpy as np

from starshade.kernels.exchange.anneal import widened
from starshade.kernels.greedy.widening import add_distances, cheapest
from starshade.kernels.inner import copy_to, inner

__all__ = ["greedy_groups"]

_SHARE = 8  # ranks are closed when this part of the records has left
_SAMPLE = 1024  # records that tell who stands apart, at most; no more than there are nuclei
_PARTS = 8  # of the sample


@inner
def greedy_groups(table, k, far, kind):  # type: ignore[no-untyped-def]
    """Return the group of each record, 0…⌊n/k⌋−1, and the groups' widths.

    table : int16, (n, n_columns), n ≥ k
    far : above every distance of two records
    kind : an array whose dtype holds 2 · far
    """
    n, m = table.shape
    work = np.empty((m, n), kind.dtype)
    for i in range(n):
        for j in range(m):
            work[j, i] = table[i, j]
    place = np.argsort(-_apart(work, min(_SAMPLE, n // k), far), kind="mergesort")
    for i in range(n):
        for j in range(m):
            work[j, i] = table[place[i], j]
    group = np.full(n, -1, np.int64)
    n_groups = n // k
    low, high = np.empty((n_groups, m), kind.dtype), np.empty((n_groups, m), kind.dtype)
    left = n
    formed = 0
    while formed < n_groups:
        count = min(n_groups - formed, 1 + left // (_SHARE * k))
        _grow(work[:, :left], place[:left], k, far, group, formed, low, high, count)
        formed += count
        left = _close_ranks(work, place, left, group)
    for p in np.sort(place[:left]):
        _join(table, p, group, low, high)
    width = np.empty(n_groups, np.int64)
    for g in range(n_groups):
        width[g] = widened(low[g], high[g], low[g])
    return group, width


@inner
def _apart(work, sampled, far):  # type: ignore[no-untyped-def]
    """How far each record is from the nearest other in each part of a sample, added up."""
    n = work.shape[1]
    away, least = np.empty(n, work.dtype), np.empty(n, work.dtype)
    total = np.zeros(n, np.int64)
    for part in range(_PARTS):
        least[:] = far
        for s in range(part * sampled // _PARTS, (part + 1) * sampled // _PARTS):
            away[:] = 0
            add_distances(work, s, away)
            away[s] = far
            for i in range(n):
                least[i] = min(least[i], away[i])
        for i in range(n):
            total[i] += least[i]
    return total


@inner
def _grow(work, place, k, far, group, formed, low, high, count):  # type: ignore[no-untyped-def]
    """Form so many groups. Who has left costs `far` or more, whatever is mended."""
    m, n = work.shape
    gone = np.zeros(n, work.dtype)
    cost = np.empty(n, work.dtype)
    before = np.empty((2, m), work.dtype)
    at = np.argsort(place)
    next_seed = 0
    for g in range(formed, formed + count):
        while gone[at[next_seed]] > 0:
            next_seed += 1
        taken = at[next_seed]
        copy_to(cost, gone)
        add_distances(work, taken, cost)
        copy_to(low[g], work[:, taken])
        copy_to(high[g], work[:, taken])
        for member in range(k):
            if member > 0:
                taken = cheapest(work, before, low[g], high[g], cost)
            copy_to(before[0], low[g])
            copy_to(before[1], high[g])
            for j in range(m):
                low[g, j] = min(low[g, j], work[j, taken])
                high[g, j] = max(high[g, j], work[j, taken])
            gone[taken] = far
            cost[taken] = 2 * far - 1  # at most far - 1 is mended
            group[place[taken]] = g


@inner
def _close_ranks(work, place, left, group):  # type: ignore[no-untyped-def]
    """Move who is left to the front, in the same order; return how many they are."""
    here = np.flatnonzero(group[place[:left]] < 0)
    for j in range(len(work)):
        for p in range(len(here)):
            work[j, p] = work[j, here[p]]
    for p in range(len(here)):
        place[p] = place[here[p]]
    return len(here)


@inner
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
    for j in range(len(table[record])):
        low[best, j] = min(low[best, j], table[record, j])
        high[best, j] = max(high[best, j], table[record, j])
