"""From batches in file order to a `Ratings` in canonical order.

::

    batches ── stage ──> numbered rows, file order    what no step can repair is refused here
            ── levels ─> the scale, the level of each rating
            ── sort ───> cells by item, copies of a cell side by side in file order
            ── merge ──> one cell per (user, item), or an error that names the rows
            ── turn ───> cells by user

A hundred million rows pass through in under 4 GB: a row is packed into 8 bytes while it is
sorted, and each form is let go before the next but one is made.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from starshade.errors import InputError
from starshade.kernels import counting
from starshade.kernels.counting import gather_rows, pack, repeats, turn, unpack
from starshade.kernels.csr import transpose
from starshade.kernels.warm import announce
from starshade.naming import aside, named
from starshade.ratings.levels import code_type, level_table
from starshade.ratings.scale import Scale
from starshade.ratings.settings import OnDuplicate
from starshade.ratings.staging import (
    NO_DAY,
    Batch,
    Staged,
    allowed_ratings,
    name_rows,
    stage,
)
from starshade.ratings.table import ByItem, Ratings, ReadReport
from starshade.ratings.vocabulary import Vocabulary


def build(
    batches: Iterable[Batch],
    *,
    scale: Scale | None,
    on_duplicate: OnDuplicate = "error",
    locate: Callable[[int], str],
    report: ReadReport,
    show_values: bool = False,
) -> Ratings:
    """Validate rows, put them in canonical order and return the table.

    `batches`: in file order; taken one at a time. `scale`: None: inferred from the distinct ratings
    (the report says so). `on_duplicate` ({"error", "first", "last", "mean"}): what to do when a
    user rated an item more than once: refuse; keep the first or the last row in file order; or take
    the mean of all, with the day of the last. Rows merged away are counted in the report. `locate`:
    says where a row (counted from 0 over all batches) is, as "file:line". `report`: what the reader
    has to say already; `Ratings.report` is this with more. `show_values`: whether messages may name
    users and items. Returns: its `by_item` is there already. Ratings within 1e-9 of a level are
    that level.

    >>> batch = Batch(np.array([7, 7, 3]), np.array([1, 2, 1]), np.array([4, 5, 3.5]), None, 0)
    >>> build([batch], scale=None, locate=str, report=ReadReport())
    Ratings(2 users x 2 items, 3 ratings, scale 3.5:5:0.5)
    """
    announce("the table of ratings", counting._settle)
    staged = stage(batches, scale, locate)
    users, user_rank = staged.users.finish()
    items, item_rank = staged.items.finish()
    chosen = Scale.infer(staged.distinct) if scale is None else scale
    levels, level_of = level_table(staged.distinct, chosen)
    report = replace(report, scale_inferred=scale is None)
    ranks = (user_rank, item_rank)

    payload = payload_of(staged, level_of, len(levels), ranks)
    indptr, packed = sort_rows(staged, ranks, payload.of, payload.shift)
    read, shift, first_day = payload.read, payload.shift, staged.first_day or 0
    same = repeats(indptr, packed, shift)
    if same is None:
        del payload, staged  # the sort's input goes before its output doubles
        user_ptr, by_user = turn(indptr, packed, len(users), shift)
        coded = Coded(ByItem(indptr, *read(packed)), chosen, levels)
        del packed
        rows = (user_ptr, *read(by_user))
    else:
        coded = Coded(ByItem(indptr, *read(packed)), chosen, levels)
        del packed
        numbers = partial(row_numbers, staged, ranks)
        if on_duplicate == "error":
            name = _namer(coded.cells, users, items) if show_values else None
            raise refuse_duplicates(same, numbers(), locate, name)
        declared = scale is not None
        coded = merge_duplicates(
            coded, same, on_duplicate, declared=declared, rows=numbers, locate=locate
        )
        report = _tell(report, int(same.sum()), chosen, coded.scale)
        by_item = coded.cells
        rows = transpose(by_item.indptr, by_item.users, by_item.codes, by_item.days, len(users))
    user_ptr, columns, codes, days = rows
    table = Ratings(
        scale=coded.scale,
        users=users,
        items=items,
        indptr=user_ptr,
        columns=columns,
        codes=codes,
        levels=coded.levels,
        days=days,
        first_day=first_day,
        report=report,
    )
    table.__dict__["by_item"] = coded.cells  # what the cached property would compute
    return table


def _namer(cells: ByItem, users: Vocabulary, items: Vocabulary) -> Callable[[int], str]:
    def name(cell: int) -> str:
        item = int(np.searchsorted(cells.indptr, cell, side="right")) - 1
        return f" (user {users[int(cells.users[cell])]}, item {items[item]})"

    return name


def _tell(report: ReadReport, merged: int, before: Scale, after: Scale) -> ReadReport:
    notes = report.notes
    if after != before:
        notes += (
            f"means of repeated ratings lie off the steps of {before}: "
            f"the scale is real-valued, {after}",
        )
    return replace(report, merged_duplicates=report.merged_duplicates + merged, notes=notes)


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


@dataclass(frozen=True, eq=False)
class Coded:
    """Cells by item with the scale and levels of their codes; in a cell's run, file order."""

    cells: ByItem
    scale: Scale
    levels: NDArray[np.float64]


