"""The same person and item more than once in public ratings: one row is made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from starshade.errors import InputError
from starshade.naming import named
from starshade.ratings.rows.duplicates import RULES
from starshade.ratings.rows.wrong import NAMED, Wrong
from starshade.ratings.staging import NO_DAY

if TYPE_CHECKING:
    from starshade.ratings.auxiliary.auxiliary import Auxiliary

Rows = NDArray[np.int64]


def one_row_each(
    auxiliary: Auxiliary, item: NDArray[np.integer]
) -> tuple[Rows, NDArray[np.float64], NDArray[np.int32]]:
    """Make one row of each person and item, by the auxiliary's `on_duplicate`.

    `item` (rows,): which rows are on the same item: what the source calls the same, or a mapping
    does. Returns `rows` (int64): the rows that stay, person by person, in file order within a
    person. `days`: theirs; under "mean" or "sum" that of the known ratings, with the day of the
    last.
    """
    person = auxiliary.person
    order = np.lexsort((item, person))  # stable: file order within a person's item
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = (np.diff(person[order]) != 0) | (np.diff(item[order]) != 0)
    starts = np.flatnonzero(new)
    first = order[starts]
    ends = np.append(starts[1:], len(order)) - 1
    if auxiliary.on_duplicate == "error":
        _refuse(auxiliary, order, first[np.cumsum(new) - 1])
    how = auxiliary.on_duplicate
    days = auxiliary.days.astype(np.int64)
    if how in ("error", "first"):
        days[days == NO_DAY] = -NO_DAY
    rating = auxiliary.ratings if how == "max" else np.zeros(len(days))
    by_day = np.lexsort((days, np.where(np.isnan(rating), -np.inf, rating), item, person))
    kept = by_day[starts if how in ("error", "first") else ends]
    ratings = auxiliary.ratings[kept]
    if how in ("mean", "sum"):
        ratings = _totals(auxiliary.ratings[order], starts, how)
    by_person = np.lexsort((first, person[first]))
    rows = kept[by_person]
    return rows, ratings[by_person], auxiliary.days[rows]


def _totals(ratings: NDArray[np.float64], starts: Rows, how: str) -> NDArray[np.float64]:
    known = ~np.isnan(ratings)
    count = np.add.reduceat(known.astype(np.int64), starts)
    total = np.add.reduceat(np.where(known, ratings, 0.0), starts)
    return np.where(count > 0, total / (np.maximum(count, 1) if how == "mean" else 1), np.nan)


def _refuse(auxiliary: Auxiliary, order: Rows, first: Rows) -> None:
    """Refuse rows (`order`) that say something else than the first on their item (`first`)."""
    a, b = auxiliary.ratings[order], auxiliary.ratings[first]
    same = ((a == b) | (np.isnan(a) & np.isnan(b))) & (
        auxiliary.days[order] == auxiliary.days[first]
    )
    if same.all():
        return
    other = np.flatnonzero(~same)
    other = other[np.argsort(order[other])]
    first_rows = (
        (int(order[k]), f"this user already has the item, at {auxiliary.locate(int(first[k]))}")
        for k in other[:NAMED]
    )
    raise InputError(
        "rows that repeat an item of their user with another rating or date\n"
        + Wrong(len(other), tuple(first_rows)).named(auxiliary.locate),
        advice=f"Choose with {named('on_duplicate')}: {RULES}.",
    )
