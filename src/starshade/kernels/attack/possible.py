"""Which rows may have led to what is known, and what that owes to how much they rated.

No more of what is known is wrong of a row than may be. How many items a released row rated is not
certain. `counts` and `facts` are the named tuples of `starshade.kernels.attack.likelihood`.
"""

from __future__ import annotations

import math

import numpy as np

from starshade.kernels.arrays import UNKNOWN_DAY, inner, place_of
from starshade.kernels.attack.postings import NO_DAY


@inner
def list_possible(t, held, law, facts, order, room, out):  # type: ignore[no-untyped-def]
    """List the rows of which no more of the facts are wrong than may be, ascending.

    The lists of who has an item are walked side by side, the shortest first.
    """
    listed, faults, other, other_faults = room
    lacking = law.mistakes if law.wrong_items else 0
    if lacking >= len(order):  # whoever rated none of the items may be it
        for row in range(len(listed)):
            listed[row] = row
        out["touched"] += len(listed)
        return len(listed)
    n = 0
    for s in range(len(order)):
        j = order[s]
        item = facts.item[t, j]
        of_item = slice(held.indptr[item], held.indptr[item + 1])
        days = held.days[of_item] if law.day_error >= 0 else held.days[:0]
        cells = (held.rows[of_item], held.codes[of_item], days)
        fact = (law.right[facts.kind[t, j]], np.int64(facts.day[t, j]), law.day_error)
        if s <= lacking:
            for i in range(n):
                other[i], other_faults[i] = listed[i], faults[i]
            some = (other[:n], other_faults[:n])
            out["touched"] += len(cells[0])
            n = _join(cells, fact, s, law.mistakes, some, listed, faults)
        else:
            out["touched"] += min(len(cells[0]), n)
            n = _keep(cells, fact, law.mistakes, law.wrong_items, listed[:n], faults)
    return n


@inner
def _join(cells, fact, before, most, some, listed, faults):  # type: ignore[no-untyped-def]
    """List those of either list; who is not among `some` lacks all the items before."""
    holders, others, their_faults = cells[0], some[0], some[1]
    n, p, i = 0, 0, 0
    while p < len(holders) or i < len(others):
        here = p < len(holders) and (i == len(others) or holders[p] <= others[i])
        had = i < len(others) and (p == len(holders) or others[i] <= holders[p])
        fault = (their_faults[i] if had else before) + (
            not here or not _may_be_right(p, cells, fact)
        )
        if fault <= most:
            listed[n], faults[n] = others[i] if had else holders[p], fault
            n += 1
        p += here
        i += had
    return n


@inner
def _keep(cells, fact, most, wrong_items, listed, faults):  # type: ignore[no-untyped-def]
    """Keep those of whom, with one fact more, no more is wrong than may be."""
    holders = cells[0]
    n, p = 0, 0
    for i in range(len(listed)):
        row, step = listed[i], 1
        while p + step < len(holders) and holders[p + step] < row:
            p += step
            step *= 2
        p = place_of(holders, p, min(p + step + 1, len(holders)), row)
        here = p < len(holders) and holders[p] == row
        fault = faults[i] + (not here or not _may_be_right(p, cells, fact))
        if fault <= most and (here or wrong_items):
            listed[n], faults[n] = row, fault
            n += 1
    return n


@inner
def _may_be_right(p, cells, fact):  # type: ignore[no-untyped-def]
    right, known, reach = fact
    if right[cells[1][p]] == 0.0:
        return False
    if len(cells[2]) == 0:
        return True
    undated = cells[2][p] == UNKNOWN_DAY
    if undated or known == NO_DAY:
        return undated and known == NO_DAY
    return abs(known - np.int64(cells[2][p])) <= reach


@inner
def cell_at(row, item, rows):  # type: ignore[no-untyped-def]
    """Return where a cell is; of dense rows, the item itself; -1 where the cell is null."""
    if len(rows.levels) > 0:
        return np.int64(item) if rows.levels[item, row] > 0 else np.int64(-1)
    stop = rows.indptr[row + 1]
    p = place_of(rows.columns, rows.indptr[row], stop, item)
    return p if p < stop and rows.columns[p] == item else np.int64(-1)


