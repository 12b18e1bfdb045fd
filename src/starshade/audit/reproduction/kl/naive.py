"""k-Likeness and k-Member as they are printed, step by step, compiled; for readings and times.

Written alike, without any of the short cuts of starshade's own, so that one's time can be held
against the other's. The same functions run interpreted as ``likeness.py_func``.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from starshade.kernels.warm import announce

#: what a record that is left over looks for in a class; in the order of `likeness`'s `rest`
REST = ("sum", "mean", "nearest", "smallest", "range")


def warm() -> None:
    """Say that both will be compiled, if they are not yet."""
    announce("the algorithms as printed", likeness, member)


@njit(cache=True, nogil=True)
def likeness(rows, k, joins, order, furthest, rest, null, apart):  # type: ignore[no-untyped-def]
    """Group rows (float64 (n, m)) by k-Likeness; the group of each.

    `joins`: records that join a nucleus. `furthest`: the nucleus is furthest from the one before,
    else the first in the order. `rest`: a place in `REST`. `null`, `apart`: what null is as a
    number, and how far it is from every rating; below 0: as far as the number is.
    """
    n, m = rows.shape
    group = np.full(n, -1, np.int64)
    if n <= 2 * k - 1:
        group[:] = 0
        return group
    away = np.zeros(n)
    near, near_away = np.empty(joins, np.int64), np.empty(joins)
    left, formed, nucleus = n, 0, -1
    while left >= k:
        before, nucleus = nucleus, -1
        for p in order:
            if group[p] >= 0:
                continue
            if nucleus < 0 or (furthest and before >= 0 and away[p] > away[nucleus]):
                nucleus = p
            if not furthest or before < 0:
                break
        group[nucleus] = formed
        left -= 1
        wanted, held = min(joins, left), 0
        for p in order:
            if group[p] >= 0:
                continue
            total = 0.0
            for j in range(m):
                a, b = rows[p, j], rows[nucleus, j]
                total += apart if apart >= 0 and (a == null) != (b == null) else abs(a - b)
            away[p] = total
            if held == wanted and total >= near_away[held - 1]:
                continue
            place = held if held < wanted else held - 1
            while place > 0 and near_away[place - 1] > total:
                near[place], near_away[place] = near[place - 1], near_away[place - 1]
                place -= 1
            near[place], near_away[place] = p, total
            if held < wanted:
                held += 1
        for i in range(held):
            group[near[i]] = formed
        left -= held
        formed += 1
    sums, least, sizes = np.zeros(formed), np.zeros(formed), np.zeros(formed)
    low, high = np.empty((formed, m)), np.empty((formed, m))
    for p in order:
        if group[p] >= 0:
            continue
        sums[:], sizes[:], least[:] = 0.0, 0.0, np.inf
        low[:], high[:] = np.inf, -np.inf
        for q in order:
            g = group[q]
            if g < 0:
                continue
            total = 0.0
            for j in range(m):
                a, b = rows[p, j], rows[q, j]
                total += apart if apart >= 0 and (a == null) != (b == null) else abs(a - b)
                low[g, j], high[g, j] = min(low[g, j], b), max(high[g, j], b)
            sums[g] += total
            sizes[g] += 1
            least[g] = min(least[g], total)
        chosen, lowest, second = 0, np.inf, np.inf
        for g in range(formed):
            score, tie = sums[g], 0.0
            if rest == 1:
                score = sums[g] / sizes[g]
            elif rest == 2:
                score = least[g]
            elif rest == 3:
                score, tie = sizes[g], sums[g]
            elif rest == 4:
                score = 0.0
                for j in range(m):
                    score += max(low[g, j] - rows[p, j], rows[p, j] - high[g, j], 0.0)
            if score < lowest or (score == lowest and tie < second):
                chosen, lowest, second = g, score, tie
        group[p] = chosen
    return group


@njit(cache=True, nogil=True)
def member(places, k, order, furthest, anew):  # type: ignore[no-untyped-def]
    """Group rows (int64 (n, m), as shares of their columns) by k-Member; the group of each.

    `furthest`: a group grows from the record furthest from the one before, else from the first in
    the order. `anew`: what a group would span with a record is reckoned from its members; else
    from what it spans.
    """
    n, m = places.shape
    group = np.full(n, -1, np.int64)
    formed = n // k
    low, high = np.zeros((formed, m), np.int64), np.zeros((formed, m), np.int64)
    members = np.empty(k, np.int64)
    seed = -1
    for c in range(formed):
        before, seed, most = seed, -1, -1
        for p in order:
            if group[p] >= 0:
                continue
            total = 0
            if furthest and before >= 0:
                for j in range(m):
                    total += abs(places[p, j] - places[before, j])
            if total > most:
                seed, most = p, total
            if not furthest or before < 0:
                break
        group[seed] = c
        members[0] = seed
        low[c], high[c] = places[seed], places[seed]
        for size in range(1, k):
            best, cheapest = -1, 0
            span = 0
            for j in range(m):
                span += high[c, j] - low[c, j]
            for p in order:
                if group[p] >= 0:
                    continue
                wider = 0
                for j in range(m):
                    least, most = low[c, j], high[c, j]
                    if anew:
                        least = most = places[members[0], j]
                        for i in range(1, size):
                            value = places[members[i], j]
                            least, most = min(least, value), max(most, value)
                    wider += max(most, places[p, j]) - min(least, places[p, j])
                cost = (size + 1) * wider - size * span
                if best < 0 or cost < cheapest:
                    best, cheapest = p, cost
            group[best] = c
            members[size] = best
            for j in range(m):
                low[c, j] = min(low[c, j], places[best, j])
                high[c, j] = max(high[c, j], places[best, j])
    sizes = np.full(formed, k)
    for p in order:
        if group[p] >= 0:
            continue
        best, cheapest = -1, 0
        for c in range(formed):
            span, wider = 0, 0
            for j in range(m):
                span += high[c, j] - low[c, j]
                wider += max(high[c, j], places[p, j]) - min(low[c, j], places[p, j])
            cost = (sizes[c] + 1) * wider - sizes[c] * span
            if best < 0 or cost < cheapest:
                best, cheapest = c, cost
        group[p] = best
        sizes[best] += 1
        for j in range(m):
            low[best, j] = min(low[best, j], places[p, j])
            high[best, j] = max(high[best, j], places[p, j])
    return group
