"""The rivals' greedy steps: k-Member and Mondrian."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from starshade.kernels import small
from starshade.kernels.arrays import Array, Ints, copy_to, inner
from starshade.kernels.warm import announce
from starshade.progress import task

_SHARE = 8  # ranks are closed when this part of the records has left


def grow_clusters(table: Array, unit: int, k: int) -> tuple[Ints, Array, Array]:
    """Grow clusters of k while at least k records are left.

    `table` (int8 or int32 (n_items, n)): places from 0 to `unit`, records in the order of the
    permutation. Returns `group` (int64 (n,)): clusters are numbered as they are formed; −1 for the
    fewer than k records left over. `low, high` (n_clusters, n_items): what each cluster spans.
    """
    m, n = table.shape
    if small.is_small(n, m):
        return small.grow_clusters(table, k)
    announce("k-Member", _grow)
    # the cost of a record that has left: mended, it must stay above all others
    far = 2 * unit * m + 1
    narrow = table.dtype == np.int8 and far < 2**31
    kind: type[np.signedinteger[Any]] = np.int32 if narrow else np.int64
    group = np.full(n, -1, np.int64)
    low = np.empty((n // k, m), table.dtype)
    high = np.empty((n // k, m), table.dtype)
    work, place = table, np.arange(n)
    # from the seed before; at first all are equally far from nothing
    away: Array = np.zeros(n, kind)
    formed = 0
    with task("grouping records", n) as step:
        while formed < n // k:
            count = min(n // k - formed, 1 + len(place) // (_SHARE * k))
            bounds = low[formed : formed + count], high[formed : formed + count]
            _grow(work, place, k, kind(far), away, group, formed, *bounds)
            formed += count
            here = away >= 0
            work, place, away = np.ascontiguousarray(work[:, here]), place[here], away[here]
            step(k * count)
    return group, low, high


@njit(cache=True, nogil=True)
def _grow(work, place, k, far, away, group, formed, low, high):  # type: ignore[no-untyped-def]
    """Form ``len(low)`` clusters; `away` is −1 for who has left."""
    cost = np.empty(len(away), away.dtype)
    before = np.empty((2, len(work)), work.dtype)
    for c in range(len(low)):
        taken = _first_equal(away, away.max())
        cost[:] = 0
        add_distances(work, taken, cost)
        for i in range(len(away)):
            if away[i] >= 0:
                away[i] = cost[i]
            else:
                cost[i] = far
        copy_to(low[c], work[:, taken])
        copy_to(high[c], work[:, taken])
        cost[taken], away[taken] = far, -1
        group[place[taken]] = formed + c
        copy_to(before[0], low[c])
        copy_to(before[1], high[c])
        for _ in range(k - 1):
            taken = cheapest(work, before, low[c], high[c], cost)
            for j in range(len(work)):
                before[0, j], before[1, j] = low[c, j], high[c, j]
                low[c, j] = min(low[c, j], work[j, taken])
                high[c, j] = max(high[c, j], work[j, taken])
            cost[taken], away[taken] = far, -1
            group[place[taken]] = formed + c


@inner
def _first_equal(values, wanted):  # type: ignore[no-untyped-def]
    for i in range(len(values)):
        if values[i] == wanted:
            return i
    return -1


_BLOCK = 8192  # records whose cost is mended together
_STRIDE = 256  # records that are looked through one by one for the cheapest of all


@inner
def add_distances(work, seed, cost):  # type: ignore[no-untyped-def]
    """Add to every record's cost its L1 distance to one of them."""
    for first in range(0, len(cost), _BLOCK):
        out = cost[first : first + _BLOCK]
        for j in range(len(work)):
            values = work[j, first : first + _BLOCK]
            p = work[j, seed]
            for i in range(len(out)):
                out[i] += max(values[i], p) - min(values[i], p)


@inner
def cheapest(work, before, low, high, cost):  # type: ignore[no-untyped-def]
    """Mend the costs by how the group has widened since; return the first of least cost."""
    start, least = 0, cost[0]
    for first in range(0, len(cost), _BLOCK):
        out = cost[first : first + _BLOCK]
        for j in range(len(work)):
            values = work[j, first : first + _BLOCK]
            if before[0, j] > low[j]:
                _reach_down(values, low[j], before[0, j], out)
            if before[1, j] < high[j]:
                _reach_up(values, before[1, j], high[j], out)
        if first == 0:
            least = out[0]
        for p in range(0, len(out), _STRIDE):
            here = _minimum(out[p : p + _STRIDE])
            if here < least:
                start, least = first + p, here
    while cost[start] != least:
        start += 1
    return start


