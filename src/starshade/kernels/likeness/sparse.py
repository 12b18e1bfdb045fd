"""k-Likeness's distance pass on sparse rows: no table of records × items is ever made.

On whole numbers with null = 0, the L1 distance of x and y is Σx + Σy − 2 Σ min(x, y), and only
items that both rated add to the last sum: the raters of each item of a nucleus are walked, and
each collects what the two have in common. Real numbers, whose sums depend on their order, are
walked side by side instead, item after item, so that a distance is the full table's to the last
bit. Further columns, few and full, come after the items.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit, prange

from starshade.kernels.arrays import Array, Bools, Floats, Int32s, Ints, inner
from starshade.kernels.csr import keep_rows, transpose
from starshade.kernels.likeness.likeness import Lists, form_groups
from starshade.kernels.warm import announce

_CHUNK = 4  # nuclei that one thread looks for in one go
_WORTH_THREADS = 500_000  # cells walked; below, waking threads costs more


class SparseRows(NamedTuple):
    """Records as sparse rows, in the order of the permutation.

    `cells` (int32 or float64): steps above null, or real numbers. `null`: what a cell that is not
    there counts as; 0 where cells are steps.
    """

    indptr: Ints
    columns: Int32s
    cells: Array
    null: float
    beside: Floats
    n_items: int


class _Index(NamedTuple):
    """Rows that are free, and the same cells item by item."""

    indptr: Ints
    columns: Int32s
    cells: Array
    item_indptr: Ints
    users: Int32s
    item_cells: Array
    sums: Ints
    beside: Floats
    position: Ints
    null: float


def sparse_nucleus_groups(rows: SparseRows, k: int) -> tuple[Ints, int]:
    """Form groups of k while at least k records are left; see `likeness.nucleus_groups`."""
    n = len(rows.indptr) - 1
    nowhere = np.zeros(n, np.int32)  # rows are in no blocks

    def arrange(free: Bools) -> Lists:
        index = _index(rows, np.flatnonzero(free))
        row_of = np.cumsum(free) - 1

        def nearest(nuclei: Ints, wanted: int) -> Ints:
            near = np.full((len(nuclei), wanted), -1, np.int64)
            walk = _alone if len(nuclei) * len(index.users) < _WORTH_THREADS else _together
            announce("k-Likeness on sparse rows", walk)
            walk(index, free, row_of[nuclei], near)
            return near

        return Lists(nearest, nowhere, np.zeros(1, np.int64))

    return form_groups(n, k, arrange)


def sparse_distances(rows: SparseRows, record: int) -> Floats:
    """L1 distance of one record to every record, shape (n,); items are added in order."""
    index = _index(rows, np.arange(len(rows.indptr) - 1))
    out = np.empty(len(index.position))
    _away(index, record, np.zeros(len(out), np.int64), out)
    return out


def _index(rows: SparseRows, free: Ints) -> _Index:
    indptr, columns, cells, _ = keep_rows(rows.indptr, rows.columns, rows.cells, None, free)
    if cells.dtype.kind == "f":  # rows are walked side by side: no need of items
        item_indptr, users, item_cells = np.zeros(1, np.int64), columns[:0], cells[:0]
        sums = np.zeros(0, np.int64)
    else:
        item_indptr, users, item_cells, _ = transpose(indptr, columns, cells, None, rows.n_items)
        before = np.concatenate([[0], np.cumsum(cells, dtype=np.int64)])
        sums = before[indptr[1:]] - before[indptr[:-1]]
    beside = np.ascontiguousarray(rows.beside[free])
    return _Index(
        indptr, columns, cells, item_indptr, users, item_cells, sums, beside, free,
        float(rows.null),
    )  # fmt: skip


@njit(cache=True, nogil=True, parallel=True)
def _together(index, free, nuclei, near):  # type: ignore[no-untyped-def]
    for chunk in prange((len(nuclei) + _CHUNK - 1) // _CHUNK):
        first = chunk * _CHUNK
        last = min(first + _CHUNK, len(nuclei))
        _list(index, free, nuclei[first:last], near[first:last])


@njit(cache=True, nogil=True)
def _alone(index, free, nuclei, near):  # type: ignore[no-untyped-def]
    _list(index, free, nuclei, near)


@inner
def _list(index, free, nuclei, near):  # type: ignore[no-untyped-def]
    n = len(index.position)
    common = np.zeros(n, np.int64)
    away = np.empty(n, np.float64)
    least = np.empty(near.shape[1], np.float64)
    for q in range(len(nuclei)):
        _away(index, nuclei[q], common, away)
        _keep_least(away, index.position, free, nuclei[q], near[q], least)


@njit(cache=True, nogil=True)
def _away(index, nucleus, common, away):  # type: ignore[no-untyped-def]
    """Fill in the distance of each row to one; `common` is all zeros before and after."""
    if len(index.sums) > 0:
        _by_raters(
            index.indptr, index.columns, index.cells, index.item_indptr, index.users,
            index.item_cells, index.sums, nucleus, common, away,
        )  # fmt: skip
    else:
        _side_by_side(index.indptr, index.columns, index.cells, index.null, nucleus, away)
    beside = index.beside
    for i in range(len(beside)):
        for j in range(beside.shape[1]):
            away[i] += abs(beside[i, j] - beside[nucleus, j])


@inner
def _by_raters(indptr, columns, cells, item_indptr, users, item_cells, sums, nucleus, common, away):  # type: ignore[no-untyped-def]
    for p in range(indptr[nucleus], indptr[nucleus + 1]):
        own = cells[p]
        for r in range(item_indptr[columns[p]], item_indptr[columns[p] + 1]):
            common[users[r]] += min(own, item_cells[r])
    for i in range(len(sums)):
        away[i] = sums[nucleus] + sums[i] - 2 * common[i]
        common[i] = 0


@inner
def _side_by_side(indptr, columns, cells, null, nucleus, away):  # type: ignore[no-untyped-def]
    first, last = indptr[nucleus], indptr[nucleus + 1]
    for i in range(len(away)):
        p, q, end = first, indptr[i], indptr[i + 1]
        total = 0.0
        while p < last or q < end:
            # an item that neither rated adds nothing
            if q == end or (p < last and columns[p] < columns[q]):
                total += abs(cells[p] - null)
                p += 1
            elif p == last or columns[q] < columns[p]:
                total += abs(cells[q] - null)
                q += 1
            else:
                total += abs(cells[p] - cells[q])
                p += 1
                q += 1
        away[i] = total


@inner
def _keep_least(away, position, free, nucleus, near, least):  # type: ignore[no-untyped-def]
    """List the nearest free rows but the nucleus, ties to the earlier."""
    found, last = 0, len(near) - 1
    for i in range(len(away)):
        if found > last and away[i] >= least[last]:
            continue
        if not free[position[i]] or i == nucleus:
            continue
        found = min(found + 1, len(near))
        p = found - 1
        while p > 0 and least[p - 1] > away[i]:
            least[p] = least[p - 1]
            near[p] = near[p - 1]
            p -= 1
        least[p] = away[i]
        near[p] = position[i]
