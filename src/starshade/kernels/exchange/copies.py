"""Marks by which equal records are found without comparing each with each."""

from __future__ import annotations

import numpy as np
from numba import njit

from starshade.kernels.arrays import Words
from starshade.kernels.exchange.leaves import Rows
from starshade.kernels.fingerprint import mix
from starshade.kernels.warm import announce

__all__ = ["marks"]

_SHIFT = np.uint64(16)


def marks(rows: Rows) -> Words:
    """Return a number for each row, the same for equal rows, and hardly ever for others."""
    announce("k-exchange", _marks)
    with np.errstate(over="ignore"):  # they wrap around, also where interpreted
        return np.asarray(_marks(*rows))


@njit(cache=True, nogil=True)
def _marks(indptr, columns, values, extra):  # type: ignore[no-untyped-def]
    out = np.zeros(len(indptr) - 1, np.uint64)
    for i in range(len(out)):
        total = np.uint64(0)
        for p in range(indptr[i], indptr[i + 1]):
            cell = (np.uint64(columns[p] + 1) << _SHIFT) + np.uint64(values[p])
            total += mix(cell)
        for j in range(extra.shape[1]):
            total = mix(total + np.uint64(extra[i, j]))
        out[i] = total
    return out
