"""`Space`: a table made ready to be asked who is proximate to whom."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.kernels.csr import keep_columns
from starshade.kernels.profiles import first_equal_row
from starshade.naming import aside
from starshade.plain import counted
from starshade.ratings.proximity.index import Index, check_budget, index_of
from starshade.ratings.proximity.rule import NullRule, Rule, rule_of
from starshade.ratings.table import Ratings

__all__ = ["Kinds", "Space", "space_of"]


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
            f"Where a null is near nulls alone{aside('nulls', 'strict')} the tree search needs no "
            f"full table{aside('search', 'tree')}.",
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
