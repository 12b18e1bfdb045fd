"""What some kernels compute, in NumPy, for tables so small that compiling takes longer.

A kernel takes a second or two to compile; these functions take some milliseconds on a small
table. They return the same numbers: tests compare both on the same tables.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.kernels.arrays import UNKNOWN_DAY, Array, Bools, Int32s, Ints, Words

_FEW = 1 << 26  # pairs of records times columns; a fifth of a second
FEW_CELLS = 1 << 18  # that are sorted in some milliseconds


def is_small(records: int, columns: int) -> bool:
    """Tell whether all pairs of records are compared sooner than a kernel is compiled."""
    return records * records * max(1, columns) <= _FEW


def cut_up(rows: Array, k: int, order: NDArray[np.integer], strict: bool) -> Ints:
    """Cut rows (n, n_items) into parts as Mondrian does, numbered from left to right."""
    parts = np.empty(len(rows), np.int64)
    runs, found = [order], 0
    while runs:
        run = runs.pop()
        values = rows[run].astype(np.int64)
        left = None
        if len(run) >= 2 * k:
            left = _left_side(values, k) if strict else _left_half(values)
        if left is None:
            parts[run] = found
            found += 1
        else:
            runs += [run[~left], run[left]]
    return parts


def _left_side(values: Ints, k: int) -> Bools | None:
    width = np.ptp(values, axis=0)
    for item in np.argsort(-width, kind="stable").tolist():
        if width[item] == 0:
            return None
        left = values[:, item] <= _median(values[:, item])
        if k <= left.sum() <= len(left) - k:
            return np.asarray(left)
    return None


def _left_half(values: Ints) -> Bools | None:
    width = np.ptp(values, axis=0)
    column = values[:, width.argmax()]
    if width.max() == 0:
        return None
    median = _median(column)
    left = column < median
    room = (len(column) + 1) // 2 - int(left.sum())
    left[np.flatnonzero(column == median)[:room]] = True
    return np.asarray(left)


def _median(column: Ints) -> int:
    middle = (len(column) - 1) // 2
    return int(np.partition(column, middle)[middle])


def grow_clusters(table: Array, k: int) -> tuple[Ints, Array, Array]:
    """Grow k-Member's clusters; see `starshade.kernels.baselines.grow_clusters`."""
    m, n = table.shape
    group = np.full(n, -1, np.int64)
    low, high = np.empty((n // k, m), table.dtype), np.empty((n // k, m), table.dtype)
    place, cells, seed = np.arange(n), table.T.astype(np.int64), 0
    for c in range(n // k):
        away = np.abs(cells - cells[seed]).sum(axis=1)
        members = grow(cells, seed, k)
        group[place[members]] = c
        low[c], high[c] = cells[members].min(axis=0), cells[members].max(axis=0)
        place, cells, away = (np.delete(each, members, axis=0) for each in (place, cells, away))
        seed = int(away.argmax()) if len(away) else 0
    return group, low, high


def grow(cells: Ints, seed: int, k: int) -> list[int]:
    """Return the k rows of a group: each next one widens its ranges least, ties to the earlier."""
    low = high = cells[seed]
    taken = [seed]
    while len(taken) < k:
        width = (np.maximum(cells, high) - np.minimum(cells, low)).sum(axis=1)
        width[taken] = np.iinfo(np.int64).max
        taken.append(int(width.argmin()))
        low, high = np.minimum(low, cells[taken[-1]]), np.maximum(high, cells[taken[-1]])
    return taken


def distances(table: Array, query: Array) -> Array:
    """L1 distance of one record to every record, items added in order."""
    out = np.zeros(table.shape[1], table.dtype)
    for row, own in zip(table, query, strict=True):
        out += np.maximum(row, own) - np.minimum(row, own)
    return out


def nucleus_groups(table: Array, k: int) -> tuple[Ints, int]:
    """Form k-Likeness's groups; see `starshade.kernels.likeness.likeness.nucleus_groups`."""
    n = table.shape[1]
    group = np.full(n, -1, np.int64)
    place, formed = np.arange(n), 0
    while len(place) >= k:
        away = distances(table, table[:, 0])
        nearest = np.argsort(away[1:], kind="stable")[: k - 1] + 1
        members = np.append(0, nearest)
        group[place[members]] = formed
        place, table = np.delete(place, members), np.delete(table, members, axis=1)
        formed += 1
    return group, formed


#: indptr, columns, values of a CSR table (int64, int32, int16), and further full columns (int16)
Rows = tuple[Ints, Int32s, NDArray[np.int16], NDArray[np.int16]]


def leaf_table(rows: Rows, records: Ints, lanes: int = 1) -> NDArray[np.int16]:
    """Return the records on columns that any of them has, and zeros up to a multiple of `lanes`."""
    indptr, columns, values, extra = rows
    sizes = indptr[records + 1] - indptr[records]
    row = np.repeat(np.arange(len(records)), sizes)
    before = np.cumsum(sizes) - sizes
    cells = np.arange(len(row)) + (indptr[records] - before)[row]
    own, column = np.unique(columns[cells], return_inverse=True)
    m, beside = len(own), extra.shape[1]
    table = np.zeros((len(records), -(-(m + beside) // lanes) * lanes), np.int16)
    table[row, column] = values[cells]
    table[:, m : m + beside] = extra[records]
    return table


def form(
    rows: Rows, leaf_ptr: Ints, leaf_records: Ints, k: int, far: int, sample: int, parts: int
) -> tuple[Ints, Ints]:
    """Form k-exchange's first groups; see `starshade.kernels.exchange.exchange.form`.

    `far`: above every distance of two records. `sample`: records that tell who stands apart, at
    most, in so many `parts`.
    """
    groups = np.empty(len(leaf_records), np.int64)
    widths = np.empty(len(leaf_records) // k, np.int64)
    for first, last in pairwise(leaf_ptr.tolist()):
        table = leaf_table(rows, leaf_records[first:last]).astype(np.int64)
        group, width = _greedy_groups(table, k, far, sample, parts)
        groups[leaf_records[first:last]] = group + first // k
        widths[first // k : first // k + len(width)] = width
    return groups, widths


def _greedy_groups(table: Ints, k: int, far: int, sample: int, parts: int) -> tuple[Ints, Ints]:
    """Return the group of each record, 0…⌊n/k⌋−1, and the groups' widths."""
    n = len(table)
    place = np.argsort(-_apart(table, far, min(sample, n // k), parts), kind="stable")
    group, cells = np.full(n, -1, np.int64), table[place]
    low, high = np.empty((n // k, table.shape[1]), np.int64), np.empty_like(table[: n // k])
    for g in range(n // k):
        members = grow(cells, int(place.argmin()), k)
        group[place[members]] = g
        low[g], high[g] = cells[members].min(axis=0), cells[members].max(axis=0)
        place, cells = np.delete(place, members), np.delete(cells, members, axis=0)
    sizes = np.bincount(group[group >= 0], minlength=n // k)
    for record in np.sort(place).tolist():
        group[record] = join(table[record], low, high, sizes)
    return group, (high - low).sum(axis=1)


def _apart(table: Ints, far: int, sampled: int, parts: int) -> Ints:
    """How far each record is from the nearest other in each part of a sample, added up."""
    total = np.zeros(len(table), np.int64)
    for part in range(parts):
        one, last = part * sampled // parts, (part + 1) * sampled // parts
        least = np.full(len(table), far, np.int64)
        for s in range(one, last):
            away = np.abs(table - table[s]).sum(axis=1)
            away[s] = far
            np.minimum(least, away, out=least)
        total += least
    return total


def join(row: Array, low: Array, high: Array, sizes: Ints) -> int:
    """Add one record to the cluster whose cost |e|·Σ range grows least; ties to the first."""
    before = (high.astype(np.int64) - low).sum(axis=1)
    wider = np.maximum(high, row).astype(np.int64) - np.minimum(low, row)
    chosen = int(((sizes + 1) * wider.sum(axis=1) - sizes * before).argmin())
    low[chosen] = np.minimum(low[chosen], row)
    high[chosen] = np.maximum(high[chosen], row)
    sizes[chosen] += 1
    return chosen


def pack(
    codes: Array, code_of: Words, days: Int32s, first_day: int, no_day: int, bits: int
) -> Words:
    """Return the payload of rows; see `starshade.kernels.counting.pack`."""
    out: Words = code_of[codes]
    if len(days):
        since = np.where(days == no_day, UNKNOWN_DAY, days.astype(np.int64) - first_day)
        out |= since.astype(np.uint64) << np.uint64(bits)
    return out


def group_cells(keys: Int32s | Ints, packed: Words, n: int) -> tuple[Ints, Words]:
    """Put cells behind their keys, 0…n−1, in the order in which they stand."""
    indptr = np.concatenate([[0], np.cumsum(np.bincount(keys, minlength=n))])
    return indptr.astype(np.int64), packed[np.argsort(keys, kind="stable")]


def turn(indptr: Ints, packed: Words, n_columns: int, shift: int) -> tuple[Ints, Words]:
    """Put cells that lie row by row behind their columns; rows ascend within a column."""
    rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr)).astype(np.uint64)
    bits = np.uint64(shift)
    columns = (packed >> bits).astype(np.int64)
    payload = packed & ((np.uint64(1) << bits) - np.uint64(1))
    return group_cells(columns, (rows << bits) | payload, n_columns)


def unpack(
    packed: Words, shift: int, bits: int, code_type: Any, with_days: bool
) -> tuple[Int32s, Array, NDArray[np.uint16] | None]:
    """Return columns, codes and days; see `starshade.kernels.counting.unpack`."""
    code = packed & np.uint64((1 << bits) - 1)
    day = (packed >> np.uint64(bits)) & np.uint64(UNKNOWN_DAY)
    columns = (packed >> np.uint64(shift)).astype(np.int32)
    return columns, code.astype(code_type), day.astype(np.uint16) if with_days else None
