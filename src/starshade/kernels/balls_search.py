"""Balls through the trees of `balls_tree`: sizes, sums, members.

Records ask leaf by leaf. The group asks its own leaf first, then what hangs beside its branch,
from near to far, and passes over every branch on which some item sets all of the group apart. A
branch whose records are all near all of the group is added as a whole. In a leaf each record is
compared by its words; where fields are too narrow for the codes (`Fields.exact`), what the words
let through is compared code by code. Leaves write to places of their own, so threads do not meet.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from starshade.kernels.balls_fields import APART, INSIDE, MIXED, accept, relation
from starshade.kernels.balls_tree import (
    BLOCK,
    CHILD,
    CHILDREN,
    FIRST,
    LAST,
    LEAF,
    PARENT,
)

__all__ = ["Asked", "Found", "search_balls", "search_members"]


class Asked(NamedTuple):
    """What is asked of the forest; records in the order of the leaves.

    Attributes
    ----------
    wanted : ndarray of bool, shape (n,)
        Whose balls.
    stop_at : int
        A ball that has reached this need not be finished.
    weights : ndarray of int64, shape (n,)
        How many each record stands for.
    node_weights : ndarray of int64, shape (n_nodes,)
    columns : ndarray of int64, uint64 or float64, shape (n, q)
        What to sum; q may be 0.
    node_columns : ndarray, shape (n_nodes, q)
    """

    wanted: NDArray[np.bool_]
    stop_at: int
    weights: NDArray[np.int64]
    node_weights: NDArray[np.int64]
    columns: NDArray[Any]
    node_columns: NDArray[Any]


class Found(NamedTuple):
    """Sizes and sums of the balls of wanted records, shapes (n,) and (n, q)."""

    sizes: NDArray[np.int64]
    sums: NDArray[Any]


class Room(NamedTuple):
    """Working memory for one leaf's records as queries; the last row is all of them together."""

    active: NDArray[np.int64]
    outer: NDArray[np.uint64]
    inner: NDArray[np.uint64]
    bad: NDArray[np.uint64]
    hits: NDArray[np.int64]


@njit(cache=True, nogil=True)
def search_balls(leaves, forest, blocks, fields, asked, found):  # type: ignore[no-untyped-def]
    """Search the balls of the wanted records of these leaves; adds to `found`."""
    widest = np.int64(1)
    for leaf in leaves:
        widest = max(widest, forest.node_word[leaf + 1] - forest.node_word[leaf])
    room = _make_room(widest)
    for leaf in leaves:
        _search_leaf(leaf, forest, blocks, fields, asked, found, room)


@njit(cache=True, nogil=True)
def _make_room(widest):  # type: ignore[no-untyped-def]
    return Room(
        np.empty(LEAF, np.int64),
        np.empty((LEAF + 1, widest), np.uint64),
        np.empty((LEAF + 1, widest), np.uint64),
        np.empty(LEAF, np.uint64),
        np.empty(LEAF, np.int64),
    )


@njit(cache=True, nogil=True)
def _search_leaf(leaf, forest, blocks, fields, asked, found, room):  # type: ignore[no-untyped-def]
    n_words = forest.node_word[leaf + 1] - forest.node_word[leaf]
    n_active = 0
    for record in range(forest.nodes[leaf, FIRST], forest.nodes[leaf, LAST]):
        if asked.wanted[record]:
            room.active[n_active] = record
            _ask(record, leaf, blocks, forest, fields, n_words, room, n_active)
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


@njit(cache=True, nogil=True)
def _ask(record, leaf, blocks, forest, fields, n_words, room, q):  # type: ignore[no-untyped-def]
    """Write what one record accepts."""
    b = forest.nodes[leaf, BLOCK]
    start = blocks.cell[b] + (record - blocks.record[b]) * blocks.items[b]
    row = blocks.cells[start : start + blocks.items[b]]
    accept(fields.outer, row, fields, room.outer[q, :n_words])
    accept(fields.inner, row, fields, room.inner[q, :n_words])


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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
                _weigh_leaf(node, forest, blocks, fields, asked, found, room, n_active)
            else:
                _add_leaf(node, forest, blocks, fields, asked, found, room, n_active)
        if lies != APART and _any_full(n_active, asked.stop_at, found.sizes, room.active):
            n_active = _drop_full(n_active, n_words, asked.stop_at, found.sizes, room)
        node = _next(node, top, nodes)
    return n_active


