"""Readings of k-Likeness and k-Member in plain Python, counting what they look at."""

from __future__ import annotations

from collections import Counter

Rows = list[list[float]]


def distance(a: list[float], b: list[float], apart: float, seen: Counter[str], what: str) -> float:
    """L1; where `apart` is not below 0, a null (0) is so far from every rating."""
    seen[what] += 1
    return sum(
        apart if apart >= 0 and (x == 0) != (y == 0) else abs(x - y)
        for x, y in zip(a, b, strict=True)
    )


def k_likeness(
    rows: Rows, k: int, order: list[int], *, joins: int, furthest=False, rest="sum", apart=-1.0
) -> tuple[list[list[int]], Counter[str]]:
    """Groups in the order in which they were formed, and how many distances were reckoned."""
    seen: Counter[str] = Counter()
    left = list(order)
    if len(left) <= 2 * k - 1:
        return [left], seen
    groups: list[list[int]] = []
    last = None
    while len(left) >= k:
        nucleus = left[0]
        if furthest and last is not None:
            # their distances from the last nucleus are known by then
            nucleus = max(left, key=lambda i: distance(rows[i], rows[last], apart, seen, "again"))
        left.remove(nucleus)
        away = {i: distance(rows[i], rows[nucleus], apart, seen, "forming") for i in left}
        nearest = sorted(left, key=lambda i: away[i])[:joins]  # stable
        groups.append([nucleus, *nearest])
        left = [i for i in left if i not in nearest]
        last = nucleus
        seen["rounds"] += 1
    seen["left"] = len(left)
    for record in left:
        scores = []
        for group in groups:
            away = [distance(rows[record], rows[i], apart, seen, "joining") for i in group]
            columns = list(zip(*(rows[i] for i in group), strict=True))
            beyond = sum(
                max(min(column) - x, x - max(column), 0)
                for column, x in zip(columns, rows[record], strict=True)
            )
            scores.append(
                {
                    "sum": sum(away),
                    "mean": sum(away) / len(away),
                    "nearest": min(away),
                    "smallest": (len(group), sum(away)),
                    "range": beyond,
                }[rest]
            )
        groups[scores.index(min(scores))].append(record)
    return groups, seen


def k_member(
    rows: list[list[int]], k: int, order: list[int], *, furthest: bool
) -> tuple[list[list[int]], Counter[str]]:
    """Groups, and the rows looked at: with spans kept, and with members looked at each time."""
    seen: Counter[str] = Counter()
    left, groups, seed = list(order), [], None

    def span(group: list[int]) -> int:
        return sum(
            max(column) - min(column) for column in zip(*(rows[i] for i in group), strict=True)
        )

    def growth(group: list[int], record: int) -> int:
        seen["kept"] += 1
        seen["anew"] += len(group) + 1
        return (len(group) + 1) * span([*group, record]) - len(group) * span(group)

    while len(left) >= k:
        if furthest and groups:
            away = [sum(abs(a - b) for a, b in zip(rows[i], rows[seed], strict=True)) for i in left]
            seen["kept"] += len(left)
            seen["anew"] += len(left)
            seed = left[away.index(max(away))]
        else:
            seed = left[0]
        left.remove(seed)
        group = [seed]
        while len(group) < k:
            best = min(left, key=lambda i: growth(group, i))
            left.remove(best)
            group.append(best)
        groups.append(group)
    for record in left:
        costs = []
        for group in groups:
            seen["kept"] += 1  # against what it spans, in either case
            seen["anew"] += 1
            size = len(group)
            costs.append((size + 1) * span([*group, record]) - size * span(group))
        groups[costs.index(min(costs))].append(record)
    return groups, seen


def mondrian_cells(rows: list[list[int]], part: list[int], k: int) -> tuple[int, int]:
    """Cells that strict Mondrian looks at below a part, and its cuts."""
    if len(part) < 2 * k:
        return 0, 0
    columns = [[rows[i][item] for i in part] for item in range(len(rows[0]))]
    cells = sum(len(column) for column in columns)
    widths = [max(column) - min(column) for column in columns]
    for item in sorted(range(len(widths)), key=lambda item: -widths[item]):
        if widths[item] == 0:
            break
        cells += 2 * len(part)  # once for the median, once to put apart
        middle = sorted(columns[item])[(len(part) - 1) // 2]
        left = [i for i in part if rows[i][item] <= middle]
        right = [i for i in part if rows[i][item] > middle]
        if len(left) >= k and len(right) >= k:
            below = [mondrian_cells(rows, side, k) for side in (left, right)]
            return cells + sum(b[0] for b in below), 1 + sum(b[1] for b in below)
    return cells, 0
