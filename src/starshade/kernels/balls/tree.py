"""A tree over records: what lies together is near, so whole branches can be passed over.

Records come in *blocks* (records of different blocks are never near). In each block a node splits
its records by the item that separates most, the one on which the fewest pairs of its records are
near, into one child per code (few records of neighbouring codes share a child). A split by halves
would separate nothing at once: half a scale is near the other half.

Nodes are numbered from the root downwards, children after their parents and side by side, so a
single pass backwards sums up what lies below.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from starshade.kernels.arrays import Array, Ints, Words, copy_to, inner
from starshade.kernels.balls.fields import Fields, low_bits
from starshade.kernels.warm import announce

LEAF = 128
_SAMPLE = 512  # records looked at to choose an item
FIRST, LAST, PARENT, CHILD, CHILDREN, BLOCK = range(6)  # columns of `nodes`


class Blocks(NamedTuple):
    """Records that rated the same items, or all records with their nulls.

    `record`, `cell` (n_blocks + 1,): where each block begins among the records, and its table of
    codes in `cells`. `items` (n_blocks,): columns of each block's table. `cells` (uint8 or uint32):
    the tables one after the other, row by row; 0 is null.
    """

    record: Ints
    cell: Ints
    items: Ints
    cells: Array


class Forest(NamedTuple):
    """Trees over blocks, the records in the order of the leaves.

    `nodes` (n_nodes, 6): first record, last record + 1, parent (-1), first child, children (0: a
    leaf), block. A block of one record has no node. `node_word`, `block_word` (n + 1,): where the
    words of a node and of a block begin. `node_words`, `words`: what a node's records stand on
    together; and each record, word by word: the first words of a block's records, then the second
    ones, and so on. `last_lows` (n_blocks,): see `fields.relation`.
    """

    nodes: Ints
    root: Ints
    node_word: Ints
    node_words: Words
    block_word: Ints
    words: Words
    lows: np.uint64
    last_lows: Words


def grow(blocks: Blocks, fields: Fields) -> tuple[Forest, Blocks, Ints]:
    """Grow a tree over each block; return which record now stands at each place, too."""
    announce("the search for proximate records", _grow)
    nodes, root, place = _grow(blocks, fields, LEAF)
    sorted_cells = np.empty_like(blocks.cells)
    _take(blocks, place, sorted_cells)
    blocks = blocks._replace(cells=sorted_cells)
    per_block = -(-blocks.items // fields.per_word)
    block_word = np.concatenate([[0], np.cumsum(per_block * np.diff(blocks.record))])
    node_word = np.concatenate([[0], np.cumsum(per_block[nodes[:, BLOCK]])])
    forest = Forest(
        nodes=nodes,
        root=root,
        node_word=node_word.astype(np.int64),
        node_words=np.zeros(node_word[-1], np.uint64),
        block_word=block_word.astype(np.int64),
        words=np.zeros(block_word[-1], np.uint64),
        lows=low_bits(fields, np.array([fields.per_word]))[0],
        last_lows=low_bits(fields, blocks.items),
    )
    _stand(blocks, fields, forest)
    return forest, blocks, place


@njit(cache=True, nogil=True)
def _grow(blocks, fields, leaf):  # type: ignore[no-untyped-def]
    place = np.arange(blocks.record[-1])
    root = np.full(len(blocks.items), -1, np.int64)
    nodes = np.empty((64, 6), np.int64)
    n_nodes = 0
    spare = np.empty(len(place), np.int64)
    for b in range(len(blocks.items)):
        first, last = blocks.record[b], blocks.record[b + 1]
        if last - first < 2:
            continue
        m = blocks.items[b]
        table = blocks.cells[blocks.cell[b] : blocks.cell[b + 1]].reshape(last - first, m)
        node = root[b] = n_nodes
        nodes, n_nodes = _add_node(nodes, n_nodes, first, last, -1, b)
        while node < n_nodes:
            low, high = nodes[node, FIRST], nodes[node, LAST]
            if high - low > leaf:
                rows = place[low:high]
                item = _choose_item(table, rows, first, fields)
                ends = _split(table, rows, first, item, fields, leaf, spare[low:high])
                nodes[node, CHILD] = n_nodes
                nodes[node, CHILDREN] = len(ends)
                start = 0
                for end in ends:
                    nodes, n_nodes = _add_node(nodes, n_nodes, low + start, low + end, node, b)
                    start = end
            node += 1
    return nodes[:n_nodes].copy(), root, place


@inner
def _add_node(nodes, n_nodes, first, last, parent, block):  # type: ignore[no-untyped-def]
    if n_nodes == len(nodes):
        more = np.empty((2 * n_nodes, 6), np.int64)
        for i in range(n_nodes):
            copy_to(more[i], nodes[i])
        nodes = more
    nodes[n_nodes, FIRST] = first
    nodes[n_nodes, LAST] = last
    nodes[n_nodes, PARENT] = parent
    nodes[n_nodes, CHILD] = -1
    nodes[n_nodes, CHILDREN] = 0
    nodes[n_nodes, BLOCK] = block
    return nodes, n_nodes + 1


@inner
def _choose_item(table, rows, first, fields):  # type: ignore[no-untyped-def]
    """Return the item on which the fewest pairs of a sample are near; -1: on none do they differ.

    A sample that sees no difference is no proof: then all rows are looked at.
    """
    step = max(1, len(rows) // _SAMPLE)
    best = _least_near(table, rows, first, step, fields)
    if best < 0 and step > 1:
        best = _least_near(table, rows, first, 1, fields)
    return best


@inner
def _least_near(table, rows, first, step, fields):  # type: ignore[no-untyped-def]
    n_items = table.shape[1]
    counts = np.zeros((n_items, fields.width), np.int64)
    for i in range(0, len(rows), step):
        row = table[rows[i] - first]
        for j in range(n_items):
            counts[j, fields.bucket[row[j]]] += 1
    best, least = -1, np.int64(0)
    for j in range(n_items):
        near, kinds = np.int64(0), 0
        for a in range(fields.width):
            if counts[j, a] == 0:
                continue
            kinds += 1
            for b in range(fields.width):
                if (fields.touch[a] >> np.uint64(b)) & np.uint64(1):
                    near += counts[j, a] * counts[j, b]
        if kinds > 1 and (best < 0 or near < least):
            best, least = j, near
    return best


@inner
def _split(table, rows, first, item, fields, leaf, spare):  # type: ignore[no-untyped-def]
    """Sort rows by their code of an item, in place; return where the children end."""
    if item < 0:  # only codes of one bucket are left: any cut is as good
        n = (len(rows) + leaf - 1) // leaf
        return np.minimum(np.arange(1, n + 1) * leaf, len(rows))
    counts = np.zeros(fields.width + 1, np.int64)
    for i in range(len(rows)):
        counts[fields.bucket[table[rows[i] - first, item]] + np.uint64(1)] += 1
    ends = np.empty(fields.width, np.int64)
    n, start = 0, 0
    for a in range(fields.width):
        size = counts[a + 1]
        counts[a + 1] += counts[a]
        if size == 0:
            continue
        if n > 0 and counts[a + 1] - start <= leaf:
            n -= 1  # shares the child of the code before
        else:
            start = counts[a]
        ends[n] = counts[a + 1]
        n += 1
    for i in range(len(rows)):
        a = fields.bucket[table[rows[i] - first, item]]
        spare[counts[a]] = rows[i]
        counts[a] += 1
    copy_to(rows, spare)
    return ends[:n].copy()


@njit(cache=True, nogil=True)
def _take(blocks, place, out):  # type: ignore[no-untyped-def]
    for b in range(len(blocks.items)):
        m, start, first = blocks.items[b], blocks.cell[b], blocks.record[b]
        for p in range(first, blocks.record[b + 1]):
            source, target = start + (place[p] - first) * m, start + (p - first) * m
            for j in range(m):
                out[target + j] = blocks.cells[source + j]


@njit(cache=True, nogil=True)
def _stand(blocks, fields, forest):  # type: ignore[no-untyped-def]
    """Set the bits that records stand on, and those of nodes."""
    for b in range(len(blocks.items)):
        m, cell, start = blocks.items[b], blocks.cell[b], forest.block_word[b]
        n = blocks.record[b + 1] - blocks.record[b]
        for r in range(n):
            for j in range(m):
                bit = np.uint64((j % fields.per_word) * fields.width)
                bit += fields.bucket[blocks.cells[cell + r * m + j]]
                forest.words[start + j // fields.per_word * n + r] |= np.uint64(1) << bit
    for node in range(len(forest.nodes) - 1, -1, -1):
        b = forest.nodes[node, BLOCK]
        low, high = forest.nodes[node, FIRST], forest.nodes[node, LAST]
        n = blocks.record[b + 1] - blocks.record[b]
        start = forest.block_word[b] + low - blocks.record[b]
        own = forest.node_words[forest.node_word[node] : forest.node_word[node + 1]]
        if forest.nodes[node, CHILDREN] == 0:
            for w in range(len(own)):
                for r in range(high - low):
                    own[w] |= forest.words[start + w * n + r]
        for c in range(forest.nodes[node, CHILDREN]):
            child = forest.node_word[forest.nodes[node, CHILD] + c]
            for w in range(len(own)):
                own[w] |= forest.node_words[child + w]


@inner
def next_branch(node, top, nodes):  # type: ignore[no-untyped-def]
    """Return the branch that follows, not below this one; -1: none is left below the top."""
    while node != top:
        parent = nodes[node, PARENT]
        if node + 1 < nodes[parent, CHILD] + nodes[parent, CHILDREN]:
            return node + 1
        node = parent
    return -1
