"""What (k, ε) and (k, ε, l)-anonymity have in common: from a table to its balls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.kernels.fingerprint import keyed_numbers
from starshade.privacy.parameters import check_records, records_of
from starshade.privacy.proximity.single import single_ratings
from starshade.ratings.proximity.balls import Search, ball_sums
from starshade.ratings.proximity.rule import NullRule, Rule, rule_of
from starshade.ratings.proximity.sensitive import split_items
from starshade.ratings.proximity.space import Space, space_of
from starshade.ratings.table import Ratings
from starshade.release.table import Release

__all__ = ["Prepared", "count_balls", "prepare"]

_HALVES = (np.uint64(1), np.uint64(2))  # two independent 64-bit hashes make one of 128


@dataclass(frozen=True, eq=False)
class Prepared:
    """Data made ready to be asked about balls.

    `ratings`: one rating per cell, also when the data are a release. `sensitive`: indices of the
    items that are to be protected, in the order given. `released`: whether rows are the records of
    a release.
    """

    ratings: Ratings
    sensitive: NDArray[np.int64]
    rule: Rule
    space: Space
    released: bool


def prepare(
    data: Release | Ratings, eps: float, sensitive: Sequence[str], nulls: NullRule, k: int = 0
) -> Prepared:
    """Make data ready; `k` is only held against the number of records."""
    check_records(k, records_of(data))
    ratings = single_ratings(data.cells()) if isinstance(data, Release) else data
    rest, chosen = split_items(ratings.items, sensitive)
    return Prepared(
        ratings=ratings,
        sensitive=chosen,
        rule=rule_of(ratings.scale, ratings.levels, eps, nulls),
        space=space_of(ratings, rest, eps, nulls),
        released=isinstance(data, Release),
    )


def count_balls(
    space: Space, search: Search, *, columns: NDArray[Any] | None = None, distinct: bool = False
) -> tuple[NDArray[np.int64], NDArray[Any] | None, int | None]:
    """Return the size of every ball, the columns asked for summed over it, how many balls differ.

    Two balls are taken for the same when the sums of their records' 128-bit keys and their sizes
    agree: of a million balls, two that differ are mistaken with a chance below 2**-88.

    `columns` (int64 or float64 (n, q)): what to sum besides.
    """
    n = space.n_records
    whole = [np.ones(n, dtype=np.int64)]
    if distinct:
        rows = np.arange(n, dtype=np.uint64)
        # sums of keys wrap around at 64 bits, in int64 as in uint64
        whole += [keyed_numbers(rows, half).view(np.int64) for half in _HALVES]
    width = len(whole)
    beside: NDArray[Any] | None = None
    if columns is not None and columns.dtype == np.int64:
        sums = ball_sums(space, np.column_stack([*whole, columns]), search=search)
        whole_sums, beside = sums[:, :width], sums[:, width:]
    else:
        whole_sums = ball_sums(space, np.column_stack(whole), search=search)
        if columns is not None:
            beside = ball_sums(space, columns, search=search)
    differ = len(np.unique(whole_sums, axis=0)) if distinct else None
    return np.ascontiguousarray(whole_sums[:, 0]), beside, differ