@njit(cache=True, nogil=True)
def _next(node, top, nodes):  # type: ignore[no-untyped-def]
    """Return the branch that follows, not below this one; -1: none is left below the top."""
    while node != top:
        parent = nodes[node, PARENT]
        if node + 1 < nodes[parent, CHILD] + nodes[parent, CHILDREN]:
            return node + 1
        node = parent
    return -1


@njit(cache=True, nogil=True)
def _any_full(n_active, stop_at, sizes, active):  # type: ignore[no-untyped-def]
    for q in range(n_active):
        if sizes[active[q]] >= stop_at:
            return True
    return False


@njit(cache=True, nogil=True)
def _add_all(node, asked, found, room, n_active):  # type: ignore[no-untyped-def]
    """Add a whole branch to each of the group."""
    for q in range(n_active):
        _add_node(node, room.active[q], asked, found)


@njit(cache=True, nogil=True)
def _add_node(node, record, asked, found):  # type: ignore[no-untyped-def]
    found.sizes[record] += asked.node_weights[node]
    for s in range(asked.columns.shape[1]):
        found.sums[record, s] += asked.node_columns[node, s]


@njit(cache=True, nogil=True)
def _weigh_leaf(node, forest, blocks, fields, asked, found, room, n_active):  # type: ignore[no-untyped-def]
    """Add the weights of the records of a leaf that are near by their words."""
    b, at = forest.nodes[node, BLOCK], forest.node_word[node]
    n_words = forest.node_word[node + 1] - at
    first, last = forest.nodes[node, FIRST], forest.nodes[node, LAST]
    stride = blocks.record[b + 1] - blocks.record[b]
    start = forest.block_word[b] + first - blocks.record[b]
    n = last - first
    words, node_words, weights = forest.words, forest.node_words, asked.weights[first:last]
    one = words[start : start + n]
    two = words[start + stride : start + stride + n] if n_words > 1 else one
    outer, inner, sizes, active = room.outer, room.inner, found.sizes, room.active
    lows, last_lows, folds = forest.lows, forest.last_lows[b], fields.folds
    for q in range(n_active):
        lies = relation(node_words, at, n_words, outer, inner, q, folds, lows, last_lows)
        if lies == INSIDE:
            sizes[active[q]] += asked.node_weights[node]
        elif lies == MIXED:
            if n_words <= 2:
                total = _weigh_two(one, two, ~outer[q, 0], ~outer[q, n_words - 1], weights)
                sizes[active[q]] += total
            elif _mark(words, start, stride, n, outer, q, n_words, room.bad):
                for r in range(n):
                    sizes[active[q]] += weights[r] if room.bad[r] == 0 else 0


@njit(cache=True, nogil=True)
def _weigh_two(one, two, refuse_one, refuse_two, weights):  # type: ignore[no-untyped-def]
    total = np.int64(0)
    for r in range(len(weights)):
        total += weights[r] if (one[r] & refuse_one) | (two[r] & refuse_two) == 0 else 0
    return total


@njit(cache=True, nogil=True)
def _add_leaf(node, forest, blocks, fields, asked, found, room, n_active):  # type: ignore[no-untyped-def]
    """Add the records of a leaf that are near, one by one."""
    b, at = forest.nodes[node, BLOCK], forest.node_word[node]
    n_words = forest.node_word[node + 1] - at
    for q in range(n_active):
        record = room.active[q]
        lies = relation(
            forest.node_words, at, n_words, room.outer, room.inner, q,
            fields.folds, forest.lows, forest.last_lows[b],
        )  # fmt: skip
        if lies == INSIDE:
            _add_node(node, record, asked, found)
        elif lies == MIXED:
            for h in range(_list_near(node, record, q, n_words, forest, blocks, fields, room)):
                near = room.hits[h]
                found.sizes[record] += asked.weights[near]
                for s in range(asked.columns.shape[1]):
                    found.sums[record, s] += asked.columns[near, s]


