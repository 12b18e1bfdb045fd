"""How alike a record is to the record most like it (NS Fig 1), through the postings.

For one user the raters of each of their items are walked, and each rater counts what the two
have in common: the item rated at all, rated alike, rated alike at about the same time. The three
counts share one 64-bit word, so a step is one addition. Raters come in blocks of rows whose
words stay in the cache. Nothing of the size users x users is ever held.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from starshade.kernels.arrays import UNKNOWN_DAY, Array, Floats, Int32s, Ints, cut, inner, run
from starshade.kernels.warm import announce

_BLOCK = 32_768  # rows whose words stay in the cache: 256 kB
_BITS = 21  # of each count: two million items rated by one user
_MASK = (1 << _BITS) - 1
_ALIKE = 1 << _BITS
_ALIKE_IN_TIME = 1 << 2 * _BITS


class Asked(NamedTuple):
    """The cells of targets, and which rows they are: none of these where -1.

    `days` are empty where there are none.
    """

    users: Ints
    indptr: Ints
    columns: Int32s
    codes: Array
    days: NDArray[np.uint16]


class Rows(NamedTuple):
    """How many cells each row has, and the cells item by item; `item_days` may be empty."""

    lengths: Ints
    item_indptr: Ints
    users: Int32s
    item_codes: Array
    item_days: NDArray[np.uint16]


class Likeness(NamedTuple):
    """When two cells of one item are alike: codes low[c]…high[c]-1 are like c; days by reach."""

    low: Ints
    high: Ints
    day_error: int


def nearest(rows: Rows, likeness: Likeness, asked: Asked) -> tuple[Floats, Floats]:
    """Return each target's highest Sim to any other row, and how much of it another row covers.

    Returns `similarity` (t, 3): highest (items in common) / (items that either rated), where *in
    common* means rated by both; and rated alike; and alike on days alike too. Two rows without a
    cell are equal: 1. 0 where there is no other row. The last column is 0 where there are no days.
    `covered` (t, 3): highest (items in common) / (items that the target rated): a longer row may
    cover a shorter one without being like it. Every other row covers one without a cell: 1.
    """
    announce("the search for neighbours", _search)
    n = len(asked.users)
    similarity, covered = np.zeros((n, 3)), np.zeros((n, 3))
    raters = np.diff(rows.item_indptr)
    # a target costs its items' raters, and a look at every row
    met = np.concatenate([[0], np.cumsum(raters[asked.columns])])[asked.indptr]
    lanes = cut(np.diff(met) + len(rows.lengths))

    def search(lane: int) -> None:
        _search(*lanes[lane], asked, rows, likeness, similarity, covered)

    run(search, len(lanes))
    return similarity, covered


@njit(cache=True, nogil=True)
def _search(first_asked, last_asked, asked, rows, likeness, similarity, covered):  # type: ignore[no-untyped-def]
    lengths = rows.lengths
    words = np.zeros(min(_BLOCK, len(lengths)), np.int64)
    place = np.empty(np.diff(asked.indptr).max(), np.int64)
    for t in range(first_asked, last_asked):
        user, start = asked.users[t], asked.indptr[t]
        own = asked.indptr[t + 1] - start
        for p in range(own):
            place[p] = rows.item_indptr[asked.columns[start + p]]
        best, union = np.zeros(3, np.int64), np.ones(3, np.int64)
        most = np.zeros(3, np.int64)
        if own == 0:
            _look_for_empty(user, lengths, best)
            most[:] = len(lengths) > (user >= 0)
        for first in range(0, len(lengths), _BLOCK):
            last = min(first + _BLOCK, len(lengths))
            _count(t, first, last, asked, rows, likeness, place, words)
            _keep_best(user, own, first, last, lengths, words, best, union, most)
        for s in range(3):
            similarity[t, s] = best[s] / union[s]
            covered[t, s] = most[s] / max(own, 1)


@inner
def _look_for_empty(user, lengths, best):  # type: ignore[no-untyped-def]
    for v in range(len(lengths)):
        if v != user and lengths[v] == 0:
            best[:] = 1
            return


@inner
def _count(t, first, last, asked, rows, likeness, place, words):  # type: ignore[no-untyped-def]
    """Count what each row first…last-1 has in common; `place` moves on to the next block."""
    with_days = len(asked.days) > 0 and len(rows.item_days) > 0
    start = asked.indptr[t]
    for p in range(asked.indptr[t + 1] - start):
        end = rows.item_indptr[asked.columns[start + p] + 1]
        low = likeness.low[asked.codes[start + p]]
        high = likeness.high[asked.codes[start + p]]
        day = np.int64(asked.days[start + p]) if with_days else np.int64(UNKNOWN_DAY)
        q = place[p]
        while q < end and rows.users[q] < last:
            code = np.int64(rows.item_codes[q])
            word = np.int64(1)
            if low <= code < high:
                word += _ALIKE
                if day != UNKNOWN_DAY:
                    other = np.int64(rows.item_days[q])
                    if other != UNKNOWN_DAY and abs(day - other) <= likeness.day_error:
                        word += _ALIKE_IN_TIME
            words[rows.users[q] - first] += word
            q += 1
        place[p] = q


@inner
def _keep_best(user, own, first, last, lengths, words, best, union, most):  # type: ignore[no-untyped-def]
    """Keep the highest quotients, compared as whole numbers, and counts; words are 0 again."""
    for v in range(first, last):
        word = words[v - first]
        if word == 0:
            continue
        words[v - first] = 0
        if v == user:
            continue
        either = own + lengths[v] - (word & _MASK)
        for s in range(3):
            common = (word >> (s * _BITS)) & _MASK
            most[s] = max(most[s], common)
            if common * union[s] > best[s] * either:
                best[s], union[s] = common, either


_ROOM = 8  # a histogram may be this many times as long as what it counts


def mean_log_neighbours(
    indptr: Ints, values: Array, low: Ints, high: Ints, unknown: int = -1
) -> Floats:
    """Average log2(c) over an item's raters, c counting the raters whose value is within reach.

    `low`, `high` (n_values,): ascending; values low[v]…high[v]-1 are within reach of v, itself
    included. Returns (n_items,): NaN for an item without a known value.
    """
    announce("information gain", _scan)
    out = np.full(len(indptr) - 1, np.nan)
    lanes = cut(np.diff(indptr))
    run(lambda lane: _scan(*lanes[lane], indptr, values, low, high, unknown, out), len(lanes))
    return out


@njit(cache=True, nogil=True)
def _scan(first, last, indptr, values, low, high, unknown, out):  # type: ignore[no-untyped-def]
    for item in range(first, last):
        distinct, below = _distinct(values[indptr[item] : indptr[item + 1]], unknown)
        known = below[-1]
        if known == 0:
            continue
        total = 0.0
        left = right = 0  # both only ever move up
        for i in range(len(distinct)):
            while distinct[left] < low[distinct[i]]:
                left += 1
            while right < len(distinct) and distinct[right] < high[distinct[i]]:
                right += 1
            total += (below[i + 1] - below[i]) * np.log2(below[right] - below[left])
        out[item] = total / known


@inner
def _distinct(values, unknown):  # type: ignore[no-untyped-def]
    """Return the distinct known values, ascending, and how many values lie below each (and all)."""
    known = np.empty(len(values), np.int64)
    n = 0
    for i in range(len(values)):
        value = np.int64(values[i])
        if value != unknown:
            known[n] = value
            n += 1
    known = known[:n]
    if n == 0:
        return known, np.zeros(1, np.int64)
    least, span = known.min(), known.max() - known.min() + 1
    if span > _ROOM * n:  # few values far apart: sorting is cheaper than counting
        return _runs(np.sort(known))
    counts = np.zeros(span, np.int64)
    for i in range(n):
        counts[known[i] - least] += 1
    found = np.flatnonzero(counts)
    return least + found, _sums(counts[found])


@inner
def _runs(ordered):  # type: ignore[no-untyped-def]
    distinct = np.empty(len(ordered), np.int64)
    counts = np.zeros(len(ordered), np.int64)
    n = -1
    for i in range(len(ordered)):
        if i == 0 or ordered[i] != ordered[i - 1]:
            n += 1
            distinct[n] = ordered[i]
        counts[n] += 1
    return distinct[: n + 1], _sums(counts[: n + 1])


@inner
def _sums(counts):  # type: ignore[no-untyped-def]
    below = np.zeros(len(counts) + 1, np.int64)
    for i in range(len(counts)):
        below[i + 1] = below[i] + counts[i]
    return below
