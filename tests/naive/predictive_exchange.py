"""Groups by exchange: what they cost, and every single move and exchange tried out."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np


def squared_error(points: np.ndarray, weights: np.ndarray, groups: np.ndarray) -> float:
    """Weighted squared distances from the groups' weighted means."""
    total = 0.0
    for g in np.unique(groups):
        inside = groups == g
        mean = np.average(points[inside], axis=0, weights=weights[inside])
        total += float((weights[inside][:, None] * (points[inside] - mean) ** 2).sum())
    return total


def neighbours(groups: np.ndarray, k: int) -> Iterator[np.ndarray]:
    """Every partition that one move, or one exchange, leads to."""
    sizes = np.bincount(groups)
    for a in range(len(groups)):
        for g in range(len(sizes)):
            if g != groups[a] and sizes[groups[a]] > k:
                moved = groups.copy()
                moved[a] = g
                yield moved
        for b in range(a):
            if groups[a] != groups[b]:
                swapped = groups.copy()
                swapped[a], swapped[b] = groups[b], groups[a]
                yield swapped
