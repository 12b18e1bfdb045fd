"""On what the cells of a class's profile rest: how many raters, and whether they say so."""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from starshade.kernels.arrays import Array, Bytes, Floats, Int32s, Ints
from starshade.kernels.readonly import fixed
from starshade.kernels.warm import announce

__all__ = ["profile_support"]

_CHUNKS = 256  # of the classes: fixed, so that nothing depends on the threads


def profile_support(
    table: tuple[Ints, Int32s, Array, Floats],
    members: tuple[Ints, Ints],
    profiles: tuple[Bytes, Floats],
    least: int,
    tolerance: float,
) -> Ints:
    """Count, class by class, cells that are no null, that one rates, that nobody stands behind.

    `least`: 0: a cell is invented where nobody of the class rated the item. Otherwise where fewer
    than `least` did, or where it differs from their mean. Returns (classes, 3): cells that are not
    null; of these, those that one member rated; those invented.
    """
    announce("profiles", _support)
    out = np.zeros((len(profiles[0]), 3), dtype=np.int64)
    _support(
        tuple(fixed(part) for part in table), tuple(fixed(part) for part in members),
        fixed(profiles[0]), fixed(profiles[1]), least, tolerance, out,
    )  # fmt: skip
    return out


@njit(cache=True, nogil=True, parallel=True)
def _support(table, members, levels, ratings, least, tolerance, out):  # type: ignore[no-untyped-def]
    indptr, columns, codes, values = table
    member_ptr, users = members
    n_classes, n_items = levels.shape
    for chunk in prange(_CHUNKS):
        raters = np.zeros(n_items, dtype=np.int64)
        total = np.zeros(n_items)
        for c in range(chunk * n_classes // _CHUNKS, (chunk + 1) * n_classes // _CHUNKS):
            raters[:] = 0
            total[:] = 0.0
            for m in range(member_ptr[c], member_ptr[c + 1]):
                for p in range(indptr[users[m]], indptr[users[m] + 1]):
                    raters[columns[p]] += 1
                    total[columns[p]] += values[codes[p]]
            for item in range(n_items):
                level = levels[c, item]
                if level == 0:
                    continue
                out[c, 0] += 1
                out[c, 1] += raters[item] == 1
                if raters[item] == 0 or raters[item] < least:
                    out[c, 2] += 1
                elif least > 0:
                    away = abs(total[item] / raters[item] - ratings[level - 1])
                    out[c, 2] += away > tolerance
