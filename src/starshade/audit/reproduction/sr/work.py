"""Work that no compiler changes: the cells that a search touches (SR §5.1, §7.2).

To slice, a record takes the slab of side 2ε along the first attribute, which is sorted and so
costs as many cells as the slab has records; attribute by attribute the candidates are trimmed,
each costing a cell. To compare every pair to its end costs all cells of all pairs. A pair that is
given up at the first attribute that sets it apart costs the very cells that trimming costs, and
one more for each record that the slab leaves out: beside such a comparison slicing saves nothing
but the first attribute. Our tree looks at words of many attributes at once: a word that it touches
counts as all the cells in it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade import budget
from starshade.progress import task
from starshade.ratings.proximity.settings import NullRule
from starshade.ratings.proximity.space import Index, Rule, Space

_Words = NDArray[np.uint64]
_OFTEN = 32  # attributes between two looks at who is alone
_FEW_CODES = 64


@dataclass(frozen=True)
class Reading:
    """How a check is done; the fields are those of `CHOICES`, and what a way changes."""

    items: str = "all"  # or "top"; or how many of the most rated
    nulls: NullRule = "strict"
    cliques: bool = True  # whether a pairwise-near set is sought within each cube
    early: bool = False  # whether a comparison of two stops at the first attribute apart
    first: bool = False  # whether the check ends at the first record that fails
    short_cut: bool = False  # whether ε ≥ R is answered without a search
    covered: bool = False  # whether who is in a group that was found is not asked again


PRINTED = Reading()
MOST_RATED = Reading("top")
#: what each way changes, and nothing else
_OF_WAY: dict[str, dict[str, Any]] = {
    "ball": {"cliques": False},
    "most rated": {"items": "top"},
    "ignore": {"nulls": "ignore"},
    "zero": {"nulls": "zero"},
    "early": {"early": True},
    "first failing": {"first": True},
    "short cut": {"short_cut": True},
    "covered": {"covered": True},
}


#: whose work is shown: name, search, what it changes, configuration
SHOWN: tuple[tuple[str, str, dict[str, Any], str], ...] = (
    ("every pair, in full", "pairwise", {}, "as-printed"),
    ("every pair, early stopping", "pairwise", {"early": True}, "ours"),
    ("slicing, pairwise-near groups", "slicing", {}, "as-printed"),
    ("slicing, balls", "slicing", {"cliques": False}, "as-read"),
    ("tree, a word as all its cells", "tree", {}, "ours"),
    # last: Figs 3(a) and 5(a) lack it, and the others keep their colours
    ("slicing, members skipped", "slicing", {"covered": True},
     "as-printed, but members of a group are not searched"),
)  # fmt: skip


def reading_of(way: str, base: Reading = PRINTED) -> Reading:
    """Return what a way makes of a reading."""
    return replace(base, **_OF_WAY.get(way, {}))


def count_cells(space: Space, order: NDArray[np.int64]) -> dict[str, NDArray[np.int64]]:
    """Count, for each record, its slab, the cells that trimming touches, and its ball.

    `order`: the attributes, the sorted one first.
    """
    n, p, rule = space.n_records, space.n_items, space.rule
    if rule.everybody:
        whole = np.full(n, n, np.int64)
        return {"slab": whole, "cells": whole * (p - 1), "ball": whole}
    # a bit for each pair, in words: records are filled up, and those beyond n asked of nobody
    codes = np.ascontiguousarray(np.pad(space.full(), ((0, -n % 64), (0, 0))).T[order])
    there = np.packbits(np.arange(codes.shape[1]) < n).view(np.uint64)
    counted = np.zeros((3, n), np.int64)
    with task("counting cells", n) as step:
        for who in _blocks(n, n):
            step(len(who))
            alive, left = np.tile(there, (len(who), 1)), np.zeros(len(who), np.int64)
            for at, column in enumerate(codes):
                counted[1, who] += left
                alive &= _near(column, who, rule)
                left = np.bitwise_count(alive).sum(axis=1, dtype=np.int64)
                if not at:
                    counted[0, who] = left
                if at % _OFTEN == 0:  # who has nobody left but itself costs a cell an attribute
                    alone = left == 1
                    counted[1:, who[alone]] += np.array([[p - 1 - at], [1]])
                    who, alive, left = who[~alone], alive[~alone], left[~alone]
            counted[2, who] = left
    return dict(zip(("slab", "cells", "ball"), counted, strict=True))


def _near(column: NDArray[Any], who: NDArray[np.int64], rule: Rule) -> _Words:
    """Return, for each who asks, a bit for each record that is near on one attribute."""
    if len(rule.low) <= _FEW_CODES:
        kinds, place = np.arange(len(rule.low)), column[who]
    else:
        kinds, place = np.unique(column[who], return_inverse=True)
    low, high, null = (of[kinds, None] for of in (rule.low, rule.high, rule.null))
    near = np.where(column == 0, null, (column >= low) & (column <= high))
    return np.asarray(np.packbits(near, axis=1).view(np.uint64)[place])


def _blocks(n: int, each: int) -> list[NDArray[np.int64]]:
    """Cut records into blocks, of which each takes so many bytes a record."""
    size = max(1, budget.memory() // (4 * max(1, each)))
    return [np.arange(first, min(n, first + size)) for first in range(0, n, size)]


def count_tree(space: Space) -> int:
    """Count the words that records touch which walk our tree, each by itself; equal ones once.

    In the check the records of a leaf walk together, which saves tests of nodes and no others.
    """
    index = space.index
    forest, blocks, fields = index.forest, index.blocks, index.fields
    touched = 0
    for b in np.flatnonzero(forest.root >= 0).tolist():  # others hold one record
        m = int(blocks.items[b])
        rows = blocks.cells[blocks.cell[b] : blocks.cell[b + 1]].reshape(-1, m)
        shifts = (np.arange(m) % fields.per_word * fields.width).astype(np.uint64)
        starts = np.arange(0, m, fields.per_word)
        marks = np.full(len(starts), forest.lows)
        marks[-1] = forest.last_lows[b]
        for some in _blocks(len(rows), 32 * m):
            outer, inner = (
                np.bitwise_or.reduceat(mask[rows[some]] << shifts, starts, axis=1)
                for mask in (fields.outer, fields.inner)
            )
            touched += _walked(index, int(forest.root[b]), outer, inner, marks)
    return touched


def _walked(index: Index, top: int, outer: _Words, inner: _Words, marks: _Words) -> int:
    forest, touched = index.forest, 0
    ahead = [(top, np.arange(len(outer)))]
    while ahead:
        node, who = ahead.pop()
        own = forest.node_words[forest.node_word[node] : forest.node_word[node + 1]]
        met = own & outer[who]
        for fold in index.fields.folds:
            met |= met >> fold
        near = np.logical_and.accumulate(met & marks == marks, axis=1)
        touched += len(who) + int(near[:, :-1].sum())  # up to the first that sets apart
        who = who[near[:, -1] & (own & ~inner[who]).any(axis=1)]
        first, last, _, child, children, _ = forest.nodes[node].tolist()
        if len(who) and children:
            ahead += [(child + c, who) for c in range(children)]
        elif len(who):
            touched += len(who) * (last - first) * len(own)
    return touched
