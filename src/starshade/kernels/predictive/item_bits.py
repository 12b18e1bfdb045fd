"""Which groups show an item, as a row of bits."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from starshade.kernels.arrays import Int32s, Ints, Words
from starshade.kernels.readonly import fixed

__all__ = ["bits_of_levels", "bits_of_rows"]

_BLOCK = 2**24  # cells packed together


def bits_of_levels(levels: NDArray[np.generic]) -> Words:
    """Pack what groups show (nonzero) into rows of bits by item, group g in bit g % 64."""
    n_groups, n_items = levels.shape
    words = max(1, -(-n_groups // 64))
    out = np.zeros((n_items, words * 8), dtype=np.uint8)
    step = max(8, _BLOCK // max(n_items, 1) // 8 * 8)
    for start in range(0, n_groups, step):
        packed = np.packbits(levels[start : start + step] != 0, axis=0, bitorder="little")
        out[:, start // 8 : start // 8 + len(packed)] = packed.T
    return out.view("<u8").astype(np.uint64, copy=False)


def bits_of_rows(indptr: Ints, columns: Int32s, n_items: int) -> Words:
    """Pack what groups show, a row of columns each, into rows of bits by item."""
    out = np.zeros((n_items, max(1, -(-(len(indptr) - 1) // 64))), dtype=np.uint64)
    _set_bits(fixed(indptr), fixed(columns), out)
    return out


@njit(cache=True, nogil=True)
def _set_bits(indptr, columns, out):  # type: ignore[no-untyped-def]
    for row in range(len(indptr) - 1):
        bit = np.uint64(1) << np.uint64(row % 64)
        for p in range(indptr[row], indptr[row + 1]):
            out[columns[p], row // 64] |= bit
