"""Cells of compressed sparse rows, found by binary search: single ones, or a table's."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from starshade.kernels.arrays import Int32s, Ints
from starshade.kernels.readonly import fixed
from starshade.kernels.search import place_of

__all__ = ["find_cells", "places_in"]


def find_cells(indptr: Ints, columns: Int32s, rows: Ints, wanted: Ints) -> Ints:
    """Return the place of each (row, column) among a table's cells; -1 where there is none."""
    return _find(fixed(indptr), fixed(columns), fixed(rows), fixed(wanted))  # type: ignore[no-any-return]


@njit(cache=True, nogil=True)
def _find(indptr, columns, rows, wanted):  # type: ignore[no-untyped-def]
    out = np.empty(len(rows), np.int64)
    for p in range(len(rows)):
        stop = indptr[rows[p] + 1]
        at = place_of(columns, indptr[rows[p]], stop, wanted[p])
        out[p] = at if at < stop and columns[at] == wanted[p] else -1
    return out


def places_in(
    indptr: Ints,
    columns: NDArray[np.integer],
    other_indptr: Ints,
    other_columns: NDArray[np.integer],
    n_items: int,
) -> Ints:
    """Return where each cell of another table of the same rows is in this one; -1: nowhere."""
    if np.array_equal(indptr, other_indptr) and np.array_equal(columns, other_columns):
        return np.arange(len(columns))
    own, other = (
        np.repeat(np.arange(len(ends) - 1), np.diff(ends)) * n_items + items
        for ends, items in ((indptr, columns), (other_indptr, other_columns))
    )
    place = np.searchsorted(own, other)
    return np.where(np.append(own, -1)[place] == other, place, -1)
