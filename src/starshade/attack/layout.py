"""Tables as the kernels read them: rows, truth and what cells can say."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.kernels.attack.agreement import Contents, Rows, Truth
from starshade.kernels.readonly import fixed
from starshade.ratings.table import Ratings
from starshade.release.cells import Cells
from starshade.release.symbols import Symbols

__all__ = ["NO_DAYS", "below", "contents_of", "rows_of", "support_of", "truth_of"]

NO_DAYS = np.empty(0, dtype=np.uint16)
_NO_RATINGS = np.empty(0)


def below(counts: NDArray[Any]) -> NDArray[np.int64]:
    """Add up what comes before each; one more than there are."""
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def support_of(cells: Cells) -> NDArray[Any]:
    """Count the cells of each row that may hold a rating."""
    rated, lengths = cells.symbols.has_rating, np.diff(cells.indptr)
    if rated.all():
        return lengths
    of_row = np.repeat(np.arange(cells.n_groups), lengths)
    return np.bincount(of_row, weights=rated[cells.codes], minlength=cells.n_groups)


def rows_of(cells: Cells) -> Rows:
    """Lay out released rows."""
    days = NO_DAYS if cells.days is None else cells.days
    return Rows(fixed(cells.indptr), fixed(cells.columns), fixed(cells.codes), fixed(days))


def truth_of(table: Ratings, *, ratings: bool = True) -> Truth:
    """Lay out true rows, numbered as the released items; the ratings may be left out."""
    days = NO_DAYS if table.days is None else table.days
    values = table.values() if ratings else _NO_RATINGS
    return Truth(fixed(table.indptr), fixed(table.columns), fixed(values), fixed(days))


def contents_of(symbols: Symbols) -> Contents:
    """Lay out what cells can say."""
    return Contents(
        fixed(symbols.offsets),
        fixed(symbols.members),
        fixed(symbols.null),
        fixed(symbols.low),
        fixed(symbols.high),
        fixed(symbols.has_rating),
        symbols.scale.minimum,
    )
