"""Tell whether a released row agrees with a true one: record similarity ≥ θ.

Sim of two rows = agreeing items / items that either rates. A released cell is a set of members
or a range; the true cell agrees when it is a member, null included. On an ungeneralized table a
cell has one member, so agreement is equality, and days must be equal too where there are days.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from starshade.kernels.arrays import Array, Bools, Floats, Int32s, Ints, fixed, inner, place_of
from starshade.kernels.warm import announce

_SLACK = 1e-9


class Contents(NamedTuple):
    """Symbols as arrays: members ascending within a symbol, or the bounds of a range."""

    offsets: Ints
    members: Floats
    null: Bools
    low: Floats
    high: Floats
    has_rating: Bools
    minimum: float  # of the scale: a range's part below it stands for null


class Rows(NamedTuple):
    """Released rows, columns ascending; `days` is empty where there are none.

    Of dense rows `columns` and `codes` are empty, and `indptr` tells how many cells are not null.

    levels : of dense rows, shape (items, rows): 0 is null, else the content and one; or empty
    """

    indptr: Ints
    columns: Int32s
    codes: Array
    days: NDArray[np.uint16]
    levels: NDArray[np.uint8]


NO_LEVELS = fixed(np.empty((0, 0), dtype=np.uint8))


class Truth(NamedTuple):
    """True rows on the released items, columns ascending; one per user of the original.

    codes, levels : the rating of a cell is the level of its code
    """

    indptr: Ints
    columns: Int32s
    codes: NDArray[np.unsignedinteger[Any]]
    levels: Floats
    days: NDArray[np.uint16]


@inner
def is_member(rating, symbol, contents):  # type: ignore[no-untyped-def]
    """Tell whether a rating (not null) is a member of a symbol, within 1e-9."""
    if not np.isnan(contents.low[symbol]):
        low = max(contents.low[symbol], contents.minimum)
        return low - _SLACK <= rating <= contents.high[symbol] + _SLACK
    start, stop = contents.offsets[symbol], contents.offsets[symbol + 1]
    place = place_of(contents.members, start, stop, rating - _SLACK)
    return place < stop and contents.members[place] <= rating + _SLACK


@inner
def content_of(row, item, rows):  # type: ignore[no-untyped-def]
    """Return what a row's cell of an item says; -1: null."""
    if len(rows.levels) > 0:
        return np.int64(rows.levels[item, row]) - 1
    stop = rows.indptr[row + 1]
    p = place_of(rows.columns, rows.indptr[row], stop, item)
    return np.int64(rows.codes[p]) if p < stop and rows.columns[p] == item else np.int64(-1)


@inner
def agrees(row, rows, user, truth, contents, theta):  # type: ignore[no-untyped-def]
    """Tell whether Sim(row, user) >= theta; two rows without any rating agree.

    Both rows are walked side by side and left as soon as the misses are too many: Sim =
    1 - misses / union, and the union is at most the sum of both lengths.
    """
    if len(rows.levels) > 0:
        return _profile_agrees(row, rows, user, truth, contents, theta)
    p, p_end = truth.indptr[user], truth.indptr[user + 1]
    q, q_end = rows.indptr[row], rows.indptr[row + 1]
    allowed = (1 - theta) * ((p_end - p) + (q_end - q)) + _SLACK
    with_days = len(rows.days) > 0
    misses = 0
    union = 0
    while p < p_end or q < q_end:
        mine = truth.columns[p] if p < p_end else np.int32(2147483647)
        theirs = rows.columns[q] if q < q_end else np.int32(2147483647)
        if mine < theirs:  # released as null
            union += 1
            misses += 1
            p += 1
        elif theirs < mine:  # truly null
            symbol = np.int64(rows.codes[q])
            rated = contents.has_rating[symbol]
            union += rated
            misses += rated and not contents.null[symbol]
            q += 1
        else:
            symbol = np.int64(rows.codes[q])
            union += 1
            same = is_member(truth.levels[truth.codes[p]], symbol, contents)
            if with_days:
                same = same and truth.days[p] == rows.days[q]
            misses += not same
            p += 1
            q += 1
        if misses > allowed:
            return False
    return misses <= (1 - theta) * union + _SLACK


@inner
def of_like_length(shown, rated, theta):  # type: ignore[no-untyped-def]
    """Tell whether a dense row that shows so many items may agree with whoever rated so many.

    Asked before `agrees`: of few numbers it takes a hundredth of the time of a call with tables.
    """
    return abs(shown - rated) <= (1 - theta) * (rated + shown) + _SLACK


@inner
def _profile_agrees(row, rows, user, truth, contents, theta):  # type: ignore[no-untyped-def]
    """Tell the same of a dense row: what it shows beside the true cells are misses, all of it."""
    p, p_end = truth.indptr[user], truth.indptr[user + 1]
    shown = rows.indptr[row + 1] - rows.indptr[row]
    if not of_like_length(shown, p_end - p, theta):
        return False
    allowed = (1 - theta) * ((p_end - p) + shown) + _SLACK
    misses, both = 0, 0
    for cell in range(p, p_end):
        content = np.int64(rows.levels[truth.columns[cell], row]) - 1
        both += int(content >= 0)
        misses += not (
            content >= 0 and is_member(truth.levels[truth.codes[cell]], content, contents)
        )
        if misses > allowed:
            return False
    misses += shown - both
    return misses <= (1 - theta) * ((p_end - p) + shown - both) + _SLACK


