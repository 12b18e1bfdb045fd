"""How many raters of an item lie within reach of each of them (NS Fig 7)."""

from __future__ import annotations

import numpy as np
from numba import njit

from starshade.kernels.arrays import Array, Floats, Ints
from starshade.kernels.inner import inner
from starshade.kernels.lanes import cut, run
from starshade.kernels.warm import announce

__all__ = ["mean_log_neighbours"]

_ROOM = 8  # a histogram may be this many times as long as what it counts


def mean_log_neighbours(
    indptr: Ints, values: Array, low: Ints, high: Ints, unknown: int = -1
) -> Floats:
    """Average log2(c) over an item's raters, c counting the raters whose value is within reach.

    `low`, `high` (n_values,): ascending; values low[v]…high[v]-1 are within reach of v, itself
    included. Returns (n_items,): NaN for an item without a known value.
    """
    announce("information gain", _scan)
    out = np.full(len(indptr) - 1, np.nan)
    lanes = cut(np.diff(indptr))
    run(lambda lane: _scan(*lanes[lane], indptr, values, low, high, unknown, out), len(lanes))
    return out


@njit(cache=True, nogil=True)
def _scan(first, last, indptr, values, low, high, unknown, out):  # type: ignore[no-untyped-def]
    for item in range(first, last):
        distinct, below = _distinct(values[indptr[item] : indptr[item + 1]], unknown)
        known = below[-1]
        if known == 0:
            continue
        total = 0.0
        left = right = 0  # both only ever move up
        for i in range(len(distinct)):
            while distinct[left] < low[distinct[i]]:
                left += 1
            while right < len(distinct) and distinct[right] < high[distinct[i]]:
                right += 1
            total += (below[i + 1] - below[i]) * np.log2(below[right] - below[left])
        out[item] = total / known


@inner
def _distinct(values, unknown):  # type: ignore[no-untyped-def]
    """Return the distinct known values, ascending, and how many values lie below each (and all)."""
    known = np.empty(len(values), np.int64)
    n = 0
    for i in range(len(values)):
        value = np.int64(values[i])
        if value != unknown:
            known[n] = value
            n += 1
    known = known[:n]
    if n == 0:
        return known, np.zeros(1, np.int64)
    least, span = known.min(), known.max() - known.min() + 1
    if span > _ROOM * n:  # few values far apart: sorting is cheaper than counting
        return _runs(np.sort(known))
    counts = np.zeros(span, np.int64)
    for i in range(n):
        counts[known[i] - least] += 1
    found = np.flatnonzero(counts)
    return least + found, _sums(counts[found])


@inner
def _runs(ordered):  # type: ignore[no-untyped-def]
    distinct = np.empty(len(ordered), np.int64)
    counts = np.zeros(len(ordered), np.int64)
    n = -1
    for i in range(len(ordered)):
        if i == 0 or ordered[i] != ordered[i - 1]:
            n += 1
            distinct[n] = ordered[i]
        counts[n] += 1
    return distinct[: n + 1], _sums(counts[: n + 1])


@inner
def _sums(counts):  # type: ignore[no-untyped-def]
    below = np.zeros(len(counts) + 1, np.int64)
    for i in range(len(counts)):
        below[i + 1] = below[i] + counts[i]
    return below
