"""k-Likeness, k-Member and Mondrian in plain loops, which count the cells that they compare.

Nothing is left out that the algorithms as written compare, so that the counts are theirs; the
kernels that methods use do less. Rows are records in the order of a permutation, which settles
ties; int64 or float64.
"""

from __future__ import annotations

import numpy as np
from numba import njit

FIRST, FARTHEST = 0, 1  # the nucleus of the next class
SUM, MEAN, NEAREST, SMALLEST, WIDTH = range(5)  # what decides which class a row left over joins
SEED, JOINED, ARBITRARY = range(3)  # from what the next group's first is furthest


@njit(cache=True, nogil=True)
def _between(rows, a, b, apart):  # type: ignore[no-untyped-def]
    """L1 of two rows; a null (0), where `apart` is not 0, is so far from every rating."""
    total = 0.0
    for j in range(rows.shape[1]):
        if apart > 0 and (rows[a, j] == 0) != (rows[b, j] == 0):
            total += apart
        else:
            total += abs(rows[a, j] - rows[b, j])
    return total


@njit(cache=True, nogil=True)
def plain_likeness(rows, k, others, nucleus, join, apart):  # type: ignore[no-untyped-def]
    """KL Algorithms 1 to 3; `others` join a nucleus.

    Returns `group` (n,), and cells compared for nuclei, for tuples left over.
    """
    n, m = rows.shape
    group = np.zeros(n, np.int64)
    if n <= 2 * k - 1:
        return group, 0, 0
    group[:] = -1
    near, away = np.empty(others, np.int64), np.empty(others)
    left, formed, last, cells = n, 0, -1, 0
    while left >= k:
        first, furthest = -1, -1.0
        for i in range(n):
            if group[i] < 0 and (first < 0 or (nucleus == FARTHEST and last >= 0)):
                if nucleus == FARTHEST and last >= 0:
                    cells += m
                    distance = _between(rows, last, i, apart)
                    if distance > furthest:
                        first, furthest = i, distance
                else:
                    first = i
        found = 0
        for i in range(n):
            if group[i] >= 0 or i == first:
                continue
            distance = _between(rows, first, i, apart)
            cells += m
            if found == others and distance >= away[found - 1]:
                continue
            at = min(found, others - 1)
            while at > 0 and away[at - 1] > distance:
                near[at], away[at] = near[at - 1], away[at - 1]
                at -= 1
            near[at], away[at] = i, distance
            found = min(found + 1, others)
        group[first] = formed
        for i in near[:found]:
            group[i] = formed
        left -= found + 1
        formed, last = formed + 1, first
    return group, cells, _join(rows, group, formed, join, apart)


@njit(cache=True, nogil=True)
def _join(rows, group, formed, join, apart):  # type: ignore[no-untyped-def]
    """Let each row left over join a class; return the cells compared."""
    n, m = rows.shape
    cells = 0
    sizes = np.zeros(formed)
    for i in range(n):
        if group[i] >= 0:
            sizes[group[i]] += 1
    for left in range(n):
        if group[left] >= 0:
            continue
        score = np.zeros(formed)
        if join == NEAREST:
            score[:] = np.inf
        if join == SMALLEST:
            score[:] = sizes
        elif join == WIDTH:
            for g in range(formed):
                score[g] = _widens(rows, group, g, left, sizes[g])
                cells += m
        else:
            for i in range(n):
                if group[i] >= 0:
                    cells += m
                    distance = _between(rows, left, i, apart)
                    if join == NEAREST:
                        score[group[i]] = min(score[group[i]], distance)
                    else:
                        score[group[i]] += distance
        if join == MEAN:
            score /= sizes
        group[left] = score.argmin()
        sizes[group[left]] += 1
    return cells


