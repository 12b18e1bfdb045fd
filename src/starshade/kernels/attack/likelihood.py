"""How likely every row makes what is known of a target (definitions, "likelihood").

Facts are a set: which of them are wrong is not known, only how many. A row that lacks too many of
the items is impossible, so only raters of the rarest are looked at. Chances are numbers of their
own exponent: hundreds of facts neither vanish nor overflow.

Of a released row it is not certain how many items were rated. What a chance owes to that number n
is a mean over its law: of 1 / C(n, m) by an integral whose terms are all positive, as
1 / C(m + j, m) = m ∫ t^j (1 - t)^(m - 1) dt over [0, 1]; else by the law itself.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from starshade.kernels.arrays import (
    UNKNOWN_DAY,
    Array,
    Bools,
    Floats,
    Int32s,
    Ints,
    in_chunks,
    inner,
)
from starshade.kernels.attack.candidates import Postings
from starshade.kernels.attack.possible import (
    cell_at,
    chance_told,
    content_at,
    list_possible,
    owed_once,
)
from starshade.kernels.attack.posterior import FOUND, Goal, sum_up
from starshade.kernels.attack.postings import NO_DAY
from starshade.kernels.warm import announce

_SMALL = 2.0**-400  # below it an exponent is set apart


class Counts(NamedTuple):
    """How many of the items that may be known a row rated.

    support : records that may have rated each item, in all blocks
    rated : of each row, -1 where so little was rated that the facts cannot be about it; empty
        where that is not certain
    items : items that may be known
    may : which they are
    share, popular : chance that a cell is a rating: of each content, times that of each item
    nodes, weights : of the integral over [0, 1]
    pattern : of each row, those that show the same number of items alike have the same; of dense
        rows it is enough that these are null for the same items
    product : logarithm of the product of 1 - q + q t over the cells, shape (patterns, nodes)
    kind, logs : of each cell, of dense rows of each item, the row of the logarithms of 1 - q + q t,
        shape (kinds, nodes)
    expected : items of them that each row rated, on average
    lengths : items, of all, that each row may have rated
    """

    support: Ints
    rated: Ints
    items: int
    may: Bools
    share: Floats
    popular: Floats
    nodes: Floats
    weights: Floats
    pattern: Ints
    product: Floats
    kind: Int32s
    logs: Floats
    expected: Floats
    lengths: Ints


class Law(NamedTuple):
    """How facts are drawn; chances of a fact from a content: right and wrong, (facts, contents)."""

    right: Floats
    wrong: Floats
    mistakes: int
    wrong_items: bool
    day_error: int  # -1: no day is known
    days_below: Ints  # cells dated before each day, shape (65536,)


class Facts(NamedTuple):
    """What is known, shape (targets, known) unless said otherwise.

    item : place among the items, -1 where it is not there: such facts are left out
    kind : row of the tables of the law
    day : NO_DAY where not known
    blind : chance of the fact if the item was not rated
    told : number of ratings that the target is said to have, -1: not known; shape (targets,)
    share : chance of each number of mistakes among what is not left out, over that of one choice
        of the mistaken; shape (targets, mistakes + 1)
    """

    item: Int32s
    kind: Ints
    day: Int32s
    blind: Floats
    told: Ints
    share: Floats


def weigh(held: Postings, counts: Counts, law: Law, facts: Facts, goal: Goal) -> Array:
    """Weigh every row for every target; an array of FOUND, shape (targets,)."""
    announce("the attack", _chunk)
    found = np.zeros(len(facts.item), dtype=FOUND)
    in_chunks(_chunk, len(found), goal.rows, held, counts, law, facts, goal, found)
    return found


@njit(cache=True, nogil=True)
def _chunk(start, stop, rows, held, counts, law, facts, goal, found):  # type: ignore[no-untyped-def]
    known, n_rows = facts.item.shape[1], len(goal.sizes)
    listed, faults = np.empty(n_rows, np.int32), np.empty(n_rows, np.int32)
    room = (listed, faults, np.empty(n_rows, np.int32), np.empty(n_rows, np.int32))
    chance, power = np.empty(n_rows, np.float64), np.empty(n_rows, np.int64)
    order, sums = np.empty(known, np.int64), np.empty(law.mistakes + 1)
    dense = len(rows.levels) > 0
    owed = np.empty((len(counts.product) if dense else 0, law.mistakes + 1))
    beside = np.empty(counts.items + 1 if len(counts.rated) == 0 else 1)
    masses = np.zeros(goal.class_of.max() + 1 if len(goal.class_of) > 0 else 0)
    for t in range(start, stop):
        m = _rarest_first(t, counts, facts, order)
        out = found[t]
        owed[:] = np.nan
        scratch = (order[:m], sums, beside, owed)
        n = _possible(t, rows, held, counts, law, facts, scratch, room, chance, power, out)
        stranger = (0.0, 0)
        if goal.strangers:
            stranger = _stranger(t, held, counts, law, facts, goal, order[:m], sums, out)
        sum_up(t, listed[:n], chance, power, stranger, goal, masses, out)


@inner
def _rarest_first(t, counts, facts, order):  # type: ignore[no-untyped-def]
    """Sort a target's facts by how many rated the item; return how many there are."""
    m = 0
    for j in range(len(order)):
        item = facts.item[t, j]
        if item < 0:
            continue
        i, support = m, counts.support[item]
        while i > 0:
            if counts.support[facts.item[t, order[i - 1]]] <= support:
                break
            order[i] = order[i - 1]
            i -= 1
        order[i] = j
        m += 1
    return m


