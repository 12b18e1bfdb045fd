"""k-exchange: groups that lose least range, by greedy formation and then exchanges of records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from math import isqrt, lcm, sqrt
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from starshade.anonymize.baselines import KMember, Mondrian, MondrianRelaxed
from starshade.anonymize.grouping import Grouping
from starshade.anonymize.k_likeness import KLikeness
from starshade.anonymize.order import put_back, seeded_order
from starshade.anonymize.points import Points
from starshade.anonymize.settings import KExchangeSettings
from starshade.kernels.arrays import Array, Floats, Ints
from starshade.kernels.csr import keep_rows
from starshade.kernels.exchange.exchange import exchange, form
from starshade.kernels.exchange.leaves import Rows, cut_leaves, marks
from starshade.progress import task
from starshade.rng import stream_key


@dataclass(frozen=True)
class KExchange(KExchangeSettings, Grouping):
    """Group records greedily by cost, then exchange them between groups to minimize the loss.

    For the parameters see `starshade.anonymize.grouping.Grouping`.

    Parameters
    ----------
    disclosure_weight : float
        What a cell of a group costs besides if all its members gave one and the same rating
        (``users_rating_disclosed``), in whole ranges of an item, from 0 (the loss alone counts) to
        100.

    Notes
    -----
    The cost of a group is its size times the sum of its columns' ranges, each in shares of the
    whole column's range: added up over the groups and divided by the cells, that is GenILoss
    (null counting as the level below the scale). With a weight, single-valued cells cost besides,
    to 1/1,000 of a range; ranges of quasi-identifiers cost, single values of them do not.

    Rows that occur k times or more start as groups of their own, and a group is dissolved where
    its members cost less elsewhere, so groups may be fewer than ⌊n/k⌋, each with k to 2k−1
    records. Up to 262,144 cells the groups of `Mondrian` and `MondrianRelaxed`, and up to 2²⁸
    pairs of records times columns (5,000 records of 10) those of `KMember` and `KLikeness`, are
    found for the same seed as well: if one costs less than ours, it is improved instead, and up
    to 200 records all of them are. So there, without a weight, no rival loses less (on real
    scales: but for values rounded to 1/16,383 of a column's range). The number of steps is
    settled by the table's shape alone, so the same seed gives the same groups on any machine,
    however busy. Records never leave the sparse form but in parts of bounded size.
    """

    name: ClassVar[str] = "k-exchange"

    def group(self, points: Points, seed: int) -> Ints:
        """Group the records; see `exchange_groups`."""
        order = seeded_order(points.n_records, seed, self.name)
        rows = grid_rows(points, order, self.disclosure_weight)
        rivals = [rival[order] for rival in rival_groups(points, self.k, seed)]
        return put_back(order, exchange_groups(rows, self.k, seed, plan(rows, self.k), rivals))


def exchange_groups(
    rows: GridRows, k: int, seed: int, steps: Plan, rivals: Sequence[Ints] = ()
) -> Ints:
    """Group rows, meeting them in the order in which they stand.

    `rivals` (n,): groups found by other methods: what is returned never costs more than any of
    them, but where single-valued cells cost and groups of 2k or more were taken apart. All are
    improved where ``steps.all_starts``, else the cheapest, and only if it costs less than our own.
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
        k=k, price=rows.price, heat=turn.heat, shrink=turn.shrink, effort=turn.effort, key=key,
    )  # fmt: skip


_CELLS = 1 << 18  # of a table on which Mondrian's groups are looked at, at most
_PAIRS = 1 << 28  # of records, times columns: where those are whose time grows with them


def rival_groups(points: Points, k: int, seed: int) -> list[Ints]:
    """Return the groups of the other methods for the same seed, where the table is small."""
    n, m = points.n_records, points.ratings.n_items + points.extra.shape[1]
    if n * m > _CELLS:
        return []
    rivals = [Mondrian(k).group(points, seed), MondrianRelaxed(k).group(points, seed)]
    if n * n * m <= _PAIRS:
        rivals += [KMember(k).group(points, seed), KLikeness(k).group(points, seed)]
    return rivals


def alike(rows: GridRows, k: int) -> Ints:
    """Return for each row which of the rows that occur k times or more it is, −1 for others.

    They are numbered in the order in which they first occur. All are −1 where fewer than k
    records would be left for groups of their own.
    """
    _, first, kind, copies = np.unique(
        marks(rows.arrays), return_index=True, return_inverse=True, return_counts=True
    )
    many = copies >= k
    left = rows.n - int(copies[many].sum())
    if not many.any() or 0 < left < k:
        return np.full(rows.n, -1, dtype=np.int64)
    number = np.full(len(many), -1, dtype=np.int64)
    in_order = np.flatnonzero(many)[np.argsort(first[many], kind="stable")]
    number[in_order] = np.arange(len(in_order))
    return number[kind.reshape(-1)]


