"""The most records that may stay, found by trying every subset; for a dozen records at most.

Written from the definition: numbers and None, no codes, no balls kept between questions.
"""

from __future__ import annotations

import math
from itertools import combinations


def near(a, b, eps, nulls, scale) -> bool:
    """Tell whether two records (lists of ratings, None for null) are proximate."""
    for x, y in zip(a, b, strict=True):
        if x is None and y is None:
            continue
        if x is not None and y is not None:
            cost = abs(x - y)
        elif nulls == "ignore":
            cost = 0.0
        elif nulls == "zero":
            cost = (x if y is None else y) - scale.null_level
        else:
            cost = max(scale.maximum, scale.maximum - scale.minimum)
        if cost > eps + 1e-9:
            return False
    return True


def spread(values) -> float:
    """Return the standard deviation of sensitive ratings, nulls deviating by the mean."""
    rated = [v for v in values if v is not None]
    if not rated:
        return math.inf
    mean = sum(rated) / len(rated)
    squares = sum((v - mean) ** 2 for v in rated) + (len(values) - len(rated)) * mean**2
    return math.sqrt(squares / len(values))


def holds(chosen, rows, hidden, k, eps, l, nulls, scale) -> bool:  # noqa: E741
    """Tell whether these records alone meet (k, ε, l)."""
    for a in chosen:
        ball = [b for b in chosen if near(rows[a], rows[b], eps, nulls, scale)]
        if len(ball) < k:
            return False
        for item in range(len(hidden[0])):
            if spread([hidden[b][item] for b in ball]) < l - 1e-9:
                return False
    return True


def largest(rows, hidden, k, eps, l, nulls, scale) -> list[set[int]]:  # noqa: E741
    """Return all subsets of the greatest size that meet the requirement."""
    for size in range(len(rows), -1, -1):
        found = [
            set(chosen)
            for chosen in combinations(range(len(rows)), size)
            if holds(chosen, rows, hidden, k, eps, l, nulls, scale)
        ]
        if found:
            return found
    raise AssertionError("the empty set always holds")
