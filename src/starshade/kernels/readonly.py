"""One compiled kernel for arrays in memory and on disk."""

from __future__ import annotations

import numpy as np

from starshade.kernels.arrays import Array

__all__ = ["fixed"]


def fixed(array: Array) -> Array:
    """Return a read-only view.

    Numba compiles a kernel once for arrays that may be written and once for those that may not,
    as memory-mapped ones; what only reads is handed read-only views throughout.
    """
    view = np.ascontiguousarray(array).view(np.ndarray)
    view.flags.writeable = False
    return view