def small_groups(rows: GridRows, groups: Ints, k: int) -> Ints:
    """Take groups of 2k or more apart, greedily, into ones of k to 2k−1: no range becomes wider."""
    sizes = np.bincount(groups)
    large = sizes >= 2 * k
    members = np.argsort(groups, kind="stable")
    members = members[large[groups[members]]]
    parts = groups.copy()
    if len(members):
        leaf_ptr = np.concatenate([[0], np.cumsum(sizes[large])])
        inner = rows.take(members)
        part, _ = form(
            inner.arrays, rows.n_columns, leaf_ptr, np.arange(len(members)), k, rows.unit
        )
        parts[members] = len(sizes) + part
    return renumbered(parts)


def renumbered(groups: Ints) -> Ints:
    """Return the groups numbered 0, 1, … in the same order, numbers without records left out."""
    return (np.cumsum(np.bincount(groups) > 0) - 1)[groups]


def cost(rows: GridRows, groups: Ints) -> int:
    """Return the sum of size times width over all groups, exactly; the table becomes full."""
    indptr, columns, values, extra = rows.arrays
    table = np.zeros((rows.n, rows.n_columns), dtype=np.int64)
    table[np.repeat(np.arange(rows.n), np.diff(indptr)), columns] = values
    sizes = np.bincount(groups)
    table = np.hstack([table, extra])[np.argsort(groups, kind="stable")]
    first = np.cumsum(sizes) - sizes
    low = np.minimum.reduceat(table, first)
    width = np.maximum.reduceat(table, first) - low
    step, single = rows.price or (1, 0)
    shown = ((width == 0) & (low > 0))[:, : rows.n_columns]
    return int((step * width.sum(axis=1) + single * shown.sum(axis=1)) @ sizes)


_WEIGHED = 1000  # parts of a range, at least, in which a weight is counted
FINEST = 16_383  # steps of the grid at most: two bytes hold them, and their differences


@dataclass(frozen=True, eq=False)
class GridRows:
    """The records in the order in which a method meets them.

    `arrays`: what is above zero as CSR, and further full columns. `unit`: every column that is not
    constant reaches from 0 to `unit`. `price`: what a step of a range costs, and a cell of the CSR
    part in which all have one value above zero; None: 1 and 0. Where there is one, columns in which
    nobody's cell is null reach from 1 to `unit` + 1.
    """

    arrays: Rows
    n_columns: int
    unit: int
    price: tuple[int, int] | None = None

    @property
    def n(self) -> int:
        """Records."""
        return len(self.arrays[0]) - 1

    @property
    def filled(self) -> int:
        """Cells of the CSR part."""
        return len(self.arrays[1])

    def take(self, places: Ints) -> GridRows:
        """Return some of the rows, in the order given, on the same grid."""
        indptr, columns, values, extra = self.arrays
        indptr, columns, values, _ = keep_rows(indptr, columns, values, None, places)
        return replace(self, arrays=(indptr, columns, values, extra[places]))


