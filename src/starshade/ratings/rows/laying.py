"""From numbered rows in file order to cells by item and by user (`starshade.ratings.build`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from starshade.kernels.counting import gather_rows, pack, repeats, turn, unpack
from starshade.ratings.levels import code_type
from starshade.ratings.staging import NO_DAY, Staged
from starshade.ratings.table import ByItem

Packed = NDArray[np.uint64]
#: provisional number -> index, of users and of items
Ranks = tuple[NDArray[np.int32], NDArray[np.int32]]
#: index of the other axis, code and day of each cell
Cells = tuple[NDArray[np.int32], NDArray[Any], NDArray[np.uint16] | None]

_WORD = 64
_DAY_BITS = 16
_NO_DAYS = np.empty(0, dtype=np.int32)


@dataclass(frozen=True, eq=False)
class Laid:
    """Cells by item, copies of one cell side by side in file order.

    `same`: cells that repeat the one before them; None: none does. `by_user`: bounds of the rows
    and their cells; None where cells repeat.
    """

    cells: ByItem
    same: NDArray[np.bool_] | None
    by_user: tuple[NDArray[np.int64], Cells] | None


def lay(staged: Staged, ranks: Ranks, level_of: NDArray[np.int64], n_levels: int) -> Laid:
    """Sort rows; `staged` loses its values on the way, and where no cell repeats the rest.

    `level_of`: level of each of ``staged.distinct``.
    """
    payload = payload_of(staged, level_of, n_levels, ranks)
    indptr, packed = sort_rows(staged, ranks, payload.of, payload.shift)
    read, shift = payload.read, payload.shift
    same = repeats(indptr, packed, shift)
    if same is not None:
        return Laid(ByItem(indptr, *read(packed)), same, None)
    del payload
    staged.forget_rows()  # the sort's input goes before its output doubles
    user_ptr, by_user = turn(indptr, packed, len(ranks[0]), shift)
    cells = ByItem(indptr, *read(packed))
    del packed
    return Laid(cells, None, (user_ptr, read(by_user)))


@dataclass(frozen=True)
class Payload:
    """What a row carries through the sort beside its user and item.

    `shift`: its bits. `of`: block → payload of the block's rows. `read`: packed cells → `Cells`.
    """

    shift: int
    of: Callable[[int], Packed]
    read: Callable[[Packed], Cells]


def payload_of(staged: Staged, level_of: NDArray[np.int64], n_levels: int, ranks: Ranks) -> Payload:
    """Carry code and day; or the row's place, where they are too long for one word."""
    dated = staged.first_day is not None
    bits = max(1, (n_levels - 1).bit_length())
    shift = bits + (_DAY_BITS if dated else 0)
    narrow = code_type(n_levels)
    code_of = level_of.astype(np.uint64)

    def of(block: int) -> Packed:
        codes, days = staged.code_blocks[block], staged.day_blocks[block]
        if days is None:
            days = np.full(len(codes), NO_DAY, dtype=np.int32) if dated else _NO_DAYS
        return pack(codes, code_of, days, staged.first_day or 0, NO_DAY, bits)

    if max(len(rank) - 1 for rank in ranks).bit_length() + shift <= _WORD:
        return Payload(shift, of, lambda packed: unpack(packed, shift, bits, narrow, dated))
    values = np.concatenate([of(block) for block in range(len(staged.code_blocks))])
    places = _places(staged)

    def read(packed: Packed) -> Cells:
        _, codes, days = unpack(values[low_bits(packed, places.shift)], shift, bits, narrow, dated)
        return (packed >> np.uint64(places.shift)).astype(np.int32), codes, days

    return Payload(places.shift, places.of, read)


def sort_rows(
    staged: Staged, ranks: Ranks, payload: Callable[[int], Packed], shift: int
) -> tuple[NDArray[np.int64], Packed]:
    """Sort rows by item, then user; `staged` loses its ratings and days on the way.

    Returns `indptr` (n_items + 1,). `packed` (uint64): ``user << shift | payload``.
    """
    by_user = gather_rows(staged.user_blocks, staged.item_blocks, payload, ranks, shift)
    staged.forget_values()
    return turn(*by_user, len(ranks[1]), shift)


def row_numbers(staged: Staged, ranks: Ranks) -> NDArray[np.int64]:
    """Return the row number of each cell in the order of `sort_rows`."""
    places = _places(staged)
    _, packed = sort_rows(staged, ranks, places.of, places.shift)
    return staged.rows(low_bits(packed, places.shift))


def rows_by_user(
    staged: Staged, ranks: Ranks
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Put rows behind their users, in file order: bounds, items, places among all blocks."""
    places = _places(staged)
    indptr, packed = gather_rows(
        staged.user_blocks, staged.item_blocks, places.of, ranks, places.shift
    )
    items = (packed >> np.uint64(places.shift)).astype(np.int32)
    return indptr, items, low_bits(packed, places.shift)


class _Places(NamedTuple):
    shift: int
    of: Callable[[int], Packed]


def _places(staged: Staged) -> _Places:
    ends = np.cumsum([len(users) for users in staged.user_blocks])
    starts = np.concatenate([[0], ends[:-1]])

    def of(block: int) -> Packed:
        return np.arange(starts[block], ends[block], dtype=np.uint64)

    return _Places(int(ends[-1]).bit_length(), of)


def low_bits(packed: Packed, bits: int) -> NDArray[np.int64]:
    """Return what stands in the lowest bits."""
    return (packed & np.uint64((1 << bits) - 1)).astype(np.int64)
