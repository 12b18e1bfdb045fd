"""A few classes as rows, before and after, written for reading."""

from __future__ import annotations

from typing import Any

from starshade.ratings.table import Ratings
from starshade.release.table import Release
from tests.naive.released_rows import row_of_users, rows_of
from tests.naive.what_remains import null_too, possible


def examples(release: Release, original: Ratings) -> dict[str, Any] | None:
    """Return the owner's examples: which classes and items, and the real rows of each."""
    rows, items = rows_of(release), list(release.classes.items)
    sizes = release.classes.sizes.tolist()
    if not sum(sizes) or not items:
        return None
    low, width = release.scale.minimum, release.scale.width or 1.0
    order = sorted(
        range(len(rows)),
        key=lambda row: (
            round(sum(left_open(cell, low, width) for cell in rows[row].values()), 6),
            -len(rows[row]),
            row,
        ),
    )
    shown: list[int] = []
    for share in (0.25, 0.5, 0.75):
        seen = 0
        for row in order:
            seen += sizes[row]
            if seen >= share * sum(sizes):
                shown += [row] * (row not in shown)
                break
    raters = dict.fromkeys(items, 0)
    truth = {
        user: {
            item: value
            for item, value in zip(original.items, values, strict=True)
            if value == value
        }
        for user, values in zip(original.users, original.dense().tolist(), strict=True)
    }
    for given in truth.values():
        for item in given:
            if item in raters:
                raters[item] += 1
    places = sorted(
        range(len(items)),
        key=lambda i: (-sum(i in rows[row] for row in shown), -raters[items[i]], i),
    )[:8]
    columns = sorted(places)
    people = dict(zip(release.private.link.users, row_of_users(release), strict=True))
    classes = []
    for row in shown:
        inside = [user for user in original.users if people.get(user) == row]
        real = [[truth[user].get(items[i]) for i in columns] for user in inside]
        released = [ends(rows[row].get(i), low) for i in columns]
        classes.append(
            {"size": sizes[row], "released": released, "real": real[:5], "more": len(real[5:])}
        )
    return {"items": [f"item {items[i]}" for i in columns], "classes": classes}


def left_open(cell: tuple, minimum: float, width: float) -> float:
    span = possible(cell, minimum)
    return 0.0 if span is None else span[1] - span[0] + width * null_too(cell, minimum)


def ends(cell: tuple | None, minimum: float) -> tuple[float | None, float | None, bool]:
    """Return the least and the greatest rating that a cell leaves possible, and whether none is."""
    span = None if cell is None else possible(cell, minimum)
    return (None, None, True) if span is None else (*span, null_too(cell, minimum))
