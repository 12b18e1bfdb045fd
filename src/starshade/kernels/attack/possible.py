"""Which rows may have led to what is known: no more of it is wrong of them than may be."""

from __future__ import annotations

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
