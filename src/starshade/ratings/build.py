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

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from starshade.kernels.counting import gather_rows, repeats, turn, unpack
from starshade.kernels.csr import transpose
from starshade.ratings.batch import NO_DAY, Batch
from starshade.ratings.duplicates import Coded, merge_duplicates, refuse_duplicates
from starshade.ratings.levels import code_type, level_table
from starshade.ratings.scale import Scale
from starshade.ratings.staging import Staged, stage
from starshade.ratings.table import UNKNOWN_DAY, ByItem, Ratings, ReadReport
from starshade.ratings.vocabulary import Vocabulary

__all__ = ["OnDuplicate", "build"]

OnDuplicate = Literal["error", "first", "last", "mean"]
_Ranks = tuple[NDArray[np.int32], NDArray[np.int32]]

_DAY_BITS = 16
_WORD = 64


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

    Parameters
    ----------
    batches : iterable of Batch
        In file order; taken one at a time.
    scale : Scale or None
        None: inferred from the distinct ratings (the report says so).
    on_duplicate : {"error", "first", "last", "mean"}
        What to do when a user rated an item more than once: refuse; keep the first or the last
        row in file order; or take the mean of all, with the day of the last. Rows merged away
        are counted in the report.
    locate : callable
        Says where a row (counted from 0 over all batches) is, as "file:line".
    report : ReadReport
        What the reader has to say already; `Ratings.report` is this with more.
    show_values : bool
        Whether messages may name users and items.

    Returns
    -------
    Ratings
        Its `by_item` is there already. Ratings within 1e-9 of a level are that level.

    Raises
    ------
    InputError
        No rows; ratings null, not finite, or off the scale; days more than 65,534 apart; the
        same user and item twice under "error"; a mean off the steps of a declared scale. The
        message names the first five rows by location and says how many there are.

    Examples
    --------
    >>> batch = Batch(np.array([7, 7, 3]), np.array([1, 2, 1]), np.array([4, 5, 3.5]), None, 0)
    >>> build([batch], scale=None, locate=str, report=ReadReport())
    Ratings(2 users x 2 items, 3 ratings, scale 3.5:5:0.5)
    """
    staged = stage(batches, scale, locate)
    users, user_rank = staged.users.finish()
    items, item_rank = staged.items.finish()
    ranks = (user_rank, item_rank)
    chosen = Scale.infer(staged.distinct) if scale is None else scale
    report = replace(report, scale_inferred=scale is None)
    coded = _sort(staged, ranks, chosen)
    same = repeats(coded.cells.indptr, coded.cells.users)
    if same is not None:
        rows = partial(_cell_rows, staged, ranks)
        if on_duplicate == "error":
            name = _namer(coded.cells, users, items) if show_values else None
            raise refuse_duplicates(same, rows(), locate, name)
        coded = merge_duplicates(
            coded, same, on_duplicate, declared=scale is not None, rows=rows, locate=locate
        )
        report = _tell(report, int(same.sum()), chosen, coded.scale)
        del rows
    first_day = staged.first_day or 0
    del staged, same  # the sort's input goes before its output doubles
    return _table(coded, users, items, first_day, report)


def _sort(staged: Staged, ranks: _Ranks, scale: Scale) -> Coded:
    """Sort cells by item; a cell's copies stay in file order."""
    levels, positions = level_table(staged.distinct, scale)
    level_of = positions.astype(np.uint64)
    code_bits = max(1, (len(levels) - 1).bit_length())
    dated = staged.first_day is not None
    shift = code_bits + (_DAY_BITS if dated else 0)
    narrow = code_type(len(levels))

    def code(block: int) -> NDArray[np.uint64]:
        return np.asarray(level_of[staged.code_blocks[block]])

    def payload(block: int) -> NDArray[np.uint64]:
        if not dated:
            return code(block)
        return code(block) | (_offsets(staged, block).astype(np.uint64) << np.uint64(code_bits))

    if _index_bits(ranks) + shift <= _WORD:
        cells = gather_rows(staged.user_blocks, staged.item_blocks, payload, ranks, shift)
        indptr, packed = turn(*cells, len(ranks[1]), shift)
        del cells
        by_item = ByItem(indptr, *unpack(packed, shift, code_bits, narrow, dated))
    else:  # so many distinct ratings that a row number is shorter
        indptr, users, rows = _sort_rows(staged, ranks)
        blocks = range(len(staged.code_blocks))
        place = rows - staged.first_rows[0]
        codes = np.concatenate([code(b) for b in blocks]).astype(narrow)[place]
        days = np.concatenate([_offsets(staged, b) for b in blocks])[place] if dated else None
        by_item = ByItem(indptr, users, codes, days)
    return Coded(by_item, scale, levels)


def _sort_rows(
    staged: Staged, ranks: _Ranks
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Return offsets, users and row numbers of the cells by item."""
    ends = [first + len(u) for first, u in zip(staged.first_rows, staged.user_blocks, strict=True)]
    shift = max(ends).bit_length()

    def payload(block: int) -> NDArray[np.uint64]:
        return np.arange(staged.first_rows[block], ends[block], dtype=np.uint64)

    cells = gather_rows(staged.user_blocks, staged.item_blocks, payload, ranks, shift)
    indptr, packed = turn(*cells, len(ranks[1]), shift)
    rows = (packed & np.uint64((1 << shift) - 1)).astype(np.int64)
    return indptr, (packed >> np.uint64(shift)).astype(np.int32), rows


def _offsets(staged: Staged, block: int) -> NDArray[np.uint16]:
    """Return a block's days since the first day of all."""
    days = staged.day_blocks[block]
    if days is None:
        return np.full(len(staged.user_blocks[block]), UNKNOWN_DAY, dtype=np.uint16)
    # NO_DAY wraps around here and is put right after
    offset = (days - np.int32(staged.first_day or 0)).astype(np.uint16)
    offset[days == NO_DAY] = UNKNOWN_DAY
    return offset


def _index_bits(ranks: _Ranks) -> int:
    return max(len(rank) - 1 for rank in ranks).bit_length()


def _cell_rows(staged: Staged, ranks: _Ranks) -> NDArray[np.int64]:
    """Return the row number of each cell by item, copies in file order."""
    return _sort_rows(staged, ranks)[2]


def _namer(cells: ByItem, users: Vocabulary, items: Vocabulary) -> Callable[[int], str]:
    def name(cell: int) -> str:
        item = int(np.searchsorted(cells.indptr, cell, side="right")) - 1
        return f" (user {users[int(cells.users[cell])]}, item {items[item]})"

    return name


def _tell(report: ReadReport, merged: int, before: Scale, after: Scale) -> ReadReport:
    """Count the rows merged away, and say so if their means changed the scale."""
    notes = report.notes
    if after != before:
        notes += (
            f"means of repeated ratings lie off the steps of {before}: "
            f"the scale is real-valued, {after}",
        )
    return replace(report, merged_duplicates=report.merged_duplicates + merged, notes=notes)


def _table(
    coded: Coded, users: Vocabulary, items: Vocabulary, first_day: int, report: ReadReport
) -> Ratings:
    by_item = coded.cells
    indptr, columns, codes, days = transpose(
        by_item.indptr, by_item.users, by_item.codes, by_item.days, len(users)
    )
    table = Ratings(
        scale=coded.scale,
        users=users,
        items=items,
        indptr=indptr,
        columns=columns,
        codes=codes,
        levels=coded.levels,
        days=days,
        first_day=first_day,
        report=report,
    )
    table.__dict__["by_item"] = by_item  # what the cached property would compute
    return table
