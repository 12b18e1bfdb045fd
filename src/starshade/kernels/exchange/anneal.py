"""Exchange records between groups while that lessens what the groups cost, and a little beyond.

A group's *width* is the sum over columns of the greatest minus the least value of its members, and
what single-valued cells cost besides: columns in which all members have one value, above zero. Its
cost is its size times its width. A step draws a record, one of its nearest records, and that
one's group. Either the record moves there, or it changes places with a member. The step is taken
if the cost falls, or rises by no more than a threshold drawn at random from a *temperature* that
falls to nothing (Kirkpatrick, Gelatt & Vecchi 1983): first the groups may come apart, in the end
only what helps is done. What is returned is never worse than what came.

Of each group and column the two least and the two greatest values are kept, so a step is judged
without looking at the other members.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from starshade.kernels.arrays import copy_to, inner
from starshade.kernels.fingerprint import number

#: −ln of evenly spread chances: a temperature times a random entry is a threshold
CHANCES = -np.log((np.arange(1024) + 0.5) / 1024)

_HALF = np.uint64(32)
_QUARTER = np.uint64(16)
_LOW = np.uint64(0xFFFF)
_TEN = np.uint64(1023)


@njit(cache=True, nogil=True)
def nearest(table, wanted, pool):  # type: ignore[no-untyped-def]
    """List for each record the `wanted` nearest (L1) of the first `pool`, ties to the earlier."""
    near = np.zeros((len(table), wanted), np.int32)
    least = np.zeros(wanted, np.int32)
    for r in range(len(table)):
        found = 0
        for q in range(min(len(table), pool)):
            if q == r:
                continue
            away = distance(table[r], table[q])
            if found == wanted and away >= least[wanted - 1]:
                continue
            found = min(found + 1, wanted)
            p = found - 1
            while p > 0 and least[p - 1] > away:
                least[p] = least[p - 1]
                near[r, p] = near[r, p - 1]
                p -= 1
            least[p] = away
            near[r, p] = q
    return near


@njit(cache=True, nogil=True)
def anneal(table, group, n_groups, k, price, near, heat, shrink, chances, per_stage, key):  # type: ignore[no-untyped-def]
    """Lessen the sum of the groups' costs; `group` is changed in place.

    table : int16, (n, n_columns), −16,383 ≤ values ≤ 16,384
    group : int64, (n,): 0…n_groups−1, each with k members or more, fewer than 2k, or none
    price : what a step of a range costs, and a single-valued cell; None: 1 and 0
    near : int32, (n, n_near): whose groups a record may turn to
    heat : temperature at first, for groups one unit wide; it grows with the root of the width
    shrink : float64, (n_stages,): what remains of the temperature in each stage
    chances : `CHANCES`
    per_stage : steps
    key : uint64, of the random numbers
    """
    n, m = table.shape
    member = np.zeros((n_groups, 2 * k), np.int32)
    size = np.zeros(n_groups, np.int64)
    place = np.zeros(n, np.int64)
    for i in range(n):
        _add(i, group[i], member, size, place, group)
    ends = np.empty((n_groups, 4, m), np.int16)
    width = np.empty(n_groups, np.int64)
    for g in range(n_groups):
        width[g] = _measure(table, member[g], size[g], ends[g], price)
    cost = (size * width).sum()
    hot = heat * np.sqrt(cost / n)
    least = cost
    kept = group.copy()
    step = np.uint64(0)
    for stage in range(len(shrink)):
        warm = hot * shrink[stage]
        for _ in range(per_stage):
            draw = number(key, step)
            step += np.uint64(1)
            # one draw, four parts: 32 bits the record, 10 + 6 chance and member, 16 the neighbour
            r = np.int64(((draw >> _HALF) * np.uint64(n)) >> _HALF)
            q = near[r, np.int64(((draw & _LOW) * np.uint64(near.shape[1])) >> _QUARTER)]
            a, b = group[r], group[q]
            if a == b:
                continue
            bits = number(draw, step)
            may_rise = warm * chances[np.int64(bits & _TEN)]
            p = np.int64(((bits >> _HALF) * np.uint64(size[b])) >> _HALF)
            s = member[b, p]
            if s == q:  # the neighbour itself stays: the record moves
                if size[a] == k or size[b] == 2 * k - 1:
                    continue
                rise = (size[a] - 1) * _without(ends[a], table[r], price) - size[a] * width[a]
                wide = widened(ends[b, 0], ends[b, 2], table[r], price)
                rise += (size[b] + 1) * wide - size[b] * width[b]
                if rise > may_rise:
                    continue
                _remove(r, a, member, size, place)
                _add(r, b, member, size, place, group)
            else:
                rise = size[b] * (_replaced(ends[b], table[s], table[r], price) - width[b])
                if rise - size[a] * width[a] > may_rise:
                    continue
                rise += size[a] * (_replaced(ends[a], table[r], table[s], price) - width[a])
                if rise > may_rise:
                    continue
                member[a, place[r]], member[b, p] = s, r
                place[s], place[r] = place[r], p
                group[s], group[r] = a, b
            width[a] = _measure(table, member[a], size[a], ends[a], price)
            width[b] = _measure(table, member[b], size[b], ends[b], price)
            cost += rise
        if cost < least:
            least = cost
            copy_to(kept, group)
    copy_to(group, kept)
    return least


@inner
def _add(record, g, member, size, place, group):  # type: ignore[no-untyped-def]
    member[g, size[g]] = record
    place[record] = size[g]
    size[g] += 1
    group[record] = g


@inner
def _remove(record, g, member, size, place):  # type: ignore[no-untyped-def]
    size[g] -= 1
    last = member[g, size[g]]
    member[g, place[record]] = last
    place[last] = place[record]


@inner
def distance(one, other):  # type: ignore[no-untyped-def]
    """L1 distance of two records."""
    total = np.int32(0)  # narrow, here and below: twice as many columns at a time
    for j in range(len(one)):
        total = np.int32(total + abs(np.int32(one[j]) - np.int32(other[j])))
    return total


@inner
def _measure(table, members, size, ends, price):  # type: ignore[no-untyped-def]
    """Find least, second least, greatest and second greatest of each column; return the width."""
    low, low2, high, high2 = ends[0], ends[1], ends[2], ends[3]
    low[:] = 32767
    low2[:] = 32767
    high[:] = -32768
    high2[:] = -32768
    for p in range(size):
        row = table[members[p]]
        for j in range(len(row)):
            v = row[j]
            low2[j] = min(low2[j], max(low[j], v))
            low[j] = min(low[j], v)
            high2[j] = max(high2[j], min(high[j], v))
            high[j] = max(high[j], v)
    return widened(low, high, low, price)


@inner
def _replaced(ends, leaves, comes, price):  # type: ignore[no-untyped-def]
    """Width of a group after one record took another's place."""
    low, low2, high, high2 = ends[0], ends[1], ends[2], ends[3]
    total, single = np.int32(0), np.int32(0)
    for j in range(len(low)):
        least = low2[j] if leaves[j] == low[j] else low[j]
        greatest = high2[j] if leaves[j] == high[j] else high[j]
        least, greatest = min(least, comes[j]), max(greatest, comes[j])
        total = np.int32(total + np.int32(greatest) - np.int32(least))
        if price is not None:
            single = np.int32(single + np.int32(least == greatest and least > 0))
    return np.int64(total) if price is None else price[0] * total + price[1] * single


