"""A release as RecBole's atomic file: expected ratings of each class and item.

A line is a class (layout "record": a record) as ``user_id:token``, ``item_id:token``,
``rating:float`` and, where lines are classes, ``weight:float``. Ratings and weights are those of
`Release.to_csr`: all possible values of a cell, null included, are equally likely.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from starshade.progress import task
from starshade.ratings.readers.formats.dialects import DIALECTS
from starshade.ratings.write import fields, join, opened, shortest_decimal
from starshade.release.profiles import Profiles
from starshade.release.readable.matrix import expected
from starshade.release.readable.rows import blocks_of

if TYPE_CHECKING:
    from starshade.release.table import Release

_COLUMNS = ["user_id:token", "item_id:token", "rating:float", "weight:float"]


def write_inter(release: Release, path: Path, n_rows: int) -> None:
    """Write the lines block by block."""
    classes, dialect = release.classes, DIALECTS["recbole"]
    if isinstance(classes, Profiles):
        ratings = np.asarray(classes.ratings, dtype=np.float64)
        chances = np.ones(len(ratings))
    else:
        ratings, chances = expected(classes.symbols)
    keys = fields(classes.items, dialect)
    texts = np.array([shortest_decimal(rating) for rating in ratings.tolist()], dtype=np.object_)
    weighed = release.manifest.layout != "record"
    with opened(path) as out, task("writing rows", n_rows) as advance:
        join(out, dialect, [_COLUMNS if weighed else _COLUMNS[:-1]])
        for row, item, code in blocks_of(classes):
            columns = [map(str, row.tolist()), keys[item].tolist(), texts[code].tolist()]
            if weighed:
                weights = (chances[code] * classes.sizes[row]).tolist()
                columns.append(map(shortest_decimal, weights))
            join(out, dialect, zip(*columns, strict=True))
            advance(len(row))
