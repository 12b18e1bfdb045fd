"""Single cells of compressed sparse rows, found by binary search."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from starshade.kernels.readonly import fixed
from starshade.kernels.search import place_of

__all__ = ["find_cells"]


def find_cells(
    indptr: NDArray[np.int64],
    columns: NDArray[np.int32],
    rows: NDArray[np.int64],
    wanted: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return the place of the cell in each (row, column) among a table's cells; -1 where none is.

    Parameters
    ----------
    indptr, columns
        Columns strictly ascending within a row.
    rows, wanted : ndarray of int64, shape (p,)
    """
    return _find(fixed(indptr), fixed(columns), fixed(rows), fixed(wanted))  # type: ignore[no-any-return]


@njit(cache=True, nogil=True)
def _find(indptr, columns, rows, wanted):  # type: ignore[no-untyped-def]
    out = np.empty(len(rows), np.int64)
    for p in range(len(rows)):
        stop = indptr[rows[p] + 1]
        at = place_of(columns, indptr[rows[p]], stop, wanted[p])
        out[p] = at if at < stop and columns[at] == wanted[p] else -1
    return out
