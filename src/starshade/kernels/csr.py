"""Moves on compressed sparse rows: transpose, keep some columns, keep some rows.

Every function takes (indptr, columns, codes, days) with days possibly None, and returns the
same four. Columns are strictly ascending within a row, and stay so.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["keep_columns", "keep_rows", "transpose"]

Days = NDArray[np.uint16] | None
_NO_DAYS = np.empty(0, dtype=np.uint16)


def transpose(
    indptr: NDArray[np.int64],
    columns: NDArray[np.int32],
    codes: NDArray[Any],
    days: Days,
    n_columns: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[Any], Days]:
    """Turn rows into columns by counting; rows stay ascending within a column."""
    with_days = days is not None
    out = _transpose(indptr, columns, codes, days if with_days else _NO_DAYS, n_columns, with_days)
    return out[0], out[1], out[2], out[3] if with_days else None


@njit(cache=True, nogil=True)
def _transpose(indptr, columns, codes, days, n_columns, with_days):  # type: ignore[no-untyped-def]
    n = len(columns)
    out_ptr = np.zeros(n_columns + 1, np.int64)
    for p in range(n):
        out_ptr[columns[p] + 1] += 1
    for j in range(n_columns):
        out_ptr[j + 1] += out_ptr[j]
    place = out_ptr[:-1].copy()
    rows = np.empty(n, np.int32)
    out_codes = np.empty_like(codes)
    out_days = np.empty(n if with_days else 0, np.uint16)
    for i in range(len(indptr) - 1):
        for p in range(indptr[i], indptr[i + 1]):
            q = place[columns[p]]
            place[columns[p]] = q + 1
            rows[q] = i
            out_codes[q] = codes[p]
            if with_days:
                out_days[q] = days[p]
    return out_ptr, rows, out_codes, out_days


def keep_columns(
    indptr: NDArray[np.int64],
    columns: NDArray[np.int32],
    codes: NDArray[Any],
    days: Days,
    keep: NDArray[np.bool_],
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[Any], Days]:
    """Keep the columns marked in `keep`, renumbered in order; rows may become empty."""
    kept = keep[columns]
    before = np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])
    renumbered = (np.cumsum(keep) - 1).astype(np.int32)
    return (
        before[indptr],
        renumbered[columns[kept]],
        codes[kept],
        None if days is None else days[kept],
    )


def keep_rows(
    indptr: NDArray[np.int64],
    columns: NDArray[np.int32],
    codes: NDArray[Any],
    days: Days,
    rows: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[Any], Days]:
    """Keep the given rows, in the order given."""
    lengths = np.diff(indptr)[rows]
    out_ptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    # position of each kept cell: its row's start, plus its place within the row
    cells = np.repeat(indptr[rows] - out_ptr[:-1], lengths) + np.arange(out_ptr[-1])
    return out_ptr, columns[cells], codes[cells], None if days is None else days[cells]
