"""How many items rows may have rated, where cells are ratings with a chance: sums over a row."""

from __future__ import annotations

import numpy as np
from numba import njit

from starshade.kernels.arrays import Array, Floats, Int32s, Ints, cut, run


def add_up_logs(
    cells: tuple[Ints, Int32s, Array], place: Int32s, which: Int32s, chance: Floats, logs: Floats
) -> tuple[Int32s, Floats, Floats]:
    """Add up, over the cells of each row, the logarithms of their kinds, and their chances.

    `cells`: `indptr`, items and contents; a cell is of the kind ``place[content, which[item]]``,
    and `chance` (kinds,) and `logs` (kinds, nodes) say what that is. Returns the kind of each cell,
    and of each row the sums, shapes (rows, nodes) and (rows,).
    """
    n = len(cells[0]) - 1
    kind, sums, expected = (
        np.empty(len(cells[1]), np.int32),
        np.zeros((n, logs.shape[1])),
        np.zeros(n),
    )
    lanes = cut(np.diff(cells[0]))
    told = *cells, place, which, chance, logs, kind, sums, expected
    run(lambda lane: _add_up(*lanes[lane], *told), len(lanes))
    return kind, sums, expected


@njit(cache=True, nogil=True)
def _add_up(first, last, indptr, columns, codes, place, which, chance, logs, kind, sums, expected):  # type: ignore[no-untyped-def]
    for row in range(first, last):
        out = sums[row]
        for p in range(indptr[row], indptr[row + 1]):
            kind[p] = place[codes[p], which[columns[p]]]
            of_kind = logs[kind[p]]
            for i in range(len(out)):
                out[i] += of_kind[i]
            expected[row] += chance[kind[p]]
