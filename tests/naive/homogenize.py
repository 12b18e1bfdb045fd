"""Profiles (PA §4.3, §5.2) with every padded row written out, in plain NumPy."""

from __future__ import annotations

import numpy as np

from starshade.ratings.table import Ratings


def level_of(values: np.ndarray, scale, step: float) -> np.ndarray:
    """Clip to the scale, then the nearest level, halves up; NaN is level 0."""
    place = np.floor((np.clip(values, scale.minimum, scale.maximum) - scale.minimum) / step + 0.5)
    return np.where(np.isnan(values), 0, place + 1)


def predictions(factors) -> np.ndarray:
    """users × items."""
    return (
        factors.mean
        + factors.user_bias[:, None]
        + factors.item_bias
        + factors.user_factors @ factors.item_factors.T
    )


def padded(ratings: Ratings, factors, groups: np.ndarray, *, clip: bool = False) -> np.ndarray:
    """Mean padded row of each group."""
    rows = predictions(factors)
    if clip:
        rows = np.clip(rows, ratings.scale.minimum, ratings.scale.maximum)
    observed = ratings.dense()
    rows = np.where(np.isnan(observed), rows, observed)
    return np.array([rows[groups == g].mean(axis=0) for g in range(groups.max() + 1)])


def model(factors, groups: np.ndarray) -> np.ndarray:
    """Mean prediction of each group."""
    rows = predictions(factors)
    return np.array([rows[groups == g].mean(axis=0) for g in range(groups.max() + 1)])


def simple(ratings: Ratings, groups: np.ndarray, min_raters: int = 1) -> np.ndarray:
    """Mean rating of those of the group who rated; NaN where too few did."""
    observed = ratings.dense()
    out = np.full((groups.max() + 1, ratings.n_items), np.nan)
    for g in range(len(out)):
        for i in range(ratings.n_items):
            given = observed[groups == g, i]
            given = given[~np.isnan(given)]
            if len(given) >= min_raters:
                out[g, i] = given.mean()
    return out


def pooled(ratings: Ratings, factors, groups: np.ndarray, penalty: np.ndarray, biases: bool):
    """Prediction for each group as one user: least squares over a stacked, augmented system."""
    observed = ratings.dense()
    base = factors.mean + factors.item_bias
    loadings = np.column_stack([np.ones(ratings.n_items), factors.item_factors])
    out = []
    for g in range(groups.max() + 1):
        users = np.flatnonzero(groups == g)
        rows = [(loadings[i], observed[u, i] - base[i]) for u in users for i in range(len(base))]
        rows = [(x, y) for x, y in rows if not np.isnan(y)]
        held = 0.5 * penalty[users].sum(axis=0)
        each = np.diag(np.sqrt([held[1], *[held[0]] * factors.n_factors]))
        x = np.vstack([*[x for x, _ in rows], each])
        y = np.array([*[y for _, y in rows], *[0.0] * len(each)])
        kept = slice(0 if biases else 1, None)
        theta = np.zeros(loadings.shape[1])
        theta[kept] = np.linalg.lstsq(x[:, kept], y, rcond=None)[0]
        out.append(base + loadings @ theta)
    return np.array(out)
