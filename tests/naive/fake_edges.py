"""Which means a few ratings can have, written out; sets counted without cells."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement
from math import floor


def level(mean: Fraction, minimum: Fraction, step: Fraction) -> int:
    """The level nearest to a mean, from 1, the upper of two as near."""
    return floor((mean - minimum) / step + Fraction(1, 2)) + 1


def fitting(ratings: Sequence[Fraction], step: Fraction, least: int, size: int, shown: int) -> int:
    """How many numbers of raters, from `least` to `size`, have ratings whose mean shows as this."""
    return sum(
        any(
            level(sum(given, Fraction(0)) / raters, ratings[0], step) == shown
            for given in combinations_with_replacement(ratings, raters)
        )
        for raters in range(least, size + 1)
    )


def places(score: Sequence[float], among: Sequence[int]) -> list[Fraction]:
    """Of those of the same kind the share below each, a tie half."""
    out = []
    for value, kind in zip(score, among, strict=True):
        mine = [s for s, a in zip(score, among, strict=True) if a == kind]
        below, tied = sum(s < value for s in mine), sum(s == value for s in mine)
        out.append((below + Fraction(tied, 2)) / len(mine))
    return out
