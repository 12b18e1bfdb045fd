"""Count bits."""

from __future__ import annotations

import numpy as np

from starshade.kernels.inner import inner

__all__ = ["ones"]


@inner
def ones(word):  # type: ignore[no-untyped-def]
    """Count the ones of a uint64; the compiler knows the pattern and takes the processor's own.

    The last product wraps around: run interpreted, it wants ``np.errstate(over="ignore")``.
    """
    x = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (x * np.uint64(0x0101010101010101)) >> np.uint64(56)
