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

from starshade.kernels.arrays import Array, Bools, Floats, Int32s, Ints, in_chunks, inner
from starshade.kernels.attack.candidates import Postings
from starshade.kernels.attack.possible import Listed, list_possible, of_cell, of_day, take
from starshade.kernels.attack.posterior import DIGITS, FOUND, Goal, Sums, add, sum_of, sum_up
from starshade.kernels.rated import chance_told, owed
from starshade.kernels.warm import announce


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
    if goal.strangers and not len(goal.sums.records):
        goal = goal._replace(sums=Sums.of_nobody(*facts.item.shape))
    in_chunks(_chunk, len(found), goal.rows, held, counts, law, facts, goal, found)
    return found


@njit(cache=True, nogil=True)
def _chunk(start, stop, rows, held, counts, law, facts, goal, found):  # type: ignore[no-untyped-def]
    known, n_rows, ways = facts.item.shape[1], len(goal.sizes), law.mistakes + 1
    room = _listed(n_rows, ways), _listed(n_rows, ways)
    listed, chance = np.empty(n_rows, np.int32), np.empty(n_rows, np.float64)
    weighed = listed, chance, np.empty(n_rows, np.int64)
    order, chances = np.empty(known, np.int64), np.empty((1, ways))
    summed = not goal.strangers or len(goal.chance) > 0
    everybody = _of_all_rows(counts, goal.sizes[:0] if summed else goal.sizes)
    memo = np.empty((_kinds(rows, counts), ways))
    beside = np.empty(counts.items + 1 if len(counts.rated) == 0 else 1)
    masses = np.zeros(goal.class_of.max() + 1 if len(goal.class_of) > 0 else 0, np.int64)
    before = -1
    for t in range(start, stop):
        m = _rarest_first(t, counts, facts, order)
        out = found[t]
        if len(counts.rated) == 0 or m != before:
            memo[:] = np.nan
        before = m
        n, some = list_possible(t, held, counts, law, facts, order[:m], *room, out)
        n = _weigh(t, n, some, rows, counts, law, facts, order[:m], memo, beside, *weighed)
        stranger = (0.0, 0)
        if goal.strangers:
            if not summed:
                _add_up(t, held, counts, law, facts, goal, *everybody)
            stranger = _stranger(t, held, counts, law, facts, goal.sums, order[:m], chances, out)
        sum_up(t, listed[:n], chance, weighed[2], stranger, goal, masses, out)


@inner
def _listed(n_rows, ways):  # type: ignore[no-untyped-def]
    """Room for as many rows as there are, and for one that lacks all items."""
    return Listed(
        np.empty(n_rows + 1, np.int32),
        np.empty(n_rows + 1, np.int32),
        np.empty((n_rows + 1, ways)),
        np.empty(n_rows + 1, np.int64),
    )


@inner
def _kinds(rows, counts):  # type: ignore[no-untyped-def]
    """How many kinds of rows there are, alike in what a chance owes to how much they rated."""
    if len(counts.rated) > 0:
        return counts.items + 1
    return len(counts.product) if len(rows.levels) > 0 else 1


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
def _weigh(t, n, some, rows, counts, law, facts, order, memo, beside, listed, chance, power):  # type: ignore[no-untyped-def]
    """List the rows that may be it with their chances, `chance * 2 ** power`; return how many.

    A chance comes without what is alike for all. memo : what it owes to how much each kind of rows
    rated, by the number of mistakes; NaN where that is not known yet
    """
    certain, dense, told = len(counts.rated) > 0, len(rows.levels) > 0, facts.told[t]
    share, sums, wrong_items = facts.share[t], some.sums, law.wrong_items
    kept = 0
    for i in range(n):
        row, kind = some.row[i], np.int64(0)
        if certain:
            kind = counts.rated[row]
            if kind < 0:
                continue
        elif dense:
            kind = counts.pattern[row]
        else:  # no two are known to be alike
            for w in range(memo.shape[1]):
                memo[0, w] = np.nan
        said = chance_told(told, rows.indptr[row + 1] - rows.indptr[row]) if certain else 1.0
        out = 0.0
        for w in range(memo.shape[1]):
            if sums[i, w] > 0 and share[w] > 0:
                part = sums[i, w] * share[w]
                if wrong_items:
                    if np.isnan(memo[kind, w]):
                        m = len(order) - w
                        memo[kind, w] = owed(row, t, m, w, rows, counts, facts, order, beside)
                    part *= memo[kind, w] * said
                out += part
        if out > 0 and not wrong_items:
            if np.isnan(memo[kind, 0]):
                m = len(order)
                memo[kind, 0] = owed(row, t, m, np.int64(0), rows, counts, facts, order, beside)
            out *= memo[kind, 0] * said
        if out > 0:
            chance[kept], e = math.frexp(out)
            listed[kept], power[kept] = row, some.power[i] + e
            kept += 1
    return kept


