"""Mondrian's passes: halve a part of the records on the item where it is widest, again and again.

A part is a run of ``who``, the records' indices; to cut it is to sort the run into two, each in
the order it had, so the order of the whole settles which of equal records go left. Parts are met
depth first, the left half before the right, and numbered as they turn out to be uncuttable.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from starshade.kernels.arrays import Array, Ints
from starshade.kernels.inner import copy_to, inner
from starshade.kernels.warm import announce

__all__ = ["relaxed_parts", "strict_parts"]


def strict_parts(rows: Array, k: int) -> Ints:
    """Cut strictly: records that are equal on an item stay on one side of its cut."""
    announce("Mondrian", _cut_up)
    return np.asarray(_cut_up(rows, k, np.arange(len(rows)), True))


def relaxed_parts(rows: Array, k: int, order: Ints) -> Ints:
    """Cut into halves: of the records equal to the median, the earlier in an order go left."""
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
