"""Queries by enumerating possible worlds: every record, every member of every one of its cells.

Nothing is shared with `starshade.query`: conditions are Python functions in SQL's three-valued
logic, shares are exact fractions, bounds come from trying every set of records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations, product
from typing import Any

#: rating of each item, None for null → True, False, or None for unknown
Formula = Callable[[Sequence[float | None]], bool | None]

OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "=": lambda v, c: v == c,
    "<>": lambda v, c: v != c,
    "<": lambda v, c: v < c,
    "<=": lambda v, c: v <= c,
    ">": lambda v, c: v > c,
    ">=": lambda v, c: v >= c,
}


def compare(item: int, operator: str, constant: float) -> Formula:
    """A comparison: unknown on null."""

    def formula(row: Sequence[float | None]) -> bool | None:
        value = row[item]
        return None if value is None else OPERATORS[operator](value, constant)

    return formula


def between(item: int, low: float, high: float) -> Formula:
    return conjunction([compare(item, ">=", low), compare(item, "<=", high)])


def one_of(item: int, constants: Sequence[float]) -> Formula:
    return disjunction([compare(item, "=", c) for c in constants])


def is_null(item: int) -> Formula:
    return lambda row: row[item] is None


def negation(part: Formula) -> Formula:
    def formula(row: Sequence[float | None]) -> bool | None:
        found = part(row)
        return None if found is None else not found

    return formula


def conjunction(parts: Sequence[Formula]) -> Formula:
    def formula(row: Sequence[float | None]) -> bool | None:
        found = [part(row) for part in parts]
        return False if False in found else None if None in found else True

    return formula


def disjunction(parts: Sequence[Formula]) -> Formula:
    def formula(row: Sequence[float | None]) -> bool | None:
        found = [part(row) for part in parts]
        return True if True in found else None if None in found else False

    return formula


def share(cells: Sequence[Sequence[float | None]], formula: Formula) -> Fraction:
    """The chance that a record satisfies whose cells have these members, all equally likely."""
    worlds = list(product(*cells))
    return Fraction(sum(formula(world) is True for world in worlds), len(worlds))


@dataclass
class Answer:
    value: Any
    low: Any
    high: Any
    records: int


def answer(
    function: str,
    shares: Sequence[Fraction],
    values: Sequence[Any] | None,
) -> Answer:
    """Answer one aggregate; `shares`: the chance of each record.

    `values`: the attribute of each record, None for null; without it, COUNT(*).
    """
    known = [True] * len(shares) if values is None else [v is not None for v in values]
    chances = [p if has else Fraction(0) for p, has in zip(shares, known, strict=True)]
    possible = [u for u, p in enumerate(chances) if p > 0]
    certain = [u for u in possible if chances[u] == 1]
    if function == "COUNT":
        return Answer(float(sum(chances)), len(certain), len(possible), len(possible))
    if not possible:
        return Answer(None, None, None, 0)
    assert values is not None
    if function in ("MIN", "MAX"):
        end = min if function == "MIN" else max
        outer = end(values[u] for u in possible)
        inner = end((values[u] for u in certain), default=None)
        low, high = (outer, inner) if function == "MIN" else (inner, outer)
        return Answer(outer, low, high, len(possible))
    exact = {u: Fraction(values[u]) for u in possible}
    expected = sum(chances[u] * exact[u] for u in possible)
    worlds = [sum(exact[u] for u in world) for world in _sets(certain, possible)]
    if function == "AVG":
        expected /= sum(chances[u] for u in possible)
        worlds = [
            total / len(world)
            for total, world in zip(worlds, _sets(certain, possible), strict=True)
        ]
    return Answer(float(expected), float(min(worlds)), float(max(worlds)), len(possible))


def _sets(certain: list[int], possible: list[int]) -> Iterator[list[int]]:
    """Every non-empty set between the certain and the possible."""
    others = [u for u in possible if u not in certain]
    for extra in chain.from_iterable(combinations(others, n) for n in range(len(others) + 1)):
        if certain or extra:
            yield [*certain, *extra]
