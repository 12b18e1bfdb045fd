"""`Columns`: profiles item by item, as attacks look at them.

**Why.** A profile shows nearly every item. As rows of cells, a number for the item beside each
level, those of the Netflix prize's size are 26 GB with all that attacks lay out of them; as bytes
they are 1.7. What somebody knows of a person are eight items: eight columns of a byte a row, one
after the other in memory, and 17,762 of which nothing is known. So an attack on profiles never
lays out rows. It has the bytes item by item, written once (in memory, or above a quarter of a
gigabyte in a file without a name that is mapped), and of the items that some targets are known by
it makes *postings*: lists of who shows them, as of any other data, for as long as these targets
are attacked. What is asked of a whole row (does it agree with a person's true ratings?) is asked
of that person's items; a row's other cells are counted before.

**What it costs.** One pass turns the bytes (`starshade.kernels.columns`), one counts them, one
finds equal rows; all three are kept with the profiles, whoever attacks them next. Beside it an
attack takes the postings of its batch, seven bytes a cell of at most `POSTED` cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.kernels.arrays import fixed
from starshade.kernels.columns import count_cells, first_equal_column, gather
from starshade.ratings.table import ByItem
from starshade.release.cells import Rows, Symbols

POSTED = 2**26  # cells of the items that are listed at once


@dataclass(frozen=True, eq=False)
class Columns(Rows):
    """Rows of profiles, item by item.

    `levels` (n_items, n_groups): 0 is null; level v is content v - 1 of `symbols`. `days`: there
    are none.
    """

    levels: NDArray[np.uint8]
    symbols: Symbols
    days: None = None
    first_day: int = 0

    @cached_property
    def _counted(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return count_cells(fixed(self.levels), fixed(self.sizes))

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Cells of each row that are not null."""
        return self._counted[0]

    @property
    def support(self) -> NDArray[np.int64]:
        """|supp(i)| as the adversary sees it: records whose cell is not null."""
        return self._counted[1]

    @property
    def arrays(self) -> list[NDArray[Any] | None]:
        """What is held of them in memory."""
        return [self.levels, self.sizes]

    @property
    def n_listed(self) -> int:
        """Cells that are listed item by item at once, at most."""
        return min(self.n_cells, max(POSTED, self.n_groups))

    @property
    def n_cells(self) -> int:
        """Cells that are not null."""
        return int(self.lengths.sum())

    @cached_property
    def often(self) -> NDArray[np.int64]:
        """Records' cells of each content."""
        counts = np.zeros(len(self.symbols) + 1)
        for column in self.levels:
            counts += np.bincount(column, self.sizes, minlength=len(counts))
        return counts[1:].astype(np.int64)

    @cached_property
    def first_equal(self) -> NDArray[np.int64]:
        """For each row the first that equals it."""
        return first_equal_column(fixed(self.levels), patterns=False)

    @cached_property
    def first_alike(self) -> NDArray[np.int64]:
        """For each row the first that is null for the same items."""
        if (self.lengths == self.n_items).all():
            return np.zeros(self.n_groups, dtype=np.int64)
        return first_equal_column(fixed(self.levels), patterns=True)

    def held(self, items: NDArray[np.integer]) -> ByItem:
        """List the cells of these items; other items have none here."""
        known = np.unique(items[items >= 0]).astype(np.int64)
        return ByItem(*gather(fixed(self.levels), known), None)

    def batches(self, items: NDArray[np.integer], most: int) -> Iterator[slice]:
        """Cut targets, of whom `items` (targets, known) are known, by the cells that are listed."""
        enough = min(most, max(1, POSTED // max(1, self.n_groups * items.shape[1])))
        for start in range(0, len(items), enough):
            yield slice(start, start + enough)

    def keep_rows(self, indices: NDArray[np.integer]) -> Columns:
        """Return these rows, in the order given."""
        rows = np.asarray(indices, dtype=np.int64)
        return Columns(self.items, self.sizes[rows], self.levels[:, rows], self.symbols)
