"""Query errors (KL Eq. 7; definitions, "query-error" and "answers"), written for reading."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations, product

Cell = frozenset[float | None]  # the members of a cell; None is null
Record = tuple[Sequence[Cell], float | None]  # its cells, and its value of the attribute
Sets = dict[int, frozenset[float]]  # item → the ratings that satisfy


def share(cell: Cell, ratings: frozenset[float]) -> float:
    """Return how likely one member of a cell, drawn evenly, is among the ratings."""
    return len(cell & ratings) / len(cell)


def every(cells: Sequence[Cell], sets: Sets) -> float:
    """AND: how likely all parts hold."""
    return math.prod(share(cells[item], ratings) for item, ratings in sets.items())


def some(cells: Sequence[Cell], sets: Sets) -> float:
    """OR: how likely a part holds."""
    return 1 - math.prod(1 - share(cells[item], ratings) for item, ratings in sets.items())


def average(
    records: Iterable[Record], sets: Sets, joined: Callable[[Sequence[Cell], Sets], float]
) -> float | None:
    """AVG of the attribute."""
    weighed = [(joined(cells, sets), value) for cells, value in records if value is not None]
    weight = sum(p for p, _ in weighed)
    return sum(p * x for p, x in weighed) / weight if weight > 0 else None


def errors(
    released: Sequence[Record],
    original: Sequence[Record],
    conditions: Iterable[Sets],
    joined: Callable[[Sequence[Cell], Sets], float],
) -> tuple[int, list[float], list[float]]:
    """Return how many conditions are null on neither side, errors of x, and errors of x0."""
    answers = [
        (average(released, sets, joined), average(original, sets, joined)) for sets in conditions
    ]
    both = [(x, x0) for x, x0 in answers if x is not None and x0 is not None]
    of_x = [abs(x - x0) / abs(x) * 100 for x, x0 in both if x]
    of_x0 = [abs(x - x0) / abs(x0) * 100 for x, x0 in both if x0]
    return len(both), of_x, of_x0


def exact(n_items: int, size: int, levels: Sequence[float]) -> list[Sets]:
    """Return every condition of exact ratings on so many items."""
    return [
        {item: frozenset([v]) for item, v in zip(items, ratings, strict=True)}
        for items in combinations(range(n_items), size)
        for ratings in product(levels, repeat=size)
    ]


def ranges(n_items: int, levels: Sequence[float], width: float) -> list[Sets]:
    """Return every range of a width on one item; the whole scale where it is wider."""
    starts = [v for v in levels if v + width <= levels[-1] + 1e-9] or [levels[0]]
    windows = [frozenset(v for v in levels if a - 1e-9 <= v <= a + width + 1e-9) for a in starts]
    return [{item: window} for item in range(n_items) for window in windows]
