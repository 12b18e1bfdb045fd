"""Clipping groups of records into intervals (SR §6, Algorithm 1; definitions, "interval").

Within a group each item is dealt with alone. Moving its ratings into [a, a + w] costs
f(a) = Σ max(0, a − v) + Σ max(0, v − a − w), which is convex: its slope, the number of ratings at
or below a less the number above a + w, only rises. So one walk from the least rating upward
finds every best start, the first of them where the slope is no longer negative, the last where it
is positive. Where some of the group rated an item and some did not, either the ratings go or the
nulls are filled, each such cell at a fixed cost; filled cells have no weight in the choice of a.

Stepped scales work on codes and counts, real ones on sorted ratings. A group's rows stand
together: ``order[indptr[g]:indptr[g + 1]]``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from starshade.kernels.arrays import Array, Floats, Ints, Words, cut, inner, ones, run
from starshade.kernels.fingerprint import below
from starshade.kernels.warm import announce

_SLACK = 1e-9  # two ratings closer than this are one
KEPT, SUPPRESSED, FILLED = 0, 1, 2


def clip_groups(
    table: Array,
    order: Ints,
    indptr: Ints,
    *,
    n_levels: int,
    width: int,
    null_cost: float,
    numbers: Words,
    out: Array | None,
) -> Floats:
    """Clip every group on every item; stepped scales.

    `table` (unsigned int (n, n_items)): 0 is null, 1…n_levels are levels. `null_cost`: of a cell
    that is filled or suppressed, in steps; below 0: nulls cost nothing and stay. `out`: receives
    the moved table; None: only the costs are wanted. Returns (n_groups,): what each group's changes
    cost, in steps.
    """
    return _by_lanes(_clip, table, order, indptr, (n_levels, width, null_cost, numbers), out)


def clip_groups_real(
    values: Floats,
    order: Ints,
    indptr: Ints,
    *,
    eps: float,
    null_cost: float,
    numbers: Words,
    out: Floats | None,
) -> Floats:
    """`clip_groups` on real scales: NaN is null, costs are in ratings."""
    return _by_lanes(_clip_real, values, order, indptr, (eps, null_cost, numbers), out)


def _by_lanes(
    clip: Any, table: Array, order: Ints, indptr: Ints, how: tuple[Any, ...], out: Array | None
) -> Floats:
    cost = np.zeros(len(indptr) - 1)
    target = table[:0] if out is None else out
    lanes = cut(np.diff(indptr))

    def work(lane: int) -> None:
        with np.errstate(over="ignore"):  # random numbers wrap around, also where interpreted
            clip(table, order, indptr, *lanes[lane], *how, target, cost)

    run(work, len(lanes))
    return cost


@njit(cache=True, nogil=True)
def best_starts(counts, width):  # type: ignore[no-untyped-def]
    """Return the first and last best start, and the steps moved; ``(0, 0, 0)`` without ratings.

    ``counts[c]`` ratings have code c; ``counts[0]``, the nulls, is not looked at. Where nothing
    need move, the start is the least code.
    """
    low, high = 1, len(counts) - 1
    while low <= high and counts[low] == 0:
        low += 1
    if low > high:
        return 0, 0, 0
    while counts[high] == 0:
        high -= 1
    if high - low <= width:
        return low, low, 0
    under = counts[low]
    over = counts[low] * 0
    for c in range(low + width + 1, high + 1):
        over += counts[c]
    first = low
    while under < over:
        first += 1
        under += counts[first]
        over -= counts[first + width]
    last = first
    while under == over:
        last += 1
        under += counts[last]
        over -= counts[last + width]
    moved = 0
    for c in range(low, first):
        moved += (first - c) * counts[c]
    for c in range(first + width + 1, high + 1):
        moved += (c - first - width) * counts[c]
    return first, last, moved


@njit(cache=True, nogil=True)
def best_starts_real(ratings, eps):  # type: ignore[no-untyped-def]
    """Return the least and greatest best start; ratings ascending, at least one.

    Between two neighbouring breakpoints (x and x − eps for a rating x) the cost is linear, so
    where a stretch of starts is best, its two ends are breakpoints.
    """
    n = len(ratings)
    start = ratings[0]
    if ratings[n - 1] - start <= eps + _SLACK:
        return start, start
    under = over = 0  # ratings at or below the start; ratings at or below its end
    while True:
        while under < n and ratings[under] <= start + _SLACK:
            under += 1
        while over < n and ratings[over] <= start + eps + _SLACK:
            over += 1
        if under >= n - over:
            break
        start = _next_start(ratings, under, over, eps)
    if under > n - over:
        return start, start
    return start, _next_start(ratings, under, over, eps)


@inner
def _next_start(ratings, under, over, eps):  # type: ignore[no-untyped-def]
    if ratings[under] <= ratings[over] - eps + _SLACK:
        return ratings[under]
    return ratings[over] - eps


@inner
def item_cost(counts, width, null_cost):  # type: ignore[no-untyped-def]
    """Return the least cost of one item of a group, in steps."""
    moved = float(best_starts(counts, width)[2])
    if counts[0] == 0 or null_cost < 0:
        return moved
    rated = 0
    for c in range(1, len(counts)):
        rated += counts[c]
    return min(null_cost * rated, null_cost * counts[0] + moved)


@inner
def _decide(nulls, rated, moved, null_cost):  # type: ignore[no-untyped-def]
    if nulls == 0 or rated == 0 or null_cost < 0:
        return KEPT, moved
    if null_cost * rated <= null_cost * nulls + moved:  # on equal cost nothing is invented
        return SUPPRESSED, null_cost * rated
    return FILLED, null_cost * nulls + moved


@njit(cache=True, nogil=True)
def _clip(table, order, indptr, first, last, n_levels, width, null_cost, numbers, out, cost):  # type: ignore[no-untyped-def]
    m = table.shape[1]
    counts = np.zeros((m, n_levels + 1), np.int64)
    for g in range(first, last):
        rows = order[indptr[g] : indptr[g + 1]]
        counts[:] = 0
        for r in rows:
            for j in range(m):
                counts[j, table[r, j]] += 1
        for j in range(m):
            low, high, moved = best_starts(counts[j], width)
            what, own = _decide(counts[j, 0], len(rows) - counts[j, 0], float(moved), null_cost)
            cost[g] += own
            if len(out):
                start = low + below(numbers[g], np.uint64(j), high - low + 1)
                filler = min(max(_median(counts[j]), start), start + width)
                _write(table, out, rows, j, what, start, start + width, filler)


@inner
def _median(counts):  # type: ignore[no-untyped-def]
    """Return the lower median of the ratings, 0 without any."""
    rated = 0
    for c in range(1, len(counts)):
        rated += counts[c]
    seen = 0
    for c in range(1, len(counts)):
        seen += counts[c]
        if 2 * seen >= rated and rated:
            return c
    return 0


@inner
def _write(table, out, rows, j, what, start, end, filler):  # type: ignore[no-untyped-def]
    for r in rows:
        code = table[r, j]
        if what == SUPPRESSED:
            out[r, j] = 0
        elif code == 0:
            out[r, j] = filler if what == FILLED else 0
        else:
            out[r, j] = min(max(code, start), end)


@njit(cache=True, nogil=True)
def _clip_real(values, order, indptr, first, last, eps, null_cost, numbers, out, cost):  # type: ignore[no-untyped-def]
    m = values.shape[1]
    for g in range(first, last):
        rows = order[indptr[g] : indptr[g + 1]]
        for j in range(m):
            own = np.empty(len(rows), np.float64)
            rated = 0
            for r in rows:
                if not np.isnan(values[r, j]):
                    own[rated] = values[r, j]
                    rated += 1
            if rated == 0:
                if len(out):
                    for r in rows:
                        out[r, j] = np.nan
                continue
            ratings = np.sort(own[:rated])
            low, high = best_starts_real(ratings, eps)
            moved = _moved_real(ratings, low, eps)
            what, spent = _decide(len(rows) - rated, rated, moved, null_cost)
            cost[g] += spent
            if len(out):
                start = high if below(numbers[g], np.uint64(j), 2) else low
                _write_real(values, out, rows, j, what, start, eps, ratings[(rated - 1) // 2])


@inner
def _moved_real(ratings, start, eps):  # type: ignore[no-untyped-def]
    moved = 0.0
    for v in ratings:
        if v < start:
            moved += start - v
        elif v > start + eps + _SLACK:
            moved += v - (start + eps)
    return moved


@inner
def _write_real(values, out, rows, j, what, start, eps, filler):  # type: ignore[no-untyped-def]
    for r in rows:
        v = values[r, j]
        if what == SUPPRESSED or (np.isnan(v) and what != FILLED):
            out[r, j] = np.nan
            continue
        if np.isnan(v):
            v = filler
        if v < start:
            v = start
        elif v > start + eps + _SLACK:  # a rating next to the end by rounding is at the end
            v = start + eps
        out[r, j] = v


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


def cheapest_partner(low: Ints, high: Ints, sizes: Ints, group: int) -> int:
    """Return the group whose merge with one adds the least to Σ |e|·Σ range.

    `sizes` (int64 (n_groups,)): 0: there is no such group any more. Returns: of equally cheap ones
    the first.
    """
    announce("the merging of groups", _cheapest)
    return int(_cheapest(low, high, sizes, group))


@njit(cache=True, nogil=True)
def _cheapest(low, high, sizes, group):  # type: ignore[no-untyped-def]
    chosen, least = -1, 0
    for other in range(len(sizes)):
        if sizes[other] == 0 or other == group:
            continue
        union = own = 0
        for j in range(low.shape[1]):
            union += max(high[other, j], high[group, j]) - min(low[other, j], low[group, j])
            own += high[other, j] - low[other, j]
        # what the group itself costs is the same for all
        added = (sizes[group] + sizes[other]) * union - sizes[other] * own
        if chosen < 0 or added < least:
            chosen, least = other, added
    return chosen
