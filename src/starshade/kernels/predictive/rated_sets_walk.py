"""Walk the sets of items that somebody rated together.

The sets that begin with an item (their least) are found from the rows of its raters: every item
that stands behind it in such a row makes a pair, every one behind that in the rows that have the
pair makes a triple, and so on. So each set is met once, nothing is kept of it, and what it costs
is Σ over users of the number of their sets. Whom a set is shown by is a row of bits per item: the
groups that show all of them are the ones in all rows, and counting stops at `least`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from starshade.kernels.arrays import Int32s, Ints, Words
from starshade.kernels.bits import ones
from starshade.kernels.csr import transpose
from starshade.kernels.inner import inner
from starshade.kernels.readonly import fixed
from starshade.kernels.search import place_of

__all__ = ["RatedTable", "Room", "advance", "begin", "open_set", "rated_table", "room_for"]


class RatedTable(NamedTuple):
    """Who rated what, and which groups show what.

    indptr, columns : the ratings by user, columns ascending in a row
    item_ptr, raters, place : the same by item; `place` is where a rating stands in `columns`
    bits : uint64, shape (items, words); bit g of an item: group g shows it
    """

    indptr: Ints
    columns: Int32s
    item_ptr: Ints
    raters: Int32s
    place: Ints
    bits: Words


class Room(NamedTuple):
    """Scratch space of one lane; a row for each number of items chosen."""

    users: Ints
    after: Ints
    held: Ints
    touched: Int32s
    n_touched: Ints
    at: Ints
    stamp: Ints
    clock: Ints
    cover: Ints
    cover_of: Ints
    single: Ints
    words: Words
    chosen: Int32s


def rated_table(indptr: Ints, columns: Int32s, bits: Words) -> RatedTable:
    """Put ratings and bits together; `columns` are ascending in a row and below ``len(bits)``."""
    every = np.arange(len(columns), dtype=np.int64)
    item_ptr, raters, place, _ = transpose(indptr, columns, every, None, len(bits))
    return RatedTable(
        fixed(indptr), fixed(columns), fixed(item_ptr), fixed(raters), fixed(place), bits
    )


def room_for(table: RatedTable, most: int) -> Room:
    """Return scratch space for one lane that walks sets of up to `most` items."""
    n_items, words = table.bits.shape
    raters = int(np.diff(table.item_ptr).max(initial=0))
    return Room(
        np.empty((most, raters), np.int64),
        np.empty((most, raters), np.int64),
        np.zeros(most, np.int64),
        np.empty((most, n_items), np.int32),
        np.zeros(most, np.int64),
        np.zeros(most, np.int64),
        np.full((most, n_items), -1, np.int64),
        np.zeros(1, np.int64),
        np.empty((most, n_items), np.int64),
        np.empty(n_items, np.int64),
        np.empty(1, np.int64),
        np.empty((most, words), np.uint64),
        np.empty(most, np.int32),
    )


@inner
def begin(item, most, table, least, room):  # type: ignore[no-untyped-def]
    """Choose the first item; return 0, or -1 where nothing is to stand behind it."""
    n = 0
    for p in range(table.item_ptr[item], table.item_ptr[item + 1]):
        room.users[0, n] = table.raters[p]
        room.after[0, n] = table.place[p] + 1
        n += 1
    room.held[0] = n
    room.chosen[0] = item
    room.words[0] = table.bits[item]
    alone = room.chosen[:1]
    cover_of_each(room.words[0], table.bits, alone, least, room.single)
    return 0 if n > 0 and most > 1 else -1


@inner
def open_set(depth, table, least, room):  # type: ignore[no-untyped-def]
    """List the items that stand behind the chosen ones in a row that has them, and their covers."""
    n = 0
    touched, stamp = room.touched[depth], room.stamp[depth]
    room.clock[0] += 1  # a mark of its own for every set
    mark = room.clock[0]
    columns = table.columns
    for i in range(room.held[depth]):
        for p in range(room.after[depth, i], table.indptr[room.users[depth, i] + 1]):
            item = columns[p]
            if stamp[item] != mark:
                stamp[item] = mark
                touched[n] = item
                n += 1
    room.n_touched[depth] = n
    room.at[depth] = 0
    cover_of_each(room.words[depth], table.bits, touched[:n], least, room.cover[depth])


@inner
def cover_of_each(words, bits, items, least, out):  # type: ignore[no-untyped-def]
    """Count, for each item, the groups that show it and all behind `words`, up to `least`."""
    for i in range(len(items)):
        row = bits[items[i]]
        total = np.int64(0)
        for w in range(len(words)):
            total += ones(words[w] & row[w])
            if total >= least:
                total = least
                break
        out[i] = total


@inner
def advance(depth, most, table, room):  # type: ignore[no-untyped-def]
    """Choose one more item, or another last one, so that longer sets can be met; -1: no more."""
    if depth + 2 >= most:
        depth -= 1
    while depth >= 0:
        if room.at[depth] < room.n_touched[depth]:
            room.chosen[depth + 1] = room.touched[depth, room.at[depth]]
            room.at[depth] += 1
            _keep(depth + 1, table, room)
            return depth + 1
        depth -= 1
    return -1


@inner
def _keep(depth, table, room):  # type: ignore[no-untyped-def]
    """Keep, of the users and groups that have all chosen items but the last, those that have it."""
    item = room.chosen[depth]
    n = 0
    for i in range(room.held[depth - 1]):
        user = room.users[depth - 1, i]
        stop = table.indptr[user + 1]
        p = place_of(table.columns, room.after[depth - 1, i], stop, item)
        if p < stop and table.columns[p] == item:
            room.users[depth, n] = user
            room.after[depth, n] = p + 1
            n += 1
    room.held[depth] = n
    for w in range(table.bits.shape[1]):
        room.words[depth, w] = room.words[depth - 1, w] & table.bits[item, w]
