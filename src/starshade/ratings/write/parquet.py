"""Rating tables as Parquet."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from starshade.progress import task
from starshade.ratings.table import UNKNOWN_DAY, Ratings
from starshade.ratings.vocabulary import Vocabulary

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["ids_of", "write_parquet"]

_ROWS = 1 << 20


def write_parquet(ratings: Ratings, path: Path, names: Mapping[str, str]) -> None:
    """Write one row per rating: ids as int64 where all are canonical integers, else as text.

    `names`: role (user, item, rating, day) → column.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    users, items = ids_of(ratings.users), ids_of(ratings.items)
    fields = [
        pa.field(names["user"], users.type),
        pa.field(names["item"], items.type),
        pa.field(names["rating"], pa.float64()),
    ]
    if ratings.has_days:
        fields.append(pa.field(names["day"], pa.date32()))
    schema = pa.schema(fields)
    with (
        path.open("wb") as file,  # Python's: a name need not be UTF-8
        pq.ParquetWriter(file, schema, compression="zstd") as out,
        task("writing ratings", ratings.n_ratings) as step,
    ):
        for start in range(0, ratings.n_ratings, _ROWS):
            stop = min(start + _ROWS, ratings.n_ratings)
            places = np.arange(start, stop)
            rows = np.searchsorted(ratings.indptr, places, side="right") - 1
            columns = [
                users.take(pa.array(rows)),
                items.take(pa.array(ratings.columns[start:stop])),
                pa.array(ratings.levels[ratings.codes[start:stop]]),
            ]
            if ratings.days is not None:
                days = ratings.days[start:stop]
                numbers = days.astype(np.int32) + np.int32(ratings.first_day)
                known = pa.array(numbers, mask=days == UNKNOWN_DAY)
                columns.append(known.cast(pa.date32()))
            out.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))
            step(stop - start)


def ids_of(vocabulary: Vocabulary) -> pa.Array:
    """Return the ids as an Arrow column."""
    import pyarrow as pa

    if not vocabulary.texts:
        return pa.array(vocabulary.integers)
    return pa.array(list(vocabulary), type=pa.string())
