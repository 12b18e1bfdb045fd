"""k^m-anonymity (definitions, "k-m"), written for reading: every set of facts of every person."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations


@dataclass
class Found:
    """`people`: for each size from 1, who has a set of up to so many facts that fails (rows).

    `fewest`: the fewest records above 0 that a set of up to so many facts fits.
    """

    people: list[set[int]]
    fewest: list[int]


def k_m(people: list[dict], records: list[tuple[dict, int]], k: int, m: int) -> Found:
    """Check people, a rating by item, against records: the members of each cell, and how many."""
    found = Found([], [])
    fewest, failing = sum(n for _, n in records), set()
    for size in range(1, m + 1):
        for person, row in enumerate(people):
            for items in combinations(sorted(row), size):
                fits = sum(
                    n for cells, n in records if all(row[i] in cells.get(i, ()) for i in items)
                )
                if fits:
                    fewest = min(fewest, fits)
                if 0 < fits < k:
                    failing = failing | {person}
        found.people.append(failing)
        found.fewest.append(fewest)
    return found