def count_outside(
    row_of_user: Ints, rows: Rows, truth: Truth, contents: Contents, both: Bools
) -> int:
    """Count the users whose true row does not lie in the released row they are said to have."""
    return int(_count_outside(row_of_user, rows, truth, contents, both))


@njit(cache=True, nogil=True)
def _count_outside(row_of_user, rows, truth, contents, both):  # type: ignore[no-untyped-def]
    out = 0
    for user in range(len(row_of_user)):
        if row_of_user[user] >= 0:
            out += not _lies_in(row_of_user[user], rows, user, truth, contents, both)
    return out


@inner
def _lies_in(row, rows, user, truth, contents, both):  # type: ignore[no-untyped-def]
    """Tell whether every true cell, null too, is a member of the released one; days aside."""
    p, p_end = truth.indptr[user], truth.indptr[user + 1]
    for q in range(rows.indptr[row], rows.indptr[row + 1]):
        column, symbol = rows.columns[q], np.int64(rows.codes[q])
        if p < p_end and truth.columns[p] < column:
            return False  # rated, and released as null
        if p < p_end and truth.columns[p] == column:
            if not is_member(truth.levels[truth.codes[p]], symbol, contents):
                return False
            p += 1
        elif both[column] and not contents.null[symbol]:
            return False
    return p == p_end


class Members(NamedTuple):
    """Who is in which group: group g holds ``members[indptr[g]:indptr[g + 1]]``."""

    indptr: Ints
    members: Ints


class Edges(NamedTuple):
    """Pairs of a group and an item that at least one of its records shows, group by group.

    group, item : which pair
    edges : records of the group that show the item, at least 1
    raters : users of the group who rated it
    """

    group: Ints
    item: Int32s
    edges: Ints
    raters: Ints


def members_of(group: Ints, n_groups: int) -> Members:
    """Sort rows or users by their group; -1 is in none."""
    members = np.argsort(group, kind="stable")[int((group < 0).sum()) :]
    counts = np.bincount(group[group >= 0], minlength=n_groups)
    return Members(np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), members)


def count_edges(
    start: int,
    stop: int,
    rows_of: Members,
    users_of: Members,
    rows: Rows,
    sizes: Ints,
    rated: Bools,
    truth: Truth,
    n_items: int,
) -> Edges:
    """Count edges and original raters in the groups start…stop-1."""
    announce("the link-existence attack", _count_edges)
    ours = rows_of.members[rows_of.indptr[start] : rows_of.indptr[stop]]
    at_most = int((rows.indptr[ours + 1] - rows.indptr[ours]).sum())
    out = Edges(
        np.empty(at_most, np.int64),
        np.empty(at_most, np.int32),
        np.empty(at_most, np.int64),
        np.empty(at_most, np.int64),
    )
    n = _count_edges(start, stop, rows_of, users_of, rows, sizes, rated, truth, n_items, out)
    return Edges(out.group[:n], out.item[:n], out.edges[:n], out.raters[:n])


@njit(cache=True, nogil=True)
def _count_edges(start, stop, rows_of, users_of, rows, sizes, rated, truth, n_items, out):  # type: ignore[no-untyped-def]
    edges = np.zeros(n_items, np.int64)
    raters = np.zeros(n_items, np.int64)
    n = 0
    for group in range(start, stop):
        for user in users_of.members[users_of.indptr[group] : users_of.indptr[group + 1]]:
            for p in range(truth.indptr[user], truth.indptr[user + 1]):
                raters[truth.columns[p]] += 1
        first = n
        for row in rows_of.members[rows_of.indptr[group] : rows_of.indptr[group + 1]]:
            for p in range(rows.indptr[row], rows.indptr[row + 1]):
                if rated[rows.codes[p]]:
                    item = rows.columns[p]
                    if edges[item] == 0:
                        out.item[n] = item
                        n += 1
                    edges[item] += sizes[row]
        for i in range(first, n):
            item = out.item[i]
            out.group[i] = group
            out.edges[i] = edges[item]
            out.raters[i] = raters[item]
            edges[item] = 0
        for user in users_of.members[users_of.indptr[group] : users_of.indptr[group + 1]]:
            for p in range(truth.indptr[user], truth.indptr[user + 1]):
                raters[truth.columns[p]] = 0
    return n


@njit(cache=True, nogil=True)
def rated_unreleased(rows, rated, row_of_user, truth):  # type: ignore[no-untyped-def]
    """Count the original ratings, of users with a record, that their record does not show."""
    hidden = 0
    for user in range(len(row_of_user)):
        row = row_of_user[user]
        if row < 0:
            continue
        q, q_end = rows.indptr[row], rows.indptr[row + 1]
        for p in range(truth.indptr[user], truth.indptr[user + 1]):
            while q < q_end and rows.columns[q] < truth.columns[p]:
                q += 1
            if q == q_end or rows.columns[q] != truth.columns[p] or not rated[rows.codes[q]]:
                hidden += 1
    return hidden
