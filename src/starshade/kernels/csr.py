"""Moves on compressed sparse rows: transpose, keep some columns, keep some rows.

Every function takes (indptr, columns, codes, days) with days possibly None, and returns the
same four. Columns are strictly ascending within a row, and stay so.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from starshade.kernels.arrays import Array, Bools, Int32s, Ints, cut, places, run

Days = NDArray[np.uint16] | None
_NO_DAYS = np.empty(0, dtype=np.uint16)
_AT_ONCE = 1 << 22  # cells that rows are moved of at once


def transpose(
    indptr: Ints, columns: Int32s, codes: Array, days: Days, n_columns: int
) -> tuple[Ints, Int32s, Array, Days]:
    """Turn rows into columns by counting; rows stay ascending within a column."""
    lanes = cut(np.diff(indptr), n_columns)
    counts = np.zeros((len(lanes), n_columns), dtype=np.int64)

    def count(lane: int) -> None:
        first, last = lanes[lane]
        _count(columns[indptr[first] : indptr[last]], counts[lane])

    run(count, len(lanes))
    out_ptr, place = places(counts)
    rows = np.empty(len(columns), dtype=np.int32)
    out_codes = np.empty(len(columns), dtype=codes.dtype)
    out_days = _NO_DAYS if days is None else np.empty(len(columns), dtype=np.uint16)

    def scatter(lane: int) -> None:
        _scatter(
            *lanes[lane], indptr, columns, codes, _NO_DAYS if days is None else days,
            place[lane], rows, out_codes, out_days,
        )  # fmt: skip

    run(scatter, len(lanes))
    return out_ptr, rows, out_codes, None if days is None else out_days


@njit(cache=True, nogil=True)
def _count(columns, counts):  # type: ignore[no-untyped-def]
    for p in range(len(columns)):
        counts[columns[p]] += 1


@njit(cache=True, nogil=True)
def _scatter(first, last, indptr, columns, codes, days, place, rows, out_codes, out_days):  # type: ignore[no-untyped-def]
    with_days = len(out_days) > 0
    for i in range(first, last):
        for p in range(indptr[i], indptr[i + 1]):
            q = place[columns[p]]
            place[columns[p]] = q + 1
            rows[q] = i
            out_codes[q] = codes[p]
            if with_days:
                out_days[q] = days[p]


def keep_columns(
    indptr: Ints, columns: Int32s, codes: Array, days: Days, keep: Bools
) -> tuple[Ints, Int32s, Array, Days]:
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
    indptr: Ints, columns: Int32s, codes: Array, days: Days, rows: Ints
) -> tuple[Ints, Int32s, Array, Days]:
    """Keep the given rows, in the order given."""
    lengths = np.diff(indptr)[rows]
    out_ptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    out_columns = np.empty(out_ptr[-1], dtype=columns.dtype)
    out_codes = np.empty(out_ptr[-1], dtype=codes.dtype)
    out_days = None if days is None else np.empty(out_ptr[-1], dtype=days.dtype)
    first = 0
    while first < len(rows):  # in parts: to say where cells come from takes more than they do
        enough = np.searchsorted(out_ptr, out_ptr[first] + _AT_ONCE, side="right")
        last = max(first + 1, int(enough) - 1)
        here = slice(int(out_ptr[first]), int(out_ptr[last]))
        # position of each kept cell: its row's start, plus its place within the row
        shift = indptr[rows[first:last]] - out_ptr[first:last]
        cells = np.repeat(shift, lengths[first:last]) + np.arange(here.start, here.stop)
        out_columns[here], out_codes[here] = columns[cells], codes[cells]
        if days is not None and out_days is not None:
            out_days[here] = days[cells]
        first = last
    return out_ptr, out_columns, out_codes, out_days
