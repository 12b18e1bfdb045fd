"""Staged rows, sorted: by item, then user, copies of one cell in file order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from starshade.kernels.counting import gather_rows, pack, turn, unpack
from starshade.ratings.building.batch import NO_DAY
from starshade.ratings.building.staging import Staged
from starshade.ratings.levels import code_type

__all__ = ["Cells", "Payload", "Ranks", "payload_of", "row_numbers", "sort_rows"]

Packed = NDArray[np.uint64]
#: provisional number -> index, of users and of items
Ranks = tuple[NDArray[np.int32], NDArray[np.int32]]
#: index of the other axis, code and day of each cell
Cells = tuple[NDArray[np.int32], NDArray[Any], NDArray[np.uint16] | None]

_WORD = 64
_DAY_BITS = 16
_NO_DAYS = np.empty(0, dtype=np.int32)


@dataclass(frozen=True)
class Payload:
    """What a row carries through the sort beside its user and item.

    `shift`: its bits. `of`: block → payload of the block's rows. `read`: packed cells → `Cells`.
    """

    shift: int
    of: Callable[[int], Packed]
    read: Callable[[Packed], Cells]


def payload_of(staged: Staged, level_of: NDArray[np.int64], n_levels: int, ranks: Ranks) -> Payload:
    """Carry code and day; or the row's place, where they are too long for one word.

    `level_of`: level of each of ``staged.distinct``.
    """
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
        _, codes, days = unpack(values[_low_bits(packed, places.shift)], shift, bits, narrow, dated)
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
    place = _low_bits(packed, places.shift)
    block = np.searchsorted(places.starts, place, side="right") - 1
    return np.asarray(np.array(staged.first_rows)[block] + place - places.starts[block])


class _Places(NamedTuple):
    starts: NDArray[np.int64]
    shift: int
    of: Callable[[int], Packed]


def _places(staged: Staged) -> _Places:
    ends = np.cumsum([len(users) for users in staged.user_blocks])
    starts = np.concatenate([[0], ends[:-1]])

    def of(block: int) -> Packed:
        return np.arange(starts[block], ends[block], dtype=np.uint64)

    return _Places(starts, int(ends[-1]).bit_length(), of)


def _low_bits(packed: Packed, bits: int) -> NDArray[np.int64]:
    return (packed & np.uint64((1 << bits) - 1)).astype(np.int64)
