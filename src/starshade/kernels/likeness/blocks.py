"""Records laid out in blocks of near ones, so that a search can pass over most blocks.

Items are shared out to a few *directions*; along a direction a record stands at the sum of its
items, each taken with a sign. Whatever the signs, two records differ along all directions
together by no more than their L1 distance: so a block whose records all stand too far away along
the directions holds nobody near. The signs and the shares follow the data (items that go
together add up, which spreads the records out), but only the time depends on them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from starshade.kernels.arrays import Array, Bytes, Floats, Int32s, Ints, copy_to, inner

BLOCK = 64
TRAY = 16  # blocks
_DIRECTIONS = 4
_SAMPLE = 4096  # records that the directions are taken from
_ROUNDS = 16  # of the power method
_PLACES = 256  # that a direction is divided into while records are laid out
_SLACK = 1e-9  # of the greatest sum: far above rounding, for real numbers
_ORDINARY = (1e-290, 1e290)  # greatest sums; beyond, a direction or its slack may be no number


class Blocks(NamedTuple):
    """Free records in blocks of 64, with the box that each block fills.

    `cells` (n_words or n_items, n): words of bits (uint64), or plain numbers. `kind` (0,): its
    dtype is that of distances. `position` (n,): place of each record in the permutation. `slot`
    (n_all,): the inverse, for records that are laid out. `along` (int32 or float64 (n_directions,
    n_all)): where each record stands, by position. `low`, `high` (n_directions, n_blocks): of
    `along`; of float64 with slack. `tray_low`, `tray_high` (n_directions, n_trays): the same of
    sixteen blocks in a row. `first` (n_blocks,): the least position in the block.
    """

    cells: Array
    kind: Array
    position: Int32s
    slot: Int32s
    along: Array
    low: Array
    high: Array
    tray_low: Array
    tray_high: Array
    first: Int32s
    tray_first: Int32s


def directions(table: Array) -> tuple[Array, float]:
    """Return where each record stands along a few directions.

    Returns `along` (int32 or float64 (n_directions, n)): float64 on a table of real numbers; all
    zeros, so that no block is passed over, where they are too large or too small to be added.
    `slack`: above what rounding may have moved a record; 0 for whole numbers.
    """
    n_items, n = table.shape
    real = table.dtype.kind == "f"
    along = np.zeros((min(_DIRECTIONS, n_items), n), np.float64 if real else np.int32)
    peaks = np.abs(table).max(axis=1).astype(np.float64)
    with np.errstate(over="ignore"):
        greatest = float(peaks.sum())
    if real and not _ORDINARY[0] <= greatest <= _ORDINARY[1]:
        return along, 0.0
    lead = _lead(table[:, :: max(1, n // _SAMPLE)] / (peaks.max() or 1.0))
    by_lead = np.argsort(lead, kind="stable")
    for out, items in zip(along, np.array_split(by_lead, len(along)), strict=True):
        for j in items:
            # summed in the type of `along`, so unsigned numbers do not wrap around
            np.add(out, table[j], out=out, casting="unsafe") if lead[j] >= 0 else np.subtract(
                out, table[j], out=out, casting="unsafe"
            )
    return along, _SLACK * greatest if real else 0.0


def _lead(sample: Floats) -> Floats:
    """Return how much each item goes along with the sample's main direction."""
    sample = sample - sample.mean(axis=1, keepdims=True)
    lead = np.ones(len(sample))
    for _ in range(_ROUNDS):
        lead = sample @ (sample.T @ lead)
        lead /= np.abs(lead).max() or 1.0
    return lead


def lay_out(cells: Array, along: Array, free: Ints, slack: float) -> Blocks:
    """Lay out the records that are free."""
    order = free[_sort(_coarse(along[:, free]))]
    slot = np.full(along.shape[1], -1, np.int32)
    slot[order] = np.arange(len(order), dtype=np.int32)
    starts = np.arange(0, len(order), BLOCK)
    sorted_along = along[:, order]
    low = np.minimum.reduceat(sorted_along, starts, axis=1)
    high = np.maximum.reduceat(sorted_along, starts, axis=1)
    if along.dtype.kind == "f":
        low, high = low - slack, high + slack
    position = order.astype(np.int32)
    first = np.minimum.reduceat(position, starts)
    trays = np.arange(0, len(first), TRAY)
    return Blocks(
        cells=np.ascontiguousarray(cells[:, order]),
        kind=np.empty(0, np.int64 if cells.dtype == np.uint64 else cells.dtype),
        position=position,
        slot=slot,
        along=along,
        low=low,
        high=high,
        tray_low=np.minimum.reduceat(low, trays, axis=1),
        tray_high=np.maximum.reduceat(high, trays, axis=1),
        first=first,
        tray_first=np.minimum.reduceat(first, trays),
    )


def _coarse(along: Array) -> Bytes:
    low = along.min(axis=1, keepdims=True)
    width = float((along.max(axis=1) - low[:, 0].astype(np.float64)).max())
    if along.dtype.kind != "f":
        width = max(width, _PLACES - 1.0)  # a step is never more than one place
    scale = (_PLACES - 1) / width if width > _ORDINARY[0] else 0.0  # one for all: they are compared
    return np.ascontiguousarray(((along - low) * scale).astype(np.uint8).T)


@njit(cache=True, nogil=True)
def _sort(keys):  # type: ignore[no-untyped-def]
    """Order records by halving: by the direction of most spread, ties as they came."""
    n = len(keys)
    order, spare = np.arange(n), np.empty(n, np.int64)
    firsts, lasts = [0], [n]
    while len(firsts) > 0:
        first, last = firsts.pop(), lasts.pop()
        d = _widest(keys, order[first:last])
        if d < 0:
            continue
        _sort_by(keys, d, order[first:last], spare[first:last])
        if last - first > 2 * BLOCK:
            middle = first + ((last - first) // BLOCK + 1) // 2 * BLOCK
            firsts.append(middle)
            lasts.append(last)
            firsts.append(first)
            lasts.append(middle)
    return order


@inner
def _widest(keys, rows):  # type: ignore[no-untyped-def]
    """Return the direction of greatest variance; −1: all rows stand at one place."""
    best, most = -1, 0.0
    for d in range(keys.shape[1]):
        total = squares = np.int64(0)
        for i in rows:
            x = np.int64(keys[i, d])
            total += x
            squares += x * x
        spread = squares - total * (total / len(rows))
        if spread > most + 1e-6:
            best, most = d, spread
    return best


@inner
def _sort_by(keys, d, rows, spare):  # type: ignore[no-untyped-def]
    counts = np.zeros(_PLACES + 1, np.int64)
    for i in rows:
        counts[np.int64(keys[i, d]) + 1] += 1
    for c in range(_PLACES):
        counts[c + 1] += counts[c]
    for i in rows:
        place = np.int64(keys[i, d])
        spare[counts[place]] = i
        counts[place] += 1
    copy_to(rows, spare)
