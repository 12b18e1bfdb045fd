"""Attribute disclosure once more: all ratings that give a mean, cell by cell."""

from __future__ import annotations

from fractions import Fraction
from math import floor


def level_of(mean: Fraction, low: Fraction, step: Fraction) -> int:
    """Return the level nearest to a mean, the upper of two; 1 is the lowest."""
    return floor((mean - low) / step + Fraction(1, 2)) + 1


def forced(
    values: list[Fraction], step: Fraction, size: int, least: int
) -> dict[int, Fraction | None]:
    """Return, of each level that a mean can have, the one rating that a rater can have given.

    None: several ratings are possible.
    """
    possible: dict[int, set[Fraction]] = {}
    others = {Fraction(0)}  # all sums of the ratings of the others
    for raters in range(1, size + 1):
        for mine in values if raters >= least else ():
            for rest in others:
                level = level_of((mine + rest) / raters, values[0], step)
                possible.setdefault(level, set()).add(mine)
        others = {rest + value for rest in others for value in values}
    return {level: some.pop() if len(some) == 1 else None for level, some in possible.items()}


def read(
    cells: list[list[float | None]],
    people: list[tuple[int, dict[int, float]]],
    marked: list[set[float]],
) -> tuple[int, int, int]:
    """Count people with a marked cell that they rated, such cells that are right, and all of them.

    `cells`: of each row; `people`: row (-1: none) and ratings; `marked`: values read in each row.
    """
    disclosed = right = every = 0
    for row, ratings in people:
        hits = [i for i in ratings if row >= 0 and cells[row][i] in marked[row]]
        disclosed += bool(hits)
        every += len(hits)
        right += sum(cells[row][i] == ratings[i] for i in hits)
    return disclosed, right, every
