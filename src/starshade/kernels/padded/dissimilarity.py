"""Dissimilarities of rows written out, where null is NaN: common items only.

For each row, item after item, a run of columns of the other side is gone through at once; so the
sums of a pair are always in the order of the items.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from starshade.kernels.arrays import Floats
from starshade.kernels.inner import inner
from starshade.kernels.warm import announce

__all__ = ["ABSOLUTE", "FAR", "SIMILAR", "SQUARED", "mean_over_common"]

ABSOLUTE, SQUARED, SIMILAR, FAR = 0, 1, 2, 3  # |d|, d², 1 − (1 − |d|)², 1 where |d| is above

_CHUNK = 4  # rows that one thread does in one go
_TILE = 128


def mean_over_common(
    rows: Floats, others: Floats, kind: int, unit: float, limit: float, weights: Floats
) -> Floats:
    """Average a function of |x − y| / unit over the items that both rows have.

    `rows`, `others`: NaN is null. Returns (a, b): 1 where no item, or none of weight above 0, is
    common.
    """
    announce("dissimilarities", _mean_over_common)
    out = np.empty((len(rows), len(others)))
    across = np.ascontiguousarray(others.T)
    _mean_over_common(rows, across, kind, 1.0 / unit, limit, weights, out)
    return out


@njit(cache=True, nogil=True, parallel=True)
def _mean_over_common(rows, across, kind, per_unit, limit, weights, out):  # type: ignore[no-untyped-def]
    t = across.shape[1]
    for chunk in prange((len(rows) + _CHUNK - 1) // _CHUNK):
        first, last = chunk * _CHUNK, min(len(rows), (chunk + 1) * _CHUNK)
        total, common = np.empty(_TILE), np.empty(_TILE)
        for low in range(0, t, _TILE):
            high = min(t, low + _TILE)
            for r in range(first, last):
                total[:], common[:] = 0.0, 0.0
                for i in range(len(weights)):
                    if not np.isnan(rows[r, i]) and weights[i] > 0.0:
                        _add(
                            kind, rows[r, i], across[i, low:high], per_unit, limit, weights[i],
                            total, common,
                        )  # fmt: skip
                for c in range(high - low):
                    out[r, low + c] = total[c] / common[c] if common[c] > 0.0 else 1.0


@inner
def _add(kind, x, line, per_unit, limit, weight, total, common):  # type: ignore[no-untyped-def]
    if kind == ABSOLUTE:
        for c in range(len(line)):
            d = abs(x - line[c]) * per_unit
            total[c] += weight * d if d == d else 0.0  # NaN is not itself
    elif kind == SQUARED:
        for c in range(len(line)):
            d = abs(x - line[c]) * per_unit
            total[c] += weight * d * d if d == d else 0.0
    elif kind == SIMILAR:
        for c in range(len(line)):
            d = abs(x - line[c]) * per_unit
            total[c] += weight * d * (2.0 - d) if d == d else 0.0
    else:
        for c in range(len(line)):
            total[c] += weight if abs(x - line[c]) * per_unit > limit else 0.0
    for c in range(len(line)):
        common[c] += weight if line[c] == line[c] else 0.0
