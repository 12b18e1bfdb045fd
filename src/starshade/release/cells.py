"""`Cells`: groups × items with multiplicity, the one view that attacks and measures run on.

An original table is the case "every group has one record, every cell one member"; a release with
a hundred thousand records in twenty thousand classes is twenty thousand rows. What runs on a
block of rows can be merged exactly, so the same code serves blocks, threads and clusters.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.kernels.csr import keep_columns, keep_rows, transpose
from starshade.ratings.table import ByItem, Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.symbols import Symbols

__all__ = ["Cells", "Rows", "cells_of"]


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows over items, each standing for one or more identical records: `sizes` (n_groups,)."""

    items: Vocabulary
    sizes: NDArray[np.int64]

    @property
    def n_groups(self) -> int:
        """Rows."""
        return len(self.sizes)

    @property
    def n_records(self) -> int:
        """Records that the rows stand for."""
        return int(self.sizes.sum())

    @property
    def n_items(self) -> int:
        """Columns."""
        return len(self.items)


@dataclass(frozen=True, eq=False)
class Cells(Rows):
    """Rows of cells.

    `indptr` (n_groups + 1,). `columns` (n_cells,): item indices, strictly ascending within a row; a
    cell that is null alone has no entry. `codes` (uint8, uint16 or uint32 (n_cells,)): positions in
    `symbols`. `days`: as in `Ratings`; always None on a release.
    """

    indptr: NDArray[np.int64]
    columns: NDArray[np.int32]
    codes: NDArray[Any]
    symbols: Symbols
    days: NDArray[np.uint16] | None = None
    first_day: int = 0

    @cached_property
    def by_item(self) -> ByItem:
        """The same cells item by item (its `users` are row indices)."""
        return ByItem(*transpose(self.indptr, self.columns, self.codes, self.days, self.n_items))

    @cached_property
    def support(self) -> NDArray[np.int64]:
        """|supp(i)| as the adversary sees it: records whose cell has a non-null member."""
        rows = np.repeat(np.arange(self.n_groups), np.diff(self.indptr))
        weight = self.sizes[rows] * self.symbols.has_rating[self.codes]
        # integers below 2**53 are exact in float64, which is what bincount sums in
        return np.bincount(self.columns, weights=weight, minlength=self.n_items).astype(np.int64)

    def keep_items(self, indices: NDArray[np.integer]) -> Cells:
        """Return the view of these items (ascending order); rows stay, even if they empty."""
        keep = np.zeros(self.n_items, dtype=np.bool_)
        keep[indices] = True
        indptr, columns, codes, days = keep_columns(
            self.indptr, self.columns, self.codes, self.days, keep
        )
        return replace(
            self,
            items=self.items.take(np.flatnonzero(keep)),
            indptr=indptr,
            columns=columns,
            codes=codes,
            days=days,
        )

    def keep_rows(self, indices: NDArray[np.integer]) -> Cells:
        """Return the view of these rows, in the order given."""
        rows = np.asarray(indices, dtype=np.int64)
        indptr, columns, codes, days = keep_rows(
            self.indptr, self.columns, self.codes, self.days, rows
        )
        return replace(
            self, sizes=self.sizes[rows], indptr=indptr, columns=columns, codes=codes, days=days
        )


def cells_of(ratings: Ratings) -> Cells:
    """View an original table as cells: one record a row, one member a cell; nothing is copied."""
    return Cells(
        items=ratings.items,
        sizes=np.ones(ratings.n_users, dtype=np.int64),
        indptr=ratings.indptr,
        columns=ratings.columns,
        codes=ratings.codes,
        symbols=Symbols.exact(ratings.scale, ratings.levels),
        days=ratings.days,
        first_day=ratings.first_day,
    )
