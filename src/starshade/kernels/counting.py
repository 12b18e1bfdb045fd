"""Sort (user, item) cells by counting.

A row travels as one uint64: the index of its *other* axis in the high bits, a payload (rating and
day, or a row number) in the low ``shift`` bits. `gather_rows` puts the rows of a file behind their
user, `turn` puts them behind their item. Both keep the order in which they meet rows, so in the
end the users of an item ascend and copies of one cell stand side by side, still in file order.

Work is cut into `lanes`, which may run in any order with one result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from starshade.kernels.lanes import cut, places, run

__all__ = ["gather_rows", "repeats", "turn", "unpack"]

Int32s = NDArray[np.int32]
Packed = NDArray[np.uint64]

_PART = 1 << 22  # cells unpacked at once


def gather_rows(
    users: Sequence[Int32s],
    items: Sequence[Int32s],
    payload: Callable[[int], Packed],
    ranks: tuple[Int32s, Int32s],
    shift: int,
) -> tuple[NDArray[np.int64], Packed]:
    """Put every row of a file, given in blocks, behind its user, in file order.

    Parameters
    ----------
    users, items : sequences of ndarray of int32
        Provisional numbers, one array per block.
    payload : callable
        Makes the payload of a block's rows, each below ``2**shift``.
    ranks : two ndarrays of int32
        Provisional number → index, of users and of items.
    shift : int

    Returns
    -------
    indptr : ndarray of int64, shape (n_users + 1,)
    packed : ndarray of uint64
        ``item << shift | payload``.
    """
    lanes = cut(np.array([len(block) for block in users]), len(ranks[0]))
    counts = np.zeros((len(lanes), len(ranks[0])), dtype=np.int64)

    def count(lane: int) -> None:
        for block in range(*lanes[lane]):
            _count_rows(users[block], ranks[0], counts[lane])

    run(count, len(lanes))
    indptr, place = places(counts)
    packed = np.empty(int(indptr[-1]), dtype=np.uint64)

    def scatter(lane: int) -> None:
        for block in range(*lanes[lane]):
            _scatter_rows(
                users[block], items[block], payload(block), *ranks, np.uint64(shift),
                place[lane], packed,
            )  # fmt: skip

    run(scatter, len(lanes))
    return indptr, packed


def turn(
    indptr: NDArray[np.int64], packed: Packed, n_columns: int, shift: int
) -> tuple[NDArray[np.int64], Packed]:
    """Put cells that lie row by row behind their columns; rows ascend within a column."""
    lanes = cut(np.diff(indptr), n_columns)
    counts = np.zeros((len(lanes), n_columns), dtype=np.int64)
    bits = np.uint64(shift)

    def count(lane: int) -> None:
        first, last = lanes[lane]
        _count_cells(packed[indptr[first] : indptr[last]], bits, counts[lane])

    run(count, len(lanes))
    turned_ptr, place = places(counts)
    turned = np.empty_like(packed)

    def scatter(lane: int) -> None:
        _scatter_cells(*lanes[lane], indptr, packed, bits, place[lane], turned)

    run(scatter, len(lanes))
    return turned_ptr, turned


def unpack(
    packed: Packed, shift: int, code_bits: int, code_type: Any, with_days: bool
) -> tuple[Int32s, NDArray[Any], NDArray[np.uint16] | None]:
    """Return columns, codes and days of packed cells (payload: the day above the code)."""
    n = len(packed)
    columns = np.empty(n, dtype=np.int32)
    codes = np.empty(n, dtype=code_type)
    days = np.empty(n if with_days else 0, dtype=np.uint16)
    bits = np.uint64(shift), np.uint64(code_bits)
    parts = [slice(i, i + _PART) for i in range(0, n, _PART)]

    def work(i: int) -> None:
        part = parts[i]
        _unpack(packed[part], *bits, columns[part], codes[part], days[part])

    run(work, len(parts))
    return columns, codes, days if with_days else None


def repeats(indptr: NDArray[np.int64], columns: Int32s) -> NDArray[np.bool_] | None:
    """Mark cells that repeat the column of the cell before them in the same row; None: none."""
    if not len(columns) or not _has_repeats(indptr, columns):
        return None
    same = np.zeros(len(columns), dtype=np.bool_)
    same[1:] = columns[1:] == columns[:-1]
    starts = indptr[:-1]
    same[starts[starts < len(columns)]] = False
    return same


@njit(cache=True, nogil=True)
def _count_rows(users, rank, counts):  # type: ignore[no-untyped-def]
    for r in range(len(users)):
        counts[rank[users[r]]] += 1


@njit(cache=True, nogil=True)
def _scatter_rows(users, items, payload, user_rank, item_rank, shift, place, packed):  # type: ignore[no-untyped-def]
    for r in range(len(users)):
        u = user_rank[users[r]]
        q = place[u]
        place[u] = q + 1
        packed[q] = (np.uint64(item_rank[items[r]]) << shift) | payload[r]


@njit(cache=True, nogil=True)
def _count_cells(packed, shift, counts):  # type: ignore[no-untyped-def]
    for p in range(len(packed)):
        counts[np.int64(packed[p] >> shift)] += 1


@njit(cache=True, nogil=True)
def _scatter_cells(first, last, indptr, packed, shift, place, turned):  # type: ignore[no-untyped-def]
    low = (np.uint64(1) << shift) - np.uint64(1)
    for i in range(first, last):
        row = np.uint64(i) << shift
        for p in range(indptr[i], indptr[i + 1]):
            j = np.int64(packed[p] >> shift)
            q = place[j]
            place[j] = q + 1
            turned[q] = row | (packed[p] & low)


@njit(cache=True, nogil=True)
def _unpack(packed, shift, code_bits, columns, codes, days):  # type: ignore[no-untyped-def]
    low = (np.uint64(1) << code_bits) - np.uint64(1)
    for p in range(len(packed)):
        columns[p] = np.int32(packed[p] >> shift)
        codes[p] = packed[p] & low
    for p in range(len(days)):
        days[p] = np.uint16((packed[p] >> code_bits) & np.uint64(0xFFFF))


@njit(cache=True, nogil=True)
def _has_repeats(indptr, columns):  # type: ignore[no-untyped-def]
    for i in range(len(indptr) - 1):
        for p in range(indptr[i] + 1, indptr[i + 1]):
            if columns[p] == columns[p - 1]:
                return True
    return False
