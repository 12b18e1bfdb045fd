"""List the rows in which everything that is known fits (NS §4, Scoreboard; PA §3).

A row is a candidate when every known cell fits it: the item is rated there, the known rating
lies within a threshold of some member, the known day within another of the released one. Raters
are listed item by item, ascending, so candidates are found by walking the rarest item's list and
looking for the survivors in the next rarest: few by leaping ahead from one to the next, many by
marking them and walking that list too. No row is scored, and most are never looked at.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from starshade.kernels.arrays import (
    UNKNOWN_DAY,
    Array,
    Bools,
    Floats,
    Int32s,
    Ints,
    inner,
    place_of,
    run,
)
from starshade.kernels.attack.agreement import Contents, Rows, Truth, agrees, of_like_length
from starshade.kernels.attack.postings import EVERY_ROW, NO_DAY
from starshade.kernels.warm import announce

CHUNK = 32  # targets that share scratch space
_NEAR = 64  # leaping costs as much as walking past so many
_SLACK = 1e-9

#: records : that fit everything known
#: agreeing : of them, those that agree with the target's truth
#: own : whether the target's row is among the candidates
#: profile : records that equal the first candidate cell by cell; all candidates do if as many fit
#: looked_at : cells
FOUND = np.dtype(
    [
        ("records", np.int64),
        ("agreeing", np.int64),
        ("own", np.bool_),
        ("profile", np.int64),
        ("looked_at", np.int64),
    ]
)


class Postings(NamedTuple):
    """The cells item by item, rows ascending; `days` is empty where none are released."""

    indptr: Ints
    rows: Int32s
    codes: Array
    days: NDArray[np.uint16]


class Seen(NamedTuple):
    """What the adversary sees.

    postings, by_row : the cells, item by item and row by row
    sizes : records of each row
    copies : records of all rows that equal it, itself included
    support : rated items of each row
    single : every row is one record
    contents : what cells can say
    """

    postings: Postings
    by_row: Rows
    sizes: Ints
    copies: Ints
    support: Ints
    single: bool
    contents: Contents


class Clues(NamedTuple):
    """What is known of each target, shape (targets, known) unless said otherwise.

    item : position among the released items, -1 where it is not released
    rating : NaN where not known
    day : NO_DAY where not known
    own : the target's row, -1 where it is unknown; shape (targets,)
    user : the target's row in `Truth`; shape (targets,)
    least, most : rows with fewer or more rated items are no candidates; shape (targets,)
    """

    item: Int32s
    rating: Floats
    day: Int32s
    own: Ints
    user: Ints
    least: Ints
    most: Ints


class Thresholds(NamedTuple):
    """How far a released cell may be from the known one; `day` below 0: days do not matter."""

    rating: float
    day: int


class Room(NamedTuple):
    """Scratch space of one thread.

    rows : candidates
    order : of the known items
    fits : whether each content fits what is known
    stamps : which look-up marked each row last
    """

    rows: Int32s
    order: Ints
    fits: Bools
    stamps: Int32s


class Judge(NamedTuple):
    """When a row agrees with the target's truth.

    own_only : no row but the target's own and its copies can agree (an ungeneralized table)
    """

    truth: Truth
    theta: float
    own_only: bool


def count_candidates(
    seen: Seen, clues: Clues, within: Thresholds, truth: Truth, theta: float, *, own_only: bool
) -> Array:
    """Count each target's candidates, and those that agree with the truth."""
    announce("the attack by candidates", _count)
    found = np.zeros(len(clues.item), dtype=FOUND)
    told = seen, clues, within, Judge(truth, theta, own_only), found
    run(lambda chunk: _count(chunk * CHUNK, *told), math.ceil(len(found) / CHUNK))
    return found


def candidates(seen: Seen, clues: Clues, within: Thresholds, target: int) -> Int32s:
    """Return one target's candidates, rows ascending: to look at, not to attack with."""
    room = make_room(seen, clues)
    n, _ = list_fitting(target, seen, clues, within, room)
    return np.asarray(room.rows[:n])


