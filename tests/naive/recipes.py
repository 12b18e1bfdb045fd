"""Recipes on paper: what a group's members are said to be, by trying every step upwards.

A value is a float, a text, a date or None; a date is the date itself, however it was written.
"""

from __future__ import annotations

from collections.abc import Hashable
from datetime import date
from fractions import Fraction

_STEPS = 80  # to a band of all


def first_name(recipe: str, value: float | str | date, everybody: list) -> str:
    """What a value is called at the least."""
    kind, _, detail = recipe.partition(":")
    if kind == "prefix":
        longest = max([1, *(len(v) for v in everybody if v is not None)])
        kept = str(value)[: int(detail)]
        return kept + "*" * (longest - len(kept))
    if kind == "bands":
        assert isinstance(value, float)
        low = _below(value, Fraction(detail))
        high = low + Fraction(detail)
        if "." in detail or any(v is not None and v != int(v) for v in everybody):
            return f"{_written(low)} to <{_written(high)}"
        if Fraction(detail) == 1:
            return str(low)
        return f"{low}-{high - 1}" if low >= 0 else f"{low} to {high - 1}"
    if kind == "rare":
        return "other" if value in _rare(everybody, int(detail)) else str(value)
    assert isinstance(value, date)
    return value.isoformat()[: 7 if kind == "month" else 4]


def _name(recipe: str, value: float | str | date, step: int, known: list) -> str:
    """What a value is called after so many steps."""
    kind, _, detail = recipe.partition(":")
    if kind == "prefix":
        longest = max([1, *map(len, known)])
        kept = max(int(detail) - step, 0)
        return first_name(f"prefix:{kept}", value, known) if kept else "*" * longest
    if kind == "bands" and step <= _STEPS:
        if not step:
            return first_name(recipe, value, known)
        width, point = Fraction(detail) * 2**step, "." in detail
        wide = first_name(f"bands:{_written(width)}", value, known)
        if not point or "<" in wide:
            return wide
        low = _below(value, width)
        return f"{_written(low)} to <{_written(low + width)}"
    if kind in ("month", "year"):
        decade = value.year // 10 * 10
        ladder = [f"{value:%Y-%m}", f"{value:%Y}", f"{decade}-{decade + 9}"]
        return [*ladder[kind == "year" :], "*"][min(step, 4 - 1 - (kind == "year"))]
    return "*"


def told(recipe: str, everybody: list, k: int) -> tuple[list, list[int]]:
    """What all are called, and after how many steps, where no name is that of fewer than k."""
    kind, _, detail = recipe.partition(":")
    known = [v for v in everybody if v is not None]
    steps = [0] * len(everybody)
    if kind == "rare":
        recipe = f"rare:{max(int(detail), k)}"
        return [None if v is None else first_name(recipe, v, known) for v in everybody], steps

    def called() -> list:
        return [
            None if v is None else _name(recipe, v, step, known)
            for v, step in zip(everybody, steps, strict=True)
        ]

    last = (
        int(detail) if kind == "prefix" else _STEPS + 1 if kind == "bands" else 3 - (kind == "year")
    )
    for step in range(last):
        names = called()
        for i, name in enumerate(names):
            if name is not None and steps[i] == step and names.count(name) < k:
                steps[i] += 1
    names = [name for name in called() if name is not None]
    top = _name(recipe, known[0], last, known) if known else "*"
    few = {name for name in names if names.count(name) < k}
    if few and top in names:
        few.add(top)
    while few and sum(name in few for name in names) < k and set(names) - few:
        few.add(min(set(names) - few, key=lambda name: (names.count(name), name)))
    for i, name in enumerate(called()):
        if name in few:
            steps[i] = last
    return called(), steps


def _below(value: float, width: Fraction) -> Fraction:
    """The greatest multiple that is no greater."""
    return (Fraction(value) - Fraction(value) % width).limit_denominator(10**30)


def _written(value: Fraction) -> str:
    """A decimal: digits after the point until nothing is left."""
    sign, value = "-" * (value < 0), abs(value)
    text, rest = f"{sign}{int(value)}", value - int(value)
    if rest:
        text += "."
    while rest:
        rest *= 10
        text, rest = f"{text}{int(rest)}", rest - int(rest)
    return text


def _rare(everybody: list, least: int) -> set:
    known = [v for v in everybody if v is not None]
    rare = {v for v in known if known.count(v) < least}
    if rare and "other" in known:
        rare.add("other")
    while rare and sum(v in rare for v in known) < least and set(known) - rare:
        rare.add(min(set(known) - rare, key=lambda v: (known.count(v), v)))
    return rare


def _alike(recipe: str, value: float | str | date, step: int, everybody: list) -> Hashable:
    """What values share that are one after so many steps; None: all are."""
    kind, _, detail = recipe.partition(":")
    if kind == "prefix":
        kept = int(detail) - step
        return None if kept <= 0 else first_name(f"prefix:{kept}", value, everybody)
    if kind == "bands":
        return None if step > _STEPS else _below(value, Fraction(detail) * 2**step)
    if kind == "rare":
        return None if step else first_name(recipe, value, everybody)
    by = [value.year // 10, value.year, (value.year, value.month)]
    if kind == "year":
        by.pop()
    return None if step >= len(by) else by[-1 - step]


def said(recipe: str, members: list[int], everybody: list, k: int) -> list:
    """Null first, then the names of all whom the first step joins that is k people's.

    `members`: their places among `everybody`.
    """
    called, steps = told(recipe, everybody, k)
    kind = recipe.partition(":")[0]
    null = [None] * any(everybody[i] is None for i in members)
    own = [i for i in members if everybody[i] is not None]
    known = [i for i, v in enumerate(everybody) if v is not None]
    values = [everybody[i] for i in known]
    by = f"rare:{max(int(recipe[5:]), k)}" if kind == "rare" else recipe

    def key(i: int, step: int) -> Hashable:
        """Who is told after more steps joins others only then."""
        alike = _alike(by, everybody[i], step, values)
        return called[i] if step < steps[i] and alike is not None else alike

    for step in range(100 if own else 0):
        keys = {key(i, step) for i in own}
        joined = [i for i in known if key(i, step) in keys]
        if len(keys) == 1 and len(joined) >= k:
            return null + sorted({called[i] for i in joined})
    return null + sorted({called[i] for i in own})
