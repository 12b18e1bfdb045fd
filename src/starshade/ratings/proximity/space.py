"""`Space`: a table made ready to be asked who is proximate to whom."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade import budget
from starshade.errors import ConfigError
from starshade.kernels.balls.fields import Fields, fields_of
from starshade.kernels.balls.tree import CHILDREN, FIRST, LAST, Blocks, Forest, grow
from starshade.kernels.csr import keep_columns, keep_rows
from starshade.kernels.fingerprint import first_equal_row
from starshade.naming import aside, named
from starshade.plain import counted
from starshade.ratings.proximity.settings import NullRule
from starshade.ratings.scale import SLACK, Scale
from starshade.ratings.table import Ratings


@dataclass(frozen=True, eq=False)
class Kinds:
    """Equal records joined: one kind each, and kinds cut into blocks.

    `of_record` (n_records,): kinds are numbered block by block. `row` (n_kinds,): the first record
    of each kind. `size` (n_kinds,): records of each kind. `block` (n_blocks + 1,): where blocks
    begin: kinds that rated the same items where the rule keeps such apart from all others, else all
    kinds together.
    """

    of_record: NDArray[np.int64]
    row: NDArray[np.int64]
    size: NDArray[np.int64]
    block: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Space:
    """Records as sparse rows of codes, and the rule.

    `indptr`, `columns`, `codes`: the cells of the items that the distance is taken over, as in
    `Ratings`. `n_items`: those items.
    """

    indptr: NDArray[np.int64]
    columns: NDArray[np.int32]
    codes: NDArray[Any]
    n_items: int
    rule: Rule

    @property
    def n_records(self) -> int:
        """Records, empty ones included."""
        return len(self.indptr) - 1

    @cached_property
    def kinds(self) -> Kinds:
        """Which records are equal, and which rated the same items."""
        first = first_equal_row(self.indptr, self.columns, self.codes, None)
        row = np.flatnonzero(first == np.arange(self.n_records))
        block = np.array([0, len(row)])
        if self.rule.by_pattern:
            all_alike = np.zeros(len(self.columns), np.uint8)
            pattern = first_equal_row(self.indptr, self.columns, all_alike, None)[row]
            order = np.argsort(pattern, kind="stable")
            row, pattern = row[order], pattern[order]
            starts = np.flatnonzero(np.diff(pattern, prepend=-1))
            block = np.append(starts, len(row))
        number = np.empty(self.n_records, np.int64)
        number[row] = np.arange(len(row))
        of_record = number[first]
        size = np.bincount(of_record, minlength=len(row))
        return Kinds(of_record, row, size, block)

    @cached_property
    def index(self) -> Index:
        """The tree that balls are looked for in."""
        return index_of(self)

    def full(self) -> NDArray[Any]:
        """Return records × items as codes of the narrowest type: 0 is null, c ``levels[c - 1]``."""
        check_budget(
            2 * self.code_type.itemsize * self.n_records * self.n_items,
            f"{counted(self.n_records, 'record')} x {counted(self.n_items, 'item')}",
            f"Where nulls are proximate to nulls only{aside('nulls', 'strict')}, the tree search "
            f"needs no full table{aside('search', 'tree')}.",
        )
        table = np.zeros((self.n_records, self.n_items), self.code_type)
        rows = np.repeat(np.arange(self.n_records), np.diff(self.indptr))
        table[rows, self.columns] = self.codes
        table[rows, self.columns] += 1
        return table

    @property
    def code_type(self) -> np.dtype[Any]:
        """The type of codes that leave 0 to null: one byte where that is enough, else four."""
        return np.dtype(np.uint8 if len(self.rule.low) <= 256 else np.uint32)


def space_of(ratings: Ratings, items: NDArray[np.integer], eps: float, nulls: NullRule) -> Space:
    """Make a table ready; what searching needs is computed when first asked for.

    `ratings`: users without a rating are records too. `items`: indices of the non-sensitive items,
    each once. `eps`, `nulls`: see `rule_of`.
    """
    rule = rule_of(ratings.scale, ratings.levels, eps, nulls)
    indptr, columns, codes = ratings.indptr, ratings.columns, ratings.codes
    if len(items) < ratings.n_items:
        keep = np.zeros(ratings.n_items, np.bool_)
        keep[items] = True
        indptr, columns, codes, _ = keep_columns(indptr, columns, codes, None, keep)
    return Space(np.asarray(indptr), np.asarray(columns), np.asarray(codes), len(items), rule)


__all__ = [
    "NullRule",
    "Rule",
    "largest_distance",
    "reaches_all",
    "rule_of",
]


@dataclass(frozen=True, eq=False)
class Rule:
    """Which codes are near which: 0 stands for null, c for ``levels[c - 1]``.

    `low`, `high` (n_levels + 1,): code c is proximate to the rated codes ``low[c] … high[c]``; none
    where ``low[c] > high[c]``. `null` (n_levels + 1,): whether code c is proximate to null; null
    always is. `by_pattern`: a null is proximate to nulls alone: only records that rated the same
    items can be proximate. `everybody`: every code is proximate to every code: all records are
    proximate.
    """

    low: NDArray[np.int32]
    high: NDArray[np.int32]
    null: NDArray[np.bool_]
    by_pattern: bool
    everybody: bool


def largest_distance(scale: Scale, nulls: NullRule) -> float:
    """Return how far apart two cells can be on a scale, null among them.

    >>> [largest_distance(Scale(1, 5, 1), nulls) for nulls in ("strict", "ignore", "zero")]
    [5.0, 4.0, 5.0]
    """
    if nulls == "strict":
        return float(scale.cost_of_null)
    lowest = scale.null_level if nulls == "zero" else scale.minimum
    return float(scale.maximum - lowest)


def reaches_all(scale: Scale, eps: float, nulls: NullRule) -> bool:
    """Tell whether ε makes any two records proximate, whatever was rated on this scale."""
    return largest_distance(scale, nulls) <= eps + _slack(scale)


def rule_of(scale: Scale, levels: NDArray[np.float64], eps: float, nulls: NullRule) -> Rule:
    """Return which codes are near which.

    `levels` (n_levels,): ascending ratings that codes stand for (`Ratings.levels`). `eps`: 0 or
    more, in units of the scale. `nulls` ({"strict", "ignore", "zero"}): what a null against a
    rating costs: R = max(maximum, width) of the scale (the paper), nothing, or its distance from
    the level just below the scale.

    >>> scale = Scale(1, 5, 1)
    >>> rule_of(scale, scale.levels, 1, "strict").high.tolist()
    [0, 2, 3, 4, 5, 5]
    >>> rule_of(scale, scale.levels, 1, "zero").null.tolist()
    [True, True, False, False, False, False]
    """
    reach = eps + _slack(scale)
    high = np.searchsorted(levels, levels + reach, side="right")
    # the lowest code whose highest proximate one is c or above; mutual to the last bit
    low = np.searchsorted(high, np.arange(1, len(levels) + 1)) + 1
    if nulls == "ignore":
        cost = np.zeros(len(levels))
    elif nulls == "zero":
        cost = levels - scale.null_level
    else:
        cost = np.full(len(levels), scale.cost_of_null)
    near_null = cost <= reach
    if nulls == "strict" and near_null.all() and len(levels):
        low[:], high[:] = 1, len(levels)  # R is above every difference
    rated = int(near_null.sum())  # the lowest levels, as costs ascend
    return Rule(
        low=np.concatenate([[1], low]).astype(np.int32),
        high=np.concatenate([[rated], high]).astype(np.int32),
        null=np.concatenate([[True], near_null]),
        by_pattern=not near_null.any(),
        everybody=bool(near_null.all() and (low == 1).all() and (high == len(levels)).all()),
    )


def _slack(scale: Scale) -> float:
    """Return by how much two ratings may miss ε: 1e-9, or what rounding does to large numbers."""
    largest = max(abs(scale.minimum), abs(scale.maximum))
    return max(SLACK, 8 * float(np.spacing(largest)))


_PER_KIND = 120  # bytes of places, weights and nodes


@dataclass(frozen=True, eq=False)
class Index:
    """What the kernels search.

    `leaves`: nodes without children, in the order of their records. `place_of_record` (n_records,):
    where the kind of each record stands in the order of the leaves. `people`: CSR ``indptr,
    records``: the records of the kind at each place, ascending.
    """

    blocks: Blocks
    fields: Fields
    forest: Forest
    leaves: NDArray[np.int64]
    place_of_record: NDArray[np.int64]
    people: tuple[NDArray[np.int64], NDArray[np.int64]]

    @property
    def weights(self) -> NDArray[np.int64]:
        """Records that each place stands for."""
        return np.diff(self.people[0])

    def sums(self, columns: NDArray[Any]) -> NDArray[Any]:
        """Sum a record's columns at each place."""
        # every place has a record, so no part is empty
        return np.asarray(np.add.reduceat(columns[self.people[1]], self.people[0][:-1], axis=0))

    def node_sums(self, columns: NDArray[Any]) -> NDArray[Any]:
        """Sum columns of places over each node."""
        nodes = self.forest.nodes
        out = np.zeros((len(nodes), columns.shape[1]), columns.dtype)
        if len(nodes) and columns.shape[1]:
            before = np.concatenate([np.zeros((1, columns.shape[1]), columns.dtype), columns])
            if columns.dtype.kind == "f":  # differences of running sums would lose digits
                for i, node in enumerate(nodes):
                    out[i] = columns[node[FIRST] : node[LAST]].sum(axis=0)
            else:
                np.cumsum(before, axis=0, out=before)
                out[:] = before[nodes[:, LAST]] - before[nodes[:, FIRST]]
        return out


