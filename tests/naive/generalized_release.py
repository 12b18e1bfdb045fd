"""A release as its definition reads: rows of plain Python contents, sorted."""

from __future__ import annotations

NULL = float("-inf")  # below every rating

#: what one cell may be: None for null alone, ("set", members) or ("range", low, high)
Content = None | tuple


def content(values: list[float], null: bool) -> Content:
    """The set of what a group's members gave, null first."""
    if not values:
        return None
    return ("set", tuple([NULL] * null + sorted(set(values))))


def interval(low: float, high: float, minimum: float) -> Content:
    """A range on a real scale; a point is a set of one, a range of nulls says nothing."""
    if high < minimum - 1e-9:
        return None
    return ("set", (high,)) if low == high else ("range", low, high)


def order(row: list[Content]) -> list:
    """Cell by cell in item order: null alone, then sets, then ranges."""
    return [() if c is None else (1, 0, c[1]) if c[0] == "set" else (1, 1, c[1:]) for c in row]


def classes(rows: list[list[Content]], sizes: list[int]) -> list[tuple[list[Content], int]]:
    """Equal rows become one; the sizes add up."""
    merged: dict[tuple, int] = {}
    for row, size in zip(rows, sizes, strict=True):
        merged[tuple(row)] = merged.get(tuple(row), 0) + size
    return sorted(((list(row), size) for row, size in merged.items()), key=lambda c: order(c[0]))


def disclosure(found: list[tuple[list[Content], int]], minimum: float) -> tuple[float, float]:
    """Shares of records whose class shows one rating, and whose class shows that there is one."""

    def has_null(c: tuple) -> bool:
        return c[1][0] == NULL if c[0] == "set" else c[1] < minimum - 1e-9

    def is_one(c: tuple) -> bool:
        return len(c[1]) == 1 if c[0] == "set" else c[2] - c[1] <= 1e-9

    one = sum(n for row, n in found if any(c and not has_null(c) and is_one(c) for c in row))
    exists = sum(n for row, n in found if any(c and not has_null(c) for c in row))
    records = sum(n for _, n in found)
    return one / records, exists / records


def exact_values(
    found: list[tuple[list[Content], int]], hierarchy: str, minimum: float, *, fine: bool
) -> float:
    """Share of records whose class has a cell that lists exact ratings of its members.

    On a fine scale: any list, any range whose ends are ratings, any single rating. On any: a list
    of as many values as the class has members, null being one. Fixed intervals name no rating, and
    of what is neither a list of values given only one or two values are known to be held.
    """
    if hierarchy == "fixed-intervals":
        return 0.0

    def exact(cell: tuple, size: int) -> bool:
        is_set = cell[0] == "set"
        many = len(cell[1]) if is_set else None
        if many == size and (hierarchy == "ndgh" or size <= 2):
            return True
        if not fine:
            return False
        ratings = [v for v in cell[1] if v != NULL] if is_set else []
        single = len(ratings) == 1 if is_set else cell[2] - cell[1] <= 1e-9
        return hierarchy in ("ndgh", "range") or single

    hit = sum(n for row, n in found if any(c and exact(c, n) for c in row))
    return hit / sum(n for _, n in found)


def said_order(said: list) -> list:
    """What a class says beside its cells: null first, ranges by their ends, lists by texts."""
    told: list = []
    for content in said:
        if isinstance(content, dict):
            ends = [] if content["low"] is None else [content["low"], content["high"]]
            told.append((ends, content["null"]))
        else:
            told.append([[] if value is None else [value] for value in content])
    return told


def classes_beside(
    rows: list[list[Content]], said: list[list], sizes: list[int]
) -> list[tuple[list[Content], list, int]]:
    """Groups that are equal in cells and in what is said beside them become one."""
    merged: dict[str, list] = {}
    for row, beside, size in zip(rows, said, sizes, strict=True):
        merged.setdefault(repr((row, beside)), [row, beside, 0])[2] += size
    return sorted(map(tuple, merged.values()), key=lambda c: (order(c[0]), said_order(c[1])))
