"""Who satisfies a predicate, and who fits a cell (definitions, "predicate")."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from starshade.kernels.arrays import Floats, Int32s, Ints, cut, place_of, run
from starshade.kernels.attack.agreement import Contents, Rows, Truth, agrees, is_member
from starshade.kernels.warm import announce


class Predicates(NamedTuple):
    """Fits every cell of `row`, and rated `item` so (NaN: did not; item -1: fits, no more)."""

    row: Ints
    item: Int32s
    rating: Floats


def count_satisfying(
    predicates: Predicates, rows: Rows, contents: Contents, truth: Truth, by_item: Truth
) -> tuple[Ints, Ints]:
    """Count for each predicate who satisfies it, and who has the item's value at all.

    `truth`: people by row; `by_item`: the same, people (as `columns`) by item.
    """
    announce("the predicate attack", _count)
    out = np.zeros((2, len(predicates.row)), np.int64)
    lanes = cut(np.full(len(predicates.row), len(truth.indptr)))

    def work(lane: int) -> None:
        own = slice(*lanes[lane])
        row, item, rating = predicates
        part = Predicates(row[own], item[own], rating[own])
        _count(part, rows, contents, truth, by_item, out[:, own])

    run(work, len(lanes), "counting who satisfies them")
    return out[0], out[1]


@njit(cache=True, nogil=True)
def _count(predicates, rows, contents, truth, by_item, out):  # type: ignore[no-untyped-def]
    for a in range(len(predicates.row)):
        row, item, rating = predicates.row[a], predicates.item[a], predicates.rating[a]
        if item >= 0 and not np.isnan(rating):
            for p in range(by_item.indptr[item], by_item.indptr[item + 1]):
                if abs(by_item.levels[by_item.codes[p]] - rating) <= 1e-9:
                    out[1, a] += 1
                    user = by_item.columns[p]
                    out[0, a] += agrees(np.int64(row), rows, np.int64(user), truth, contents, 1.0)
            continue
        for user in range(len(truth.indptr) - 1):
            if item >= 0:
                end = truth.indptr[user + 1]
                p = place_of(truth.columns, truth.indptr[user], end, item)
                if p < end and truth.columns[p] == item:
                    continue
            out[1, a] += 1
            out[0, a] += agrees(np.int64(row), rows, np.int64(user), truth, contents, 1.0)


def count_members(
    items: Ints, symbols: Ints, contents: Contents, by_item: Truth, people: int
) -> Ints:
    """Count for each pair of an item and a symbol the people whose cell is a member."""
    announce("the predicate attack", _members)
    out = np.zeros(len(items), np.int64)
    _members(items, symbols, contents, by_item, people, out)
    return out


@njit(cache=True, nogil=True)
def _members(items, symbols, contents, by_item, people, out):  # type: ignore[no-untyped-def]
    for a in range(len(items)):
        start, stop = by_item.indptr[items[a]], by_item.indptr[items[a] + 1]
        if contents.null[symbols[a]]:
            out[a] = people - (stop - start)
        for p in range(start, stop):
            out[a] += is_member(by_item.levels[by_item.codes[p]], symbols[a], contents)
