"""Queries meet the records of a leaf.

A query's refusals are held against the leaf's words, word by word over all of its records, which
the processor does several records at a time. The functions that do most of the work are handed
bare arrays: views of arrays and tuples of them would be counted on every call.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from starshade.kernels.arrays import Array, Bools, Ints, Words, inner
from starshade.kernels.balls.fields import INSIDE, MIXED, accept, relation
from starshade.kernels.balls.tree import BLOCK, FIRST, LAST, LEAF


class Asked(NamedTuple):
    """What is asked of the forest; records, and what belongs to them, in the order of leaves."""

    wanted: Bools
    stop_at: int
    weights: Ints
    node_weights: Ints
    columns: Array
    node_columns: Array


class Found(NamedTuple):
    """Sizes and sums of the balls of wanted records, shapes (n,) and (n, q)."""

    sizes: Ints
    sums: Array


class Room(NamedTuple):
    """Working memory for one leaf's records as queries; the last row is all of them together."""

    active: Ints
    outer: Words
    inner: Words
    bad: Words
    hits: Ints


@inner
def make_room(widest):  # type: ignore[no-untyped-def]
    """Return room for queries of at most so many words."""
    return Room(
        np.empty(LEAF, np.int64),
        np.empty((LEAF + 1, widest), np.uint64),
        np.empty((LEAF + 1, widest), np.uint64),
        np.empty(LEAF, np.uint64),
        np.empty(LEAF, np.int64),
    )


@inner
def ask(record, leaf, blocks, forest, fields, n_words, room, q):  # type: ignore[no-untyped-def]
    """Write what one record accepts."""
    b = forest.nodes[leaf, BLOCK]
    start = blocks.cell[b] + (record - blocks.record[b]) * blocks.items[b]
    row = blocks.cells[start : start + blocks.items[b]]
    accept(fields.outer, row, fields, room.outer[q, :n_words])
    accept(fields.inner, row, fields, room.inner[q, :n_words])


@inner
def add_branch(node, record, asked, found):  # type: ignore[no-untyped-def]
    """Add all records below a node to one record's ball."""
    found.sizes[record] += asked.node_weights[node]
    for s in range(asked.columns.shape[1]):
        found.sums[record, s] += asked.node_columns[node, s]


@inner
def weigh_leaf(node, forest, blocks, fields, asked, found, room, n_active):  # type: ignore[no-untyped-def]
    """Add the weights of the records of a leaf that are near by their words."""
    b, at = forest.nodes[node, BLOCK], forest.node_word[node]
    n_words = forest.node_word[node + 1] - at
    first, last = forest.nodes[node, FIRST], forest.nodes[node, LAST]
    stride = blocks.record[b + 1] - blocks.record[b]
    start = forest.block_word[b] + first - blocks.record[b]
    n = last - first
    words, node_words, weights = forest.words, forest.node_words, asked.weights[first:last]
    one, two, three, four = _first_words(words, start, stride, n, n_words)
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
            elif n_words <= 4:
                total = _weigh_four(
                    one, two, three, four,
                    ~outer[q, 0], ~outer[q, 1], ~outer[q, 2], ~outer[q, n_words - 1], weights,
                )  # fmt: skip
                sizes[active[q]] += total
            elif _mark(words, start, stride, n, outer, q, n_words, room.bad):
                for r in range(n):
                    sizes[active[q]] += weights[r] if room.bad[r] == 0 else 0


@inner
def _first_words(words, start, stride, n, n_words):  # type: ignore[no-untyped-def]
    """Return a leaf's first four words; where there are fewer, the last stands in."""
    second, third, fourth = min(1, n_words - 1), min(2, n_words - 1), min(3, n_words - 1)
    return (
        words[start : start + n],
        words[start + second * stride : start + second * stride + n],
        words[start + third * stride : start + third * stride + n],
        words[start + fourth * stride : start + fourth * stride + n],
    )


@inner
def _weigh_two(one, two, refuse_one, refuse_two, weights):  # type: ignore[no-untyped-def]
    total = np.int64(0)
    for r in range(len(weights)):
        total += weights[r] if (one[r] & refuse_one) | (two[r] & refuse_two) == 0 else 0
    return total


