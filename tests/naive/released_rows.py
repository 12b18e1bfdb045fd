"""A release read cell by cell: dicts of item -> content, and what a reader takes it for."""

from __future__ import annotations

import math

import numpy as np

from starshade.release.cells import Cells
from starshade.release.table import Release

__all__ = ["expected", "histogram", "reading", "row_of_users", "rows_of"]


def rows_of(release: Release) -> list[dict[int, tuple]]:
    """Return each released row: item -> ("set", members, null) or ("range", low, high)."""
    classes = release.classes
    if not isinstance(classes, Cells):
        return [
            {
                i: ("set", [classes.scale.minimum + (int(v) - 1) * classes.step], False)
                for i, v in enumerate(row)
                if v
            }
            for row in classes.levels
        ]
    symbols = classes.symbols
    rows = []
    for r in range(classes.n_groups):
        row = {}
        for p in range(classes.indptr[r], classes.indptr[r + 1]):
            s = int(classes.codes[p])
            if symbols.is_range[s]:
                row[int(classes.columns[p])] = ("range", symbols.low[s], symbols.high[s])
            else:
                members = symbols.members[symbols.offsets[s] : symbols.offsets[s + 1]].tolist()
                row[int(classes.columns[p])] = ("set", members, bool(symbols.null[s]))
        rows.append(row)
    return rows


def expected(content: tuple | None, minimum: float) -> float | None:
    """Return the mean of the ratings that a content leaves possible; None without any."""
    if content is None:
        return None
    if content[0] == "set":
        return sum(content[1]) / len(content[1]) if content[1] else None
    low, high = max(content[1], minimum), content[2]
    return (low + high) / 2 if high >= minimum - 1e-9 else None


def reading(content: tuple | None, minimum: float, null_level: float) -> float:
    """Return the mean of all members, null counting as its level."""
    rating = expected(content, minimum)
    if rating is None:
        return null_level
    if content[0] == "set":
        values = content[1] + [null_level] * content[2]
        return sum(values) / len(values)
    below = max(0.0, minimum - content[1])
    if below == 0:
        return rating
    share = below / (content[2] - content[1])
    return share * null_level + (1 - share) * rating


def row_of_users(release: Release) -> list[int]:
    """Return the released row of each linked user."""
    owner = [r for r, size in enumerate(release.classes.sizes) for _ in range(size)]
    return [owner[record] for record in release.private.link.record]


def histogram(rows: list[dict[int, tuple]], sizes: list[int], n_items: int, levels: list[float]):
    """Return shares of cells: null, then each rating of the scale, the nearest, half up."""
    counts = [0.0] * (1 + len(levels))
    for row, size in zip(rows, sizes, strict=True):
        for i in range(n_items):
            _, members, null = row.get(i, ("set", [], True))
            parts = len(members) + null
            counts[0] += size * null / parts
            for v in members:
                step = levels[1] - levels[0] if len(levels) > 1 else 1.0
                at = math.floor((v - levels[0]) / step + 0.5 + 1e-9)
                counts[1 + min(max(at, 0), len(levels) - 1)] += size / parts
    return np.array(counts) / max(sum(counts), 1)
