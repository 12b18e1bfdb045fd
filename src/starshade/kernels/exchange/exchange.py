"""k-exchange's leaves: small parts of the table in which records change groups, each alone.

A leaf is a number of whole groups that lie near each other. Its records become a small full
table of those columns in which anybody of the leaf is above zero, and `exchange.anneal` works on
it. Leaves share nothing, so they are worked on by any number of threads with one result, and no
table is larger than a leaf.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from starshade.kernels import small
from starshade.kernels.arrays import Floats, Ints, copy_to, inner, run
from starshade.kernels.baselines import add_distances, cheapest
from starshade.kernels.exchange.anneal import CHANCES, anneal, dissolve, nearest, widened
from starshade.kernels.exchange.leaves import Rows
from starshade.kernels.fingerprint import mix
from starshade.kernels.warm import announce

_NEAR = 8  # records whose groups a record may turn to
_POOL = 1024  # records among which the nearest are sought
_ROUNDS = 4  # of groups dissolved, and exchanges that cost nothing after it, at most
_LANES = 16  # columns come in multiples of it: one vector of two-byte numbers


def exchange(
    rows: Rows,
    n_columns: int,
    groups: Ints,
    leaf_ptr: Ints,
    leaf_records: Ints,
    *,
    k: int,
    price: tuple[int, int] | None,
    heat: float,
    shrink: Floats,
    effort: float,
    key: int,
) -> None:
    """Lessen the cost of the groups within each leaf; `groups` is changed in place.

    `groups` (int64 (n,)): each of k records or more and fewer than 2k, all of them in one leaf.
    Some may be left with none. `leaf_ptr`, `leaf_records` (int64): leaf t holds the records
    ``leaf_records[leaf_ptr[t]:leaf_ptr[t + 1]]``, ascending. `price`: what a step of a range costs,
    and a cell of one single value above zero, unless it is of a further column; None: 1 and 0.
    """
    announce("k-exchange", anneal, nearest)
    # further columns are zero and below, where no value is weighed
    rows = (*rows[:3], -rows[3])

    def improve(leaf: int) -> None:
        records = leaf_records[leaf_ptr[leaf] : leaf_ptr[leaf + 1]]
        named, local = np.unique(groups[records], return_inverse=True)
        if len(named) < 2:
            return
        table = small.leaf_table(rows, records, _LANES)
        near = nearest(table, min(_NEAR, len(records) - 1), _POOL)
        steps = max(1, int(effort * len(records)))
        arguments = table, local, len(named), k, price
        with np.errstate(over="ignore"):  # random numbers wrap around, also where interpreted
            own = np.uint64(mix(np.uint64(key) + np.uint64(records[0])))
            anneal(*arguments, near, heat, shrink, CHANCES, steps, own)
            for _ in range(_ROUNDS):
                if dissolve(*arguments) == 0:
                    break
                own = np.uint64(mix(own))
                anneal(*arguments, near, 0.0, shrink[-1:], CHANCES, steps, own)
        groups[records] = named[local]

    run(improve, len(leaf_ptr) - 1)


@inner
def _leaf_table(indptr, columns, values, extra, n_columns, records):  # type: ignore[no-untyped-def]
    """Return the records on columns that any of them has; see `small.leaf_table`."""
    own = np.full(n_columns, -1, np.int32)
    for i in records:
        for p in range(indptr[i], indptr[i + 1]):
            own[columns[p]] = 0
    m = 0
    for j in range(n_columns):
        if own[j] == 0:
            own[j] = m
            m += 1
    table = np.zeros((len(records), m + extra.shape[1]), np.int16)
    for r in range(len(records)):
        i = records[r]
        for p in range(indptr[i], indptr[i + 1]):
            table[r, own[columns[p]]] = values[p]
        for j in range(extra.shape[1]):
            table[r, m + j] = extra[i, j]
    return table


def form(
    rows: Rows, n_columns: int, leaf_ptr: Ints, leaf_records: Ints, k: int, unit: int
) -> tuple[Ints, Ints]:
    """Form groups within each leaf, numbered leaf by leaf; return their widths, too."""
    n_all = n_columns + rows[3].shape[1]
    far = unit * n_all + 1
    if small.is_small(len(leaf_records), n_all):
        return small.form(rows, leaf_ptr, leaf_records, k, far, _SAMPLE, _PARTS)
    announce("k-exchange", _form)
    # never fewer bits than twice `far` takes: sums must not wrap around
    kind = next(t for t in (np.uint8, np.int16, np.int32, np.int64) if 2 * far <= np.iinfo(t).max)
    return _form(*rows, n_columns, leaf_ptr, leaf_records, k, far, np.empty(0, kind))  # type: ignore[no-any-return]


@njit(cache=True, nogil=True, parallel=True)
def _form(  # type: ignore[no-untyped-def]
    indptr, columns, values, extra, n_columns, leaf_ptr, leaf_records, k, far, kind
):
    groups = np.empty(len(leaf_records), np.int64)
    widths = np.empty(len(leaf_records) // k, np.int64)
    for leaf in prange(len(leaf_ptr) - 1):
        records = leaf_records[leaf_ptr[leaf] : leaf_ptr[leaf + 1]]
        table = _leaf_table(indptr, columns, values, extra, n_columns, records)
        group, width = greedy_groups(table, k, far, kind)
        first = leaf_ptr[leaf] // k
        for i in range(len(records)):  # as `copy_to` does
            groups[records[i]] = group[i] + first
        copy_to(widths[first:], width)
    return groups, widths


_SHARE = 8  # ranks are closed when this part of the records has left
_SAMPLE = 1024  # records that tell who stands apart, at most; no more than there are nuclei
_PARTS = 8  # of the sample


@inner
def greedy_groups(table, k, far, kind):  # type: ignore[no-untyped-def]
    """Return the group of each record, 0…⌊n/k⌋−1, and the groups' widths.

    table : int16, (n, n_columns), n ≥ k
    far : above every distance of two records
    kind : an array whose dtype holds 2 · far
    """
    n, m = table.shape
    work = np.empty((m, n), kind.dtype)
    for i in range(n):
        for j in range(m):
            work[j, i] = table[i, j]
    place = np.argsort(-_apart(work, min(_SAMPLE, n // k), far), kind="mergesort")
    for i in range(n):
        for j in range(m):
            work[j, i] = table[place[i], j]
    group = np.full(n, -1, np.int64)
    n_groups = n // k
    low, high = np.empty((n_groups, m), kind.dtype), np.empty((n_groups, m), kind.dtype)
    left = n
    formed = np.int64(0)  # a literal would be compiled for alone
    while formed < n_groups:
        count = min(n_groups - formed, 1 + left // (_SHARE * k))
        _grow(work[:, :left], place[:left], k, far, group, formed, low, high, count)
        formed += count
        left = _close_ranks(work, place, left, group)
    for p in np.sort(place[:left]):
        _join(table, p, group, low, high)
    width = np.empty(n_groups, np.int64)
    for g in range(n_groups):
        width[g] = widened(low[g], high[g], low[g], None)
    return group, width


@inner
def _apart(work, sampled, far):  # type: ignore[no-untyped-def]
    """How far each record is from the nearest other in each part of a sample, added up."""
    n = work.shape[1]
    away, least = np.empty(n, work.dtype), np.empty(n, work.dtype)
    total = np.zeros(n, np.int64)
    for part in range(_PARTS):
        least[:] = far
        for s in range(part * sampled // _PARTS, (part + 1) * sampled // _PARTS):
            away[:] = 0
            add_distances(work, s, away)
            away[s] = far
            for i in range(n):
                least[i] = min(least[i], away[i])
        for i in range(n):
            total[i] += least[i]
    return total


@inner
def _grow(work, place, k, far, group, formed, low, high, count):  # type: ignore[no-untyped-def]
    """Form so many groups. Who has left costs `far` or more, whatever is mended."""
    m, n = work.shape
    gone = np.zeros(n, work.dtype)
    cost = np.empty(n, work.dtype)
    before = np.empty((2, m), work.dtype)
    at = np.argsort(place)
    next_seed = 0
    for g in range(formed, formed + count):
        while gone[at[next_seed]] > 0:
            next_seed += 1
        taken = at[next_seed]
        copy_to(cost, gone)
        add_distances(work, taken, cost)
        copy_to(low[g], work[:, taken])
        copy_to(high[g], work[:, taken])
        for member in range(k):
            if member > 0:
                taken = cheapest(work, before, low[g], high[g], cost)
            copy_to(before[0], low[g])
            copy_to(before[1], high[g])
            for j in range(m):
                low[g, j] = min(low[g, j], work[j, taken])
                high[g, j] = max(high[g, j], work[j, taken])
            gone[taken] = far
            cost[taken] = 2 * far - 1  # at most far - 1 is mended
            group[place[taken]] = g


@inner
def _close_ranks(work, place, left, group):  # type: ignore[no-untyped-def]
    """Move who is left to the front, in the same order; return how many they are."""
    here = np.flatnonzero(group[place[:left]] < 0)
    for j in range(len(work)):
        for p in range(len(here)):
            work[j, p] = work[j, here[p]]
    for p in range(len(here)):
        place[p] = place[here[p]]
    return len(here)


@inner
def _join(table, record, group, low, high):  # type: ignore[no-untyped-def]
    """Put a record that is left over into the group whose cost it raises least."""
    sizes = np.zeros(len(low), np.int64)
    for g in group:
        if g >= 0:
            sizes[g] += 1
    best, least = 0, np.int64(-1)
    for g in range(len(low)):
        wide = widened(low[g], high[g], table[record], None)
        rise = (sizes[g] + 1) * wide - sizes[g] * widened(low[g], high[g], low[g], None)
        if least < 0 or rise < least:
            best, least = g, rise
    group[record] = best
    for j in range(len(table[record])):
        low[best, j] = min(low[best, j], table[record, j])
        high[best, j] = max(high[best, j], table[record, j])