@inner
def _possible(t, rows, held, counts, law, facts, scratch, room, chance, power, out):  # type: ignore[no-untyped-def]
    """List the rows that may have led to what is known, with their chances; return how many."""
    order = scratch[0]
    n = list_possible(t, held, law, facts, order, room, out)
    listed, kept = room[0], 0
    for i in range(n):
        row = listed[i]
        if len(counts.rated) == 0 or counts.rated[row] >= 0:
            chance[kept], power[kept] = _chance(row, t, rows, counts, law, facts, *scratch)
            if chance[kept] > 0:
                listed[kept] = row
                kept += 1
    return kept


@njit(cache=True, nogil=True)
def _chance(row, t, rows, counts, law, facts, order, sums, room, memo):  # type: ignore[no-untyped-def]
    """Chance of the facts from a record of a row, but for what is alike for all: x · 2^power."""
    sums[:] = 0.0
    sums[0] = 1.0
    power = _choices(row, t, rows, counts, law, facts, order, sums)
    if power > 0:
        return 0.0, 0
    out = 0.0
    if law.wrong_items:
        for w in range(len(sums)):
            if sums[w] > 0 and facts.share[t, w] > 0:
                owed = owed_once(row, t, len(order) - w, w, rows, counts, facts, order, room, memo)
                out += sums[w] * facts.share[t, w] * owed
    else:
        for w in range(len(sums)):
            out += sums[w] * facts.share[t, w]
        if out > 0:
            out *= owed_once(row, t, len(order), 0, rows, counts, facts, order, room, memo)
    x, e = math.frexp(out)
    return x, power + e


@inner
def _choices(row, t, rows, counts, law, facts, order, sums):  # type: ignore[no-untyped-def]
    """Fill `sums` with the chances of the facts by the number of mistakes among them.

    `sums[i]`: over the choices of i of the facts, of the product of the chances of these being
    wrong and the others right. Returns the power of two that is set apart; 1: all are zero.
    """
    lacking, power = 0, 0
    for k in range(len(order)):
        j = order[k]
        p = cell_at(row, facts.item[t, j], rows)
        if p < 0:
            lacking += 1
            if not law.wrong_items or lacking > law.mistakes:
                return 1
            right, wrong = 0.0, facts.blind[t, j]
        else:
            day = rows.days[p] if len(rows.days) > 0 else UNKNOWN_DAY
            code = np.int64(content_at(p, row, rows))
            right, wrong = _fact(code, day, len(rows.days) > 0, t, j, counts, law, facts)
        apart = _take(sums, right, wrong)
        if apart > 0:
            return 1
        power += apart
    return power


