"""What each algorithm does: distances reckoned and cells touched, which no compiler changes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from starshade.kernels.arrays import Array, Ints


@dataclass(frozen=True)
class Work:
    """What the algorithms do on one table at one k; a cell is one rating of one record."""

    k: int
    forming: int  # k-Likeness: distances from nuclei
    joining: int  # k-Likeness: distances from records that are left over (LikenessEC)
    left: int  # records left over
    rounds: int  # of k-Likeness's outer loop
    likeness: int  # cells
    member: int  # k-Member: cells
    mondrian: int  # cells
    cuts: int  # of Mondrian


def work_of(places: Array, k: int, *, tuples: int, anew: bool) -> Work:
    """Count for a table (n, m), whose columns Mondrian compares as shares of their ranges.

    `tuples`: records that join a nucleus; `anew`: whether k-Member reckons what a group spans from
    its members for each record, or keeps it.
    """
    n, m = places.shape
    forming, joining, left, rounds = likeness_distances(n, k, tuples)
    mondrian, cuts = mondrian_cells(places, k)
    return Work(
        k,
        forming,
        joining,
        left,
        rounds,
        m * (forming + joining),
        m * member_rows(n, k, anew=anew),
        mondrian,
        cuts,
    )


def likeness_distances(n: int, k: int, tuples: int) -> tuple[int, int, int, int]:
    """Return k-Likeness's distances while forming and joining, records left over, and rounds."""
    forming, left, rounds = 0, n, 0
    while left >= k and n >= 2 * k:
        forming += left - 1
        left -= 1 + min(tuples, left - 1)
        rounds += 1
    if n < 2 * k:
        left = 0
    # one left over after the other is held against all that are in a class by then
    return forming, sum(range(n - left, n)), left, rounds


def member_rows(n: int, k: int, *, anew: bool) -> int:
    """Return how many rows k-Member looks at, of records and of what groups span."""
    rows, groups = 0, n // k
    for formed in range(groups):
        free = n - formed * k
        rows += free if formed else 0  # the furthest from the last group's first
        for size in range(1, k):
            rows += (free - size) * (size + 1 if anew else 1)
    return rows + (n - groups * k) * groups


def mondrian_cells(places: Array, k: int) -> tuple[int, int]:
    """Return the cells that strict Mondrian looks at, and its cuts."""
    cells = cuts = 0
    open_parts: list[Ints] = [np.arange(len(places))]
    while open_parts:
        part = places[open_parts[-1]]
        who = open_parts.pop()
        if len(who) < 2 * k:
            continue
        cells += part.size
        widths = part.max(axis=0).astype(np.int64) - part.min(axis=0)
        for item in np.argsort(-widths, kind="stable").tolist():
            if widths[item] <= 0:
                break
            cells += 2 * len(who)  # for the median, and to put apart
            goes_left = part[:, item] <= np.sort(part[:, item])[(len(who) - 1) // 2]
            if k <= goes_left.sum() <= len(who) - k:
                open_parts += [who[goes_left], who[~goes_left]]
                cuts += 1
                break
    return cells, cuts
