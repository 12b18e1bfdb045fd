"""Gaussian Naive Bayes with nulls ignored, record by record and item by item, no library's."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def naive_scores(
    train: np.ndarray[Any, Any],
    labels: list[Any],
    test: np.ndarray[Any, Any],
    step: float,
) -> tuple[list[Any], np.ndarray[Any, Any]]:
    """Classes in ascending order, and ln P(c) + the log densities of what was rated."""
    classes = sorted(set(labels))
    scores = np.zeros((len(test), len(classes)))
    for c, cls in enumerate(classes):
        prior = math.log(labels.count(cls) / len(labels))
        for row, record in enumerate(test):
            scores[row, c] = prior
            for item, rating in enumerate(record):
                if not math.isnan(rating):
                    scores[row, c] += log_density(train[:, item], labels, cls, rating, step)
    return classes, scores


def log_density(
    column: np.ndarray[Any, Any], labels: list[Any], cls: Any, rating: float, step: float
) -> float:
    everybody = [float(x) for x in column if not math.isnan(x)]
    own = [float(x) for x, y in zip(column, labels, strict=True) if not math.isnan(x) and y == cls]
    if not everybody or min(everybody) == max(everybody):
        return 0.0
    if len(own) < 2:
        own = everybody
    mean = sum(own) / len(own)
    added = max(step * step / 12, 1e-9 * float(np.var(everybody)))
    variance = sum((x - mean) ** 2 for x in own) / len(own) + added
    return -0.5 * math.log(2 * math.pi * variance) - (rating - mean) ** 2 / (2 * variance)
