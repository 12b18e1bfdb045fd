"""A release of layout "record", and what was moved in it, as definitions read: plain lists."""

from __future__ import annotations

Row = dict[int, float]  # item -> rating


def rows(records: list[Row], n_items: int) -> list[Row]:
    """In the order of release: item by item, null below every rating."""

    def content(row: Row) -> list[float]:
        return [row.get(item, float("-inf")) for item in range(n_items)]

    return sorted(records, key=content)


def groups(ordered: list[Row]) -> list[int]:
    """The class of each: equal rows together."""
    out: list[int] = []
    for i, row in enumerate(ordered):
        out.append(0 if i == 0 else out[-1] + (row != ordered[i - 1]))
    return out


def spread(ratings: list[float | None]) -> float | None:
    """A null deviates by the mean of those who rated; nobody rated: nothing is disclosed."""
    rated = [v for v in ratings if v is not None]
    if not rated:
        return None
    mean = sum(rated) / len(rated)
    return (sum((mean if v is None else v - mean) ** 2 for v in ratings) / len(ratings)) ** 0.5


def distortion(before: list[Row], after: list[Row], cost: float) -> float:
    """SR Def. 4, 5."""
    return sum(
        abs(a[i] - b[i]) if i in a and i in b else cost
        for a, b in zip(before, after, strict=True)
        for i in a.keys() | b.keys()
    )
