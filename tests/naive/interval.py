"""The interval anonymizer (SR §6; definitions, "interval"), in plain Python, written for reading.

A record is a list of ratings, None for null.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Row = Sequence[float | None]
SLACK = 1e-9


def clipped(values: Sequence[float], start: float, width: float) -> list[float]:
    """Move each rating into [start, start + width]."""
    return [min(max(v, start), start + width) for v in values]


def moved(values: Sequence[float], start: float, width: float) -> float:
    return sum(abs(v - c) for v, c in zip(values, clipped(values, start, width), strict=True))


def starts(values: Sequence[float], eps: float, step: float | None) -> list[float]:
    """Every start that Algorithm 1 looks at: levels, or x and x − ε, between min and max − ε."""
    width = interval_width(eps, step)
    low, high = min(values), max(values)
    if step is not None:
        count = round((high - low - width) / step)
        return [low + step * i for i in range(count + 1)]
    found = {x for v in values for x in (v, v - eps)}
    return sorted(x for x in found if low - SLACK <= x <= high - eps + SLACK)


def interval_width(eps: float, step: float | None) -> float:
    """The largest multiple of the step that is at most ε; ε itself on a real scale."""
    return eps if step is None else step * np.floor((eps + SLACK) / step)


def best_starts(values: Sequence[float], eps: float, step: float | None) -> list[float]:
    """All starts of least distortion; none where nothing need move."""
    width = interval_width(eps, step)
    if not values or max(values) - min(values) <= width + SLACK:
        return []
    tried = starts(values, eps, step)
    least = min(moved(values, a, width) for a in tried)
    return [a for a in tried if moved(values, a, width) <= least + SLACK]


def group_cost(
    rows: Sequence[Row], eps: float, step: float | None, cost_of_null: float | None
) -> float:
    """Least cost of making a group proximate; `cost_of_null` None: nulls cost nothing."""
    total = 0.0
    width = interval_width(eps, step)
    for column in zip(*rows, strict=True):
        rated = [v for v in column if v is not None]
        nulls = len(column) - len(rated)
        best = best_starts(rated, eps, step)
        clip = moved(rated, best[0], width) if best else 0.0
        if not nulls or not rated or cost_of_null is None:
            total += clip
        else:
            total += min(cost_of_null * len(rated), cost_of_null * nulls + clip)
    return total


def distortion(before: Sequence[Row], after: Sequence[Row], cost_of_null: float) -> float:
    """Σ|t − t′|, a null against a rating costing R (SR Def. 4, 5)."""
    total = 0.0
    for row, other in zip(before, after, strict=True):
        for a, b in zip(row, other, strict=True):
            if (a is None) != (b is None):
                total += cost_of_null
            elif a is not None and b is not None:
                total += abs(a - b)
    return total


def near(a: Row, b: Row, eps: float, nulls: str, cost_of_null: float, null_level: float) -> bool:
    """ε-proximate (SR Def. 1)."""
    for x, y in zip(a, b, strict=True):
        if x is not None and y is not None:
            away = abs(x - y)
            if nulls == "strict":
                away = min(away, cost_of_null)
        elif (x is None and y is None) or nulls == "ignore":
            away = 0.0
        elif nulls == "zero":
            away = (x if x is not None else y) - null_level  # type: ignore[operator]
        else:
            away = cost_of_null
        if away > eps + SLACK:
            return False
    return True


def joined(patterns: Sequence[Sequence[bool]], sizes: Sequence[int], k: int) -> list[int]:
    """Join patterns of fewer than k records to their nearest; return what each has become."""
    size = dict(enumerate(sizes))  # of the patterns that are left
    became = list(range(len(patterns)))
    while len(size) > 1 and min(size.values()) < k:
        for p in range(len(patterns)):
            if p not in size or size[p] >= k or len(size) == 1:
                continue
            away = {
                q: sum(a != b for a, b in zip(patterns[p], patterns[q], strict=True))
                for q in size
                if q != p
            }
            target = min(away, key=lambda q: (away[q], q))
            size[target] += size.pop(p)
            became = [target if b == p else b for b in became]
    return became
