"""Cutting records into parts that cost less apart: top-down, one item's value at a time.

A node is a run of records. Its cost is what `interval.item_cost` says of every item together.
As long as it costs anything, it is cut at a value of one item (nulls lowest) with at least k
records on either side: for each item the cut that lowers this item's own cost most, and among the
most promising of these the one that leaves the least cost over all items. Any cut, good or bad,
leaves no more cost than before, because each part may still do what the whole would have done.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from starshade.kernels.arrays import Bools, Bytes, Ints, copy_to, inner
from starshade.kernels.interval.interval import item_cost

_TRIED = 6  # cuts whose cost is counted over all items


def split(
    rows: Bytes,
    order: Ints,
    starts: Bools,
    *,
    n_levels: int,
    width: int,
    null_cost: float,
    k: int,
    enough: int,
) -> None:
    """Cut runs of records into nodes of at most `enough` records, or of no cost.

    `rows` (n, n_items): codes in the order of `order`; changed in place with it. `order` (n,):
    changed in place; within a node the order is kept. `starts` (n,): where a run begins; the cuts
    are added.
    """
    _split(rows, order, starts, n_levels, width, null_cost, k, enough)


@njit(cache=True, nogil=True)
def _split(rows, order, starts, n_levels, width, null_cost, k, enough):  # type: ignore[no-untyped-def]
    n, m = rows.shape
    counts = np.zeros((m, n_levels + 1), np.int64)
    left = np.zeros((m, n_levels + 1), np.int64)
    kept_rows = np.empty(rows.shape, rows.dtype)
    kept_order = np.empty(n, order.dtype)
    at = 0
    while at < n:
        end = at + 1
        while end < n and not starts[end]:
            end += 1
        while True:  # the left part of a cut is looked at next; the right one waits at `end`
            if end - at <= enough or end - at < 2 * k:
                break
            item, value = _best_cut(rows[at:end], counts, left, width, null_cost, k)
            if item < 0:
                break
            end = at + _part(
                rows[at:end], order[at:end], item, value, kept_rows[at:end], kept_order[at:end]
            )
            starts[end] = True
        at = end


@inner
def _best_cut(rows, counts, left, width, null_cost, k):  # type: ignore[no-untyped-def]
    """Return item and value (codes up to it go left) of the cut to make; item -1: none."""
    m, n_codes = counts.shape
    _count(rows, counts)
    gain = np.full(m, -1.0)
    cut = np.zeros(m, np.int64)
    total = 0.0
    low = np.zeros(n_codes, np.int64)
    high = np.zeros(n_codes, np.int64)
    for j in range(m):
        own = item_cost(counts[j], width, null_cost)
        total += own
        low[:] = 0
        copy_to(high, counts[j])
        on_left = 0
        for c in range(n_codes - 1):
            low[c] = counts[j, c]
            high[c] = 0
            on_left += counts[j, c]
            if on_left < k or counts[j, c] == 0:
                continue
            if len(rows) - on_left < k:
                break
            won = own - item_cost(low, width, null_cost) - item_cost(high, width, null_cost)
            if won > gain[j]:
                gain[j] = won
                cut[j] = c
    if total == 0.0:
        return -1, 0
    return _most_promising(rows, counts, left, width, null_cost, gain, cut)


@inner
def _most_promising(rows, counts, left, width, null_cost, gain, cut):  # type: ignore[no-untyped-def]
    m = len(counts)
    best, item = np.inf, -1
    for _ in range(_TRIED):
        j = int(np.argmax(gain))
        if gain[j] < 0:
            break
        gain[j] = -1.0
        left[:] = 0
        for r in range(len(rows)):
            if rows[r, j] <= cut[j]:
                for i in range(m):
                    left[i, rows[r, i]] += 1
        cost = 0.0
        for i in range(m):
            cost += item_cost(left[i], width, null_cost)
            cost += item_cost(counts[i] - left[i], width, null_cost)
        if cost < best:
            best, item = cost, j
    return item, cut[max(item, 0)]


@inner
def _count(rows, counts):  # type: ignore[no-untyped-def]
    counts[:] = 0
    for r in range(len(rows)):
        for j in range(rows.shape[1]):
            counts[j, rows[r, j]] += 1


@inner
def _part(rows, order, item, value, kept_rows, kept_order):  # type: ignore[no-untyped-def]
    """Move the records up to `value` to the front, order kept on both sides; count them."""
    front = back = 0
    for r in range(len(rows)):
        if rows[r, item] <= value:
            if front < r:
                copy_to(rows[front], rows[r])
                order[front] = order[r]
            front += 1
        else:
            copy_to(kept_rows[back], rows[r])
            kept_order[back] = order[r]
            back += 1
    for i in range(back):
        copy_to(rows[front + i], kept_rows[i])
    copy_to(order[front:], kept_order[:back])
    return front
