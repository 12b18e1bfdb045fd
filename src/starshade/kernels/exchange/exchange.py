"""k-exchange's leaves: small parts of the table in which records change groups, each alone.

A leaf is a number of whole groups that lie near each other. Its records become a small full
table of those columns in which anybody of the leaf is above zero, and `exchange.anneal` works on
it. Leaves share nothing, so they are worked on by any number of threads with one result, and no
table is larger than a leaf.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from starshade.kernels.arrays import Floats, Ints
from starshade.kernels.exchange.anneal import CHANCES, anneal, nearest
from starshade.kernels.exchange.dissolve import dissolve
from starshade.kernels.exchange.leaves import Rows
from starshade.kernels.exchange.start import greedy_groups
from starshade.kernels.fingerprint import mix
from starshade.kernels.inner import copy_to, inner
from starshade.kernels.warm import announce

__all__ = ["exchange", "form"]

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
    heat: float,
    shrink: Floats,
    effort: float,
    key: int,
) -> None:
    """Lessen the cost of the groups within each leaf; `groups` is changed in place.

    `groups` (int64 (n,)): each of k records or more and fewer than 2k, all of them in one leaf.
    Some may be left with none. `leaf_ptr`, `leaf_records` (int64): leaf t holds the records
    ``leaf_records[leaf_ptr[t]:leaf_ptr[t + 1]]``, ascending.
    """
    announce("k-exchange", _exchange)
    with np.errstate(over="ignore"):  # random numbers wrap around, also where interpreted
        _exchange(
            *rows, n_columns, groups, leaf_ptr, leaf_records, k, heat, shrink, CHANCES, effort,
            np.uint64(key),
        )  # fmt: skip


@njit(cache=True, nogil=True, parallel=True)
def _exchange(  # type: ignore[no-untyped-def]
    indptr, columns, values, extra, n_columns, groups, leaf_ptr, leaf_records,
    k, heat, shrink, chances, effort, key,
):  # fmt: skip
    for leaf in prange(len(leaf_ptr) - 1):
        records = leaf_records[leaf_ptr[leaf] : leaf_ptr[leaf + 1]]
        table = _leaf_table(indptr, columns, values, extra, n_columns, records, _LANES)
        named, local = _renumber(groups[records])
        if len(named) > 1:
            near = nearest(table, min(_NEAR, len(records) - 1), _POOL)
            own = mix(key + np.uint64(records[0]))
            per_stage = max(1, int(effort * len(records)))
            anneal(table, local, len(named), k, near, heat, shrink, chances, per_stage, own)
            for _ in range(_ROUNDS):
                if dissolve(table, local, len(named), k) == 0:
                    break
                own = mix(own)
                anneal(table, local, len(named), k, near, 0.0, shrink[-1:], chances, per_stage, own)
            for i in range(len(records)):
                groups[records[i]] = named[local[i]]


@inner
def _leaf_table(indptr, columns, values, extra, n_columns, records, lanes):  # type: ignore[no-untyped-def]
    """Return the records on columns that any of them has, and zeros up to a multiple of `lanes`."""
    own = np.full(n_columns, -1, np.int32)
    for i in records:
        for p in range(indptr[i], indptr[i + 1]):
            own[columns[p]] = 0
    m = 0
    for j in range(n_columns):
        if own[j] == 0:
            own[j] = m
            m += 1
    padded = (m + extra.shape[1] + lanes - 1) // lanes * lanes
    table = np.zeros((len(records), padded), np.int16)
    for r in range(len(records)):
        i = records[r]
        for p in range(indptr[i], indptr[i + 1]):
            table[r, own[columns[p]]] = values[p]
        for j in range(extra.shape[1]):
            table[r, m + j] = extra[i, j]
    return table


@inner
def _renumber(groups):  # type: ignore[no-untyped-def]
    named = np.unique(groups)
    return named, np.searchsorted(named, groups)


def form(
    rows: Rows, n_columns: int, leaf_ptr: Ints, leaf_records: Ints, k: int, unit: int
) -> tuple[Ints, Ints]:
    """Form groups within each leaf, numbered leaf by leaf; return their widths, too."""
    announce("k-exchange", _form)
    far = unit * (n_columns + rows[3].shape[1]) + 1
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
        table = _leaf_table(indptr, columns, values, extra, n_columns, records, 1)
        group, width = greedy_groups(table, k, far, kind)
        first = leaf_ptr[leaf] // k
        for i in range(len(records)):  # as `copy_to` does
            groups[records[i]] = group[i] + first
        copy_to(widths[first:], width)
    return groups, widths
