"""k-Member (Byun et al. 2007) in plain Python with exact fractions, for reading."""

from __future__ import annotations

from fractions import Fraction

import numpy as np


def shares(matrix: np.ndarray, finest: int | None = None) -> list[list[Fraction]]:
    """Each value as its share of its column's range; rounded to 1/finest where that is given."""
    columns = []
    for column in np.asarray(matrix, dtype=np.float64).T.tolist():
        low, width = Fraction(min(column)), Fraction(max(column)) - Fraction(min(column))
        places = [(Fraction(v) - low) / width if width else Fraction(0) for v in column]
        columns.append([Fraction(round(p * finest), finest) if finest else p for p in places])
    return [list(row) for row in zip(*columns, strict=True)]


def ranges(rows: list[list[Fraction]]) -> Fraction:
    """What the rows span, summed over the columns."""
    return sum((max(column) - min(column) for column in zip(*rows, strict=True)), Fraction(0))


def cost(rows: list[list[Fraction]]) -> Fraction:
    """The information loss of a group."""
    return len(rows) * ranges(rows)


def away(a: list[Fraction], b: list[Fraction]) -> Fraction:
    """How far apart two records are."""
    return sum((abs(x - y) for x, y in zip(a, b, strict=True)), Fraction(0))


def k_member(rows: list[list[Fraction]], k: int, order: list[int]) -> list[list[int]]:
    """Groups of row numbers, in the order in which they were formed."""
    left = list(order)  # the permutation; `min` and `max` take the first of equals
    seed = left[0]
    groups: list[list[int]] = []

    def rows_of(group):
        return [rows[i] for i in group]

    while len(left) >= k:
        if groups:
            seed = max(left, key=lambda i: away(rows[i], rows[seed]))
        left.remove(seed)
        group = [seed]
        while len(group) < k:
            best = min(left, key=lambda i: cost([*rows_of(group), rows[i]]) - cost(rows_of(group)))
            left.remove(best)
            group.append(best)
        groups.append(group)
    for record in left:
        increase = [cost([*rows_of(g), rows[record]]) - cost(rows_of(g)) for g in groups]
        groups[increase.index(min(increase))].append(record)
    return groups