@inner
def _of_all_rows(counts, sizes):  # type: ignore[no-untyped-def]
    """Return the cells of rows, and how many records have each length."""
    cells, longest = np.zeros(DIGITS, np.int64), 0
    for row in range(len(sizes)):
        add(counts.expected[row], sizes[row], cells)
        longest = max(longest, counts.lengths[row])
    lengths = np.zeros(longest + 1, np.int64)
    for row in range(len(sizes)):
        lengths[counts.lengths[row]] += sizes[row]
    return cells, lengths


@inner
def _add_up(t, held, counts, law, facts, goal, cells, lengths):  # type: ignore[no-untyped-def]
    """Add up over the rows what `_stranger` reads; cells, lengths : see `_of_all_rows`."""
    own, sums = goal.own[t] - goal.first if goal.absent else -1, goal.sums
    for n in range(len(lengths)):  # sums and loops over arrays would take seconds to compile
        sums.records[t] += lengths[n]
    for i in range(len(cells)):
        sums.cells[t, i] += cells[i]
    said, told = facts.told[t], sums.told[t]
    for n in range(1, len(lengths) if said >= 0 else 1):
        add(chance_told(said, n), lengths[n], told)
    if 0 <= own < len(goal.sizes):
        sums.records[t] -= 1
        add(counts.expected[own], -1, sums.cells[t])
        if said >= 0 and counts.lengths[own] > 0:
            add(chance_told(said, counts.lengths[own]), -1, told)
    for j in range(facts.item.shape[1]):
        if facts.item[t, j] >= 0:
            both = sums.right[t, j], sums.wrong[t, j]
            _add_holders(t, j, held, counts, law, facts, goal.sizes, own, both)


@inner
def _add_holders(t, j, held, counts, law, facts, sizes, own, both):  # type: ignore[no-untyped-def]
    """Add up how likely a fact is from those who hold its item."""
    item, kind, dated = facts.item[t, j], facts.kind[t, j], law.day_error >= 0
    known, popular, blind = np.int64(facts.day[t, j]), counts.popular[item], facts.blind[t, j]
    rights, wrongs, wrong_items = law.right[kind], law.wrong[kind], law.wrong_items
    sum_of_right, sum_of_wrong = both
    for p in range(held.indptr[item], held.indptr[item + 1]):
        size = sizes[held.rows[p]] - (held.rows[p] == own)
        code = np.int64(held.codes[p])
        share = counts.share[code]
        right, wrong = of_cell(rights[code], wrongs[code], share, popular, blind, wrong_items)
        if dated:
            days = of_day(np.int64(held.days[p]), known, law.day_error, law.days_below)
            right *= days[0]
            wrong *= days[1]
        add(right, size, sum_of_right)
        add(share * popular if wrong_items else wrong, size, sum_of_wrong)


@inner
def _stranger(t, held, counts, law, facts, sums, order, chances, out):  # type: ignore[no-untyped-def]
    """Chance of the facts from somebody who is in no row, as `_chance` has it.

    Each is drawn from all cells, with half a cell that says what the data say on the whole.
    """
    records, cells = sums.records[t], sum_of(sums.cells[t])
    no_cells = records * counts.items - cells + counts.items / 2
    cells += counts.items / 2
    chances[:] = 0.0
    chances[0, 0] = 1.0
    power = 0
    for k in range(len(order)):
        j = order[k]
        item, blind = facts.item[t, j], facts.blind[t, j]
        right, wrong = sum_of(sums.right[t, j]), sum_of(sums.wrong[t, j])
        out["touched"] += held.indptr[item + 1] - held.indptr[item]
        right = (right + blind / 2) / cells
        if law.wrong_items:
            wrong = (records - wrong + 0.5) * blind / no_cells
        else:
            wrong = (wrong + blind / 2) / cells
        power += take(chances, 0, right, wrong, chances, 0)
    chance = 0.0
    for w in range(chances.shape[1]):
        chance += chances[0, w] * facts.share[t, w]
    if facts.told[t] >= 0:
        chance *= sum_of(sums.told[t]) / max(1, records)
    x, e = math.frexp(chance)
    return x, power + e
