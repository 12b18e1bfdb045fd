"""Putting a few hundred records into groups of at least k that cost little to clip.

First greedily: a group begins with the record that would have cost the one before most, and takes
in, one by one, the record that costs it least, until there are k. Then by local search: a record
moves to another group, or changes places with a record there, wherever that lowers the cost of
both together. The cost is exactly what clipping will cost (`interval.item_cost`).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from starshade.kernels.arrays import Bytes, Ints, copy_to, cut, inner, run
from starshade.kernels.interval.interval import item_cost

_LESS = 1e-9  # an improvement below this is rounding
_TIE = 1e-3  # weight of how far ratings lie apart, where clipping costs the same


def pack(
    rows: Bytes,
    indptr: Ints,
    *,
    n_levels: int,
    width: int,
    null_cost: float,
    k: int,
    sweeps: int,
    tried: int,
) -> Ints:
    """Group the records of every node; return the group of each within its node."""
    label = np.zeros(len(rows), dtype=np.int64)
    lanes = cut(np.diff(indptr))

    def work(lane: int) -> None:
        first, last = lanes[lane]
        _pack(rows, indptr[first : last + 1], n_levels, width, null_cost, k, sweeps, tried, label)

    run(work, len(lanes), "packing groups")
    return label


@njit(cache=True, nogil=True)
def _pack(rows, indptr, n_levels, width, null_cost, k, sweeps, tried, label):  # type: ignore[no-untyped-def]
    for node in range(len(indptr) - 1):
        own = rows[indptr[node] : indptr[node + 1]]
        groups = label[indptr[node] : indptr[node + 1]]
        if len(own) < 2 * k or _total(own, n_levels, width, null_cost) == 0.0:
            continue
        n_groups = len(own) // k
        counts = np.zeros((n_groups, rows.shape[1], n_levels + 1), np.int64)
        _greedy(own, groups, counts, width, null_cost, k)
        _improve(own, groups, counts, width, null_cost, k, sweeps, tried)


@inner
def _total(rows, n_levels, width, null_cost):  # type: ignore[no-untyped-def]
    counts = np.zeros((rows.shape[1], n_levels + 1), np.int64)
    for r in range(len(rows)):
        _put(counts, rows[r], 1)
    cost = 0.0
    for j in range(len(counts)):
        cost += item_cost(counts[j], width, null_cost)
    return cost


@inner
def _put(counts, row, sign):  # type: ignore[no-untyped-def]
    for j in range(len(row)):
        counts[j, row[j]] += sign


@inner
def _changes(counts, sign, width, null_cost, tie, out):  # type: ignore[no-untyped-def]
    """Write what one record more (or less) with each code would change, item by item."""
    for j in range(len(counts)):
        now = item_cost(counts[j], width, null_cost)
        apart = item_cost(counts[j], 0, null_cost) if tie > 0.0 else 0.0
        for c in range(counts.shape[1]):
            if sign < 0 and counts[j, c] == 0:
                continue
            counts[j, c] += sign
            out[j, c] = item_cost(counts[j], width, null_cost) - now
            if tie > 0.0:
                out[j, c] += tie * (item_cost(counts[j], 0, null_cost) - apart)
            counts[j, c] -= sign


@inner
def _sum(changes, row):  # type: ignore[no-untyped-def]
    total = 0.0
    for j in range(len(row)):
        total += changes[j, row[j]]
    return total


@inner
def _greedy(rows, groups, counts, width, null_cost, k):  # type: ignore[no-untyped-def]
    n = len(rows)
    changes = np.zeros(counts.shape[1:], np.float64)
    free = np.arange(n)
    left = n
    groups[:] = -1
    at = 0
    for g in range(len(counts)):
        if g:
            at = _extreme(rows, free[:left], changes, -1.0)
        for size in range(k):
            if size:
                at = _extreme(rows, free[:left], changes, 1.0)
            groups[free[at]] = g
            _put(counts[g], rows[free[at]], 1)
            copy_to(free[at:], free[at + 1 : left])
            left -= 1
            _changes(counts[g], 1, width, null_cost, _TIE, changes)
    for r in free[:left]:  # fewer than k
        best, least = 0, np.inf
        for g in range(len(counts)):
            _changes(counts[g], 1, width, null_cost, 0.0, changes)
            cost = _sum(changes, rows[r])
            if cost < least:
                best, least = g, cost
        groups[r] = best
        _put(counts[best], rows[r], 1)


@inner
def _extreme(rows, free, changes, sign):  # type: ignore[no-untyped-def]
    """Return the place of the record that changes least (sign 1) or most (-1), the first such."""
    best, least = 0, np.inf
    for i in range(len(free)):
        cost = sign * _sum(changes, rows[free[i]])
        if cost < least:
            best, least = i, cost
    return best


@inner
def _improve(rows, groups, counts, width, null_cost, k, sweeps, tried):  # type: ignore[no-untyped-def]
    joining = np.zeros(counts.shape, np.float64)
    sizes = np.zeros(len(counts), np.int64)
    for g in groups:
        sizes[g] += 1
    for g in range(len(counts)):
        _changes(counts[g], 1, width, null_cost, 0.0, joining[g])
    leaving = np.zeros(counts.shape[1:], np.float64)
    entering = np.zeros(counts.shape[1:], np.float64)
    offer = np.empty(len(counts), np.float64)
    for _ in range(sweeps):
        changed = False
        for r in range(len(rows)):
            home = groups[r]
            won = _without(counts[home], rows[r], width, null_cost)
            if won <= _LESS:
                continue  # it costs nothing where it is
            for g in range(len(counts)):
                offer[g] = np.inf if g == home else _sum(joining[g], rows[r])
            best = int(np.argmin(offer))
            other = -1
            if not (sizes[home] > k and offer[best] < won - _LESS):
                best, other = _exchange(
                    rows, groups, counts, width, null_cost, r, won, offer, leaving, entering, tried
                )
                if other < 0:
                    continue
            _move(rows, groups, counts, sizes, r, best)
            if other >= 0:
                _move(rows, groups, counts, sizes, other, home)
            _changes(counts[home], 1, width, null_cost, 0.0, joining[home])
            _changes(counts[best], 1, width, null_cost, 0.0, joining[best])
            changed = True
        if not changed:
            break


@inner
def _move(rows, groups, counts, sizes, r, g):  # type: ignore[no-untyped-def]
    _put(counts[groups[r]], rows[r], -1)
    sizes[groups[r]] -= 1
    _put(counts[g], rows[r], 1)
    sizes[g] += 1
    groups[r] = g


@inner
def _without(counts, row, width, null_cost):  # type: ignore[no-untyped-def]
    won = 0.0
    for j in range(len(row)):
        won += item_cost(counts[j], width, null_cost)
        counts[j, row[j]] -= 1
        won -= item_cost(counts[j], width, null_cost)
        counts[j, row[j]] += 1
    return won


@inner
def _exchange(rows, groups, counts, width, null_cost, r, won, offer, leaving, entering, tried):  # type: ignore[no-untyped-def]
    """Return group and record that `r` had best change places with; record -1: none."""
    home = groups[r]
    best, other, least = -1, -1, -_LESS
    _put(counts[home], rows[r], -1)
    _changes(counts[home], 1, width, null_cost, 0.0, entering)
    for _ in range(min(tried, len(counts) - 1)):
        g = int(np.argmin(offer))
        _put(counts[g], rows[r], 1)
        _changes(counts[g], -1, width, null_cost, 0.0, leaving)
        for s in range(len(rows)):
            if groups[s] == g:
                change = offer[g] - won + _sum(leaving, rows[s]) + _sum(entering, rows[s])
                if change < least:
                    best, other, least = g, s, change
        _put(counts[g], rows[r], -1)
        offer[g] = np.inf
    _put(counts[home], rows[r], 1)
    return best, other


@njit(cache=True, nogil=True)
def count_groups(codes, groups, n_groups, n_levels):  # type: ignore[no-untyped-def]
    """Count each code of each item in each group, shape (n_groups, n_items, n_levels + 1)."""
    counts = np.zeros((n_groups, codes.shape[1], n_levels + 1), np.int32)
    for r in range(len(codes)):
        for j in range(codes.shape[1]):
            counts[groups[r], j, codes[r, j]] += 1
    return counts


@njit(cache=True, nogil=True)
def union_costs(counts, group, others, width, null_cost):  # type: ignore[no-untyped-def]
    """Return what a group's union with each other one costs more than both apart."""
    out = np.zeros(len(others), np.float64)
    for i in range(len(others)):
        for j in range(counts.shape[1]):
            mine, theirs = counts[group, j], counts[others[i], j]
            out[i] += item_cost(mine + theirs, width, null_cost)
            out[i] -= item_cost(mine, width, null_cost) + item_cost(theirs, width, null_cost)
    return out
