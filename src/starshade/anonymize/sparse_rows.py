"""Records as sparse rows, where a full table would be mostly nulls."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from starshade import budget
from starshade.anonymize.points import Points
from starshade.errors import ConfigError
from starshade.kernels.csr import keep_rows
from starshade.kernels.likeness.sparse import SparseRows
from starshade.naming import named

__all__ = ["is_sparse", "sparse_rows"]

_SHARE = 0.1  # of cells rated, below which walking the raters is faster
_ITEMS = 64  # below, a full table is faster whatever it holds
_CELL = 60  # bytes for each rating, all copies at their largest counted


def is_sparse(points: Points, copies: int) -> bool:
    """Tell whether distances are better taken from sparse rows, or only those fit into memory."""
    ratings = points.ratings
    cells = ratings.n_users * ratings.n_items
    if ratings.n_items >= _ITEMS and ratings.n_ratings < _SHARE * cells:
        return True
    full = cells * copies  # a byte for each at least
    return _CELL * ratings.n_ratings < budget.memory() < full


def sparse_rows(points: Points, order: NDArray[np.integer]) -> SparseRows:
    """Return the records in a given order, without making a full table."""
    ratings = points.ratings
    needed = _CELL * ratings.n_ratings
    if needed > budget.memory():
        raise ConfigError(
            f"{ratings.n_ratings:,} ratings as sparse rows take {budget.amount(needed)}; the "
            f"budget is {budget.amount(budget.memory())}",
            advice=f"Choose fewer items, e.g. {named('items', 'top:100')}, or allow more with "
            f"{named('memory')}.",
        )
    indptr, columns, codes, _ = keep_rows(
        ratings.indptr, ratings.columns, ratings.codes, None, order.astype(np.int64)
    )
    beside = points.extra[order].astype(np.float64)
    if ratings.scale.step is not None:
        steps = codes.astype(np.int32) + np.int32(1)
        return SparseRows(indptr, columns, steps, 0.0, beside, ratings.n_items)
    cells, null = ratings.levels[codes], ratings.scale.null_level
    return SparseRows(indptr, columns, cells, null, beside, ratings.n_items)
