"""The tracker attack (KL §1.1), written for reading: every condition is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np

from starshade.release.cells import Cells

Predicate = float | str  # a rating, "null" or "rated"
Condition = tuple[tuple[int, Predicate], ...]  # item and predicate, most rated item first


def may_satisfy(cells: Cells, row: int, item: int, predicate: Predicate) -> bool:
    """Tell whether a record of a row may satisfy a predicate."""
    symbols = cells.symbols
    place = range(int(cells.indptr[row]), int(cells.indptr[row + 1]))
    codes = [int(cells.codes[p]) for p in place if cells.columns[p] == item]
    if not codes:
        return predicate == "null"
    if predicate == "null":
        return bool(symbols.null[codes[0]])
    if predicate == "rated":
        return bool(symbols.has_rating[codes[0]])
    return bool(symbols.contains(np.array([predicate]))[0, codes[0]])


def conditions(
    order: Sequence[int], predicates: Sequence[Predicate], longest: int
) -> Iterator[Condition]:
    """Return every conjunction, items in the given order."""
    for n in range(1, longest + 1):
        for items in combinations(order, n):
            for chosen in product(predicates, repeat=n):
                yield tuple(zip(items, chosen, strict=True))


@dataclass(frozen=True)
class Told:
    """What the interface told.

    singling : row → the conditions that rest on its one record
    """

    singling: dict[int, list[Condition]]
    queries: int
    empty: int
    refused: int
    fewest: int


def attack(
    cells: Cells,
    order: Sequence[int],
    predicates: Sequence[Predicate],
    longest: int,
    floor: int = 1,
) -> Told:
    """Ask everything.

    A query counts as asked when what it adds to, itself without its most rated item, rests on
    two records at least and is answered.
    """
    rows = range(cells.n_groups)
    fits = {
        (item, p): {row for row in rows if may_satisfy(cells, row, item, p)}
        for item in order
        for p in predicates
    }
    behind: dict[Condition, list[int]] = {(): list(rows)}
    singling: dict[int, list[Condition]] = {}
    queries = empty = refused = 0
    fewest: list[int] = []

    def records(condition: Condition) -> int:
        return sum(int(cells.sizes[row]) for row in behind[condition])

    for condition in conditions(order, predicates, longest):
        rest, (item, predicate) = condition[1:], condition[0]
        behind[condition] = [r for r in behind[rest] if r in fits[item, predicate]]
        found = records(condition)
        if found == 1 >= floor:
            singling.setdefault(behind[condition][0], []).append(condition)
        if rest and records(rest) < max(2, floor):
            continue
        queries += 1
        empty += found == 0
        refused += 0 < found < floor
        fewest += [found] if found >= floor and found else []
    return Told(singling, queries, empty, refused, min(fewest, default=0))


@dataclass(frozen=True)
class Verified:
    """Whose record it is: what happens to each target."""

    breached: list[bool]
    wrong: list[bool]
    one_condition: list[bool]
    queries: float


def verify(
    told: Told,
    row_of: Sequence[int],
    known: Sequence[Sequence[Any]],
    told_of_row: dict[int, Sequence[Any]],
) -> Verified:
    """Compare what is known of each target, attribute by attribute, with those singled out."""
    breached, wrong, one_condition, queries = [], [], [], 0
    for row, mine in zip(row_of, known, strict=True):
        left = list(told.singling)
        for n, value in enumerate(mine):
            queries += len(left)
            left = [r for r in left if told_of_row[r][n] == value]
        breached.append(len(left) == 1 and left[0] == row)
        wrong.append(len(left) == 1 and row not in told.singling)
        agreeing = sum(len(told.singling[r]) for r in left)
        one_condition.append(agreeing == 1 and row in told.singling)
    return Verified(breached, wrong, one_condition, queries / len(row_of))
