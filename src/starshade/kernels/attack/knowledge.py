"""Draw what an adversary knows of each target (definitions, "knowledge").

Every number comes from a stream keyed by the seed and the target's id alone, and each purpose
has its own stretch of it: which cells, the number of ratings, then one stretch per known cell.
So a target's draw is the same whoever else is drawn, and a setting that only adds noise leaves
the choice of cells as it was.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from starshade.kernels import small
from starshade.kernels.arrays import (
    UNKNOWN_DAY,
    Array,
    Bools,
    Floats,
    Int32s,
    Ints,
    Words,
    fixed,
    inner,
    place_after,
)
from starshade.kernels.attack.postings import NO_DAY
from starshade.kernels.fingerprint import below, mix, number, uniform

# where each purpose starts counting; the choice of cells starts at 0
_UNRATED_STREAM = 2**31
_COUNT_STREAM = 2**32
_CELL_STREAM = 2**32 + 1
_SLACK = 1e-9


class Table(NamedTuple):
    """The original, row by row; `days` is empty where there are none."""

    indptr: Ints
    columns: Int32s
    codes: Array
    days: NDArray[np.uint16]
    eligible: Bools  # items that may be known
    listed: Ints  # these items, ascending
    rank: Ints  # of each eligible item among them
    longest: int  # cells of the longest row


class Marginals(NamedTuple):
    """How the data's ratings and days are distributed, and which ratings are near each other."""

    levels: Floats
    below: Ints  # ratings in all levels before each, shape (levels + 1,)
    near: Ints  # first level within the error of each level
    beyond: Ints  # first level above that is not
    days_below: Ints  # cells dated before each day, shape (65536,)


class Mistakes(NamedTuple):
    """How imprecise the knowledge is."""

    known: int
    wrong: int
    wrong_items: bool
    stepped: bool  # the scale has steps
    rating_error: float
    minimum: float
    maximum: float
    day_error: int  # -1: no day is known


@njit(cache=True, nogil=True)
def count_marked(indptr, columns, mark):  # type: ignore[no-untyped-def]
    """Count each row's cells in marked columns."""
    out = np.zeros(len(indptr) - 1, np.int64)
    for row in range(len(out)):
        for p in range(indptr[row], indptr[row + 1]):
            out[row] += mark[columns[p]]
    return out


def tally(values: Array, n: int) -> Ints:
    """Count how often each of 0…n-1 occurs; without a wider copy of many, as NumPy makes one."""
    if len(values) <= small.FEW_CELLS:
        return np.bincount(values, minlength=n)
    return np.asarray(_tally(fixed(values), n))


@njit(cache=True, nogil=True)
def _tally(values, n):  # type: ignore[no-untyped-def]
    out = np.zeros(n, np.int64)
    for p in range(len(values)):
        out[values[p]] += 1
    return out


def draw(
    table: Table,
    marginals: Marginals,
    mistakes: Mistakes,
    users: Ints,
    fingerprints: Words,
    stream: int,
) -> tuple[Int32s, Floats, Int32s, Ints]:
    """Draw the knowledge about each user; the wrong cells come first.

    `users` (targets,): rows; each has enough cells (and, for wrong items, enough eligible items
    without one). `days` (targets, known): in the table's days, possibly before its first or after
    its last; NO_DAY = not known. `told` (targets,): the number of ratings that the adversary is
    told, within half of the truth.
    """
    with np.errstate(over="ignore"):  # hashes wrap around, also where run interpreted
        return tuple(_draw(table, marginals, mistakes, users, fingerprints, np.uint64(stream)))


@njit(cache=True, nogil=True)
def _draw(table, marginals, mistakes, users, fingerprints, stream):  # type: ignore[no-untyped-def]
    shape = (len(users), mistakes.known)
    items = np.empty(shape, np.int32)
    ratings = np.empty(shape, np.float64)
    days = np.empty(shape, np.int32)
    told = np.empty(len(users), np.int64)
    cells = np.empty(table.longest, np.int64)
    for t in range(len(users)):
        key = mix(stream ^ fingerprints[t])
        start, stop = table.indptr[users[t]], table.indptr[users[t] + 1]
        told[t] = np.int64((stop - start) * (0.5 + uniform(key, np.uint64(_COUNT_STREAM))) + 0.5)
        n = 0
        for p in range(start, stop):
            if table.eligible[table.columns[p]]:
                cells[n] = p
                n += 1
        if mistakes.wrong_items:
            _draw_unrated(key, cells[:n], table, mistakes.wrong, items[t])
        _shuffle_front(key, cells[:n], mistakes.known)
        for j in range(mistakes.known):
            cell_key = number(key, np.uint64(_CELL_STREAM + j))
            if j < mistakes.wrong and mistakes.wrong_items:
                ratings[t, j], days[t, j] = _any_cell(cell_key, marginals, mistakes)
            else:
                p = cells[j]
                items[t, j] = table.columns[p]
                day = np.int64(NO_DAY)
                dated = mistakes.day_error >= 0 and len(table.days) > 0
                if dated and table.days[p] != UNKNOWN_DAY:
                    day = np.int64(table.days[p])
                code = table.codes[p]
                if j < mistakes.wrong:
                    rating, day = _wrong_cell(cell_key, code, day, marginals, mistakes)
                else:
                    rating, day = _right_cell(cell_key, code, day, marginals, mistakes)
                ratings[t, j], days[t, j] = rating, day
    return items, ratings, days, told