@inner
def _without(ends, leaves, price):  # type: ignore[no-untyped-def]
    low, low2, high, high2 = ends[0], ends[1], ends[2], ends[3]
    total, single = np.int32(0), np.int32(0)
    for j in range(len(low)):
        least = low2[j] if leaves[j] == low[j] else low[j]
        greatest = high2[j] if leaves[j] == high[j] else high[j]
        total = np.int32(total + np.int32(greatest) - np.int32(least))
        if price is not None:
            single = np.int32(single + np.int32(least == greatest and least > 0))
    return np.int64(total) if price is None else price[0] * total + price[1] * single


@inner
def widened(low, high, comes, price):  # type: ignore[no-untyped-def]
    """Width of a group with one record more."""
    total, single = np.int32(0), np.int32(0)
    for j in range(len(low)):
        least, greatest = min(low[j], comes[j]), max(high[j], comes[j])
        total = np.int32(total + np.int32(greatest) - np.int32(least))
        if price is not None:
            single = np.int32(single + np.int32(least == greatest and least > 0))
    return np.int64(total) if price is None else price[0] * total + price[1] * single


@njit(cache=True, nogil=True)
def dissolve(table, group, n_groups, k, price):  # type: ignore[no-untyped-def]
    """Dissolve what groups cost more than their members elsewhere, the dearest first.

    A group that somebody has just joined stays. `group` is changed in place; numbers of groups
    that are no more stay free.

    table : int16, (n, n_columns)
    group : int64, (n,): 0…n_groups−1, each with k members or more, fewer than 2k, or none
    price : as `anneal` has it

    Returns how many are no more.
    """
    n, m = table.shape
    low, high = np.full((n_groups, m), 32767, np.int16), np.full((n_groups, m), -32768, np.int16)
    size = np.zeros(n_groups, np.int64)
    for i in range(n):
        size[group[i]] += 1
        _reach(low[group[i]], high[group[i]], table[i])
    width = np.zeros(n_groups, np.int64)
    first = np.zeros(n_groups + 1, np.int64)
    for g in range(n_groups):
        first[g + 1] = first[g] + size[g]
        if size[g] > 0:
            width[g] = widened(low[g], high[g], low[g], price)
    members, place = np.empty(n, np.int64), first[:-1].copy()
    for i in range(n):
        members[place[group[i]]] = i
        place[group[i]] += 1
    joined = np.zeros(n_groups, np.bool_)
    taken = np.empty(2 * k, np.int64)
    before = np.empty((2 * k, 2, m), np.int16)
    gone = 0
    for g in _dearest_first(size, width):
        if joined[g] or width[g] == 0:
            continue
        leaving = members[first[g] : first[g + 1]]
        room = len(leaving) * width[g]
        placed = 0
        while placed < len(leaving):
            row = table[leaving[placed]]
            b, rise = _cheapest(row, g, low, high, size, width, k, room, price)
            if b < 0:
                break
            room -= rise
            taken[placed] = b
            copy_to(before[placed, 0], low[b])
            copy_to(before[placed, 1], high[b])
            placed += 1
            _reach(low[b], high[b], row)
            size[b] += 1
            width[b] = widened(low[b], high[b], row, price)
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
            width[b] = widened(low[b], high[b], low[b], price)
    return gone


@inner
def _dearest_first(size, width):  # type: ignore[no-untyped-def]
    """List the groups by what they cost, ties in their order; as NumPy would, soon compiled."""
    order = np.empty(len(size), np.int64)
    for g in range(len(size)):
        p = g
        while p > 0 and size[order[p - 1]] * width[order[p - 1]] < size[g] * width[g]:
            order[p] = order[p - 1]
            p -= 1
        order[p] = g
    return order


@inner
def _reach(low, high, row):  # type: ignore[no-untyped-def]
    for j in range(len(row)):
        low[j] = min(low[j], row[j])
        high[j] = max(high[j], row[j])


@inner
def _cheapest(row, own, low, high, size, width, k, room, price):  # type: ignore[no-untyped-def]
    """Return the first other group whose cost rises least, by less than `room`; else −1."""
    best, least = -1, room
    for b in range(len(size)):
        # the newcomer pays the group's width at least, unless it ends single-valued cells
        if b == own or (price is None and width[b] >= least) or size[b] < k or size[b] == 2 * k - 1:
            continue
        rise = (size[b] + 1) * widened(low[b], high[b], row, price) - size[b] * width[b]
        if rise < least:
            best, least = b, rise
    return best, least