@njit(cache=True, nogil=True)
def _widens(rows, group, g, left, size):  # type: ignore[no-untyped-def]
    """Return what |e| times the sum of the ranges of a class grows by."""
    before = after = 0.0
    for j in range(rows.shape[1]):
        low = high = rows[left, j]
        inside_low, inside_high = np.inf, -np.inf
        for i in range(rows.shape[0]):
            if group[i] == g:
                inside_low = min(inside_low, rows[i, j])
                inside_high = max(inside_high, rows[i, j])
        before += inside_high - inside_low
        after += max(high, inside_high) - min(low, inside_low)
    return (size + 1) * after - size * before


@njit(cache=True, nogil=True)
def plain_member(rows, k, seeds):  # type: ignore[no-untyped-def]
    """k-Member on places of equal widths.

    Returns `group` (n,), cells compared where a class's ranges are kept, and where they are looked
    up in its members anew.
    """
    n, m = rows.shape
    group = np.full(n, -1, np.int64)
    low, high = np.empty((n // k, m), rows.dtype), np.empty((n // k, m), rows.dtype)
    left, formed, last, cells, anew = n, 0, -1, 0, 0
    if seeds == JOINED:
        last = 0
    while left >= k:
        first, furthest = -1, -1.0
        for i in range(n):
            if group[i] < 0 and (first < 0 or last >= 0):
                if last >= 0:
                    distance = _between(rows, last, i, 0.0)
                    cells, anew = cells + m, anew + m
                    if distance > furthest:
                        first, furthest = i, distance
                else:
                    first = i
        group[first] = formed
        low[formed], high[formed] = rows[first], rows[first]
        taken = first
        for size in range(1, k):
            taken, least = -1, np.inf
            for i in range(n):
                if group[i] < 0:
                    cells, anew = cells + m, anew + m * (size + 1)
                    cost = _span(rows, i, low[formed], high[formed])
                    if cost < least:
                        taken, least = i, cost
            group[taken] = formed
            low[formed] = np.minimum(low[formed], rows[taken])
            high[formed] = np.maximum(high[formed], rows[taken])
        left -= k
        formed += 1
        if seeds != ARBITRARY:
            last = first if seeds == SEED else taken
    sizes = np.full(formed, k)
    for i in range(n):
        if group[i] >= 0:
            continue
        chosen, least = -1, np.inf
        for g in range(formed):
            cells, anew = cells + m, anew + m * (sizes[g] + 1)
            grown = (sizes[g] + 1) * _span(rows, i, low[g], high[g])
            grown -= sizes[g] * (high[g].astype(np.float64) - low[g]).sum()
            if grown < least:
                chosen, least = g, grown
        group[i] = chosen
        sizes[chosen] += 1
        low[chosen] = np.minimum(low[chosen], rows[i])
        high[chosen] = np.maximum(high[chosen], rows[i])
    return group, cells, anew


@njit(cache=True, nogil=True)
def _span(rows, i, low, high):  # type: ignore[no-untyped-def]
    total = 0.0
    for j in range(rows.shape[1]):
        total += max(high[j], rows[i, j]) - min(low[j], rows[i, j])
    return total


@njit(cache=True, nogil=True)
def plain_mondrian(rows, k):  # type: ignore[no-untyped-def]
    """Strict Mondrian on places; returns `group` (n,) and cells looked at.

    A part of 2k records or more is looked at whole for its widths, and for each item that is tried
    once for the median and once for the sides.
    """
    n, m = rows.shape
    group = np.zeros(n, np.int64)
    parts, formed, open_, cells = 1, 0, np.zeros(n, np.int64), 0
    while formed < parts:
        here = np.flatnonzero(open_ == formed)
        width = np.zeros(m)
        cut = False
        if len(here) >= 2 * k:
            for j in range(m):
                cells += len(here)
                width[j] = rows[here, j].max() - rows[here, j].min()
            for j in np.argsort(-width, kind="mergesort"):
                if width[j] <= 0 or cut:
                    break
                values = rows[here, j]
                cells += 2 * len(here)
                middle = np.sort(values)[(len(here) - 1) // 2]
                right = here[values > middle]
                if len(right) >= k and len(here) - len(right) >= k:
                    open_[right] = parts
                    parts += 1
                    cut = True
        if not cut:
            group[here] = formed
            formed += 1
    return group, cells
