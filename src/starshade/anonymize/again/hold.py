"""What the cells of kept groups must go on allowing, as rows that stand beside their members."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from starshade.anonymize.again.keep import Kept
from starshade.anonymize.generalize import generalize
from starshade.anonymize.hierarchy.hierarchy import Hierarchy
from starshade.errors import ConfigError, InternalError
from starshade.kernels.arrays import Array, Ints
from starshade.ratings.levels import code_type
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.cells import Cells


def generalize_again(hierarchy: Hierarchy, kept: Kept, groups: Ints, before: Cells) -> Cells:
    """Generalize the ratings of each group; one that somebody left says no less than before.

    `groups` (n_users,): of `kept.ratings`, 0…G-1: first the kept ones that are released, in their
    order. `before`: the classes of the release before. The sizes of the cells count the invented
    records too.

    Raises
    ------
    ConfigError
        A range was released, and sets are asked for.
    """
    if hierarchy == "ndgh" and before.symbols.is_range[before.codes].any():
        raise ConfigError(
            "the previous release contains ranges, and no single set of ratings represents a range",
            advice="Use the hierarchy of that release; its release.json names it.",
            setting="hierarchy",
        )
    table = kept.ratings
    released = np.unique(kept.group[kept.group >= 0])
    held = np.flatnonzero(kept.left[released])
    rows = before.keep_rows(kept.row[released[held]])
    beside, owner = _spelled_out(rows, table)
    cells = generalize(hierarchy, _stacked(table, beside), np.concatenate([groups, held[owner]]))
    sizes = np.bincount(groups, minlength=cells.n_groups)
    sizes[: len(released)] += kept.invented[released]
    return replace(cells, sizes=sizes)


def null_occurs(table: Ratings, before: Cells) -> bool:
    """Tell whether a cell may have to hold null: of these ratings, or of those before."""
    nulls = len(table.codes) < table.n_users * table.n_items
    absent = len(before.codes) < before.n_groups * before.n_items
    return nulls or absent or bool(before.symbols.null[before.codes].any())


def _spelled_out(rows: Cells, table: Ratings) -> tuple[Ratings, Ints]:
    """Write rows of cells as rows of ratings that together have all members of each cell.

    Returns them on the items and the scale of `table`, and which row of cells each is of.
    """
    members, offsets, null = _members_of(rows)
    count = np.diff(offsets)
    row = np.repeat(np.arange(rows.n_groups), np.diff(rows.indptr))
    need = (count + null)[rows.codes]
    times = np.ones(rows.n_groups, dtype=np.int64)
    np.maximum.at(times, row, need)
    start = np.concatenate([[0], np.cumsum(times)])
    owner = np.repeat(np.arange(rows.n_groups), times)
    cell = np.repeat(np.arange(len(row)), times[row])
    turn = np.arange(len(cell)) - np.repeat(np.cumsum(times[row]) - times[row], times[row])
    code = np.asarray(rows.codes[cell], dtype=np.int64)
    # a cell with null has it in every row beyond its members, another one its last member there
    filled = (turn < count[code]) | ~null[code]
    cell, turn, code = cell[filled], turn[filled], code[filled]
    ratings = members[offsets[code] + np.minimum(turn, count[code] - 1)]
    user = start[row[cell]] + turn
    order = np.lexsort((rows.columns[cell], user))
    levels, position = np.unique(ratings, return_inverse=True)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(user, minlength=len(owner)))])
    spelled = replace(
        table,
        users=Vocabulary(np.arange(len(owner))),
        indptr=indptr.astype(np.int64),
        columns=rows.columns[cell][order].astype(np.int32),
        codes=position.reshape(-1)[order].astype(code_type(max(len(levels), 1))),
        levels=levels,
        days=None,
        attributes=None,
    )
    return spelled, owner


def _members_of(rows: Cells) -> tuple[Array, Ints, Array]:
    """Return the ratings of each content, of a range both ends, where they begin, and null."""
    symbols = rows.symbols
    low, high = symbols.bounds
    low = np.maximum(low, symbols.scale.minimum)
    lists = [
        np.unique([a, b]) if whole else symbols.members[start:stop]
        for a, b, whole, start, stop in zip(
            low, high, symbols.is_range, symbols.offsets[:-1], symbols.offsets[1:], strict=True
        )
    ]
    if not all(map(len, lists)):
        raise InternalError("a cell without a rating in a release")
    offsets = np.concatenate([[0], np.cumsum([len(each) for each in lists])]).astype(np.int64)
    flat = np.concatenate(lists) if lists else np.empty(0)
    return flat, offsets, symbols.null


def _stacked(table: Ratings, beside: Ratings) -> Ratings:
    """Return one table of the users of both, ids and days left out."""
    levels = np.union1d(table.levels, beside.levels)
    codes = np.concatenate(
        [np.searchsorted(levels, each.levels)[each.codes] for each in (table, beside)]
    )
    n = table.n_users + beside.n_users
    return replace(
        table,
        users=Vocabulary(np.arange(n)),
        indptr=np.concatenate([table.indptr, table.indptr[-1] + beside.indptr[1:]]),
        columns=np.concatenate([table.columns, beside.columns]),
        codes=codes.astype(code_type(len(levels))),
        levels=levels,
        days=None,
        attributes=None,
    )
