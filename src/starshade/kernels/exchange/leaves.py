"""Leaves: parts of the table whose units, records or whole groups, lie near each other.

A tree of random cuts (after Dasgupta & Freund 2008): a node draws two of its units, all are
sorted by how far they lie from the one towards the other, and the node is cut in the middle. So
the cuts follow the data, and each turn, with its own key, makes others: who is parted by one
tree meets in another.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from starshade.kernels.arrays import Int32s, Ints, Words
from starshade.kernels.fingerprint import below, mix
from starshade.kernels.warm import announce

#: indptr, columns, values of a CSR table (int64, int32, int16), and further full columns (int16)
Rows = tuple[Ints, Int32s, NDArray[np.int16], NDArray[np.int16]]


def cut_leaves(
    rows: Rows, n_columns: int, unit_ptr: Ints, unit_records: Ints, block: int, most: int, key: int
) -> tuple[Ints, Ints]:
    """Cut the units into leaves of near ones.

    `unit_ptr`, `unit_records` (int64): unit u is the records ``unit_records[unit_ptr[u]:unit_ptr[u
    + 1]]``; every record is in one. `block`: every leaf but the last holds a multiple of so many
    units. Returns `leaf_ptr, leaf_records` (int64): leaf t holds the records
    ``leaf_records[leaf_ptr[t]:leaf_ptr[t + 1]]``, ascending.
    """
    n_units = len(unit_ptr) - 1
    blocks = n_units // block
    levels = 0
    while -(-blocks >> levels) > most:
        levels += 1
    order = np.arange(n_units)
    cuts = np.array([0, n_units])
    with np.errstate(over="ignore"):  # random numbers wrap around, also where interpreted
        for level in range(levels):
            announce("k-exchange", _cut)
            own = np.uint64(mix(np.uint64(key) + np.uint64(level)))
            middles = _cut(*rows, n_columns, unit_ptr, unit_records, order, cuts, block, own)
            cuts = np.sort(np.concatenate([cuts, middles]))
    leaf_of_unit = np.empty(n_units, dtype=np.int64)
    leaf_of_unit[order] = np.repeat(np.arange(len(cuts) - 1), np.diff(cuts))
    leaf = np.empty(len(unit_records), dtype=np.int64)
    leaf[unit_records] = np.repeat(leaf_of_unit, np.diff(unit_ptr))
    leaf_ptr = np.concatenate([[0], np.cumsum(np.bincount(leaf, minlength=len(cuts) - 1))])
    return leaf_ptr, np.argsort(leaf, kind="stable")


@njit(cache=True, nogil=True, parallel=True)
def _cut(  # type: ignore[no-untyped-def]
    indptr, columns, values, extra, n_columns, unit_ptr, unit_records, order, cuts, block, key
):
    """Sort the units of each node along its direction; return where the nodes are to be cut."""
    middles = np.empty(len(cuts) - 1, np.int64)
    for node in prange(len(cuts) - 1):
        first, last = cuts[node], cuts[node + 1]
        own = mix(key + np.uint64(node))
        one = order[first + below(own, np.uint64(0), last - first)]
        other = order[first + below(own, np.uint64(1), last - first)]
        away = np.zeros(n_columns, np.int64)
        aside = np.zeros(extra.shape[1], np.int64)
        for unit, sign in ((one, -1), (other, 1)):
            for p in range(unit_ptr[unit], unit_ptr[unit + 1]):
                i = unit_records[p]
                for c in range(indptr[i], indptr[i + 1]):
                    away[columns[c]] += sign * values[c]
                for j in range(len(aside)):
                    aside[j] += sign * extra[i, j]
        along = np.zeros(last - first, np.int64)
        for place in range(first, last):
            unit = order[place]
            total = 0
            for p in range(unit_ptr[unit], unit_ptr[unit + 1]):
                i = unit_records[p]
                for c in range(indptr[i], indptr[i + 1]):
                    total += away[columns[c]] * values[c]
                for j in range(len(aside)):
                    total += aside[j] * extra[i, j]
            along[place - first] = total // (unit_ptr[unit + 1] - unit_ptr[unit])
        order[first:last] = order[first:last][np.argsort(along, kind="mergesort")]
        middles[node] = first + (last - first) // block // 2 * block
    return middles


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
