"""`ratings.building.build`, with dicts: one row at a time, nothing packed or counted."""

from __future__ import annotations

import math

from starshade.ratings.scale import Scale
from starshade.ratings.vocabulary import is_canonical_integer


class Refused(Exception):  # noqa: N818 - it is an answer, not a fault
    """Refused, for a reason and on the rows named."""

    def __init__(self, reason, rows):
        super().__init__(reason, rows)
        self.reason = reason
        self.rows = rows


def key(text):
    """Canonical order: integers by value, then all others by code point."""
    if is_canonical_integer(text):
        return (0, int(text), "")
    return (1, 0, text)


def build(rows, *, scale, on_duplicate):
    """Return (scale, {user: {item: (rating, day)}}, rows merged away), all in canonical order.

    rows: list of (user text, item text, rating, day or None).
    """
    import numpy as np

    if not rows:
        raise Refused("empty", [])
    bad = [r for r, row in enumerate(rows) if not math.isfinite(row[2])]
    if bad:
        raise Refused("no rating", bad)
    declared = scale is not None
    if not declared:
        scale = Scale.infer(np.unique([row[2] for row in rows]))
    bad = [r for r, row in enumerate(rows) if not scale.contains(np.array([row[2]]))[0]]
    if bad:
        raise Refused("off the scale", bad)
    days = [row[3] for row in rows if row[3] is not None]
    if days and max(days) - min(days) > 65_534:
        raise Refused("days", [])

    cells = {}
    for r, (user, item, _, _) in enumerate(rows):
        cells.setdefault((user, item), []).append(r)
    again = sorted(r for copies in cells.values() for r in copies[1:])
    if again and on_duplicate == "error":
        raise Refused("second time", again)

    off = []
    table = {}
    for (user, item), copies in cells.items():
        # a stable sort: in file order where the days are equal
        if on_duplicate == "first":
            kept = min(copies, key=lambda r: math.inf if rows[r][3] is None else rows[r][3])
        else:
            ranked = sorted(copies, key=lambda r: -math.inf if rows[r][3] is None else rows[r][3])
            if on_duplicate == "max":
                ranked.sort(key=lambda r: rows[r][2])
            kept = ranked[-1]
        rating = rows[kept][2]
        if on_duplicate in ("mean", "sum"):
            rating = math.fsum(rows[r][2] for r in copies)
            rating /= len(copies) if on_duplicate == "mean" else 1
            if not scale.contains(np.array([rating]))[0]:
                off.append(copies[-1])
        table.setdefault(user, {})[item] = (rating, rows[kept][3])
    if off and declared:
        raise Refused("means", sorted(off))
    if off:
        held = [rating for row in table.values() for rating, _ in row.values()]
        scale = (
            Scale.infer(np.unique(held))
            if on_duplicate == "sum"
            else Scale(scale.minimum, scale.maximum)
        )
    ordered = {
        user: dict(sorted(row.items(), key=lambda cell: key(cell[0])))
        for user, row in sorted(table.items(), key=lambda entry: key(entry[0]))
    }
    return scale, ordered, len(again)