@inner
def content_at(p, row, rows):  # type: ignore[no-untyped-def]
    """Return what the cell at a `cell_at` says."""
    return np.int64(rows.levels[p, row]) - 1 if len(rows.levels) > 0 else np.int64(rows.codes[p])


@inner
def owed_once(row, t, right, wrong, rows, counts, facts, order, room, memo):  # type: ignore[no-untyped-def]
    """Return `_owed`, of dense rows found once for a target and all that are of one pattern."""
    if len(memo) == 0:
        return _owed(row, t, right, wrong, rows, counts, facts, order, room)
    pattern = counts.pattern[row]
    if np.isnan(memo[pattern, wrong]):
        memo[pattern, wrong] = _owed(row, t, right, wrong, rows, counts, facts, order, room)
    return memo[pattern, wrong]


@inner
def _owed(row, t, right, wrong, rows, counts, facts, order, room):  # type: ignore[no-untyped-def]
    """1 / (C(n, right) · C(items - n, wrong)) · chance of what is told, over the law of n.

    It comes without the factors right! and wrong!: with the ways to choose the mistaken among the
    facts they are alike for all.
    """
    if len(counts.rated) > 0:
        n, out = counts.rated[row], 1.0
        for i in range(right):
            out /= n - i
        for i in range(wrong):
            out /= counts.items - n - i
        return out * chance_told(facts.told[t], rows.indptr[row + 1] - rows.indptr[row])
    if wrong == 0 and facts.told[t] < 0:
        if right == 0:
            return 1.0
        return _by_integral(row, t, right, rows, counts, facts, order)
    n = _rated_beside(row, t, rows, counts, facts, order, room)
    out = 0.0
    for more in range(wrong, n + 1):  # so much can be known of whoever rated as many as are known
        some = room[more]
        if counts.items - right - more < wrong:
            break
        for i in range(right):
            some /= right + more - i
        for i in range(wrong):
            some /= counts.items - right - more - i
        out += some * chance_told(facts.told[t], right + more)
    return out


@inner
def chance_told(told, n):  # type: ignore[no-untyped-def]
    """Chance of a number within half of n, to the nearest."""
    if told < 0 or n == 0:
        return 1.0 if told <= 0 else 0.0
    return max(0.0, min(told + 0.5, 1.5 * n) - max(told - 0.5, 0.5 * n)) / n


@inner
def _by_integral(row, t, m, rows, counts, facts, order):  # type: ignore[no-untyped-def]
    item, kind, logs = facts.item[t], np.empty(len(order), np.int64), counts.logs
    for k in range(len(order)):
        kind[k] = counts.kind[cell_at(row, item[order[k]], rows)]
    product, nodes, weights = counts.product[counts.pattern[row]], counts.nodes, counts.weights
    out = 0.0
    for i in range(len(nodes)):
        rest = product[i]
        for k in range(len(kind)):
            rest -= logs[kind[k], i]
        out += weights[i] * m * (1.0 - nodes[i]) ** (m - 1) * math.exp(rest)
    for i in range(m):
        out /= i + 1
    return out


@inner
def _rated_beside(row, t, rows, counts, facts, order, room):  # type: ignore[no-untyped-def]
    """Fill `room` with the law of how many items beside the known ones were rated; the most."""
    n, dense = 0, len(rows.levels) > 0
    room[0] = 1.0
    first, last = (0, len(rows.levels)) if dense else (rows.indptr[row], rows.indptr[row + 1])
    for p in range(first, last):
        item = p if dense else np.int64(rows.columns[p])
        known = not counts.may[item] or (dense and rows.levels[item, row] == 0)
        for k in range(len(order)):
            known = known or facts.item[t, order[k]] == item
        if not known:
            q = counts.share[content_at(p, row, rows)] * counts.popular[item]
            n += 1
            room[n] = room[n - 1] * q
            for i in range(n - 1, 0, -1):
                room[i] = room[i] * (1.0 - q) + room[i - 1] * q
            room[0] *= 1.0 - q
    return n
