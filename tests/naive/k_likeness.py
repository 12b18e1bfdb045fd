"""k-Likeness (KL, Algorithms 1-3), in plain NumPy, written for reading."""

from __future__ import annotations

import numpy as np


def distances(rows: np.ndarray, row: np.ndarray) -> np.ndarray:
    """L1 of each row to one row, item by item; null is already its level."""
    total = np.zeros(len(rows))
    for item in range(len(row)):
        total = total + np.abs(rows[:, item] - row[item])
    return total


def k_likeness(matrix: np.ndarray, k: int, order: np.ndarray) -> list[list[int]]:
    """Groups of row numbers, in the order in which they were formed."""
    rows = np.asarray(matrix, dtype=np.float64)  # exact for integers
    left = np.asarray(order)  # the permutation, kept throughout
    if len(left) <= 2 * k - 1:
        return [left.tolist()]
    groups: list[list[int]] = []
    while len(left) >= k:
        nucleus, others = left[0], left[1:]
        # a stable sort: among equal distances the earlier in the permutation comes first
        nearest = np.argsort(distances(rows[others], rows[nucleus]), kind="stable")[: k - 1]
        groups.append([int(nucleus), *others[nearest].tolist()])
        left = np.delete(others, nearest)
    position = np.argsort(order)
    for record in left.tolist():
        sums = []
        for group in groups:
            members = sorted(group, key=lambda i: position[i])
            sums.append(sum(distances(rows[members], rows[record]).tolist()))
        groups[sums.index(min(sums))].append(record)  # the first of equal sums: formed earlier
    return groups
