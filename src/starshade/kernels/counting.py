"""Sort (user, item) cells by counting.

A row travels as one uint64: the index of its *other* axis in the high bits, a payload (rating and
day, or a row number) in the low ``shift`` bits. `gather_rows` puts the rows of a file behind their
user, `turn` puts them behind their item. Both keep the order in which they meet rows, so in the
end the users of an item ascend and copies of one cell stand side by side, still in file order.

Half a million places to write to at random are more than caches and page tables hold. So each
sort first deals its rows out to at most 1,024 buckets of neighbouring columns and then sorts each
bucket, which the cache does hold, where it lies. Work is cut into `lanes`, which may run in any
order with one result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from starshade.kernels import small
from starshade.kernels.arrays import (
    UNKNOWN_DAY,
    Array,
    Bools,
    Int32s,
    Ints,
    Words,
    cut,
    places,
    run,
)
from starshade.kernels.warm import announce

_BUCKETS = 1 << 10
_PART = 1 << 22  # cells unpacked at once
_UNKNOWN_DAY = np.uint64(UNKNOWN_DAY)


def pack(
    codes: Array, code_of: Words, days: Int32s, first_day: int, no_day: int, bits: int
) -> Words:
    """Return the payload of rows: the day, where there is one, above the code.

    `days` (int32 (n,) or (0,)): `no_day` becomes 65535, others count from `first_day`. Empty: no
    days at all.
    """
    if len(codes) <= small.FEW_CELLS:
        return small.pack(codes, code_of, days, first_day, no_day, bits)
    out = np.empty(len(codes), dtype=np.uint64)
    _pack(codes, code_of, days, np.int64(first_day), np.int64(no_day), np.uint64(bits), out)
    return out


def gather_rows(
    users: Sequence[Int32s],
    items: Sequence[Int32s],
    payload: Callable[[int], Words],
    ranks: tuple[Int32s, Int32s],
    shift: int,
) -> tuple[Ints, Words]:
    """Put every row of a file, given in blocks, behind its user, in file order.

    `ranks`: provisional number → index, of users and of items. `packed` (uint64): ``item << shift |
    payload``.
    """
    sizes = np.array([len(block) for block in users])
    if 0 < sizes.sum() <= small.FEW_CELLS:
        keys = ranks[0][np.concatenate(users)]
        columns = ranks[1][np.concatenate(items)].astype(np.uint64) << np.uint64(shift)
        packed = columns | np.concatenate([payload(block) for block in range(len(users))])
        return small.group_cells(keys, packed, len(ranks[0]))
    width = _bucket_width(len(ranks[0]))

    def count(first: int, last: int, counts: Ints) -> None:
        for block in range(first, last):
            _count_rows(users[block], ranks[0], width, counts)

    def deal(first: int, last: int, place: Ints, keys: Int32s, packed: Words) -> None:
        for block in range(first, last):
            _deal_rows(
                users[block], items[block], payload(block), *ranks, width, np.uint64(shift),
                place, keys, packed,
            )  # fmt: skip

    return _sort(sizes, len(ranks[0]), count, deal)


def turn(indptr: Ints, packed: Words, n_columns: int, shift: int) -> tuple[Ints, Words]:
    """Put cells that lie row by row behind their columns; rows ascend within a column."""
    if len(packed) <= small.FEW_CELLS:
        return small.turn(indptr, packed, n_columns, shift)
    width = _bucket_width(n_columns)
    bits = np.uint64(shift)

    def count(first: int, last: int, counts: Ints) -> None:
        _count_cells(packed[indptr[first] : indptr[last]], bits, width, counts)

    def deal(first: int, last: int, place: Ints, keys: Int32s, turned: Words) -> None:
        _deal_cells(first, last, indptr, packed, width, bits, place, keys, turned)

    return _sort(np.diff(indptr), n_columns, count, deal)


def unpack(
    packed: Words, shift: int, bits: int, code_type: Any, with_days: bool
) -> tuple[Int32s, Array, NDArray[np.uint16] | None]:
    """Return columns, codes and days of cells whose payload `pack` made."""
    n = len(packed)
    if n <= small.FEW_CELLS:
        return small.unpack(packed, shift, bits, code_type, with_days)
    columns = np.empty(n, dtype=np.int32)
    codes = np.empty(n, dtype=code_type)
    days = np.empty(n if with_days else 0, dtype=np.uint16)
    parts = [slice(start, start + _PART) for start in range(0, n, _PART)]

    def work(i: int) -> None:
        part = parts[i]
        _unpack(
            packed[part], np.uint64(shift), np.uint64(bits),
            columns[part], codes[part], days[part],
        )  # fmt: skip

    run(work, len(parts))
    return columns, codes, days if with_days else None


def repeats(indptr: Ints, packed: Words, shift: int) -> Bools | None:
    """Mark cells that repeat the column of the cell before them in the same row; None: none."""
    if len(packed) > small.FEW_CELLS:  # in general there are none, which is seen without tables
        lanes = cut(np.diff(indptr))
        found = [False] * len(lanes)

        def look(lane: int) -> None:
            found[lane] = _has_repeats(*lanes[lane], indptr, packed, np.uint64(shift))

        run(look, len(lanes))
        if not any(found):
            return None
    columns = packed >> np.uint64(shift)
    same = np.zeros(len(packed), dtype=np.bool_)
    same[1:] = columns[1:] == columns[:-1]
    starts = indptr[:-1]
    same[starts[starts < len(packed)]] = False
    return same if same.any() else None


def _bucket_width(n_columns: int) -> int:
    """Return the bits of a column's index that tell columns of one bucket apart."""
    return max(0, (n_columns - 1).bit_length() - (_BUCKETS - 1).bit_length())