@inner
def _weigh_four(one, two, three, four, not_one, not_two, not_three, not_four, weights):  # type: ignore[no-untyped-def]
    total = np.int64(0)
    for r in range(len(weights)):
        bad = (one[r] & not_one) | (two[r] & not_two) | (three[r] & not_three)
        total += weights[r] if bad | (four[r] & not_four) == 0 else 0
    return total


@inner
def add_leaf(node, forest, blocks, fields, asked, found, room, n_active):  # type: ignore[no-untyped-def]
    """Add the records of a leaf that are near, one by one."""
    b, at = forest.nodes[node, BLOCK], forest.node_word[node]
    n_words = forest.node_word[node + 1] - at
    first, last = forest.nodes[node, FIRST], forest.nodes[node, LAST]
    stride = blocks.record[b + 1] - blocks.record[b]
    start = forest.block_word[b] + first - blocks.record[b]
    n = last - first
    words, node_words, weights = forest.words, forest.node_words, asked.weights
    one, two, three, four = _first_words(words, start, stride, n, n_words)
    outer, inner, sizes, sums = room.outer, room.inner, found.sizes, found.sums
    lows, last_lows, folds = forest.lows, forest.last_lows[b], fields.folds
    columns, bad, exact = asked.columns, room.bad[:n], fields.exact
    for q in range(n_active):
        record = room.active[q]
        lies = relation(node_words, at, n_words, outer, inner, q, folds, lows, last_lows)
        if lies == INSIDE:
            add_branch(node, record, asked, found)
        if lies != MIXED:
            continue
        if n_words <= 4:
            any_good = _mark_four(
                one, two, three, four, ~outer[q, 0], ~outer[q, min(1, n_words - 1)],
                ~outer[q, min(2, n_words - 1)], ~outer[q, n_words - 1], bad,
            )  # fmt: skip
        else:
            any_good = _mark(words, start, stride, n, outer, q, n_words, bad)
        if not any_good:
            continue
        for r in range(n):
            near = first + r
            if bad[r] == 0 and (exact or _is_near(record, near, b, blocks, fields)):
                sizes[record] += weights[near]
                for s in range(columns.shape[1]):
                    sums[record, s] += columns[near, s]


@inner
def _mark_four(one, two, three, four, not_one, not_two, not_three, not_four, bad):  # type: ignore[no-untyped-def]
    """Mark the records that stand where they are refused; tell if any does not."""
    good = 0
    for r in range(len(bad)):
        found = (one[r] & not_one) | (two[r] & not_two) | (three[r] & not_three)
        bad[r] = found | (four[r] & not_four)
        good += bad[r] == 0
    return good > 0


@inner
def _mark(words, start, stride, n, outer, q, n_words, bad):  # type: ignore[no-untyped-def]
    """Do what `_mark_four` does by any number of words, two at a time."""
    bad[:n] = 0
    for w in range(0, n_words, 2):
        other = min(w + 1, n_words - 1)
        one = words[start + w * stride : start + w * stride + n]
        two = words[start + other * stride : start + other * stride + n]
        good = _mark_two(one, two, ~outer[q, w], ~outer[q, other], bad)
        if good == 0:
            return False
    return True


@inner
def _mark_two(one, two, refuse_one, refuse_two, bad):  # type: ignore[no-untyped-def]
    """Mark by two words; return how many are not marked."""
    good = 0
    for r in range(len(one)):
        bad[r] |= (one[r] & refuse_one) | (two[r] & refuse_two)
        good += bad[r] == 0
    return good


@inner
def list_near(node, record, n_words, forest, blocks, fields, room):  # type: ignore[no-untyped-def]
    """List the records of a leaf that are near the only one who asks; return how many."""
    first, last = forest.nodes[node, FIRST], forest.nodes[node, LAST]
    b = forest.nodes[node, BLOCK]
    stride = blocks.record[b + 1] - blocks.record[b]
    start = forest.block_word[b] + first - blocks.record[b]
    n = last - first
    if not _mark(forest.words, start, stride, n, room.outer, 0, n_words, room.bad):
        return 0
    found = 0
    for r in range(n):
        if room.bad[r] == 0 and (fields.exact or _is_near(record, first + r, b, blocks, fields)):
            room.hits[found] = first + r
            found += 1
    return found


@inner
def _is_near(record, other, b, blocks, fields):  # type: ignore[no-untyped-def]
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