@inner
def _shuffle_front(key, cells, n):  # type: ignore[no-untyped-def]
    """Put a uniform choice of n cells, in random order, at the front (Fisher-Yates)."""
    for j in range(min(n, len(cells))):
        other = j + np.int64(below(key, np.uint64(j), len(cells) - j))
        cells[j], cells[other] = cells[other], cells[j]


@inner
def _draw_unrated(key, cells, table, wrong, out):  # type: ignore[no-untyped-def]
    """Choose `wrong` of the eligible items that the target did not rate (Floyd's sampling)."""
    unrated = len(table.listed) - len(cells)
    chosen = np.empty(wrong, np.int64)
    for j in range(wrong):
        last = unrated - wrong + j
        pick = np.int64(below(key, np.uint64(_UNRATED_STREAM + j), last + 1))
        for i in range(j):
            if chosen[i] == pick:
                pick = last
                break
        chosen[j] = pick
        # cell i holds eligible item rank r_i; r_i - i unrated ones come before it
        low, high = 0, len(cells)
        while low < high:
            middle = (low + high) // 2
            if table.rank[table.columns[cells[middle]]] - middle <= pick:
                low = middle + 1
            else:
                high = middle
        out[j] = table.listed[pick + low]


@inner
def _right_cell(key, code, day, marginals, mistakes):  # type: ignore[no-untyped-def]
    """Draw a rating uniform over the scale values within the error, a day likewise."""
    truth = marginals.levels[code]
    if mistakes.stepped:
        first = marginals.near[code]
        n = marginals.beyond[code] - first
        rating = marginals.levels[first + np.int64(below(key, np.uint64(0), n))]
    elif mistakes.rating_error > 0:
        low = max(mistakes.minimum, truth - mistakes.rating_error)
        high = min(mistakes.maximum, truth + mistakes.rating_error)
        rating = low + uniform(key, np.uint64(0)) * (high - low)
    else:
        rating = truth
    if day != NO_DAY:
        width = 2 * mistakes.day_error + 1
        day += np.int64(below(key, np.uint64(1), width)) - mistakes.day_error
    return rating, day


@inner
def _wrong_cell(key, code, day, marginals, mistakes):  # type: ignore[no-untyped-def]
    """Draw a rating and a day from the marginals, each further from the truth than the error.

    Drawn at once from what lies outside, which is what redrawing until it does comes to; kept
    where nothing does.
    """
    near, beyond = marginals.near[code], marginals.beyond[code]
    level = _outside(uniform(key, np.uint64(0)), marginals.below, near, beyond)
    rating = marginals.levels[code] if level < 0 else marginals.levels[level]
    if day != NO_DAY:
        first = max(day - mistakes.day_error, 0)
        last = min(day + mistakes.day_error + 1, len(marginals.days_below) - 1)
        other = _outside(uniform(key, np.uint64(1)), marginals.days_below, first, last)
        day = day if other < 0 else other
    return rating, day


@inner
def _any_cell(key, marginals, mistakes):  # type: ignore[no-untyped-def]
    no = np.int64(0)  # a literal would be compiled by itself
    rating = marginals.levels[_outside(uniform(key, np.uint64(0)), marginals.below, no, no)]
    day = np.int64(NO_DAY)
    if mistakes.day_error >= 0 and marginals.days_below[-1] > 0:
        day = _outside(uniform(key, np.uint64(1)), marginals.days_below, no, no)
    return rating, day


@inner
def _outside(u, cumulative, first, last):  # type: ignore[no-untyped-def]
    """Draw from a histogram without its bins first…last-1; -1 when nothing is left."""
    inside = cumulative[last] - cumulative[first]
    left = cumulative[-1] - inside
    if left == 0:
        return np.int64(-1)
    pick = np.int64(u * left)
    if pick >= cumulative[first]:
        pick += inside
    return place_after(cumulative, 0, len(cumulative), pick) - 1
