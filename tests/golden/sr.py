"""The tables of Sun & Sun 2013, as ratings; issue 4 is the sensitive one."""

from __future__ import annotations

from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from tests.strategies import table

SENSITIVE = ["4"]
NULL = 0

_TABLE_1 = [(6, 1, NULL, 6), (1, 6, NULL, 1), (2, 5, NULL, 1), (1, NULL, 5, 1), (2, NULL, 6, 5)]
_TABLE_2 = [
    (3, 6, NULL, 6),
    (2, 5, NULL, 1),
    (4, 7, NULL, 4),
    (5, 6, NULL, 1),
    (1, NULL, 5, 1),
    (2, NULL, 6, 5),
]
_TABLE_3 = [*_TABLE_2, (6, NULL, 6, 3), (5, NULL, 5, 2)]


def _ratings(rows: list[tuple[int, ...]], maximum: int) -> Ratings:
    cells = [{i: float(v) for i, v in enumerate(row) if v != NULL} for row in rows]
    return table(cells, Scale(1, maximum, 1), n_items=4)


TABLE_1 = _ratings(_TABLE_1, 6)
TABLE_2 = _ratings(_TABLE_2, 7)
TABLE_3 = _ratings(_TABLE_3, 7)
