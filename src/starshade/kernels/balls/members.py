"""Who is in a ball, through the trees of `balls.tree`."""

from __future__ import annotations

import numpy as np
from numba import njit

from starshade.kernels.balls.fields import APART, INSIDE, relation
from starshade.kernels.balls.leaf import ask, list_near, make_room
from starshade.kernels.balls.tree import CHILD, CHILDREN, FIRST, LAST, next_branch
from starshade.kernels.inner import inner

__all__ = ["search_members"]


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
