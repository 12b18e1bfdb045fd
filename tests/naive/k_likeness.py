"""k-Likeness (KL, Algorithms 1-3; SPEC §3.2), written for reading."""

from __future__ import annotations

from collections.abc import Sequence

Row = Sequence[float]


def distance(a: Row, b: Row) -> float:
    """L1 over the items, in item order; null is already its level."""
    total: float = 0
    for x, y in zip(a, b, strict=True):
        total += abs(x - y)
    return total


def k_likeness(rows: Sequence[Row], k: int, order: Sequence[int]) -> list[list[int]]:
    """Groups of row numbers, in the order in which they were formed."""
    left = [int(i) for i in order]  # the permutation, kept throughout
    if len(left) <= 2 * k - 1:
        return [left]
    groups: list[list[int]] = []
    while len(left) >= k:
        nucleus, others = left[0], left[1:]
        # sorted() is stable: among equal distances the earlier in the permutation comes first
        nearest = sorted(others, key=lambda i: distance(rows[nucleus], rows[i]))[: k - 1]
        groups.append([nucleus, *nearest])
        left = [i for i in left if i not in groups[-1]]
    position = {int(i): p for p, i in enumerate(order)}
    for record in left:
        sums = []
        for group in groups:
            total: float = 0
            for member in sorted(group, key=lambda i: position[i]):
                total += distance(rows[record], rows[member])
            sums.append(total)
        groups[sums.index(min(sums))].append(record)  # the first of equal sums: formed earlier
    return groups
