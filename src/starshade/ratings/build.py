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

from starshade.kernels.csr import transpose
from starshade.ratings.levels import level_table
from starshade.ratings.rows.duplicates import (
    merge,
    namer,
    off_the_steps,
    refuse_repeated,
    repeated_rows,
    told,
    widened,
)
from starshade.ratings.rows.laying import lay, row_numbers
from starshade.ratings.scale import Scale
from starshade.ratings.settings import OnDuplicate
from starshade.ratings.staging import Batch, stage
from starshade.ratings.table import Ratings, ReadReport


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
    (the report says so). `on_duplicate`: what to do when a user rated an item more than once:
    refuse, or make one rating of them, as `merge` says. Rows merged away are counted in the report.
    `locate`: says where a row (counted from 0 over all batches) is, as "file:line". `report`: what
    the reader has to say already; `Ratings.report` is this with more. `show_values`: whether
    messages may name users and items. Returns: its `by_item` is there already. Ratings within 1e-9
    of a level are that level.

    >>> batch = Batch(np.array([7, 7, 3]), np.array([1, 2, 1]), np.array([4, 5, 3.5]), None, 0)
    >>> build([batch], scale=None, locate=str, report=ReadReport())
    Ratings(2 users x 2 items, 3 ratings, scale 3.5:5:0.5)
    """
    staged = stage(batches, scale, locate)
    users, user_rank = staged.users.finish()
    items, item_rank = staged.items.finish()
    chosen = Scale.infer(staged.distinct) if scale is None else scale
    levels, level_of = level_table(staged.distinct, chosen)
    report = replace(report, scale_inferred=scale is None)
    ranks = (user_rank, item_rank)
    laid = lay(staged, ranks, level_of, len(levels))
    cells = laid.cells
    if laid.by_user is not None:
        user_ptr, (columns, codes, days) = laid.by_user
    else:
        same = laid.same
        assert same is not None
        rows = partial(row_numbers, staged, ranks)
        if on_duplicate == "error":
            name = namer(cells, users, items) if show_values else None
            wrong = repeated_rows(same, rows(), locate, name)
            raise refuse_repeated(wrong, locate, users)
        merged = merge(cells, same, on_duplicate, levels)
        off = merged.off(chosen)
        if off.any() and scale is not None:
            raise off_the_steps(merged.wrong(off, rows()), chosen, on_duplicate, locate)
        before, used, stepped = levels, merged.counts(len(levels)) > 0, chosen
        held = np.concatenate([before[used], merged.means])
        chosen = widened(stepped, on_duplicate, held, off=bool(off.any()))
        report = replace(
            report,
            merged_duplicates=report.merged_duplicates + int(same.sum()),
            notes=told(report.notes, stepped, chosen, on_duplicate, merged.tied),
        )
        levels, _ = level_table(held, chosen)
        cells = merged.recoded(used, before, levels, chosen)
        user_ptr, columns, codes, days = transpose(
            cells.indptr, cells.users, cells.codes, cells.days, len(users)
        )
    table = Ratings(
        scale=chosen,
        users=users,
        items=items,
        indptr=user_ptr,
        columns=columns,
        codes=codes,
        levels=levels,
        days=days,
        first_day=staged.first_day or 0,
        report=report,
    )
    table.__dict__["by_item"] = cells  # what the cached property would compute
    return table
