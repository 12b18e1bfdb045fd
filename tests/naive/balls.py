"""Balls of ε-proximate records, record by record (SR Def. 1, 2; definitions, "k-eps")."""

import numpy as np

SLACK = 1e-9


def balls(ratings, items, eps: float, nulls: str) -> np.ndarray:
    """Return records × records: whether each is in the ball of each."""
    rows = ratings.dense()[:, items]
    near = [distances(row, rows, ratings.scale, nulls).max(axis=1) <= eps + SLACK for row in rows]
    return np.array(near, dtype=bool).reshape(len(rows), len(rows))


def distances(row, rows, scale, nulls: str) -> np.ndarray:
    """Return one record's distance to each record on each item; NaN is null."""
    here, there = ~np.isnan(row), ~np.isnan(rows)
    apart = np.where(here & there, np.abs(row - rows), 0.0)  # null against null
    rating = np.where(there, rows, row)  # the one that is not null
    costs = {
        "strict": np.full(rows.shape, scale.cost_of_null),
        "ignore": np.zeros(rows.shape),
        "zero": rating - scale.null_level,
    }
    return np.where(here ^ there, costs[nulls], apart)
