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

import numpy as np

from starshade.kernels import counting
from starshade.kernels.counting import repeats, turn
from starshade.kernels.csr import transpose
from starshade.kernels.warm import announce
from starshade.ratings.building.batch import Batch
from starshade.ratings.building.duplicates import Coded, merge_duplicates, refuse_duplicates
from starshade.ratings.building.sorting import payload_of, row_numbers, sort_rows
from starshade.ratings.building.staging import stage
from starshade.ratings.levels import level_table
from starshade.ratings.scale import Scale
from starshade.ratings.settings import OnDuplicate
from starshade.ratings.table import ByItem, Ratings, ReadReport
from starshade.ratings.vocabulary import Vocabulary

__all__ = ["build"]


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
