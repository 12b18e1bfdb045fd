"""Padded rows and their grouping (PA §4), everything written out in plain NumPy."""

from __future__ import annotations

import math

import numpy as np

from starshade.ratings.table import Ratings

ROUNDS = 8


def padded_rows(ratings: Ratings, factors, *, clip: bool = False) -> np.ndarray:
    """users × items: the prediction where nothing is rated, the rating where something is."""
    predicted = (
        factors.mean
        + factors.user_bias[:, None]
        + factors.item_bias
        + factors.user_factors @ factors.item_factors.T
    )
    if clip:
        predicted = np.clip(predicted, ratings.scale.minimum, ratings.scale.maximum)
    observed = ratings.dense()
    return np.where(np.isnan(observed), predicted, observed)


def squared(rows: np.ndarray, centres: np.ndarray, base: np.ndarray, weights: np.ndarray):
    """Squared weighted Euclidean distances; what is rounding beside the rows' lengths is 0."""
    away = (weights * (rows[:, None] - centres) ** 2).sum(axis=2)
    lengths = (weights * (rows - base) ** 2).sum(axis=1)[:, None]
    lengths = lengths + (weights * (centres - base) ** 2).sum(axis=1)
    return np.where(away > 1e-10 * lengths, away, 0).astype(np.float32)


def dissimilarity(x: np.ndarray, y: np.ndarray, name: str, width: float) -> float:
    """Between two rows; NaN is null."""
    common = ~np.isnan(x) & ~np.isnan(y)
    if not common.any():
        return 1.0
    difference = np.abs(x[common] - y[common])
    share = difference / (width or 1.0)
    if name == "weighted-sq":
        return float(1 - np.mean((1 - share) ** 2))
    if name == "weighted":
        return float(np.mean(share))
    if name == "euclidean":
        return math.sqrt(np.mean(share**2))
    return float(1 - np.mean(difference <= float(name.removeprefix("closeness-")) + 1e-9))


def assign(distances: np.ndarray, lower: int) -> np.ndarray:
    """Meet all pairs in increasing distance; ties: the earlier row, then the earlier centre."""
    b, t = distances.shape
    pairs = sorted((distances[r, c], r, c) for r in range(b) for c in range(t))
    centre_of, count = np.full(b, -1), np.zeros(t, dtype=int)
    for _, r, c in pairs:
        if centre_of[r] < 0 and count[c] < lower:
            centre_of[r] = c
            count[c] += 1
    for r in np.flatnonzero(centre_of < 0):
        centre_of[r] = int(np.argmin(distances[r]))
    return centre_of


def bounded_t_means(rows: np.ndarray, t: int, lower: int, compare) -> tuple:
    """Cluster rows that stand in seeded order; returns the clusters and their means.

    The first centres are the first t rows that are distinct: no earlier row is equal in every cell.
    """
    first: list[int] = []
    for r in range(len(rows)):
        differs = np.abs(rows[first] - rows[r]) > 1e-9
        if len(first) < t and differs.any(axis=1).all():
            first.append(r)
    centres = rows[first]
    labels = np.full(len(rows), -1)
    for _ in range(ROUNDS):
        before, labels = labels, assign(compare(rows, centres), lower)
        if (labels == before).all():
            break
        centres = np.array([rows[labels == c].mean(axis=0) for c in range(len(first))])
    return labels, centres


def group_users(rows: np.ndarray, k: int, order: np.ndarray, drawn: np.ndarray, compare):
    """PA Alg. 1; `order` and `drawn` are two seeded orders of the users."""
    m = len(rows)
    t, s = math.isqrt(m), min(m, 20 * math.ceil(math.sqrt(m)))
    _, centres = bounded_t_means(rows[drawn[:s]], t, s // (2 * t), compare)
    bins = np.argmin(compare(rows, centres), axis=1)
    while True:
        sizes = {b: int((bins == b).sum()) for b in sorted(set(bins.tolist()))}
        small = min(sizes, key=lambda b: (sizes[b], b))
        if sizes[small] >= k:
            break
        total = compare(rows[bins == small], centres).sum(axis=0, dtype=np.float64)
        bins[bins == small] = min((total[b], b) for b in sizes if b != small)[1]
    groups = []
    for b in sorted(set(bins.tolist())):
        users = [u for u in order.tolist() if bins[u] == b]
        labels, centres = bounded_t_means(rows[users], len(users) // k, k, compare)
        groups += [
            sorted(u for u, label in zip(users, labels, strict=True) if label == c)
            for c in range(len(centres))
        ]
    return groups