def grid_rows(points: Points, order: Ints, weight: float = 0.0) -> GridRows:
    """Put the values of every column on a grid from its least (0) to its greatest (`unit`).

    So the differences of all columns weigh alike, and sums of them are exact integers. Where
    the columns' ranges in steps have a least common multiple up to 16,383, that is the unit and
    nothing is rounded; else (real scales, mostly) values are rounded to 1/16,383 of the range.
    `weight`: what a single-valued cell costs, in units.
    """
    ratings = points.ratings
    stepped = ratings.scale.step is not None
    # of one type with `low`: minimum.at is ten times as fast then
    cells = ratings.codes + 1.0 if stepped else ratings.values()
    null = 0 if stepped else ratings.scale.null_level
    low = np.full(ratings.n_items, np.inf)
    high = np.full(ratings.n_items, -np.inf)
    np.minimum.at(low, ratings.columns, cells)
    np.maximum.at(high, ratings.columns, cells)
    holed = ratings.item_support < ratings.n_users
    low[holed] = null
    high[ratings.item_support == 0] = null
    width = high - low
    beside = np.asarray(points.extra)
    side_low = beside.min(axis=0)
    side_width = (beside.max(axis=0) - side_low).astype(np.float64)
    whole = stepped and bool((beside == np.rint(beside)).all())
    unit = _unit(np.concatenate([width, side_width])) if whole else FINEST
    placed = _on_grid(cells - low[ratings.columns], width[ratings.columns], unit)
    if weight:
        placed += ~holed[ratings.columns]  # zero is null's alone
    fine = -(-_WEIGHED // unit)
    price = (fine, round(weight * unit * fine)) if weight else None
    indptr, columns, values, _ = keep_rows(ratings.indptr, ratings.columns, placed, None, order)
    extra = _on_grid(beside[order] - side_low, side_width[None, :], unit)
    return GridRows((indptr, columns, values, extra), ratings.n_items, unit, price)


def _unit(widths: Floats) -> int:
    unit = 1
    for width in np.unique(widths[widths > 0]).tolist():
        unit = lcm(unit, int(width))
        if unit > FINEST:
            return FINEST
    return unit


def _on_grid(above: Array, width: Array, unit: int) -> NDArray[np.int16]:
    share = np.divide(above * float(unit), width, out=np.zeros(above.shape), where=width > 0)
    placed: NDArray[np.int16] = np.rint(share).astype(np.int16)
    return placed


_LEAF = 1 << 19  # of a leaf's table in exchanges, about
_START_CELLS = 1 << 21  # of a leaf's table while groups are formed, about
_START_RECORDS = 32_768  # in a leaf while groups are formed, at most

_STEPS = 1500  # for a record, at most, unless there are fewer than 200 …
_TINY_STEPS, _ALL_TINY = 6000, 300_000  # … for one, and for all of them: few get stuck soon
_ALL_STEPS = 6_000_000  # for all, in a table so large that they are fewer for a record, unless …
_LARGE = 2000  # … it is larger still: its greedy rivals take a time for each record that grows
_MANY = 250  # steps for a record that are worth large leaves, cut often
_TINY = 200  # records up to which one start after the other is tried
_STAGES = 24
_COOLED = 0.2  # of the heat, in the last stage but one; in the last there is none


@dataclass(frozen=True, eq=False)
class Turn:
    """One round of exchanges.

    `leaf`: groups in a leaf, at most. `effort`: steps per record and stage.
    """

    leaf: int
    heat: float
    shrink: Floats
    effort: float


@dataclass(frozen=True)
class Plan:
    """What is done, in order.

    `start`: blocks of k records in a leaf in which the first groups are formed, at most.
    `all_starts`: whether the turns are taken from every start, or from a rival's only where it is
    ahead.
    """

    start: int
    turns: tuple[Turn, ...]
    all_starts: bool = False


def plan(rows: GridRows, k: int) -> Plan:
    """Settle the size of leaves, the turns and their steps.

    One leaf for all needs one turn, hot enough to take groups apart. Where leaves are many,
    they are cut anew a few times, and the heat is less: most of it would be wasted before the
    groups have cooled.
    """
    most = max(_STEPS, min(_TINY_STEPS, _ALL_TINY // rows.n))
    steps = min(most, max(_ALL_STEPS // rows.n, rows.n // _LARGE))
    # a step takes as long as its columns and, where it is taken, its members
    effort = steps / max(1, _columns(rows, 64) // 256) / max(1, k // 32)
    many = steps >= _MANY
    leaf = max(_leaf(rows, _LEAF, 1024 if many else 512) // k, 8)
    heats = (0.7,) if rows.n // k <= leaf else (0.3, 0.21, 0.15, 0.1) if many else (0.2, 0.1)
    of_unit = rows.unit * (rows.price or (1, 0))[0]
    shrink = np.append(np.geomspace(1, _COOLED, _STAGES - 1), 0.0)
    return Plan(
        start=max(_leaf(rows, _START_CELLS, _START_RECORDS) // k, 4),
        turns=tuple(
            Turn(leaf, heat * sqrt(of_unit), shrink, effort / len(heats) / _STAGES)
            for heat in heats
        ),
        all_starts=rows.n <= _TINY,
    )


def _leaf(rows: GridRows, cells: int, most: int) -> int:
    full = cells // max(1, _columns(rows, rows.n))
    return min(most, max(full, isqrt(cells // max(1, rows.filled // rows.n))))


def _columns(rows: GridRows, records: int) -> int:
    beside = int(rows.arrays[3].shape[1])
    return min(rows.n_columns, records * (rows.filled // rows.n + 1)) + beside
