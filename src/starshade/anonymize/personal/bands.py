"""Bands for numbers: the ends of published ranges say nothing of whose they are.

The lowest and the highest of a group are two people's values. So a range runs from an edge to an
edge, and the edges are the same for the whole table: multiples of 1, 2 or 5 times a power of ten,
fewer where fewer than k people lie between two of them. The first and the last band are open:
whatever the lowest and the highest of all are, no end tells.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor

import numpy as np

from starshade.kernels.arrays import Floats

__all__ = ["band_edges"]

_BANDS = 20  # at most so many steps between the k-th lowest and the k-th highest value


def band_edges(values: Floats, k: int) -> Floats:
    """Return the edges of bands with at least k of some values in each.

    A band holds its lower edge and not its upper one; the first has no lower, the last no upper.

    Returns float64: ascending; empty where one band holds all. The step is the least of 1, 2 or 5
    times a power of ten that is at least a twentieth of the way from the k-th lowest to the k-th
    highest value, and at least 1 unless k values have a fraction. Going up, an edge is kept where k
    values lie between it and the one kept before, and k above.

    >>> band_edges(np.array([7.0, 23, 24, 31, 38, 39, 62, 104]), 2).tolist()
    [24.0, 32.0, 40.0]
    """
    n, ordered = len(values), np.sort(values)
    if n < 2 * k or not ordered[k - 1] < ordered[n - k]:
        return np.empty(0)
    low, high = Fraction(float(ordered[k - 1])), Fraction(float(ordered[n - k]))
    step = _nice((high - low) / _BANDS)
    if np.count_nonzero(ordered != np.floor(ordered)) < k:
        step = max(step, Fraction(1))
    kept, below = [], 0
    for j in range(floor(low / step) + 1, floor(high / step) + 1):
        edge = float(j * step)
        under = int(np.searchsorted(ordered, edge))
        if under - below >= k:  # and above, up to the k-th highest, as many lie
            kept.append(edge)
            below = under
    return np.array(kept, dtype=np.float64)


def _nice(width: Fraction) -> Fraction:
    power = Fraction(1)
    while power >= width:
        power /= 10
    while 10 * power < width:
        power *= 10
    return next(m * power for m in (1, 2, 5, 10) if m * power >= width)
