"""Balls of ε-proximate records, pair by pair (SR Def. 1, 2; SPEC §2.1)."""

import numpy as np

SLACK = 1e-9


def proximate(a: np.ndarray, b: np.ndarray, scale, eps: float, nulls: str) -> bool:
    """Tell whether two rows of ratings, NaN for null, are within eps on every item."""
    return all(apart(x, y, scale, nulls) <= eps + SLACK for x, y in zip(a, b, strict=True))


def apart(x: float, y: float, scale, nulls: str) -> float:
    if np.isnan(x) and np.isnan(y):
        return 0.0
    if np.isnan(x) or np.isnan(y):
        rating = y if np.isnan(x) else x
        if nulls == "ignore":
            return 0.0
        if nulls == "zero":
            return rating - scale.null_level
        return scale.cost_of_null
    return abs(x - y)


def balls(ratings, items, eps: float, nulls: str) -> np.ndarray:
    """Return records × records: whether each is in the ball of each."""
    rows = ratings.dense()[:, items]
    n = len(rows)
    near = np.zeros((n, n), dtype=bool)
    for a in range(n):
        for b in range(n):
            near[a, b] = proximate(rows[a], rows[b], ratings.scale, eps, nulls)
    return near
