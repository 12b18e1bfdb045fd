"""k-Member's passes: grow clusters from far apart, each by the record that widens it least.

A cluster's cost to every record is kept and mended (`widening`). All numbers are whole
(`starshade.anonymize.positions`), so mending leaves no dust. The cost of a cluster of one is the
L1 distance to its seed, by which the next seed, the furthest, is found.

Records stand as columns-by-item, ``table[item, position]``, in the order of the permutation, so
that a tie goes to the lower position.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from starshade.kernels.arrays import Array, Ints
from starshade.kernels.greedy.widening import add_distances, cheapest
from starshade.kernels.inner import copy_to, inner
from starshade.kernels.warm import announce
from starshade.progress import task

__all__ = ["grow_clusters", "join_cluster"]

_SHARE = 8  # ranks are closed when this part of the records has left


def grow_clusters(table: Array, unit: int, k: int) -> tuple[Ints, Array, Array]:
    """Grow clusters of k while at least k records are left.

    `table` (int8 or int32 (n_items, n)): places from 0 to `unit`, records in the order of the
    permutation. Returns `group` (int64 (n,)): clusters are numbered as they are formed; −1 for the
    fewer than k records left over. `low, high` (n_clusters, n_items): what each cluster spans.
    """
    announce("k-Member", _grow)
    m, n = table.shape
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


def join_cluster(row: Array, low: Array, high: Array, sizes: Ints) -> int:
    """Add one record to the cluster whose cost |e|·Σ range grows least; ties to the first."""
    before = (high.astype(np.int64) - low).sum(axis=1)
    wider = np.maximum(high, row).astype(np.int64) - np.minimum(low, row)
    chosen = int(((sizes + 1) * wider.sum(axis=1) - sizes * before).argmin())
    low[chosen] = np.minimum(low[chosen], row)
    high[chosen] = np.maximum(high[chosen], row)
    sizes[chosen] += 1
    return chosen


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
