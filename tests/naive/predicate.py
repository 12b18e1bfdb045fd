"""Predicates (definitions, "predicate"), written for reading: every way to fill a class is tried.

A class is a list of cells, one per item, each a tuple of values in ascending order, None (null)
first. What is counted of people takes rows of values, None for null.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from math import prod

import numpy as np

from starshade.release.cells import Cells

Cell = tuple
ROUNDS = 8


def classes_of(cells: Cells) -> list[tuple[tuple[Cell, ...], int]]:
    """What each class says of every item, and its records; rows that are equal are one."""
    symbols = cells.symbols
    count: dict[tuple[Cell, ...], int] = {}
    for row in range(cells.n_groups):
        told: list[Cell] = [(None,)] * cells.n_items
        for place in range(cells.indptr[row], cells.indptr[row + 1]):
            s = cells.codes[place]
            members = symbols.members[symbols.offsets[s] : symbols.offsets[s + 1]].tolist()
            told[cells.columns[place]] = (*([None] if symbols.null[s] else []), *members)
        count[tuple(told)] = count.get(tuple(told), 0) + int(cells.sizes[row])
    return list(count.items())


def promised(cell: Cell, promise: str) -> set:
    """The values that somebody in the class must hold."""
    if promise == "ndgh" or len(cell) <= 2:
        return set(cell)
    return {cell[0], cell[-1]} if promise == "range" else set()


@cache
def weighed(cell: Cell, weights: tuple[float, ...], n: int, held: frozenset) -> tuple[dict, dict]:
    """Chance that one member alone holds each value, and that a given member holds it."""
    weight = dict(zip(cell, weights, strict=True))
    whole, once, first = 0.0, dict.fromkeys(cell, 0.0), dict.fromkeys(cell, 0.0)
    for members in product(cell, repeat=n):
        if held <= set(members):
            chance = prod(weight[v] for v in members)
            whole += chance
            first[members[0]] += chance
            for v in cell:
                once[v] += chance * (members.count(v) == 1)
    return {v: once[v] / whole for v in cell}, {v: first[v] / whole for v in cell}


def expectations(classes: list, values: list, promise: str, *, real: bool) -> list[list]:
    """`weighed` for each class and item, by how often values are held, estimated in rounds."""
    n_items = len(classes[0][0])
    kind = {v: ("rated" if real and v is not None else v) for v in values}
    kinds = list(dict.fromkeys(kind.values()))
    of_kind = {k: list(kind.values()).count(k) for k in kinds}
    prior = [dict.fromkeys(kinds, 1 / len(kinds)) for _ in range(n_items)]
    people = sum(n for _, n in classes)
    for round_ in range(ROUNDS + 1):
        found = [
            [
                weighed(
                    cell,
                    tuple(prior[i][kind[v]] / of_kind[kind[v]] for v in cell),
                    n,
                    frozenset(promised(cell, promise)),
                )
                for i, cell in enumerate(cells)
            ]
            for cells, n in classes
        ]
        if round_ < ROUNDS:
            prior = [dict.fromkeys(kinds, 0.0) for _ in range(n_items)]
            for (_, n), row in zip(classes, found, strict=True):
                for i, (_, share) in enumerate(row):
                    for v, chance in share.items():
                        prior[i][kind[v]] += n * chance / people
    return found


def scores(c: int, classes: list, found: list[list]) -> dict:
    """The chance that one person alone fits class c and holds a value, for each item and value.

    Items of which the class shows nothing are left out.
    """
    cells, _ = classes[c]
    out = {}
    for i, cell in enumerate(cells):
        for v in cell if cell != (None,) else ():
            score = found[c][i][0][v]
            for d, (_, n) in enumerate(classes):
                if d != c:
                    fits = [
                        sum(found[d][j][1].get(u, 0.0) for u in (cells[j] if j != i else (v,)))
                        for j in range(len(cells))
                    ]
                    score *= (1 - min(1.0, prod(fits))) ** n
            out[i, v] = score
    return out


def satisfies(row: tuple, cells: tuple[Cell, ...], item: int, value: float | None) -> bool:
    """Whether somebody fits all cells and holds the value."""
    fits = all(v in cell for v, cell in zip(row, cells, strict=True))
    return fits and (item < 0 or row[item] == value)


def weight(people: list[tuple], cells: tuple[Cell, ...], item: int, value: float | None) -> float:
    """The chance to satisfy a predicate, were items independent."""
    shares = [
        np.mean([(row[j] == value) if j == item else (row[j] in cell) for row in people])
        for j, cell in enumerate(cells)
    ]
    return float(prod(shares))


def blind_beside(
    people: list[tuple],
    outsiders: list[tuple],
    cells: tuple[Cell, ...],
    item: int,
    value: float | None,
) -> float:
    """What a predicate comes to that does not look, weighed by outsiders too."""
    among = [satisfies(row, cells, item, value) for row in outsiders]
    w = max(weight(people, cells, item, value), sum(among) / len(among))
    return len(people) * w * (1 - w) ** (len(people) - 1)
