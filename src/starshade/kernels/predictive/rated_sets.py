"""Count the sets of items that somebody rated together, and the groups that show them.

How they are walked is in `rated_sets_walk`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from starshade.kernels.arrays import (
    Bools,
    Int32s,
    Ints,
    Words,
    cut,
    fixed,
    inner,
    ones,
    place_of,
    run,
)
from starshade.kernels.csr import transpose
from starshade.kernels.warm import announce


class SetTally(NamedTuple):
    """What was counted, for each least item of a set (row) and each size from 1 (column).

    sets : sets that some user rated together
    short : of these, sets that fewer than `least` groups show
    fewest : the fewest groups that show one, counted up to `least`; `least` where there is none
    worst : shape (items, sizes, most); the first set with so few, -1 behind its end
    at_risk : shape (users,); who rated a short set
    """

    sets: Ints
    short: Ints
    fewest: Ints
    worst: Int32s
    at_risk: Bools


def count_sets(table: RatedTable, most: int, least: int) -> SetTally:
    """Count the rated sets of 1 to `most` items, and those that fewer than `least` groups show."""
    announce("the check of diversity", _count)
    n_items, n_users = len(table.bits), len(table.indptr) - 1
    lanes = cut(np.diff(table.item_ptr))
    out = SetTally(
        np.zeros((n_items, most), np.int64),
        np.zeros((n_items, most), np.int64),
        np.full((n_items, most), least, np.int64),
        np.full((n_items, most, most), -1, np.int32),
        np.zeros((len(lanes), n_users), np.bool_),
    )

    def work(lane: int) -> None:
        first, last = lanes[lane]
        own = slice(first, last)
        part = SetTally(
            out.sets[own], out.short[own], out.fewest[own], out.worst[own], out.at_risk[lane]
        )
        with np.errstate(over="ignore"):  # interpreted, counting bits wraps around
            _count(first, last, table, least, room_for(table, most), part)

    run(work, len(lanes))
    return out._replace(at_risk=np.asarray(out.at_risk.any(axis=0)))


def list_short(first: int, table: RatedTable, most: int, least: int) -> tuple[Int32s, Ints]:
    """List the rated sets of 1 to `most` items, `first` the least, that too few groups show."""
    room = room_for(table, most)
    n = 64
    with np.errstate(over="ignore"):
        while True:
            sets = np.full((n, most), -1, np.int32)
            cover = np.empty(n, np.int64)
            needed = _list(first, table, least, room, sets, cover)
            if needed <= n:
                return sets[:needed], cover[:needed]
            n = needed


def covers(sets: Ints, bits: Words, least: int) -> Ints:
    """Return how many groups show each set, counted up to `least`."""
    out = np.empty(len(sets), np.int64)
    with np.errstate(over="ignore"):
        _covers(fixed(sets), bits, least, out)
    return out


@njit(cache=True, nogil=True)
def _covers(sets, bits, least, out):  # type: ignore[no-untyped-def]
    for s in range(len(sets)):
        total = 0
        for w in range(bits.shape[1]):
            word = bits[sets[s, 0], w]
            for i in range(1, sets.shape[1]):
                word &= bits[sets[s, i], w]
            total += ones(word)
            if total >= least:
                break
        out[s] = min(total, least)


@njit(cache=True, nogil=True)
def _count(first, last, table, least, room, out):  # type: ignore[no-untyped-def]
    """Tally the sets whose least item is one of first…last-1."""
    most = out.sets.shape[1]
    for item in range(first, last):
        row = item - first
        depth = begin(item, most, table, least, room)
        if room.held[0] > 0:
            _tally_alone(row, least, room, out)
        while depth >= 0:
            open_set(depth, table, least, room)
            _tally(row, depth, least, room, out)
            _mark(depth, table, least, room, out.at_risk)
            depth = advance(depth, most, table, room)


@njit(cache=True, nogil=True)
def _list(item, table, least, room, sets, cover_of):  # type: ignore[no-untyped-def]
    """Write down the short sets that begin with `item`, as far as there is room; count all."""
    most = sets.shape[1]
    n = 0
    depth = begin(item, most, table, least, room)
    if room.held[0] > 0 and room.single[0] < least:
        sets[0, 0], cover_of[0] = item, room.single[0]
        n = 1
    while depth >= 0:
        open_set(depth, table, least, room)
        for i in range(room.n_touched[depth]):
            if room.cover[depth, i] < least:
                if n < len(sets):
                    sets[n, : depth + 1] = room.chosen[: depth + 1]
                    sets[n, depth + 1] = room.touched[depth, i]
                    cover_of[n] = room.cover[depth, i]
                n += 1
        depth = advance(depth, most, table, room)
    return n


@inner
def _tally(row, depth, least, room, out):  # type: ignore[no-untyped-def]
    """Count the sets of the chosen items and one that stands behind them."""
    place, n = depth + 1, room.n_touched[depth]
    cover = room.cover[depth, :n]
    short = 0
    for i in range(n):
        if cover[i] < least:
            short += 1
            if cover[i] < out.fewest[row, place]:
                out.fewest[row, place] = cover[i]
                out.worst[row, place, :place] = room.chosen[:place]
                out.worst[row, place, place] = room.touched[depth, i]
    out.sets[row, place] += n
    out.short[row, place] += short


@inner
def _tally_alone(row, least, room, out):  # type: ignore[no-untyped-def]
    """Count the set of the first item alone."""
    out.sets[row, 0] += 1
    if room.single[0] < least:
        out.short[row, 0] += 1
        out.fewest[row, 0] = room.single[0]
        out.worst[row, 0, 0] = room.chosen[0]
        for i in range(room.held[0]):
            out.at_risk[room.users[0, i]] = True


@inner
def _mark(depth, table, least, room, at_risk):  # type: ignore[no-untyped-def]
    """Mark the users who have the chosen items and one that makes the set a short one."""
    cover_of = room.cover_of
    any_short = False
    for i in range(room.n_touched[depth]):
        cover_of[room.touched[depth, i]] = room.cover[depth, i]
        any_short |= room.cover[depth, i] < least
    if not any_short:
        return
    for i in range(room.held[depth]):
        user = room.users[depth, i]
        p = room.after[depth, i]
        while not at_risk[user] and p < table.indptr[user + 1]:
            at_risk[user] = cover_of[table.columns[p]] < least
            p += 1


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
