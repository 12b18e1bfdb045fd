"""Quasi-identifiers on paper: their places beside the items, what a group says, merging.

Written for reading, with exact fractions. A value is a float, a text or None.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from starshade.ratings.scale import Scale
from tests.naive.k_member import cost


def is_number(column: list) -> bool:
    """Whether a column is numeric."""
    return any(isinstance(v, float) for v in column)


def steps(column: list, scale: Scale, numeric: bool) -> list[Fraction]:
    """Each value's place beside the items: from least to greatest as far as null to best."""
    whole = (
        Fraction(len(scale.levels)) if scale.step else Fraction(scale.maximum - scale.null_level)
    )
    step = Fraction(1) if scale.step else Fraction(scale.minimum - scale.null_level)
    known = sorted({v for v in column if v is not None})
    base = min(step, whole / 2) if None in column else Fraction(0)
    out = []
    for value in column:
        if value is None:
            out.append(Fraction(0))
            continue
        if len(known) == 1:
            share = Fraction(0)
        elif numeric:
            share = (Fraction(value) - Fraction(known[0])) / (
                Fraction(known[-1]) - Fraction(known[0])
            )
        else:
            share = Fraction(known.index(value), len(known) - 1)
        out.append(base + share * (whole - base))
    return out


def said(members: list, numeric: bool) -> dict | list:
    """What a group's members say together."""
    known = sorted(v for v in members if v is not None)
    null = None in members
    if numeric:
        ends = {"low": known[0], "high": known[-1]} if known else {"low": None, "high": None}
        return {**ends, "null": null}
    return [None] * null + sorted(set(known))


def joined(rows: dict, members: list) -> list:
    """All values that share their name on the first level where the members have one.

    `rows` has of each value its names, level by level; null stands aside.
    """
    null, known = [None] * (None in members), [v for v in members if v is not None]
    if len(set(known)) < 2:
        return null + known[:1]
    for level in range(len(rows[known[0]])):
        names = {rows[value][level] for value in known}
        if len(names) == 1:
            return null + sorted(value for value in rows if rows[value][level] in names)
    raise AssertionError("no level joins them")


def merged(
    rows: list[list[Fraction]], groups: list[list[int]], short: Callable[[list[int]], bool]
) -> list[list[int]]:
    """Groups after merging those that fall short; `groups` as the seeded order meets them."""
    left = [list(group) for group in groups]

    def rows_of(group):
        return [rows[i] for i in group]

    while any(map(short, left)):
        # `min` takes the first of equals
        g = min((g for g in range(len(left)) if short(left[g])), key=lambda g: len(left[g]))
        others = [o for o in range(len(left)) if o != g]

        def added(o, g=g):
            return (
                cost(rows_of(left[g] + left[o])) - cost(rows_of(left[g])) - cost(rows_of(left[o]))
            )

        o = min(others, key=added)
        keep, gone = min(g, o), max(g, o)
        left[keep] += left[gone]
        del left[gone]
    return left
