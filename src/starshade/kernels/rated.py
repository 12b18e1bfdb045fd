"""How many items a row may have rated, and what the chance of what is known owes to that.

Of a released row that is not certain. `counts` and `facts` are the named tuples of
`starshade.kernels.attack.likelihood`.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from starshade.kernels.arrays import Array, Floats, Int32s, Ints, cut, inner, place_of, run


@inner
def _cell_at(row, item, rows):  # type: ignore[no-untyped-def]
    """Return where a cell is; of dense rows, the item itself; -1 where the cell is null."""
    if len(rows.levels) > 0:
        return np.int64(item) if rows.levels[item, row] > 0 else np.int64(-1)
    stop = rows.indptr[row + 1]
    p = place_of(rows.columns, rows.indptr[row], stop, item)
    return p if p < stop and rows.columns[p] == item else np.int64(-1)


@inner
def _content_at(p, row, rows):  # type: ignore[no-untyped-def]
    """Return what the cell at a `_cell_at` says."""
    return np.int64(rows.levels[p, row]) - 1 if len(rows.levels) > 0 else np.int64(rows.codes[p])


@inner
def owed(row, t, right, wrong, rows, counts, facts, order, room):  # type: ignore[no-untyped-def]
    """1 / (C(n, right) · C(items - n, wrong)) · chance of what is told, over the law of n.

    It comes without the factors right! and wrong!: with the ways to choose the mistaken among the
    facts they are alike for all. Where n is certain it comes without what is told, too.
    """
    if len(counts.rated) > 0:
        n, out = counts.rated[row], 1.0
        for i in range(right):
            out /= n - i
        for i in range(wrong):
            out /= counts.items - n - i
        return out
    if wrong == 0 and facts.told[t] < 0:
        if right == 0:
            return 1.0
        return _by_integral(row, t, right, rows, counts, facts, order)
    n = _rated_beside(row, t, rows, counts, facts, order, room)
    out = 0.0
    for more in range(wrong, n + 1):  # so much can be known of whoever rated as many as are known
        some = room[more]
        if counts.items - right - more < wrong:
            break
        for i in range(right):
            some /= right + more - i
        for i in range(wrong):
            some /= counts.items - right - more - i
        out += some * chance_told(facts.told[t], right + more)
    return out


@inner
def chance_told(told, n):  # type: ignore[no-untyped-def]
    """Chance of a number within half of n, to the nearest."""
    if told < 0 or n == 0:
        return 1.0 if told <= 0 else 0.0
    return max(0.0, min(told + 0.5, 1.5 * n) - max(told - 0.5, 0.5 * n)) / n


@inner
def _by_integral(row, t, m, rows, counts, facts, order):  # type: ignore[no-untyped-def]
    item, kind, logs = facts.item[t], np.empty(len(order), np.int64), counts.logs
    for k in range(len(order)):
        kind[k] = counts.kind[_cell_at(row, item[order[k]], rows)]
    product, nodes, weights = counts.product[counts.pattern[row]], counts.nodes, counts.weights
    out = 0.0
    for i in range(len(nodes)):
        rest = product[i]
        for k in range(len(kind)):
            rest -= logs[kind[k], i]
        out += weights[i] * m * (1.0 - nodes[i]) ** (m - 1) * math.exp(rest)
    for i in range(m):
        out /= i + 1
    return out


@inner
def _rated_beside(row, t, rows, counts, facts, order, room):  # type: ignore[no-untyped-def]
    """Fill `room` with the law of how many items beside the known ones were rated; the most."""
    n, dense = 0, len(rows.levels) > 0
    room[0] = 1.0
    first, last = (0, len(rows.levels)) if dense else (rows.indptr[row], rows.indptr[row + 1])
    for p in range(first, last):
        item = p if dense else np.int64(rows.columns[p])
        known = not counts.may[item] or (dense and rows.levels[item, row] == 0)
        for k in range(len(order)):
            known = known or facts.item[t, order[k]] == item
        if not known:
            q = counts.share[_content_at(p, row, rows)] * counts.popular[item]
            n += 1
            room[n] = room[n - 1] * q
            for i in range(n - 1, 0, -1):
                room[i] = room[i] * (1.0 - q) + room[i - 1] * q
            room[0] *= 1.0 - q
    return n


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
