"""(b, l)-diversity (PA Defs 5.2, 5.3; definitions, "diversity"), written for reading."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations


def rated_sets(rows: list[set[int]], size: int) -> set[frozenset[int]]:
    """Every set of so many items that some user rated together."""
    return {frozenset(chosen) for row in rows for chosen in combinations(sorted(row), size)}


def cover(chosen: frozenset[int], groups: list[set[int]]) -> int:
    """How many groups show all of them."""
    return sum(chosen <= group for group in groups)


def count(rows: list[set[int]], groups: list[set[int]], b: int, l: int):  # noqa: E741
    """For each size: sets, sets shown by fewer than l groups, the fewest groups up to l."""
    told = []
    for size in range(1, b + 1):
        shown_by = [cover(chosen, groups) for chosen in rated_sets(rows, size)]
        short = [n for n in shown_by if n < l]
        told.append((len(shown_by), len(short), min([l, *shown_by])))
    return told


def at_risk(rows: list[set[int]], groups: list[set[int]], b: int, l: int) -> list[int]:  # noqa: E741
    """The users who rated a set that fewer than l groups show."""
    short = {
        chosen
        for size in range(1, b + 1)
        for chosen in rated_sets(rows, size)
        if cover(chosen, groups) < l
    }
    return [u for u, row in enumerate(rows) if any(chosen <= row for chosen in short)]


def choose(
    open_to: list[set[int]],
    missing: list[int],
    sizes: list[int],
    spread: list[float],
    tie: list[int],
) -> list[int]:
    """Groups in the order chosen: the fewest members per set served, then size, spread, draw."""
    open_to, missing, chosen = [set(groups) for groups in open_to], list(missing), []
    while True:
        serves = {
            g: sum(g in groups and missing[s] > 0 for s, groups in enumerate(open_to))
            for g in range(len(sizes))
        }
        useful = [g for g in serves if serves[g]]
        if not useful:
            return chosen
        best = min(
            useful, key=lambda g: (Fraction(sizes[g], serves[g]), sizes[g], spread[g], tie[g])
        )
        chosen.append(best)
        for s, groups in enumerate(open_to):
            missing[s] -= best in groups and missing[s] > 0
            groups.discard(best)
