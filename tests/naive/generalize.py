"""Generalized cells (KL Def 7, 8; definitions, "hierarchies"), written for reading."""

from __future__ import annotations

from starshade.ratings.table import Ratings

Content = frozenset | tuple
Levels = list[list[tuple[float, float, bool]]]  # low, high, whether low itself is outside


def records(ratings: Ratings) -> list[list[float | None]]:
    """Every user as a full row; None is null."""
    rows: list[list[float | None]] = []
    for user in range(ratings.n_users):
        row: list[float | None] = [None] * ratings.n_items
        for place in range(ratings.indptr[user], ratings.indptr[user + 1]):
            row[ratings.columns[place]] = float(ratings.levels[ratings.codes[place]])
        rows.append(row)
    return rows


def ndgh(values: set[float | None]) -> frozenset:
    """The set of the values present."""
    return frozenset(values)


def span(
    values: set[float | None], levels: list[float] | None, null: float
) -> frozenset | tuple[float, float]:
    """All from the least to the greatest value, null standing at its level below the scale.

    On a scale with steps the members that are between, else the two ends.
    """
    numbers = [null if v is None else v for v in values]
    if levels is None:
        return min(numbers), max(numbers)
    inside = [v for v in levels if min(numbers) <= v <= max(numbers)]
    return frozenset(inside + [None] * (None in values))


def fixed(
    values: set[float | None], low: float, high: float, levels: list[float] | None, null: float
) -> frozenset | tuple[float, float]:
    """All from the first to the last tenth of the scale that a value lies in.

    Without steps a value on an end lies in the tenths on both sides, and as few as hold all are
    taken, but one; null stands at its level below the scale. With steps the level in place j of
    n + 1 lies in tenth 10 j / n, the last one in the tenth before; null stands beside them.
    """
    rated = [v for v in values if v is not None]
    if levels is None:
        ends = [low + (high - low) * i / 10 for i in range(11)]
        first = max(i for i in range(10) if ends[i] <= min(rated) + 1e-12)
        last = min(i for i in range(1, 11) if ends[i] >= max(rated) - 1e-12)
        return (null if None in values else ends[first]), ends[max(last, first + 1)]
    n = len(levels) - 1
    tenth = {v: min(9, 10 * j // n) for j, v in enumerate(levels)}
    first, last = tenth[min(rated)], tenth[max(rated)]
    return frozenset([v for v in levels if first <= tenth[v] <= last] + [None] * (None in values))


def dgh(values: set[float | None], levels: Levels, null: float) -> tuple[float, float]:
    """The interval of the lowest level that holds all values, null standing at its level."""
    numbers = [null if v is None else v for v in values]
    if len(values) == 1:
        return numbers[0], numbers[0]
    for level in levels:
        for low, high, without_low in level:
            if all((low < v if without_low else low <= v) and v <= high for v in numbers):
                return low, high
    raise AssertionError("no interval holds them")


def generalized(ratings: Ratings, groups: list[list[int]], say) -> list[list[Content | None]]:
    """What each group releases of each item; None where all of the group is null."""
    rows = records(ratings)
    out = []
    for group in groups:
        cells = []
        for item in range(ratings.n_items):
            values = {rows[user][item] for user in group}
            cells.append(None if values == {None} else say(values))
        out.append(cells)
    return out
