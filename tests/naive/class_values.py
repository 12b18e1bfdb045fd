"""l-diversity, (alpha, k) and t-closeness, written for reading; exact fractions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from fractions import Fraction
from math import exp, log

Classes = list[list]


def classes_of(keys: Sequence[Hashable], values: Sequence) -> Classes:
    """The values of each set of records that look alike; NaN is null."""
    found: dict[Hashable, list] = {}
    for key, value in zip(keys, values, strict=True):
        found.setdefault(key, []).append(None if value != value else value)
    return list(found.values())


def distinct_l(members: list, *, known: bool = False) -> int:
    return len({value for value in members if value is not None or not known})


def entropy_l(members: list, *, known: bool = False) -> float:
    members = [value for value in members if value is not None or not known]
    if not members:
        return 0.0
    shares = [n / len(members) for n in Counter(members).values()]
    return exp(-sum(p * log(p) for p in shares))


def largest_share(members: list) -> Fraction:
    return Fraction(max(Counter(members).values()), len(members))


def distance(members: list, everybody: list) -> Fraction:
    """Earth mover's distance to the whole table; numbers in order, null first, else all equal."""
    values = sorted(set(everybody), key=lambda v: (v is not None, v if v is not None else 0))
    own, whole = Counter(members), Counter(everybody)
    excess = [Fraction(own[v], len(members)) - Fraction(whole[v], len(everybody)) for v in values]
    if all(v is None or isinstance(v, float) for v in values) and any(
        isinstance(v, float) for v in values
    ):
        carried = [abs(sum(excess[: i + 1])) for i in range(len(values))]
        return sum(carried) / (len(values) - 1) if len(values) > 1 else Fraction(0)
    return sum(map(abs, excess)) / 2
