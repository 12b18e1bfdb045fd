"""Standard normal numbers from streams of their own."""

from __future__ import annotations

import numpy as np
from numba import njit

from starshade.kernels.arrays import Floats, Words
from starshade.kernels.synth.synth import normal

__all__ = ["normals"]


def normals(keys: Words, count: int) -> Floats:
    """Draw `count` standard normal numbers from each stream; shape (len(keys), count)."""
    with np.errstate(over="ignore"):  # counters wrap around, also where run interpreted
        return np.asarray(_normals(keys, count))


@njit(cache=True, nogil=True)
def _normals(keys, count):  # type: ignore[no-untyped-def]
    out = np.empty((len(keys), count))
    for row in range(len(keys)):
        for k in range(count):
            out[row, k] = normal(keys[row], 2 * k)
    return out
