"""k-exchange: groups that lose least range, by greedy formation and then exchanges of records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import ClassVar

import numpy as np

from starshade.anonymize.grouping import Grouping
from starshade.anonymize.k_exchange.plan import Plan, Turn, plan
from starshade.anonymize.k_exchange.rows import GridRows, grid_rows
from starshade.anonymize.k_exchange.starts import (
    alike,
    cost,
    renumbered,
    rival_groups,
    small_groups,
)
from starshade.anonymize.order import put_back, seeded_order
from starshade.anonymize.points import Points
from starshade.kernels.arrays import Ints
from starshade.kernels.exchange.exchange import exchange, form
from starshade.kernels.exchange.leaves import cut_leaves
from starshade.progress import task
from starshade.rng import stream_key

__all__ = ["KExchange", "exchange_groups", "first_groups", "start_groups"]


@dataclass(frozen=True)
class KExchange(Grouping):
    """Group records greedily by cost, then exchange them between groups for the least loss.

    For the parameters see `starshade.anonymize.grouping.Grouping`.

    Notes
    -----
    The cost of a group is its size times the sum of its columns' ranges, each in shares of the
    whole column's range: added up over the groups and divided by the cells, that is GenILoss
    (null counting as the level below the scale).

    Rows that occur k times or more start as groups of their own, and a group is dissolved where
    its members cost less elsewhere, so groups may be fewer than ⌊n/k⌋, each with k to 2k−1
    records. Up to 262,144 cells the groups of `Mondrian` and `MondrianRelaxed`, and up to 2²⁸
    pairs of records times columns (5,000 records of 10) those of `KMember` and `KLikeness`, are
    found for the same seed as well: if one costs less than ours, it is improved instead, and up
    to 200 records all of them are. So there no rival loses less (on real scales: but for values
    rounded to 1/16,383 of a column's range). The number of steps is settled by the table's
    shape alone, so the same seed gives the same groups on any machine, however busy. Records
    never leave the sparse form but in parts of bounded size.
    """

    name: ClassVar[str] = "k-exchange"

    def group(self, points: Points, seed: int) -> Ints:
        """Group the records; see `exchange_groups`."""
        order = seeded_order(points.n_records, seed, self.name)
        rows = grid_rows(points, order)
        rivals = [rival[order] for rival in rival_groups(points, self.k, seed)]
        return put_back(order, exchange_groups(rows, self.k, seed, plan(rows, self.k), rivals))


def exchange_groups(
    rows: GridRows, k: int, seed: int, steps: Plan, rivals: Sequence[Ints] = ()
) -> Ints:
    """Group rows, meeting them in the order in which they stand.

    `rivals` (n,): groups found by other methods: what is returned never costs more than any of
    them. All are improved where ``steps.all_starts``, else the cheapest, and only if it costs less
    than our own.
    """
    n = rows.n
    if n < 2 * k:
        return np.zeros(n, dtype=np.int64)
    keys = (stream_key(seed, f"k-exchange {i}") for i in count())
    groups = start_groups(rows, k, steps.start, keys)
    groups = _take_turns(rows, groups, k, steps, keys)
    if not rivals:
        return groups
    least, costs = cost(rows, groups), [cost(rows, rival) for rival in rivals]
    if not steps.all_starts:
        cheapest = min(costs)
        rivals = [rivals[costs.index(cheapest)]] if cheapest < least else []
    for rival in rivals:
        improved = _take_turns(rows, small_groups(rows, rival, k), k, steps, keys)
        costs_now = cost(rows, improved)
        if costs_now < least:
            groups, least = improved, costs_now
    return groups


def start_groups(rows: GridRows, k: int, most: int, keys: Iterator[int]) -> Ints:
    """Put rows that occur k times or more together, and form groups of the others."""
    kind = alike(rows, k)
    rest = np.flatnonzero(kind < 0)
    if len(rest):
        kind[rest] = kind.max() + 1 + first_groups(rows.take(rest), k, most, keys)
    return small_groups(rows, kind, k)


def first_groups(rows: GridRows, k: int, most: int, keys: Iterator[int]) -> Ints:
    """Form ⌊n/k⌋ groups greedily, leaf by leaf, the wider half of them anew.

    The last groups of a leaf are made of what the others left, far apart though each of its
    members may have near ones in other leaves. So only the narrower half stays, and the records
    of the rest are cut into leaves once more, until one leaf holds them all.
    """
    groups = np.full(rows.n, -1, dtype=np.int64)
    free, formed = np.arange(rows.n), 0
    while len(free):
        left = rows.take(free)
        each = np.arange(left.n + 1)
        leaves = cut_leaves(left.arrays, rows.n_columns, each, each[:-1], k, most, next(keys))
        group, widths = form(left.arrays, rows.n_columns, *leaves, k, rows.unit)
        stays = np.ones(len(widths), dtype=np.bool_)
        if len(leaves[0]) > 2:
            stays[np.argsort(widths, kind="stable")[len(widths) // 2 :]] = False
            stays &= np.bincount(group) == k  # what is over comes last
        number = formed + np.cumsum(stays) - 1
        groups[free[stays[group]]] = number[group[stays[group]]]
        free = free[~stays[group]]
        formed += int(stays.sum())
    return groups


def _take_turns(rows: GridRows, groups: Ints, k: int, steps: Plan, keys: Iterator[int]) -> Ints:
    with task("exchanging records", len(steps.turns)) as step:
        for turn in steps.turns:
            groups = groups.copy()
            _take_turn(rows, groups, k, turn, next(keys))
            groups = renumbered(groups)
            step(1)
    return groups


def _take_turn(rows: GridRows, groups: Ints, k: int, turn: Turn, key: int) -> None:
    group_ptr = np.concatenate([[0], np.cumsum(np.bincount(groups))])
    members = np.argsort(groups, kind="stable")
    leaf_ptr, leaf_records = cut_leaves(
        rows.arrays, rows.n_columns, group_ptr, members, 1, turn.leaf, key
    )
    exchange(
        rows.arrays, rows.n_columns, groups, leaf_ptr, leaf_records,
        k=k, heat=turn.heat, shrink=turn.shrink, effort=turn.effort, key=key,
    )  # fmt: skip
