"""Singling out by profiles, by its definition: class by class, person by person."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from tests.naive.membership import Fact, Shadow


@dataclass(frozen=True)
class Residuals:
    """Of each class and item what is shown (None: null) and expected; the spread of the rest."""

    shown: list[dict[str, float | None]]
    expected: list[dict[str, float]]
    spread: float

    def evidence(self, row: int, size: int, facts: Sequence[Fact]) -> float:
        """Evidence of a person's ratings in the residuals of a class."""
        total = 0.0
        for item, rating in facts:
            if item in self.shown[row]:
                cell, fit = self.shown[row][item], self.expected[row][item]
                if cell is None:
                    total += -11.5
                    continue
                e, delta = cell - fit, rating - fit
                total += e * delta / (size * self.spread**2)
                total -= delta**2 / (2 * size**2 * self.spread**2)
        return total


def log_ratio(shadow: Shadow, row: int, facts: Sequence[Fact]) -> float:
    """Likelihood ratio of a class against all others, which count by their sizes: its logarithm."""
    others = [each for each in range(len(shadow.rows)) if each != row]
    weights = sum(shadow.sizes[each] for each in others)
    logs = [math.log(shadow.sizes[d] / weights) + shadow.log(d, facts) for d in others]
    best = max(logs)
    return shadow.log(row, facts) - best - math.log(sum(math.exp(log - best) for log in logs))


def isolated(statistics: Sequence[Sequence[float]], cutoff: float, hashed: float) -> float:
    """Chance, mean over classes (rows), that exactly one person satisfies predicate and hash."""
    chances = []
    for of_class in statistics:
        n = sum(value > cutoff for value in of_class)
        chances.append(n * hashed * (1 - hashed) ** (n - 1) if n else 0.0)
    return sum(chances) / len(chances)


def weight(statistics: Sequence[Sequence[float]], cutoff: float) -> float:
    """Share of people who satisfy a predicate, mean over classes."""
    shares = [sum(value > cutoff for value in row) / len(row) for row in statistics]
    return sum(shares) / len(shares)


Grid = dict[tuple[int, int, int], tuple[float, float, float]]  # isolated, baseline, n·w·h


def excess(isolates: float, baseline: float) -> float:
    """What is singled out beyond chance, of what could be."""
    return (isolates - baseline) / (1 - baseline) if baseline < 1 else 0.0


def chosen(grid: Grid) -> tuple[int, int, int]:
    """The light predicates of the greatest excess, else the lightest; the first of equal ones."""
    light = [at for at in sorted(grid) if grid[at][2] <= 0.1]
    best = light[0] if light else min(sorted(grid), key=lambda at: grid[at][2])
    for at in light:
        if excess(*grid[at][:2]) > excess(*grid[best][:2]):
            best = at
    return best


def by_next(grids: Sequence[Grid]) -> list[float]:
    """The excess of each release at what is chosen on the next."""
    out = []
    for number, grid in enumerate(grids):
        out.append(excess(*grid[chosen(grids[(number + 1) % len(grids)])][:2]))
    return out


def first_light(weights: Sequence[Sequence[float]]) -> int:
    """The first tau at which the mean of n·w over releases (rows) is light, else the last."""
    for place in range(len(weights[0])):
        if sum(row[place] for row in weights) / len(weights) <= 0.1:
            return place
    return len(weights[0]) - 1


def places(*lengths: int) -> list[tuple[int, ...]]:
    """Every place of a grid."""
    return list(product(*(range(length) for length in lengths)))
