"""The tree over a `Space`: kinds of records in the order of its leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from starshade import budget
from starshade.errors import ConfigError
from starshade.kernels.balls.fields import Fields, fields_of
from starshade.kernels.balls.tree import CHILDREN, FIRST, LAST, Blocks, Forest, grow
from starshade.kernels.csr import keep_rows
from starshade.naming import named
from starshade.plain import counted

if TYPE_CHECKING:
    from starshade.ratings.proximity.space import Space

__all__ = ["Index", "check_budget", "index_of"]

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
        helps = [f"Choose fewer items, or allow more with {named('memory')}.", advice]
        raise ConfigError(
            f"{what}: searching them takes {budget.amount(needed)}; the budget is "
            f"{budget.amount(budget.memory())}",
            advice=" ".join(part for part in helps if part),
        )
