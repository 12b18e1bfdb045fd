"""k-exchange: groups that lose least range, by greedy formation and then exchanges of records."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from starshade.anonymize.grouping import Grouping
from starshade.anonymize.k_exchange_plan import Turn, plan
from starshade.anonymize.k_exchange_rows import GridRows, grid_rows
from starshade.anonymize.order import seeded_order
from starshade.anonymize.points import Points
from starshade.kernels.exchange import exchange, form
from starshade.kernels.exchange_leaves import cut_leaves
from starshade.progress import task
from starshade.rng import stream_key

__all__ = ["KExchange", "exchange_groups"]

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class KExchange(Grouping):
    """Group records greedily by cost, then exchange them between groups for the least loss.

    For the parameters see `starshade.anonymize.grouping.Grouping`.

    Notes
    -----
    The cost of a group is its size times the sum of its columns' ranges, each in shares of the
    whole column's range: added up over the groups and divided by the cells, that is GenILoss
    (null counting as the level below the scale). The number of steps is settled by the table's
    shape alone, so the same seed gives the same groups on any machine, however busy. Records
    never leave the sparse form but in parts of bounded size.
    """

    name: ClassVar[str] = "k-exchange"

    def group(self, points: Points, seed: int) -> Ints:
        """Group the records; see `exchange_groups`."""
        order = seeded_order(points.ratings.users, seed, self.name)
        groups = np.empty(points.n_records, dtype=np.int64)
        groups[order] = exchange_groups(grid_rows(points, order), self.k, seed)
        return groups


def exchange_groups(rows: GridRows, k: int, seed: int) -> Ints:
    """Group rows, meeting them in the order in which they stand.

    Parameters
    ----------
    rows : GridRows
        n of them.
    k : int
        2 ≤ k ≤ n.
    seed : int

    Returns
    -------
    ndarray of int64, shape (n,)
        0…⌊n/k⌋−1; every group has k records or more, and fewer than 2k.
    """
    n = rows.n
    if n < 2 * k:
        return np.zeros(n, dtype=np.int64)
    steps = plan(rows, k)
    keys = (stream_key(seed, f"k-exchange {i}") for i in count())
    each = np.arange(n + 1)
    leaves = cut_leaves(rows.arrays, rows.n_columns, each, each[:n], k, steps.start, next(keys))
    groups = form(rows.arrays, rows.n_columns, *leaves, k)
    with task("exchanging records", len(steps.turns)) as step:
        for turn in steps.turns:
            _take_turn(rows, groups, k, turn, next(keys))
            step(1)
    return groups


def _take_turn(rows: GridRows, groups: Ints, k: int, turn: Turn, key: int) -> None:
    """Cut leaves of whole groups and exchange records within each; `groups` is changed."""
    group_ptr = np.concatenate([[0], np.cumsum(np.bincount(groups))])
    members = np.argsort(groups, kind="stable")
    leaf_ptr, leaf_records = cut_leaves(
        rows.arrays, rows.n_columns, group_ptr, members, 1, turn.leaf, key
    )
    exchange(
        rows.arrays, rows.n_columns, groups, leaf_ptr, leaf_records,
        k=k, heat=turn.heat, shrink=turn.shrink, effort=turn.effort, key=key,
    )  # fmt: skip
