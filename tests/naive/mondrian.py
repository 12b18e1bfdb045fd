"""Mondrian (LeFevre et al. 2006), strict and relaxed, recursive, for reading.

Rows are those of `tests.naive.k_member.shares`, so that widths compare exactly.
"""

from __future__ import annotations

from fractions import Fraction

Rows = list[list[Fraction]]


def width(rows: Rows, part: list[int], item: int) -> Fraction:
    """What a part spans of an item."""
    values = [rows[i][item] for i in part]
    return max(values) - min(values)


def widest_first(rows: Rows, part: list[int]) -> list[int]:
    """The items that a part spans something of; a stable sort keeps equal ones in item order."""
    items = sorted(range(len(rows[0])), key=lambda item: -width(rows, part, item))
    return [item for item in items if width(rows, part, item) > 0]


def median(rows: Rows, part: list[int], item: int) -> Fraction:
    """The element ⌊(n−1)/2⌋ of the sorted values."""
    return sorted(rows[i][item] for i in part)[(len(part) - 1) // 2]


def strict(rows: Rows, part: list[int], k: int) -> list[list[int]]:
    """Groups of row numbers, left before right."""
    for item in widest_first(rows, part):
        middle = median(rows, part, item)
        left = [i for i in part if rows[i][item] <= middle]
        right = [i for i in part if rows[i][item] > middle]
        if len(left) >= k and len(right) >= k:
            return strict(rows, left, k) + strict(rows, right, k)
    return [part]


def relaxed(rows: Rows, part: list[int], k: int) -> list[list[int]]:
    """Groups of row numbers; `part` is in the order that shares out who has the median."""
    items = widest_first(rows, part)
    if not items or len(part) < 2 * k:
        return [part]
    item = items[0]
    middle = median(rows, part, item)
    equal = [i for i in part if rows[i][item] == middle]
    room = (len(part) + 1) // 2 - sum(rows[i][item] < middle for i in part)
    goes_left = {*(i for i in part if rows[i][item] < middle), *equal[:room]}
    left = [i for i in part if i in goes_left]
    right = [i for i in part if i not in goes_left]
    return relaxed(rows, left, k) + relaxed(rows, right, k)