@inner
def _reach_down(values, low, before, out):  # type: ignore[no-untyped-def]
    for i in range(len(out)):
        out[i] -= before - max(low, min(values[i], before))


@inner
def _reach_up(values, before, high, out):  # type: ignore[no-untyped-def]
    for i in range(len(out)):
        out[i] -= min(high, max(values[i], before)) - before


@inner
def _minimum(values):  # type: ignore[no-untyped-def]
    least = values[0]
    for i in range(len(values)):
        least = min(least, values[i])
    return least


def strict_parts(rows: Array, k: int) -> Ints:
    """Cut strictly: records that are equal on an item stay on one side of its cut."""
    order = np.arange(len(rows))
    if small.is_small(*rows.shape):
        return small.cut_up(rows, k, order, strict=True)
    announce("Mondrian", _cut_up)
    return np.asarray(_cut_up(rows, k, order, True))


def relaxed_parts(rows: Array, k: int, order: Ints) -> Ints:
    """Cut into halves: of the records equal to the median, the earlier in an order go left."""
    if small.is_small(*rows.shape):
        return small.cut_up(rows, k, order, strict=False)
    announce("relaxed Mondrian", _cut_up)
    return np.asarray(_cut_up(rows, k, order.copy(), False))


@njit(cache=True, nogil=True)
def _cut_up(rows, k, who, strict):  # type: ignore[no-untyped-def]
    n = len(rows)
    parts = np.empty(n, np.int64)
    spare = np.empty(n, np.int64)
    values = np.empty(n, rows.dtype)
    open_ends = [n]  # where the parts still to be looked at end, the next one last
    low, found = 0, 0
    while open_ends:
        high = open_ends[-1]
        run = who[low:high]
        cut = 0
        if high - low >= 2 * k:
            if strict:
                cut = _cut_strictly(rows, run, k, values, spare)
            else:
                cut = _cut_in_half(rows, run, values, spare)
        if cut:
            open_ends.append(low + cut)
            continue
        for i in run:
            parts[i] = found
        found += 1
        low = open_ends.pop()
    return parts


@inner
def _cut_strictly(rows, run, k, values, spare):  # type: ignore[no-untyped-def]
    """Cut a run at the median of the widest item that can be cut; return where, 0 if none can."""
    width = _widths(rows, run)
    for _ in range(len(width)):
        item = width.argmax()  # the first of the widest
        if width[item] <= 0:
            return 0
        width[item] = -1
        median = _median(rows, run, item, values)
        left = 0
        for i in run:
            left += rows[i, item] <= median
        if left >= k and len(run) - left >= k:
            _sort_run(rows, run, item, median, 0, spare)
            return left
    return 0


@inner
def _cut_in_half(rows, run, values, spare):  # type: ignore[no-untyped-def]
    width = _widths(rows, run)
    item = width.argmax()
    if width[item] <= 0:
        return 0
    median = _median(rows, run, item, values)
    half = (len(run) + 1) // 2
    below = 0
    for i in run:
        below += rows[i, item] < median
    _sort_run(rows, run, item, median - 1, half - below, spare)
    return half


@inner
def _widths(rows, run):  # type: ignore[no-untyped-def]
    m = rows.shape[1]
    low = rows[run[0]].copy()
    high = low.copy()
    for i in run:
        for j in range(m):
            low[j] = min(low[j], rows[i, j])
            high[j] = max(high[j], rows[i, j])
    return high.astype(np.int64) - low


@inner
def _median(rows, run, item, values):  # type: ignore[no-untyped-def]
    """Element ⌊(n−1)/2⌋, counted from 0, of the sorted values."""
    n = len(run)
    for i in range(n):
        values[i] = rows[run[i], item]
    return _element(values[:n], (n - 1) // 2)


@inner
def _element(values, wanted):  # type: ignore[no-untyped-def]
    """Return the element that sorting would put there (Hoare's quickselect)."""
    low, high = 0, len(values) - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if j < wanted < i:
            break
        if wanted <= j:
            high = j
        else:
            low = i
    return values[wanted]


@inner
def _sort_run(rows, run, item, most, extra, spare):  # type: ignore[no-untyped-def]
    """Put first who has at most `most`, and the first `extra` of who has one more; keep orders."""
    left = right = 0
    for i in run:
        value = rows[i, item]
        goes_left = value <= most
        if not goes_left and extra > 0 and value == most + 1:
            goes_left = True
            extra -= 1
        if goes_left:
            run[left] = i
            left += 1
        else:
            spare[right] = i
            right += 1
    copy_to(run[left:], spare[:right])
