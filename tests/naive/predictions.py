"""Held-out ratings predicted from a release, person by person; NaN is null in every table."""

from __future__ import annotations

import math

import numpy as np

__all__ = [
    "dissimilarity",
    "means",
    "padded",
    "pair_histograms",
    "rmse_mae",
    "self_ranks",
    "similar_user",
    "top_n",
]


def means(table: np.ndarray) -> np.ndarray:
    """Predict every cell: the mean of the user's mean and the item's, else that of everything."""
    m, n = table.shape
    rated = ~np.isnan(table)
    whole = table[rated].mean()
    user = [table[u][rated[u]].mean() if rated[u].any() else whole for u in range(m)]
    item = [table[:, i][rated[:, i]].mean() if rated[:, i].any() else whole for i in range(n)]
    return np.array([[(user[u] + item[i]) / 2 for i in range(n)] for u in range(m)]).reshape(m, n)


def padded(table: np.ndarray, predicted: np.ndarray, low: float, high: float) -> np.ndarray:
    """Keep ratings; put predictions, clipped to the scale, where there is none."""
    return np.where(np.isnan(table), np.clip(predicted, low, high), table)


def rmse_mae(guesses: list[float], true: list[float]) -> tuple[float, float]:
    off = [abs(g - t) for g, t in zip(guesses, true, strict=True)]
    return math.sqrt(sum(d * d for d in off) / len(off)), sum(off) / len(off)


def dissimilarity(x: np.ndarray, y: np.ndarray, width: float) -> float:
    """Return PA's weighted-squared dissimilarity on common items; 1 without any."""
    common = [i for i in range(len(x)) if not np.isnan(x[i]) and not np.isnan(y[i])]
    if not common:
        return 1.0
    return 1 - sum((1 - abs(x[i] - y[i]) / (width or 1.0)) ** 2 for i in common) / len(common)


def similar_user(
    people: dict[int, np.ndarray],
    profiles: list[np.ndarray],
    readings: list[np.ndarray],
    probe: list[tuple[int, int, float]],
    width: float,
) -> float:
    """Return the RMSE; of profiles that tie, each is taken with the same chance."""
    squares = []
    for user, item, rating in probe:
        unlike = [dissimilarity(people[user], p, width) for p in profiles]
        tied = [i for i, d in enumerate(unlike) if d <= min(unlike) + 1e-9]
        squares.append(sum((readings[i][item] - rating) ** 2 for i in tied) / len(tied))
    return math.sqrt(sum(squares) / len(squares))


def self_ranks(
    people: dict[int, np.ndarray], profiles: list[np.ndarray], own: dict[int, int], width: float
) -> list[float]:
    """Return each person's mid-rank of their own profile."""
    ranks = []
    for user in sorted(people):
        unlike = [dissimilarity(people[user], p, width) for p in profiles]
        mine = unlike[own[user]]
        before = sum(d < mine - 1e-9 for d in unlike)
        tied = sum(abs(d - mine) <= 1e-9 for d in unlike)
        ranks.append(before + (1 + tied) / 2)
    return ranks


def pair_histograms(
    rows: dict[int, np.ndarray], cluster: dict[int, int], width: float
) -> dict[str, tuple[float, list[int]]]:
    """Return sum and counts in 20 bins, of all pairs and of those in one cluster."""
    found = {"all": (0.0, [0] * 20), "within": (0.0, [0] * 20)}
    users = sorted(rows)
    for at, a in enumerate(users):
        for b in users[at + 1 :]:
            d = dissimilarity(rows[a], rows[b], width)
            for name in ("all", *(["within"] if cluster[a] == cluster[b] else [])):
                total, bins = found[name]
                bins[min(int(d * 20 + 1e-9), 19)] += 1
                found[name] = total + d, bins
    return found


def top_n(scores: np.ndarray, rated: np.ndarray, n: int) -> set[int]:
    """Return the n best unrated items; ties by item."""
    left = [i for i in range(len(scores)) if not rated[i]]
    return set(sorted(left, key=lambda i: (-round(scores[i], 9), i))[:n])