@njit(cache=True, nogil=True)
def _count(start, seen, clues, within, judge, found):  # type: ignore[no-untyped-def]
    room = make_room(seen, clues)
    rows, dense = room.rows, len(seen.by_row.levels) > 0
    for t in range(start, min(start + CHUNK, len(found))):
        n, looked_at = list_fitting(t, seen, clues, within, room)
        own = _holds(rows, n, clues.own[t])
        agreeing = 0
        if judge.own_only:
            agreeing = seen.copies[clues.own[t]] if own else 0
        else:
            user, ends = clues.user[t], seen.by_row.indptr
            rated = judge.truth.indptr[user + 1] - judge.truth.indptr[user]
            for i in range(n):
                row = np.int64(rows[i])  # one type, one compiling
                if dense and not of_like_length(ends[row + 1] - ends[row], rated, judge.theta):
                    continue
                if agrees(
                    np.int64(row), seen.by_row, user, judge.truth, seen.contents, judge.theta
                ):
                    agreeing += seen.sizes[row]
        records = n
        if not seen.single:
            records = 0
            for i in range(n):
                records += seen.sizes[rows[i]]
        out = found[t]
        out["looked_at"] = looked_at
        out["records"] = records
        out["agreeing"] = agreeing
        out["own"] = own
        out["profile"] = seen.copies[rows[0]] if n > 0 else 0


@inner
def _holds(rows, n, row):  # type: ignore[no-untyped-def]
    place = place_of(rows, np.int64(0), n, row)
    return place < n and rows[place] == row


@njit(cache=True, nogil=True)
def make_room(seen, clues):  # type: ignore[no-untyped-def]
    """Return scratch space for targets that are treated one after the other."""
    return Room(
        np.empty(len(seen.sizes), np.int32),
        np.empty(clues.item.shape[1], np.int64),
        np.zeros(len(seen.contents.null), np.bool_),
        np.zeros(len(seen.sizes), np.int32),
    )


@njit(cache=True, nogil=True)
def list_fitting(t, seen, clues, within, room):  # type: ignore[no-untyped-def]
    """List target t's candidates in `room.rows`; return how many, and the cells looked at."""
    order, indptr = room.order, seen.postings.indptr
    if not _rarest_first(t, indptr, clues.item, order):
        return 0, 0  # nobody holds an item that was not released
    n = _first_list(t, order[0], seen, clues, within, room)
    first = clues.item[t, order[0]]
    looked_at = indptr[first + 1] - indptr[first]
    for i in range(1, len(order)):
        item = clues.item[t, order[i]]
        length = indptr[item + 1] - indptr[item]
        if length < _NEAR * n:
            looked_at += length
            n = _keep_marked(t, order[i], t * len(order) + i, seen, clues, within, room, n)
        else:
            looked_at += n
            n = _keep_found(t, order[i], seen, clues, within, room.rows, n)
    return n, looked_at


@inner
def _rarest_first(t, indptr, items, order):  # type: ignore[no-untyped-def]
    """Sort the known items by their number of raters (insertion sort); False: one is unreleased."""
    for j in range(len(order)):
        item = items[t, j]
        if item < 0:
            return False
        length = indptr[item + 1] - indptr[item]
        i = j
        while i > 0:
            before = items[t, order[i - 1]]
            if indptr[before + 1] - indptr[before] <= length:
                break
            order[i] = order[i - 1]
            i -= 1
        order[i] = j
    return True


@inner
def _first_list(t, j, seen, clues, within, room):  # type: ignore[no-untyped-def]
    """List the rows that known cell j fits, of all that rated the item; return how many."""
    item, day = clues.item[t, j], clues.day[t, j]
    start, stop = seen.postings.indptr[item], seen.postings.indptr[item + 1]
    _judge_contents(clues.rating[t, j], seen.postings.codes[start:stop], within, seen, room.fits)
    least, most = clues.least[t], clues.most[t]
    anybody = least <= 0 and most >= EVERY_ROW
    n = 0
    for p in range(start, stop):
        if room.fits[seen.postings.codes[p]] and _day_fits(day, p, seen.postings.days, within.day):
            row = seen.postings.rows[p]
            if anybody or least <= seen.support[row] <= most:
                room.rows[n] = row
                n += 1
    return n


