"""The padding attack once more, pair by pair, and by a projection instead of a decomposition."""

from __future__ import annotations

from fractions import Fraction

import numpy as np


def auc(
    score: list[float], positive: list[int], negative: list[int], item: list[int]
) -> Fraction | None:
    """Every positive against every negative of the same item; a tie is half a win."""
    won, pairs = Fraction(0), 0
    for a in range(len(score)):
        for b in range(len(score)):
            if item[a] != item[b]:
                continue
            n = positive[a] * negative[b]
            pairs += n
            if score[a] > score[b]:
                won += n
            elif score[a] == score[b]:
                won += Fraction(n, 2)
    return won / pairs if pairs else None


def among_top(score: list[float], worth: list[Fraction], share: Fraction) -> Fraction:
    """Take the highest one by one; those tied for the last places share them."""
    places = -(-share.numerator * len(score) // share.denominator)
    total, left = Fraction(0), places
    for value in sorted(set(score), reverse=True):
        here = [w for s, w in zip(score, worth, strict=True) if s == value]
        taken = min(left, len(here))
        total += Fraction(taken, len(here)) * sum(here, Fraction(0))
        left -= taken
    return total / places


def residual(shown: np.ndarray, rank: int) -> np.ndarray:
    """|centred − its projection on the `rank` strongest directions of the groups|; null: −1."""
    centred = np.zeros_like(shown)
    for item in range(shown.shape[1]):
        there = ~np.isnan(shown[:, item])
        if there.any():
            centred[there, item] = shown[there, item] - shown[there, item].mean()
    _, vectors = np.linalg.eigh(centred @ centred.T)  # ascending
    top = vectors[:, len(vectors) - rank :]
    left = np.abs(centred - top @ (top.T @ centred))
    return np.where(np.isnan(shown), -1.0, left)


def raters(groups: list[list[set[int]]], n_items: int) -> np.ndarray:
    """Members of each group who rated each item."""
    return np.array([[sum(i in rated for rated in g) for i in range(n_items)] for g in groups])
