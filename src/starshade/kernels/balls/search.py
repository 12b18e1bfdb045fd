"""Sizes of balls, and sums over them, through the trees of `balls.tree`.

Records ask leaf by leaf. The group asks its own leaf first, then what hangs beside its branch,
from near to far, and passes over every branch on which some item sets all of the group apart. A
branch whose records are all near all of the group is added as a whole. In a leaf each record is
compared by its words; where fields are too narrow for the codes (`Fields.exact`), what the words
let through is compared code by code. Leaves write to places of their own, so threads do not meet.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from starshade.kernels.arrays import Array, Bools, Int32s, Ints, copy_to, inner
from starshade.kernels.balls.fields import APART, INSIDE, MIXED, relation
from starshade.kernels.balls.leaf import add_branch, add_leaf, ask, list_near, make_room, weigh_leaf
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
from starshade.kernels.warm import announce


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
    room = make_room(widest)
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
        ask(record, top, blocks, forest, fields, n_words, room, 0)
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
                n = list_near(node, record, n_words, forest, blocks, fields, room)
                for h in range(n):
                    near = room.hits[h]
                    at = _write(near, near + 1, people_ptr, people_rows, members, at)
            node = next_branch(node, top, forest.nodes)


@inner
def _write(first, last, people_ptr, people_rows, members, at):  # type: ignore[no-untyped-def]
    for p in range(people_ptr[first], people_ptr[last]):
        members[at] = people_rows[p]
        at += 1
    return at


class Nearness(NamedTuple):
    """The rule, code by code (`ratings.proximity.rule.Rule`)."""

    low: Int32s
    high: Int32s
    null: Bools


class Table(NamedTuple):
    """Every record's codes, 0 for null, and what slicing needs to find its first planes.

    `axes` (n_items, n): the same, axis by axis; no rows where slicing is not asked for. `order`
    (n,): records along the first axis. `starts` (n_codes + 1,): where each code begins in `order`.
    """

    codes: Array
    axes: Array
    order: Ints
    starts: Ints


def table_of(codes: Array, n_codes: int, *, slicing: bool) -> Table:
    """Make a table ready."""
    announce("the search for proximate records", scan_balls)
    if not slicing:
        none = np.empty(0, np.int64)
        return Table(codes, np.empty((0, len(codes)), codes.dtype), none, none)
    first = codes[:, 0]
    starts = np.concatenate([[0], np.cumsum(np.bincount(first, minlength=n_codes))])
    axes = np.ascontiguousarray(codes.T)
    return Table(codes, axes, np.argsort(first, kind="stable"), starts.astype(np.int64))


@njit(cache=True, nogil=True)
def scan_balls(rows, table, rule, columns, sizes, sums):  # type: ignore[no-untyped-def]
    """Count the balls of these rows and sum columns over them; columns may be none."""
    candidates = np.empty(len(table.codes), np.int64)
    for i in range(len(rows)):
        if len(table.axes) > 0:
            n = _slice(rows[i], table, rule, candidates)
        else:
            n = _compare(rows[i], table.codes, rule, candidates)
        sizes[i] = n
        for c in range(n):
            for s in range(columns.shape[1]):
                sums[i, s] += columns[candidates[c], s]


@inner
def _compare(row, codes, rule, candidates):  # type: ignore[no-untyped-def]
    n = 0
    for r in range(len(codes)):
        near = True
        for j in range(codes.shape[1]):
            own, code = codes[row, j], codes[r, j]
            near = rule.null[own] if code == 0 else rule.low[own] <= code <= rule.high[own]
            if not near:
                break
        if near:
            candidates[n] = r
            n += 1
    return n


@inner
def _slice(row, table, rule, candidates):  # type: ignore[no-untyped-def]
    own = table.axes[0, row]
    n = 0
    if rule.null[own]:
        n = _put(table.order[table.starts[0] : table.starts[1]], candidates, n)
    low, high = np.int64(rule.low[own]), np.int64(rule.high[own])
    if low <= high:
        n = _put(table.order[table.starts[low] : table.starts[high + 1]], candidates, n)
    for j in range(1, len(table.axes)):
        axis = table.axes[j]
        own = axis[row]
        low, high, null = np.int64(rule.low[own]), np.int64(rule.high[own]), rule.null[own]
        kept = 0
        for c in range(n):
            code = axis[candidates[c]]
            candidates[kept] = candidates[c]
            kept += null if code == 0 else low <= code <= high
        n = kept
        if n == 0:
            break
    return n


@inner
def _put(rows, candidates, n):  # type: ignore[no-untyped-def]
    copy_to(candidates[n:], rows)
    return n + len(rows)
