"""The regularized SVD by alternating least squares, on a dense matrix with NaN for null."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def solve_rows(
    targets: Floats, others: Floats, penalties: Floats, bias_penalty: float, biases: bool
) -> Floats:
    """Return each row's minimiser of squared error plus penalty; see `kernels.padded.als`.

    The penalized problem is written as plain least squares with one more equation per parameter.
    """
    solved = np.zeros((len(targets), others.shape[1]))
    for row, target in enumerate(targets):
        rated = ~np.isnan(target)
        if not rated.any():
            continue
        x, y = others[rated].copy(), target[rated].copy()
        penalty = np.full(x.shape[1], penalties[row])
        if biases:
            y -= x[:, -1]
            x[:, -1] = 1.0
            penalty[-1] = bias_penalty
        x = np.vstack([x, np.diag(np.sqrt(penalty))])
        y = np.concatenate([y, np.zeros(len(penalty))])
        solved[row] = np.linalg.lstsq(x, y, rcond=None)[0]
    return solved


def fit(
    ratings: Floats, first_items: Floats, regularization: float, sweeps: int, biases: bool
) -> Floats:
    """Return the predictions of all cells, unclipped.

    Parameters
    ----------
    ratings : ndarray, shape (n_users, n_items)
    first_items : ndarray, shape (n_items, width)
        What the items begin with, in units of the square root of the spread.
    """
    mean = np.nanmean(ratings)
    spread = np.nanstd(ratings) or 1.0
    targets = (ratings - mean) / spread
    users_rated, items_rated = (~np.isnan(ratings)).sum(axis=1), (~np.isnan(ratings)).sum(axis=0)
    items = first_items
    for _ in range(sweeps):
        users = solve_rows(targets, items, regularization * (users_rated + 100), 3.0, biases)
        items = solve_rows(targets.T, users, regularization * (items_rated + 100), 3.0, biases)
    if not biases:
        return np.asarray(mean + spread * users @ items.T)
    low_rank = users[:, :-1] @ items[:, :-1].T
    return np.asarray(mean + spread * (low_rank + users[:, -1:] + items[:, -1]))