@inner
def _keep_marked(t, j, stamp, seen, clues, within, room, n):  # type: ignore[no-untyped-def]
    """Keep those of the first n rows that cell j fits, by a walk; `stamp` marked nothing before."""
    item, day = clues.item[t, j], clues.day[t, j]
    start, stop = seen.postings.indptr[item], seen.postings.indptr[item + 1]
    _judge_contents(clues.rating[t, j], seen.postings.codes[start:stop], within, seen, room.fits)
    for i in range(n):
        room.stamps[room.rows[i]] = stamp
    kept = 0
    for p in range(start, stop):
        row = seen.postings.rows[p]
        if (
            room.stamps[row] == stamp
            and room.fits[seen.postings.codes[p]]
            and _day_fits(day, p, seen.postings.days, within.day)
        ):
            room.rows[kept] = row
            kept += 1
    return kept


@inner
def _keep_found(t, j, seen, clues, within, rows, n):  # type: ignore[no-untyped-def]
    """Keep those of the first n rows that known cell j fits, by leaping from one to the next."""
    item, day = clues.item[t, j], clues.day[t, j]
    p, stop = seen.postings.indptr[item], seen.postings.indptr[item + 1]
    kept = 0
    for i in range(n):
        p = _leap(seen.postings.rows, p, stop, rows[i])
        if (
            p < stop
            and seen.postings.rows[p] == rows[i]
            and _rating_fits(
                clues.rating[t, j], np.int64(seen.postings.codes[p]), within.rating, seen.contents
            )
            and _day_fits(day, p, seen.postings.days, within.day)
        ):
            rows[kept] = rows[i]
            kept += 1
    return kept


@inner
def _judge_contents(rating, codes, within, seen, fits):  # type: ignore[no-untyped-def]
    """Say for each content among `codes` whether a known rating fits it."""
    if len(codes) < len(fits):
        for code in codes:
            fits[code] = _rating_fits(rating, np.int64(code), within.rating, seen.contents)
    else:
        for symbol in range(len(fits)):
            fits[symbol] = _rating_fits(rating, symbol, within.rating, seen.contents)


@njit(cache=True, nogil=True)
def _leap(ascending, start, stop, value):  # type: ignore[no-untyped-def]
    """Return the first place in [start, stop) with an element >= value, in doubling steps."""
    step = 1
    while start + step < stop and ascending[start + step] < value:
        start += step
        step *= 2
    return place_of(ascending, start, min(start + step + 1, stop), np.int64(value))


@inner
def _rating_fits(rating, symbol, error, contents):  # type: ignore[no-untyped-def]
    """Tell whether some member that is no null lies within the error of a rating."""
    if not contents.has_rating[symbol]:
        return False
    if np.isnan(rating) or np.isinf(error):
        return True
    if not np.isnan(contents.low[symbol]):
        low = max(contents.low[symbol], contents.minimum)
        return low - error - _SLACK <= rating <= contents.high[symbol] + error + _SLACK
    start, stop = contents.offsets[symbol], contents.offsets[symbol + 1]
    place = place_of(contents.members, start, stop, rating - error - _SLACK)
    return place < stop and contents.members[place] <= rating + error + _SLACK


@inner
def _day_fits(day, p, days, error):  # type: ignore[no-untyped-def]
    """Tell whether cell p's day lies within the error; a cell without a day has none that does."""
    if error < 0 or day == NO_DAY or len(days) == 0:
        return True
    return days[p] != UNKNOWN_DAY and abs(np.int64(days[p]) - day) <= error