def index_of(space: Space) -> Index:
    """Build the tree of a space."""
    kinds = space.kinds
    cells, items = _cells(space)
    offsets = np.concatenate([[0], np.cumsum(items * np.diff(kinds.block))])
    blocks = Blocks(kinds.block.astype(np.int64), offsets.astype(np.int64), items, cells)
    counts = np.bincount(cells, minlength=len(space.rule.low))
    fields = fields_of(space.rule.low, space.rule.high, space.rule.null, counts)
    forest, blocks, place = grow(blocks, fields)
    leaves = np.flatnonzero(forest.nodes[:, CHILDREN] == 0)
    leaves = leaves[np.argsort(forest.nodes[leaves, FIRST], kind="stable")]
    place_of_kind = np.empty(len(place), np.int64)
    place_of_kind[place] = np.arange(len(place))
    place_of_record = place_of_kind[kinds.of_record]
    people = np.concatenate([[0], np.cumsum(kinds.size[place])]).astype(np.int64)
    order = np.argsort(place_of_record, kind="stable")
    return Index(blocks, fields, forest, leaves, place_of_record, (people, order))


def _cells(space: Space) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the blocks' tables of codes one after the other, and the items of each."""
    kinds, kind_type = space.kinds, space.code_type
    n = len(kinds.row)
    words = 8 / 3  # a field takes a third of a word at most, but for one bucketed
    per_cell = 2 * kind_type.itemsize + words
    if not space.rule.by_pattern:
        check_budget(
            n * (space.n_items * per_cell + _PER_KIND),
            f"{counted(n, 'different record')} x {counted(space.n_items, 'item')}",
            # the tree gets here only where some rating is proximate to null
            f"With {named('nulls', 'strict')} no full table is needed.",
        )
        indptr, columns, codes, _ = keep_rows(
            space.indptr, space.columns, space.codes, None, kinds.row
        )
        table = np.zeros((n, space.n_items), kind_type)
        rows = np.repeat(np.arange(n), np.diff(indptr))
        table[rows, columns] = codes
        table[rows, columns] += 1
        return table.ravel(), np.array([space.n_items])
    # a record that is alone in its block is compared with none
    shared = np.diff(kinds.block) > 1
    rows = kinds.row[np.repeat(shared, np.diff(kinds.block))]
    cells = int(np.diff(space.indptr)[rows].sum())
    check_budget(per_cell * cells + n * _PER_KIND, f"{counted(n, 'different record')}")
    _, _, codes, _ = keep_rows(space.indptr, space.columns, space.codes, None, rows)
    items = np.where(shared, np.diff(space.indptr)[kinds.row[kinds.block[:-1]]], 0)
    return codes.astype(kind_type) + kind_type.type(1), items


def check_budget(needed: float, what: str, advice: str = "") -> None:
    """Refuse a table that does not fit the memory budget.

    `needed`: bytes. `what`: the table, in words. `advice`: what would help beside fewer items and
    more memory.
    """
    if needed > budget.memory():
        helps = [f"Choose fewer items, or allow more memory with {named('memory')}.", advice]
        raise ConfigError(
            f"{what}: searching them needs {budget.amount(needed)}; the budget is "
            f"{budget.amount(budget.memory())}",
            advice=" ".join(part for part in helps if part),
        )
