"""Rating tables from arrays: a frame of them, read as every other."""

from __future__ import annotations

from typing import Any

import numpy as np

from starshade.errors import InputError
from starshade.ratings.read import read_ratings
from starshade.ratings.scale import Scale
from starshade.ratings.settings import OnDuplicate
from starshade.ratings.table import Ratings

__all__ = ["ratings_from_arrays"]


def ratings_from_arrays(
    users: Any,
    items: Any,
    ratings: Any,
    days: Any = None,
    *,
    scale: Scale | str | None = None,
    on_duplicate: OnDuplicate = "error",
) -> Ratings:
    """Build a table from arrays, one rating per position.

    `users`, `items` (n,): text or whole numbers. `ratings` (n,). `days` (n,): dates (datetime64,
    datetime, ISO text), or integers: days since 1970-01-01. `scale`: None: inferred. `on_duplicate`
    ({"error", "first", "last", "mean"}).

    >>> ratings_from_arrays(["a", "b"], ["x", "x"], [4, 5], scale="1:5:1")
    Ratings(2 users x 1 items, 2 ratings, scale 1:5:1)
    """
    import pyarrow as pa

    columns = {"user": users, "item": items, "rating": ratings}
    if days is not None:
        days = np.asarray(days)
        if days.dtype.kind in "iu":
            days = days.astype("datetime64[D]")
        columns["day"] = days
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        sizes = ", ".join(f"{name} {length:,}" for name, length in lengths.items())
        raise InputError(f"arrays of unequal length: {sizes}")
    try:
        frame = pa.table({name: pa.array(column) for name, column in columns.items()})
    except (pa.ArrowException, TypeError) as error:
        raise InputError(f"arrays: cannot be read as columns ({error})") from None
    return read_ratings(frame, scale=scale, on_duplicate=on_duplicate)
