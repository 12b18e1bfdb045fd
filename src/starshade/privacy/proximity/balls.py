"""What (k, ε) and (k, ε, l)-anonymity have in common: from a table to its balls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade import budget
from starshade.errors import ConfigError
from starshade.kernels.balls.cliques import seek_cliques
from starshade.kernels.fingerprint import keyed_numbers
from starshade.naming import named
from starshade.plain import counted
from starshade.privacy.proximity.judged import About
from starshade.privacy.verdict import check_records, records_of
from starshade.ratings.levels import code_type, level_table
from starshade.ratings.proximity.balls import ball_members, ball_sizes, ball_sums
from starshade.ratings.proximity.sensitive import split_items
from starshade.ratings.proximity.settings import NullRule, Search
from starshade.ratings.proximity.space import (
    Space,
    rule_of,
    space_of,
)
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.cells import Cells
from starshade.release.table import Release

_HALVES = (np.uint64(1), np.uint64(2))  # two independent 64-bit hashes make one of 128


@dataclass(frozen=True, eq=False)
class Prepared:
    """Data made ready to be asked about balls.

    `ratings`: one rating per cell, also when the data are a release. `sensitive`: indices of the
    items that are to be protected, in the order given.
    """

    ratings: Ratings
    sensitive: NDArray[np.int64]
    space: Space
    about: About


def prepare(
    data: Release | Ratings, eps: float, sensitive: Sequence[str], nulls: NullRule, k: int = 0
) -> Prepared:
    """Make data ready; `k` is only held against the number of records."""
    check_records(k, records_of(data))
    ratings = single_ratings(data.cells()) if isinstance(data, Release) else data
    rest, chosen = split_items(ratings.items, sensitive)
    rule = rule_of(ratings.scale, ratings.levels, eps, nulls)
    return Prepared(
        ratings=ratings,
        sensitive=chosen,
        space=space_of(ratings, rest, eps, nulls),
        about=About(ratings.scale, rule, ratings.has_days, isinstance(data, Release)),
    )


def count_balls(
    space: Space, search: Search, *, columns: NDArray[Any] | None = None, distinct: bool = False
) -> tuple[NDArray[np.int64], NDArray[Any] | None, int | None]:
    """Return the size of every ball, the columns asked for summed over it, how many balls differ.

    Two balls are taken for the same when the sums of their records' 128-bit keys and their sizes
    agree: of a million balls, two that differ are mistaken with a chance below 2**-88.

    `columns` (int64 or float64 (n, q)): what to sum besides.
    """
    whole = records_as_numbers(np.arange(space.n_records), distinct=distinct)
    width = whole.shape[1]
    beside: NDArray[Any] | None = None
    if columns is not None and columns.dtype == np.int64:
        sums = ball_sums(space, np.column_stack([whole, columns]), search=search)
        whole_sums, beside = sums[:, :width], sums[:, width:]
    else:
        whole_sums = ball_sums(space, whole, search=search)
        if columns is not None:
            beside = ball_sums(space, columns, search=search)
    differ = len(np.unique(whole_sums, axis=0)) if distinct else None
    return np.ascontiguousarray(whole_sums[:, 0]), beside, differ


def records_as_numbers(rows: NDArray[np.int64], *, distinct: bool) -> NDArray[np.int64]:
    """Return what is summed over a ball: 1 for each record, and its keys where balls are compared.

    `rows`: the numbers of the records among all. Returns (n, 1) or (n, 3).
    """
    whole = [np.ones(len(rows), dtype=np.int64)]
    if distinct:
        # sums of keys wrap around at 64 bits, in int64 as in uint64
        keys = rows.astype(np.uint64)
        whole += [keyed_numbers(keys, half).view(np.int64) for half in _HALVES]
    return np.column_stack(whole)


def found_cliques(space: Space, k: int) -> NDArray[np.int64]:
    """Return the size of the largest clique found that each record is in; 1 where none was.

    Greedy: a clique of `k` that exists may be missed.
    """
    if space.rule.everybody:
        return np.full(space.n_records, space.n_records)
    edges = int(ball_sizes(space).sum() - space.n_records) // 2
    check_edges(edges)
    indptr, members = ball_members(space, np.arange(space.n_records))
    return seek_cliques(indptr, members, k)[0]


_BYTES = 16  # an edge is held twice, as a number of eight bytes in the list of either end


def check_edges(edges: int) -> None:
    """Refuse a graph that does not fit the memory budget."""
    if edges * _BYTES > budget.memory():
        raise ConfigError(
            f"the graph has {counted(edges, 'edge')}, which take "
            f"{budget.amount(edges * _BYTES)}; the budget is {budget.amount(budget.memory())}",
            advice="Take a smaller eps or fewer records, or allow more with "
            f"{named('memory')}. The check of k-eps needs no graph.",
        )


def single_ratings(cells: Cells) -> Ratings:
    """Read cells as a table of ratings, a row of several records as so many users.

    `cells`: in each cell one rating, or null alone (written or left out). Returns: users are the
    records, numbered from 0.

    >>> from starshade.ratings.scale import Scale
    >>> from starshade.release.cells import cells_of
    >>> three = Ratings.from_arrays(["a", "b", "b"], ["x", "x", "y"], [1, 2, 5], scale="1:5:1")
    >>> single_ratings(cells_of(three)).values().tolist()
    [1.0, 2.0, 5.0]
    """
    symbols = cells.symbols
    used = np.flatnonzero(np.bincount(cells.codes, minlength=len(symbols)))
    silent = symbols.null & ~symbols.has_rating
    value = symbols.bounds[1]
    rated = used[~silent[used]]
    several = rated[~symbols.is_single[rated]]
    if len(several):
        share = np.isin(cells.codes, several).mean()
        raise ConfigError(
            f"the release has cells with several members ({share:.1%} of those with a rating), "
            "and this model is about records with one rating per cell",
            advice="Check such a release for k-anonymity: its records are equal within a class.",
        )
    if not symbols.scale.contains(value[rated]).all():
        raise ConfigError(
            f"the release has ratings that are not on its scale {symbols.scale}, as means and "
            "predictions are, and this model is about ratings on it",
            advice="Check such a release for review-graph or k-anonymity: its records are equal "
            "within a class.",
        )
    levels, place = level_table(value[rated], symbols.scale)
    code = np.zeros(len(symbols), dtype=code_type(len(levels)))
    code[rated] = place
    rows = np.repeat(np.arange(cells.n_groups), cells.sizes)
    records = cells if len(rows) == cells.n_groups else cells.keep_rows(rows)
    kept = ~silent[records.codes]
    before = np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])
    return Ratings(
        scale=symbols.scale,
        users=Vocabulary(np.arange(len(rows))),
        items=cells.items,
        indptr=before[records.indptr],
        columns=records.columns[kept],
        codes=code[records.codes[kept]],
        levels=levels,
        days=None if records.days is None else records.days[kept],
        first_day=records.first_day,
    )
