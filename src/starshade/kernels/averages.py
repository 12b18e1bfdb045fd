"""Averages of an attribute under many conditions at once (KL Eq. 7)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from starshade.kernels.arrays import Floats, Int32s, inner
from starshade.kernels.warm import announce

_BLOCK = 2048  # rows whose shares are unpacked together: they stay in the cache


class Board(NamedTuple):
    """A table that is asked: rows of equal records, and what each cell says.

    codes : content of each row on each item, int32, shape (items, rows)
    shares : share of each content that is in each set of ratings, float64, shape (contents, sets)
    totals, counts : sum and number of the attribute's values in each row, float64, shape (rows,)
    """

    codes: Int32s
    shares: Floats
    totals: Floats
    counts: Floats


class Asked(NamedTuple):
    """Conditions on equally many items: the item and the set of ratings of each part."""

    items: Int32s
    sets: Int32s


def averages_all(board: Board, asked: Asked) -> Floats:
    """Return the average where all of a condition's parts hold, NaN where nothing does."""
    announce("query errors", _averages)
    return _averages(board, asked, False)  # type: ignore[no-any-return]


def averages_any(board: Board, asked: Asked) -> Floats:
    """Return the average where some part of a condition holds, NaN where nothing does."""
    announce("query errors", _averages)
    return _averages(board, asked, True)  # type: ignore[no-any-return]


@njit(cache=True, nogil=True)
def _averages(board, asked, some):  # type: ignore[no-untyped-def]
    n, size = asked.items.shape
    totals, counts = np.zeros(n), np.zeros(n)
    for start in range(0, len(board.totals), _BLOCK):
        stop = min(start + _BLOCK, len(board.totals))
        table = _unpacked(board, start, stop)
        if some:
            table = 1.0 - table
        for c in range(n):
            share = table[asked.items[c, 0], asked.sets[c, 0]].copy()
            for i in range(1, size):
                share *= table[asked.items[c, i], asked.sets[c, i]]
            if some:  # that was the share of which no part holds
                share = 1.0 - share
            total, count = 0.0, 0.0
            for row in range(stop - start):
                total += share[row] * board.totals[start + row]
                count += share[row] * board.counts[start + row]
            totals[c] += total
            counts[c] += count
    return _divided(totals, counts)


@inner
def _unpacked(board, start, stop):  # type: ignore[no-untyped-def]
    """Return the share of each row that is in each set, items by sets by rows."""
    table = np.empty((len(board.codes), board.shares.shape[1], stop - start))
    for i in range(len(board.codes)):
        for row in range(start, stop):
            content = board.codes[i, row]
            for s in range(board.shares.shape[1]):
                table[i, s, row - start] = board.shares[content, s]
    return table


@inner
def _divided(total, count):  # type: ignore[no-untyped-def]
    """Return the averages; a share that no condition has leaves NaN."""
    out = np.full(len(total), np.nan)
    for c in range(len(total)):
        if count[c] > 0:
            out[c] = total[c] / count[c]
    return out