def refuse_duplicates(
    same: NDArray[np.bool_],
    rows: NDArray[np.int64],
    locate: Callable[[int], str],
    name: Callable[[int], str] | None,
) -> InputError:
    """Return the error that names the first rows which repeat an earlier one.

    `same`: cells that repeat the one before them. `rows`: row number of each cell. `locate`: row
    number → "file:line". `name`: cell → its ids, where they may be shown.
    """
    repeated = np.flatnonzero(same)
    firsts = np.flatnonzero(~same)
    earliest = repeated[np.argsort(rows[repeated])[:5]]
    repeats = []
    for cell in earliest:
        first = firsts[np.searchsorted(firsts, cell) - 1]
        text = f"the user rated this item before, at {locate(int(rows[first]))}"
        repeats.append((int(rows[cell]), text + (name(int(cell)) if name else "")))
    return InputError(
        "rows that rate an item for a second time (allowed: one rating per user and item)\n"
        + name_rows(repeats, len(repeated), locate),
        advice=f"Say which to keep with {named('on_duplicate')}: first, last or mean.",
        setting="on_duplicate",
    )


def merge_duplicates(
    coded: Coded,
    same: NDArray[np.bool_],
    how: Literal["first", "last", "mean"],
    *,
    declared: bool,
    rows: Callable[[], NDArray[np.int64]],
    locate: Callable[[int], str],
) -> Coded:
    """Make one cell of each run of cells; the mean keeps the day of the last."""
    starts = np.flatnonzero(~same)
    ends = np.append(starts[1:], len(same)) - 1
    kept = starts if how == "first" else ends
    cells = coded.cells
    # cells kept before each item's first
    indptr = np.concatenate([[0], np.cumsum(~same)])[cells.indptr]
    merged = ByItem(
        indptr,
        cells.users[kept],
        cells.codes[kept],
        None if cells.days is None else cells.days[kept],
    )
    if how != "mean":
        return _recode(Coded(merged, coded.scale, coded.levels), np.empty(0, int), np.empty(0))
    runs = np.flatnonzero(ends > starts)
    values = coded.levels[cells.codes]
    means = np.array(
        [
            math.fsum(values[s : e + 1]) / (e + 1 - s)
            for s, e in zip(starts[runs], ends[runs], strict=True)
        ]
    )
    scale = coded.scale
    off = ~scale.contains(means)
    if off.any() and declared:
        raise _off_the_steps(means[off], rows()[ends[runs[off]]], scale, locate)
    if off.any():
        scale = Scale(scale.minimum, scale.maximum)
    return _recode(Coded(merged, scale, coded.levels), runs, means)


def _recode(coded: Coded, changed: NDArray[np.int64], means: NDArray[np.float64]) -> Coded:
    """Give the changed cells their new ratings; a real scale keeps only levels in use."""
    cells = coded.cells
    untouched = np.ones(len(cells.codes), dtype=np.bool_)
    untouched[changed] = False
    used = np.flatnonzero(np.bincount(cells.codes[untouched], minlength=len(coded.levels)))
    levels, positions = level_table(np.concatenate([coded.levels[used], means]), coded.scale)
    new_code = np.zeros(len(coded.levels), dtype=np.int64)
    new_code[used] = positions[: len(used)]
    codes = new_code[cells.codes]
    codes[changed] = positions[len(used) :]
    narrow = codes.astype(code_type(len(levels)))
    return Coded(ByItem(cells.indptr, cells.users, narrow, cells.days), coded.scale, levels)


def _off_the_steps(
    means: NDArray[np.float64],
    rows: NDArray[np.int64],
    scale: Scale,
    locate: Callable[[int], str],
) -> InputError:
    order = np.argsort(rows)[:5]
    named = [(int(rows[i]), f"mean {means[i]:.12g} of this row and earlier ones") for i in order]
    return InputError(
        f"means of repeated ratings off the scale {scale} (allowed: {allowed_ratings(scale)})\n"
        + name_rows(named, len(rows), locate),
        advice="Declare a real-valued scale"
        f"{aside('scale', f'{scale.minimum:g}:{scale.maximum:g}')}, or keep the first or last "
        "rating instead.",
    )