def _sort(
    sizes: NDArray[np.integer],
    n_columns: int,
    count: Callable[[int, int, Ints], None],
    deal: Callable[[int, int, Ints, Int32s, Words], None],
) -> tuple[Ints, Words]:
    announce("the table of ratings", _settle)
    width = _bucket_width(n_columns)
    lanes = cut(sizes)
    counts = np.zeros((len(lanes), ((n_columns - 1) >> width) + 1), dtype=np.int64)
    run(lambda lane: count(*lanes[lane], counts[lane]), len(lanes))
    edges, place = places(counts)
    keys = np.empty(int(edges[-1]), dtype=np.int32)
    packed = np.empty(len(keys), dtype=np.uint64)
    run(lambda lane: deal(*lanes[lane], place[lane], keys, packed), len(lanes))
    indptr = np.empty(n_columns + 1, dtype=np.int64)
    indptr[-1] = len(keys)
    lanes = cut(np.diff(edges))
    run(lambda lane: _settle(*lanes[lane], edges, width, keys, packed, indptr), len(lanes))
    return indptr, packed


@njit(cache=True, nogil=True)
def _pack(codes, code_of, days, first_day, no_day, bits, out):  # type: ignore[no-untyped-def]
    for r in range(len(codes)):
        out[r] = code_of[codes[r]]
    for r in range(len(days)):
        day = np.int64(days[r])
        offset = _UNKNOWN_DAY if day == no_day else np.uint64(day - first_day)
        out[r] |= offset << bits


@njit(cache=True, nogil=True)
def _count_rows(users, rank, width, counts):  # type: ignore[no-untyped-def]
    for r in range(len(users)):
        counts[rank[users[r]] >> width] += 1


@njit(cache=True, nogil=True)
def _deal_rows(users, items, payload, user_rank, item_rank, width, shift, place, keys, packed):  # type: ignore[no-untyped-def]
    for r in range(len(users)):
        user = user_rank[users[r]]
        q = place[user >> width]
        place[user >> width] = q + 1
        keys[q] = user
        packed[q] = (np.uint64(item_rank[items[r]]) << shift) | payload[r]


@njit(cache=True, nogil=True)
def _count_cells(packed, shift, width, counts):  # type: ignore[no-untyped-def]
    for p in range(len(packed)):
        counts[np.int64(packed[p] >> shift) >> width] += 1


@njit(cache=True, nogil=True)
def _deal_cells(first, last, indptr, packed, width, shift, place, keys, turned):  # type: ignore[no-untyped-def]
    low = (np.uint64(1) << shift) - np.uint64(1)
    for i in range(first, last):
        row = np.uint64(i) << shift
        for p in range(indptr[i], indptr[i + 1]):
            column = np.int64(packed[p] >> shift)
            q = place[column >> width]
            place[column >> width] = q + 1
            keys[q] = column
            turned[q] = row | (packed[p] & low)


@njit(cache=True, nogil=True)
def _settle(first, last, edges, width, keys, packed, indptr):  # type: ignore[no-untyped-def]
    """Sort the cells of each bucket by column, where they lie, and say where columns begin."""
    for bucket in range(first, last):
        start, stop = edges[bucket], edges[bucket + 1]
        column = bucket << width
        n_columns = min(1 << width, len(indptr) - 1 - column)
        place = np.zeros(n_columns, np.int64)
        for q in range(start, stop):
            place[keys[q] - column] += 1
        before = start
        for j in range(n_columns):
            size = place[j]
            place[j] = before
            indptr[column + j] = before
            before += size
        unsorted = packed[start:stop].copy()
        for q in range(start, stop):
            j = keys[q] - column
            packed[place[j]] = unsorted[q - start]
            place[j] += 1


@njit(cache=True, nogil=True)
def _unpack(packed, shift, bits, columns, codes, days):  # type: ignore[no-untyped-def]
    low = (np.uint64(1) << bits) - np.uint64(1)
    for p in range(len(packed)):
        columns[p] = np.int32(packed[p] >> shift)
        codes[p] = packed[p] & low
    for p in range(len(days)):
        days[p] = np.uint16((packed[p] >> bits) & _UNKNOWN_DAY)


@njit(cache=True, nogil=True)
def _has_repeats(first, last, indptr, packed, shift):  # type: ignore[no-untyped-def]
    for i in range(first, last):
        for p in range(indptr[i] + 1, indptr[i + 1]):
            if packed[p] >> shift == packed[p - 1] >> shift:
                return True
    return False
