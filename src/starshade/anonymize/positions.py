"""Columns laid beside each other: every value as its place between its column's ends."""

from __future__ import annotations

from math import lcm

import numpy as np

from starshade.kernels.arrays import Array, Floats
from starshade.ratings.scale import SLACK

__all__ = ["positions"]

_FINEST = 2**30  # places are told apart to a billionth of a column
_TENS = tuple(10**d for d in range(7))
_TRIED_FIRST = 64


def positions(matrix: Array) -> tuple[Array, int]:
    """Place each value between the least (0) and the greatest (`unit`) of its column.

    Shares of a column's range, as the baselines add and compare them, are then whole numbers, so
    that equal sums are equal whatever the order in which they were added.

    Returns `places` (int8 or int32 (n, n_columns)): all 0 in a constant column. `unit`: the place
    of every other column's greatest value. Where all numbers stand whole steps of 1, 0.1, … or
    0.000001 above their column's least (within 1e-9, which is no difference between ratings), it is
    the least common multiple of the ranges counted in these steps, so that no place is rounded.
    About 2³⁰ where some do not or that multiple is larger, and places are rounded to it.

    >>> places, unit = positions(np.array([[0, 3], [1, 0], [2, 1]], dtype=np.uint8))
    >>> places.tolist(), unit
    ([[0, 6], [3, 0], [6, 2]], 6)
    """
    low = matrix.min(axis=0).astype(np.float64)
    width = matrix.max(axis=0).astype(np.float64) - low
    varied = [int(j) for j in np.flatnonzero(width)]
    whole = matrix.dtype.kind != "f"
    tens = {j: 1 if whole else _decimal(matrix[:, j] - low[j]) for j in varied}
    unit = lcm(*(round(float(width[j]) * ten) for j, ten in tens.items() if ten))
    if unit > _FINEST:
        unit = _FINEST
    elif not all(tens.values()):
        unit *= _FINEST // unit
    places = np.zeros(matrix.shape, dtype=np.int8 if unit < 2**7 else np.int32)
    for j, ten in tens.items():
        away, range_ = matrix[:, j].astype(np.float64) - low[j], width[j]
        if ten:  # whole again: 0.1 + 0.2 has no place here
            away, range_ = np.rint(away * ten), np.rint(range_ * ten)
        # the product of whole numbers is exact below 2**53, and so is what it is divided by
        places[:, j] = np.rint(away * unit / range_)
    return places, unit


def _decimal(away: Floats) -> int:
    for ten in _TENS:
        if ten > 1 and away.max() * ten > _FINEST:
            return 0
        # a few are looked at first: most columns of real numbers show there what they are
        if _is_whole(away[:_TRIED_FIRST], ten) and _is_whole(away, ten):
            return ten if round(float(away.max()) * ten) else 0
    return 0


def _is_whole(away: Floats, ten: int) -> bool:
    steps = away * ten
    return bool((np.abs(steps - np.rint(steps)) <= SLACK * ten).all())
