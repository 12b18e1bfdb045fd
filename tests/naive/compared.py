"""KL's algorithms in plain Python that counts each cell it compares, for reading."""

from __future__ import annotations

from tests.naive.mondrian import widest_first

Rows = list[list[int]]


class Counter:
    """Compares rows, and counts."""

    def __init__(self) -> None:
        self.cells = 0

    def away(self, a: list[int], b: list[int]) -> int:
        self.cells += len(a)
        return sum(abs(x - y) for x, y in zip(a, b, strict=True))

    def span(self, row: list[int], members: Rows) -> int:
        self.cells += len(row)
        columns = zip(row, *members, strict=True)
        return sum(max(column) - min(column) for column in columns)


def likeness(rows: Rows, k: int, others: int) -> tuple[list[set[int]], int, int]:
    """Groups of rows in their order; cells compared for nuclei, for tuples left over."""
    left, groups, counter, rest = list(range(len(rows))), [], Counter(), Counter()
    if len(left) <= 2 * k - 1:
        return [set(left)], 0, 0
    while len(left) >= k:
        nucleus, *free = left
        near = sorted(free, key=lambda i: counter.away(rows[nucleus], rows[i]))[:others]
        groups.append([nucleus, *near])
        left = [i for i in free if i not in near]
    for i in left:
        sums = [sum(rest.away(rows[i], rows[j]) for j in group) for group in groups]
        groups[sums.index(min(sums))].append(i)
    return [set(group) for group in groups], counter.cells, rest.cells


def member(rows: Rows, k: int) -> tuple[list[set[int]], int]:
    """Groups, and cells compared where ranges are kept."""
    left, groups, counter, seed = list(range(len(rows))), [], Counter(), None
    while len(left) >= k:
        seed = (
            left[0]
            if seed is None
            else max(left, key=lambda i, s=seed: counter.away(rows[s], rows[i]))
        )
        left.remove(seed)
        group = [seed]
        while len(group) < k:
            own = [rows[j] for j in group]
            best = min(left, key=lambda i, own=own: counter.span(rows[i], own))
            left.remove(best)
            group.append(best)
        groups.append(group)
    for i in left:
        grown = []
        for group in groups:
            own = [rows[j] for j in group]
            before = sum(max(c) - min(c) for c in zip(*own, strict=True))
            grown.append((len(group) + 1) * counter.span(rows[i], own) - len(group) * before)
        groups[grown.index(min(grown))].append(i)
    return [set(group) for group in groups], counter.cells


def mondrian(rows: Rows, part: list[int], k: int) -> int:
    """Cells looked at: all of a part for widths, and a column twice for each item tried."""
    if len(part) < 2 * k:
        return 0
    cells = len(part) * len(rows[0])
    for item in widest_first(rows, part):
        cells += 2 * len(part)
        middle = sorted(rows[i][item] for i in part)[(len(part) - 1) // 2]
        left = [i for i in part if rows[i][item] <= middle]
        right = [i for i in part if rows[i][item] > middle]
        if len(left) >= k and len(right) >= k:
            return cells + mondrian(rows, left, k) + mondrian(rows, right, k)
    return cells
