"""A release of layout "profile" as definitions read: plain lists, cell by cell."""

from __future__ import annotations

import math
from collections.abc import Sequence

Row = Sequence[float | None]  # None: no rating


def level(value: float | None, minimum: float, step: float, n_levels: int) -> int:
    """The nearest level, the upper of two as near; 0 for null."""
    if value is None:
        return 0
    return 1 + min(n_levels - 1, max(0, math.floor((value - minimum) / step + 0.5 + 1e-9)))


def simple(rows: list[Row], groups: list[int], min_raters: int = 1) -> list[list[float | None]]:
    """Of each group and item the mean of those who rated it (PA §4.3)."""
    out: list[list[float | None]] = []
    for group in range(max(groups) + 1):
        members = [row for row, own in zip(rows, groups, strict=True) if own == group]
        profile: list[float | None] = []
        for item in range(len(rows[0])):
            told = [row[item] for row in members if row[item] is not None]
            profile.append(sum(told) / len(told) if len(told) >= min_raters else None)
        out.append(profile)
    return out


def padded(rows: list[Row], pads: list[list[float]], groups: list[int]) -> list[list[float]]:
    """Of each group and item the mean of the rows in which a prediction stands for each null."""
    full = [
        [pad if value is None else value for value, pad in zip(row, pad_row, strict=True)]
        for row, pad_row in zip(rows, pads, strict=True)
    ]
    return simple(full, groups)  # type: ignore[return-value,arg-type]


def classes(levels: list[list[int]], sizes: list[int]) -> list[tuple[list[int], int]]:
    """Equal profiles as one, sorted item by item, null below every rating."""
    found: dict[tuple[int, ...], int] = {}
    for row, size in zip(levels, sizes, strict=True):
        found[tuple(row)] = found.get(tuple(row), 0) + size
    return [(list(row), size) for row, size in sorted(found.items())]


def rests_on(
    told: list[list[int]],
    members: list[list[Row]],
    minimum: float,
    step: float,
    least: int,
) -> tuple[float, float]:
    """Shares of the cells that are not null: rated by one member; invented.

    `least` 0: invented is what nobody of the class rated; else also what fewer rated, or what is
    not the mean of those who did.
    """
    cells = single = invented = 0
    for row, people in zip(told, members, strict=True):
        for item, code in enumerate(row):
            if not code:
                continue
            ratings = [person[item] for person in people if person[item] is not None]
            cells += 1
            single += len(ratings) == 1
            if len(ratings) < max(least, 1):
                invented += 1
            elif least:
                mean = sum(ratings) / len(ratings)
                invented += abs(mean - (minimum + (code - 1) * step)) > 0.501 * step
    return single / max(cells, 1), invented / max(cells, 1)


def fewest_classes(levels: list[list[int]], rated: list[set[int]], b: int, most: int) -> int:
    """Fewest profiles that show a set of 1…b items which some user rated together."""
    from itertools import combinations

    fewest = most
    for items in rated:
        for size in range(1, b + 1):
            for chosen in combinations(sorted(items), size):
                fewest = min(fewest, sum(all(row[i] for i in chosen) for row in levels))
    return fewest
