"""Balls by the paper's two ways (Sun & Sun 2013, §5.1, §7.2), to be compared with.

*Pairwise* compares a record with every record, item by item until one sets them apart. *Slicing*
takes the records between two planes, t − ε and t + ε on the first axis, from a list sorted along
it, and then trims these candidates axis by axis. Both count every record, equal or not.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from starshade.kernels.arrays import Array, Bools, Int32s, Ints
from starshade.kernels.inner import copy_to, inner
from starshade.kernels.warm import announce

__all__ = ["Nearness", "Table", "scan_balls", "table_of"]


class Nearness(NamedTuple):
    """The rule, code by code (`ratings.proximity.rule.Rule`)."""

    low: Int32s
    high: Int32s
    null: Bools


class Table(NamedTuple):
    """Every record's codes, 0 for null, and what slicing needs to find its first planes.

    `axes` (n_items, n): the same, axis by axis; no rows where slicing is not asked for. `order`
    (n,): records along the first axis. `starts` (n_codes + 1,): where each code begins in `order`.
    """

    codes: Array
    axes: Array
    order: Ints
    starts: Ints


def table_of(codes: Array, n_codes: int, *, slicing: bool) -> Table:
    """Make a table ready."""
    announce("the search for proximate records", scan_balls)
    if not slicing:
        none = np.empty(0, np.int64)
        return Table(codes, np.empty((0, len(codes)), codes.dtype), none, none)
    first = codes[:, 0]
    starts = np.concatenate([[0], np.cumsum(np.bincount(first, minlength=n_codes))])
    axes = np.ascontiguousarray(codes.T)
    return Table(codes, axes, np.argsort(first, kind="stable"), starts.astype(np.int64))


@njit(cache=True, nogil=True)
def scan_balls(rows, table, rule, columns, sizes, sums):  # type: ignore[no-untyped-def]
    """Count the balls of these rows and sum columns over them; columns may be none."""
    candidates = np.empty(len(table.codes), np.int64)
    for i in range(len(rows)):
        if len(table.axes) > 0:
            n = _slice(rows[i], table, rule, candidates)
        else:
            n = _compare(rows[i], table.codes, rule, candidates)
        sizes[i] = n
        for c in range(n):
            for s in range(columns.shape[1]):
                sums[i, s] += columns[candidates[c], s]


@inner
def _compare(row, codes, rule, candidates):  # type: ignore[no-untyped-def]
    n = 0
    for r in range(len(codes)):
        near = True
        for j in range(codes.shape[1]):
            own, code = codes[row, j], codes[r, j]
            near = rule.null[own] if code == 0 else rule.low[own] <= code <= rule.high[own]
            if not near:
                break
        if near:
            candidates[n] = r
            n += 1
    return n


@inner
def _slice(row, table, rule, candidates):  # type: ignore[no-untyped-def]
    own = table.axes[0, row]
    n = 0
    if rule.null[own]:
        n = _put(table.order[table.starts[0] : table.starts[1]], candidates, n)
    low, high = np.int64(rule.low[own]), np.int64(rule.high[own])
    if low <= high:
        n = _put(table.order[table.starts[low] : table.starts[high + 1]], candidates, n)
    for j in range(1, len(table.axes)):
        axis = table.axes[j]
        own = axis[row]
        low, high, null = np.int64(rule.low[own]), np.int64(rule.high[own]), rule.null[own]
        kept = 0
        for c in range(n):
            code = axis[candidates[c]]
            candidates[kept] = candidates[c]
            kept += null if code == 0 else low <= code <= high
        n = kept
        if n == 0:
            break
    return n


@inner
def _put(rows, candidates, n):  # type: ignore[no-untyped-def]
    copy_to(candidates[n:], rows)
    return n + len(rows)