@njit(cache=True, nogil=True)
def _mark(words, start, stride, n, outer, q, n_words, bad):  # type: ignore[no-untyped-def]
    """Mark the records of a leaf that stand where they are refused; tell if any does not."""
    bad[:n] = 0
    for w in range(0, n_words, 2):
        at, other = start + w * stride, start + min(w + 1, n_words - 1) * stride
        good = _mark_two(
            words[at : at + n], words[other : other + n],
            ~outer[q, w], ~outer[q, min(w + 1, n_words - 1)], bad[:n],
        )  # fmt: skip
        if good == 0:
            return False
    return True


@njit(cache=True, nogil=True)
def _mark_two(one, two, refuse_one, refuse_two, bad):  # type: ignore[no-untyped-def]
    """Mark by two words; return how many are not marked."""
    good = 0
    for r in range(len(bad)):
        bad[r] |= (one[r] & refuse_one) | (two[r] & refuse_two)
        good += bad[r] == 0
    return good


@njit(cache=True, nogil=True)
def _list_near(node, record, q, n_words, forest, blocks, fields, room):  # type: ignore[no-untyped-def]
    """List the records of a leaf that are near; return how many."""
    first, last = forest.nodes[node, FIRST], forest.nodes[node, LAST]
    b = forest.nodes[node, BLOCK]
    stride = blocks.record[b + 1] - blocks.record[b]
    start = forest.block_word[b] + first - blocks.record[b]
    n = last - first
    if not _mark(forest.words, start, stride, n, room.outer, q, n_words, room.bad):
        return 0
    found = 0
    for r in range(n):
        if room.bad[r] == 0 and (fields.exact or _is_near(record, first + r, b, blocks, fields)):
            room.hits[found] = first + r
            found += 1
    return found


@njit(cache=True, nogil=True)
def _is_near(record, other, b, blocks, fields):  # type: ignore[no-untyped-def]
    """Compare two records of a block code by code."""
    m = blocks.items[b]
    p = blocks.cell[b] + (record - blocks.record[b]) * m
    q = blocks.cell[b] + (other - blocks.record[b]) * m
    for j in range(m):
        own, code = blocks.cells[p + j], blocks.cells[q + j]
        if code == 0:
            if not fields.null[own]:
                return False
        elif code < fields.low[own] or code > fields.high[own]:
            return False
    return True


@njit(cache=True, nogil=True)
def search_members(records, forest, blocks, fields, people, indptr, members):  # type: ignore[no-untyped-def]
    """List who is in the balls of records; `people` are each record's own, as CSR.

    `members[indptr[i]:indptr[i + 1]]` takes exactly those of ``records[i]``, in no order.
    """
    people_ptr, people_rows = people
    widest = np.int64(1)
    for b in range(len(blocks.items)):
        per = (blocks.items[b] + fields.per_word - 1) // fields.per_word
        widest = max(widest, per)
    room = _make_room(widest)
    b = 0
    for i in range(len(records)):
        record = records[i]
        b = np.searchsorted(blocks.record, record, side="right") - 1
        at = indptr[i]
        top = forest.root[b]
        if top < 0:
            at = _write(record, record + 1, people_ptr, people_rows, members, at)
            continue
        n_words = forest.node_word[top + 1] - forest.node_word[top]
        _ask(record, top, blocks, forest, fields, n_words, room, 0)
        node = top
        while node >= 0:
            lies = relation(
                forest.node_words, forest.node_word[node], n_words, room.outer, room.inner, 0,
                fields.folds, forest.lows, forest.last_lows[b],
            )  # fmt: skip
            if lies == INSIDE:
                first, last = forest.nodes[node, FIRST], forest.nodes[node, LAST]
                at = _write(first, last, people_ptr, people_rows, members, at)
            elif lies != APART:
                if forest.nodes[node, CHILDREN] > 0:
                    node = forest.nodes[node, CHILD]
                    continue
                n = _list_near(node, record, 0, n_words, forest, blocks, fields, room)
                for h in range(n):
                    near = room.hits[h]
                    at = _write(near, near + 1, people_ptr, people_rows, members, at)
            node = _next(node, top, forest.nodes)


@njit(cache=True, nogil=True)
def _write(first, last, people_ptr, people_rows, members, at):  # type: ignore[no-untyped-def]
    for p in range(people_ptr[first], people_ptr[last]):
        members[at] = people_rows[p]
        at += 1
    return at
