"""Rating tables from sparse matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from starshade.errors import InputError
from starshade.plain import counted
from starshade.ratings.building.batch import Batch
from starshade.ratings.building.build import build
from starshade.ratings.readers.columns import shortest
from starshade.ratings.scale import Scale
from starshade.ratings.settings import OnDuplicate
from starshade.ratings.table import Ratings, ReadReport

__all__ = ["ratings_from_scipy"]


def ratings_from_scipy(
    matrix: Any, *, scale: Scale | str | None = None, on_duplicate: OnDuplicate = "error"
) -> Ratings:
    """Build a table from a sparse matrix of users × items.

    Ids are the indices as text; an explicit zero is a rating. Rows and columns without a rating
    are left out and counted.

    >>> from scipy.sparse import csr_array
    >>> ratings_from_scipy(csr_array([[5.0, 0], [3, 4]]), scale="1:5:1").users[1]
    '1'
    """
    # COO keeps every stored entry: a conversion to CSR would add up repeated ones
    sparse = matrix.tocoo()
    if len(sparse.shape) != 2:
        raise InputError("sparse array: it must have two axes, users and items")
    n_users, n_items = sparse.shape
    users = np.asarray(sparse.row, dtype=np.int64)
    items = np.asarray(sparse.col, dtype=np.int64)
    if sparse.data.dtype.kind not in "iufb":
        raise InputError(f"sparse matrix: ratings of type {sparse.data.dtype}, not numbers")
    values = shortest(sparse.data) if sparse.data.dtype.kind == "f" else sparse.data.astype(float)

    dropped_users = n_users - len(np.unique(users))
    dropped_items = n_items - len(np.unique(items))
    notes = []
    if dropped_users:
        notes.append(f"{counted(dropped_users, 'user')} without a rating dropped")
    if dropped_items:
        notes.append(f"{counted(dropped_items, 'item')} that nobody rated left out")
    return build(
        [Batch(users, items, values, None, 0)],
        scale=Scale.parse(scale) if isinstance(scale, str) else scale,
        on_duplicate=on_duplicate,
        locate=lambda row: f"sparse matrix, entry {row + 1}",
        report=ReadReport(
            source="sparse matrix",
            format="scipy",
            mapping={"user": "row index", "item": "column index"},
            dropped_users=dropped_users,
            dropped_items=dropped_items,
            notes=tuple(notes),
        ),
    )
