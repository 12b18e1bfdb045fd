"""Sizes of balls, and sums over them, through the trees of `balls.tree`.

Records ask leaf by leaf. The group asks its own leaf first, then what hangs beside its branch,
from near to far, and passes over every branch on which some item sets all of the group apart. A
branch whose records are all near all of the group is added as a whole. In a leaf each record is
compared by its words; where fields are too narrow for the codes (`Fields.exact`), what the words
let through is compared code by code. Leaves write to places of their own, so threads do not meet.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from starshade.kernels.balls.fields import APART, INSIDE, MIXED, relation
from starshade.kernels.balls.leaf import add_branch, add_leaf, ask, make_room, weigh_leaf
from starshade.kernels.balls.tree import (
    BLOCK,
    CHILD,
    CHILDREN,
    FIRST,
    LAST,
    LEAF,
    PARENT,
    next_branch,
)
from starshade.kernels.inner import inner

__all__ = ["search_balls"]


@njit(cache=True, nogil=True)
def search_balls(leaves, forest, blocks, fields, asked, found):  # type: ignore[no-untyped-def]
    """Search the balls of the wanted records of these leaves; adds to `found`."""
    widest = np.int64(1)
    for leaf in leaves:
        widest = max(widest, forest.node_word[leaf + 1] - forest.node_word[leaf])
    room = make_room(widest)
    for leaf in leaves:
        _search_leaf(leaf, forest, blocks, fields, asked, found, room)


@inner
def _search_leaf(leaf, forest, blocks, fields, asked, found, room):  # type: ignore[no-untyped-def]
    n_words = forest.node_word[leaf + 1] - forest.node_word[leaf]
    n_active = 0
    for record in range(forest.nodes[leaf, FIRST], forest.nodes[leaf, LAST]):
        if asked.wanted[record]:
            room.active[n_active] = record
            ask(record, leaf, blocks, forest, fields, n_words, room, n_active)
            n_active += 1
    n_active = _drop_full(n_active, n_words, asked.stop_at, found.sizes, room)
    n_active = _visit(leaf, forest, blocks, fields, asked, found, room, n_active)
    node = leaf
    while n_active > 0 and forest.nodes[node, PARENT] >= 0:
        parent = forest.nodes[node, PARENT]
        for c in range(forest.nodes[parent, CHILDREN]):
            child = forest.nodes[parent, CHILD] + c
            if child != node:
                n_active = _visit(child, forest, blocks, fields, asked, found, room, n_active)
        node = parent


@inner
def _drop_full(n_active, n_words, stop_at, sizes, room):  # type: ignore[no-untyped-def]
    """Let go of those who have enough; say what the others accept together."""
    outer, inner = room.outer, room.inner
    for w in range(n_words):
        outer[LEAF, w] = 0
        inner[LEAF, w] = ~np.uint64(0)
    kept = 0
    for q in range(n_active):
        if sizes[room.active[q]] >= stop_at:
            continue
        room.active[kept] = room.active[q]
        for w in range(n_words):
            outer[kept, w] = outer[q, w]
            inner[kept, w] = inner[q, w]
            outer[LEAF, w] |= outer[q, w]
            inner[LEAF, w] &= inner[q, w]
        kept += 1
    return kept


@inner
def _visit(top, forest, blocks, fields, asked, found, room, n_active):  # type: ignore[no-untyped-def]
    """Let the group meet a branch; return how many are still asking."""
    nodes, node_word, node_words = forest.nodes, forest.node_word, forest.node_words
    b = nodes[top, BLOCK]
    n_words = node_word[top + 1] - node_word[top]
    lows, last_lows = forest.lows, forest.last_lows[b]
    outer, inner, folds = room.outer, room.inner, fields.folds
    by_words = fields.exact and asked.columns.shape[1] == 0
    node = top
    while node >= 0 and n_active > 0:
        at = node_word[node]
        lies = relation(node_words, at, n_words, outer, inner, LEAF, folds, lows, last_lows)
        if lies == MIXED and nodes[node, CHILDREN] > 0:
            node = nodes[node, CHILD]
            continue
        if lies == INSIDE:
            _add_all(node, asked, found, room, n_active)
        elif lies == MIXED:
            if by_words:
                weigh_leaf(node, forest, blocks, fields, asked, found, room, n_active)
            else:
                add_leaf(node, forest, blocks, fields, asked, found, room, n_active)
        if lies != APART and _any_full(n_active, asked.stop_at, found.sizes, room.active):
            n_active = _drop_full(n_active, n_words, asked.stop_at, found.sizes, room)
        node = next_branch(node, top, nodes)
    return n_active


@inner
def _any_full(n_active, stop_at, sizes, active):  # type: ignore[no-untyped-def]
    full = 0
    for q in range(n_active):
        full += sizes[active[q]] >= stop_at
    return full > 0


@inner
def _add_all(node, asked, found, room, n_active):  # type: ignore[no-untyped-def]
    for q in range(n_active):
        add_branch(node, room.active[q], asked, found)
