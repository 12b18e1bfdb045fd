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


def band_edges(values: list[float], k: int) -> list[float]:
    """Edges between bands of k people or more, by the k-th lowest and the k-th highest alone."""
    known = sorted(Fraction(v) for v in values)
    if len(known) < 2 * k:
        return []
    low, high = known[k - 1], known[-k]
    sizes = [m * Fraction(10) ** e for e in range(-340, 310) for m in (1, 2, 5)]
    if sum(v != int(v) for v in known) < k:
        sizes = [size for size in sizes if size >= 1]
    size = next(size for size in sizes if 20 * size >= high - low)
    edges: list[Fraction] = []
    multiple = (low // size) * size
    while multiple <= high:
        edge = Fraction(float(multiple))
        between = [v for v in known if v < edge and (not edges or v >= edges[-1])]
        above = [v for v in known if v >= edge]
        if low < multiple and len(between) >= k and len(above) >= k:
            edges.append(edge)
        multiple += size
    return [float(edge) for edge in edges]


def said(members: list, numeric: bool, everybody: list, k: int) -> dict | list:
    """What a group's members say together; numbers from one edge to another."""
    known = sorted(v for v in members if v is not None)
    null = None in members
    if not numeric:
        return [None] * null + sorted(set(known))
    if not known:
        return {"low": None, "high": None, "null": True}
    edges = band_edges([v for v in everybody if v is not None], k)
    low = max((e for e in edges if e <= known[0]), default=float("-inf"))
    high = min((e for e in edges if e > known[-1]), default=float("inf"))
    return {"low": low, "high": high, "null": null}


def joined(rows: dict, members: list, everybody: list, k: int) -> list:
    """All values of the first name that the members share and that k people have.

    `rows` has of each value its names, level by level; null stands aside.
    """
    null, known = [None] * (None in members), [v for v in members if v is not None]
    if not known:
        return null
    for level in range(-1, len(rows[known[0]])):
        names = {value if level < 0 else rows[value][level] for value in known}
        told = [value for value in rows if (value if level < 0 else rows[value][level]) in names]
        if len(names) == 1 and sum(value in told for value in everybody) >= k:
            return null + sorted(told)
    raise AssertionError("no level joins them")


def blanked(values: list, k: int, at_once: bool = False) -> list:
    """The values after blanking: each, and null, that of k people or of nobody.

    `at_once`: values are told joined, and only null, and to have a value, may be rare.
    """
    values = list(values)
    if not at_once:
        values = [v if v is not None and values.count(v) >= k else None for v in values]
    while 0 < values.count(None) < k:
        left = {v for v in values if v is not None}
        rarest = min(left, key=lambda v: (values.count(v), v))
        values = [None if v == rarest else v for v in values]
    if 0 < len(values) - values.count(None) < k:
        values = [None] * len(values)
    return values


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