@inner
def _take(sums, right, wrong):  # type: ignore[no-untyped-def]
    """Take one more fact into `sums`; returns the power of two that is set apart, 1: all zero."""
    most = 0.0
    for i in range(len(sums) - 1, 0, -1):
        sums[i] = sums[i] * right + sums[i - 1] * wrong
        most = max(most, sums[i])
    sums[0] *= right
    most = max(most, sums[0])
    if most == 0.0:
        return 1
    if most < _SMALL:
        sums /= _SMALL
        return -400
    return 0


@inner
def _fact(code, day, dated, t, j, counts, law, facts):  # type: ignore[no-untyped-def]
    """Chance of a fact from a cell that it is right, and wrong, about."""
    right, wrong = _cell(code, t, j, counts, law, facts)
    if law.day_error >= 0 and dated:
        right_day, wrong_day = _day(day, t, j, law, facts)
        right *= right_day
        wrong *= 1.0 if law.wrong_items else wrong_day
    return right, wrong


@inner
def _cell(code, t, j, counts, law, facts):  # type: ignore[no-untyped-def]
    kind, popular = facts.kind[t, j], counts.popular[facts.item[t, j]]
    wrong = law.wrong[kind, code] * popular
    if law.wrong_items:
        wrong = (1.0 - counts.share[code] * popular) * facts.blind[t, j]
    return law.right[kind, code] * popular, wrong


@inner
def _day(day, t, j, law, facts):  # type: ignore[no-untyped-def]
    """Chance of a known day from a cell that it is right, and wrong, about."""
    known = np.int64(facts.day[t, j])
    if day == UNKNOWN_DAY or known == NO_DAY:
        both = 1.0 if day == UNKNOWN_DAY and known == NO_DAY else 0.0
        return both, both
    truth = np.int64(day)
    right = 1.0 / (2 * law.day_error + 1) if abs(known - truth) <= law.day_error else 0.0
    first = max(truth - law.day_error, 0)
    last = min(truth + law.day_error + 1, len(law.days_below) - 1)
    outside = law.days_below[-1] - (law.days_below[last] - law.days_below[first])
    if outside == 0:
        return right, 1.0 if known == truth else 0.0
    if (first <= known and known < last) or known < 0 or known >= len(law.days_below) - 1:
        return right, 0.0
    return right, (law.days_below[known + 1] - law.days_below[known]) / outside


@inner
def _stranger(t, held, counts, law, facts, goal, order, sums, out):  # type: ignore[no-untyped-def]
    """Chance of the facts from somebody who is in no row, as `_chance` has it.

    Each is drawn from all cells, with half a cell that says what the data say on the whole.
    """
    own = goal.own[t] if goal.absent else -1
    records, cells = 0, 0.0
    for row in range(len(goal.sizes)):
        size = goal.sizes[row] - (row == own)
        records += size
        cells += size * counts.expected[row]
    no_cells = records * counts.items - cells + counts.items / 2
    cells += counts.items / 2
    sums[:] = 0.0
    sums[0] = 1.0
    power = 0
    for k in range(len(order)):
        j = order[k]
        item, right, wrong, rated = facts.item[t, j], 0.0, 0.0, 0.0
        for p in range(held.indptr[item], held.indptr[item + 1]):
            size = goal.sizes[held.rows[p]] - (held.rows[p] == own)
            day = held.days[p] if len(held.days) > 0 else UNKNOWN_DAY
            code = np.int64(held.codes[p])
            chances = _fact(code, day, len(held.days) > 0, t, j, counts, law, facts)
            right += size * chances[0]
            wrong += size * chances[1]
            rated += size * counts.share[held.codes[p]] * counts.popular[item]
        out["touched"] += held.indptr[item + 1] - held.indptr[item]
        right = (right + facts.blind[t, j] / 2) / cells
        if law.wrong_items:
            wrong = (records - rated + 0.5) * facts.blind[t, j] / no_cells
        else:
            wrong = (wrong + facts.blind[t, j] / 2) / cells
        power += _take(sums, right, wrong)
    chance = 0.0
    for w in range(len(sums)):
        chance += sums[w] * facts.share[t, w]
    if facts.told[t] >= 0:
        told = 0.0
        for row in range(len(goal.sizes)):
            if counts.lengths[row] > 0:
                size = goal.sizes[row] - (row == own)
                told += size * chance_told(facts.told[t], counts.lengths[row])
        chance *= told / max(1, records)
    x, e = math.frexp(chance)
    return x, power + e
