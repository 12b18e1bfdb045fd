"""(k, ε) and (k, ε, l)-anonymity from the definitions (SR Def. 2, 3), written for reading.

A record is a list with a rating or None for each item.
"""

from __future__ import annotations

from math import isnan, sqrt

from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings

Record = list[float | None]
SLACK = 1e-9


def records_of(ratings: Ratings) -> list[Record]:
    return [[None if isnan(v) else v for v in row] for row in ratings.dense().tolist()]


def dissimilarity(a: float | None, b: float | None, nulls: str, scale: Scale) -> float:
    """Eq. 1, and the two other rules for nulls."""
    if a is None and b is None:
        return 0.0
    if a is not None and b is not None:
        return abs(a - b)
    if nulls == "ignore":
        return 0.0
    if nulls == "zero":
        below = scale.null_level
        return abs((below if a is None else a) - (below if b is None else b))
    return max(scale.maximum, scale.maximum - scale.minimum)


def balls(
    records: list[Record], items: list[int], eps: float, nulls: str, scale: Scale
) -> list[set[int]]:
    """Def. 1 and 2: each record's neighbours, and the record itself."""
    return [
        {
            j
            for j, b in enumerate(records)
            if all(dissimilarity(a[i], b[i], nulls, scale) <= eps + SLACK for i in items)
        }
        for a in records
    ]


def spread(values: list[float | None]) -> float | None:
    """Eq. 3; None where nobody rated."""
    rated = [v for v in values if v is not None]
    if not rated:
        return None
    mean = sum(rated) / len(rated)
    return sqrt(sum((mean if v is None else v - mean) ** 2 for v in values) / len(values))


def above_bound(records: list[Record], items: list[int], l: float) -> bool:  # noqa: E741
    """Tell whether Theorem 1 rules l out for some item that everybody rated."""
    for i in items:
        column = [record[i] for record in records]
        rated = [v for v in column if v is not None]
        if len(rated) == len(column) and l > (max(rated) - min(rated)) / 2 + SLACK:
            return True
    return False
