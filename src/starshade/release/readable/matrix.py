"""A release as two sparse matrices for recommenders: what to expect, and how surely."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from starshade.release.cells import Symbols
from starshade.release.profiles import refuse_large
from starshade.release.readable.rows import rating_bounds

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from starshade.release.table import Release


def expected_matrices(release: Release) -> tuple[csr_matrix, csr_matrix]:
    """Return expected ratings and their weights; see `Release.to_csr`."""
    from scipy.sparse import csr_matrix

    cells = release.cells()
    n = len(cells.codes)
    refuse_large(f"{n:,} cells as two SciPy matrices", needed=40 * n, held=5 * n)
    ratings, chances = expected(cells.symbols)
    sizes = np.repeat(cells.sizes, np.diff(cells.indptr))
    data = ratings[cells.codes], chances[cells.codes] * sizes
    shape = (cells.n_groups, cells.n_items)
    first, second = (
        csr_matrix((each, cells.columns, cells.indptr), shape=shape, copy=True) for each in data
    )
    return first, second


def expected(symbols: Symbols) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean rating of each symbol, and the chance that there is one, shape (n,).

    Every member is as likely as any other, null being one; within a range every value is.
    """
    low, high = rating_bounds(symbols)
    mean = (low + high) / 2
    sets = np.flatnonzero(symbols.n_members > 0)
    sums = np.add.reduceat(symbols.members, symbols.offsets[sets]) if len(sets) else np.empty(0)
    mean[sets] = np.clip(sums / symbols.n_members[sets], low[sets], high[sets])
    chance = symbols.n_members / np.maximum(symbols.n_members + symbols.null, 1)
    chance[symbols.is_range] = 1.0
    wide = symbols.high > symbols.low
    chance[wide] = (high - low)[wide] / (symbols.high - symbols.low)[wide]
    return mean, chance
