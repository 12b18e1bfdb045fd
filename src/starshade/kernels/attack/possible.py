"""Which rows may have led to what is known, and the chances of it from each.

No more of what is known is wrong of a row than may be. The lists of who has an item are walked side
by side, the shortest first, and what each says goes at once into the chances of the rows that are
still there: no row is looked up by itself. `counts`, `law` and `facts` are the named tuples of
`starshade.kernels.attack.likelihood`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from starshade.kernels.arrays import UNKNOWN_DAY, Floats, Int32s, Ints, inner, place_of
from starshade.kernels.attack.postings import NO_DAY

_SMALL = 2.0**-400  # below it an exponent is set apart


class Listed(NamedTuple):
    """Rows, ascending, and what comes of the facts that were looked at.

    The last place is no row: what would come of one that lacks all these items.

    row : which
    faults : facts that are wrong of it
    sums : chances of the facts, shape (rows + 1, mistakes + 1); ``sums[., w]``: over the choices of
        w of them, of the product of the chances of these being wrong and the others right
    power : of two that is set apart from these
    """

    row: Int32s
    faults: Int32s
    sums: Floats
    power: Ints


@inner
def list_possible(t, held, counts, law, facts, order, some, other, out):  # type: ignore[no-untyped-def]
    """List the rows of which no more of the facts are wrong than may be; how many, and where.

    order : the facts, that about the rarest item first; some, other : scratch, either may be it
    """
    lacking = law.mistakes if law.wrong_items else 0
    everybody = lacking >= len(order)  # whoever rated none of the items may be it
    n = _begin(some, everybody)
    if everybody:
        out["touched"] += n
    for s in range(len(order)):
        joins = s <= lacking and not everybody
        item = facts.item[t, order[s]]
        holders = held.indptr[item + 1] - held.indptr[item]
        if not everybody:
            out["touched"] += holders if joins else min(holders, n)
        n = _walk(t, order[s], held, counts, law, facts, joins, some, n, other)
        some, other = other, some
    return n, some


@inner
def _begin(some, everybody):  # type: ignore[no-untyped-def]
    """Start with every row, or none."""
    nobody = len(some.row) - 1
    n = nobody if everybody else 0
    for place in range(n):
        _empty(some, place)
    _empty(some, nobody)
    return n


@inner
def _empty(some, place):  # type: ignore[no-untyped-def]
    some.row[place], some.faults[place], some.power[place] = place, 0, 0
    for w in range(some.sums.shape[1]):
        some.sums[place, w] = 1.0 if w == 0 else 0.0


@inner
def _walk(t, j, held, counts, law, facts, joins, some, n_some, other):  # type: ignore[no-untyped-def]
    """Look at fact j of the rows in `some`: list in `other` who is left, and return how many.

    joins : who has the item comes in, though they lack all the items before
    """
    item, kind, known = facts.item[t, j], facts.kind[t, j], np.int64(facts.day[t, j])
    rights, wrongs, share = law.right[kind], law.wrong[kind], counts.share
    popular, blind, dated = counts.popular[item], facts.blind[t, j], law.day_error >= 0
    most, wrong_items = law.mistakes, law.wrong_items
    reach, days_below = law.day_error, law.days_below
    holders, codes, days = held.rows, held.codes, held.days
    p, stop = held.indptr[item], held.indptr[item + 1]
    nobody = len(some.row) - 1
    other.faults[nobody] = some.faults[nobody] + 1
    apart = take(some.sums, nobody, 0.0, blind, other.sums, nobody)
    other.power[nobody] = some.power[nobody] + apart
    n, i = 0, 0
    while i < n_some or (joins and p < stop):
        place = i
        if not joins:
            p = _leap(holders, p, stop, some.row[i])
        elif i == n_some or (p < stop and holders[p] < some.row[i]):
            place = nobody
        row = holders[p] if place == nobody else some.row[i]
        here = p < stop and holders[p] == row
        right, wrong = 0.0, blind
        if here:
            code = np.int64(codes[p])
            right, wrong = of_cell(
                rights[code], wrongs[code], share[code], popular, blind, wrong_items
            )
            fault = rights[code] == 0.0
            if dated:
                right_day, wrong_day = of_day(np.int64(days[p]), known, reach, days_below)
                fault = fault or right_day == 0.0
                right *= right_day
                wrong *= 1.0 if wrong_items else wrong_day
        else:
            fault = True
        faults = some.faults[place] + np.int32(fault)
        if faults <= most and (here or wrong_items):
            apart = take(some.sums, place, right, wrong, other.sums, n)
            other.row[n], other.faults[n] = row, faults
            other.power[n] = some.power[place] + apart
            n += 1
        p += joins and here
        i += place != nobody
    return n


@inner
def _leap(ascending, p, stop, value):  # type: ignore[no-untyped-def]
    """Return the first place in [p, stop) with an element >= value, the next ones looked at first.

    Where most rows have the item it is the next.
    """
    step = 1
    while p < stop and ascending[p] < value:
        if p + step >= stop or ascending[p + step] >= value:
            return place_of(ascending, p + 1, min(p + step, stop), value)
        p += step
        step *= 2
    return p


@inner
def take(before, place, right, wrong, after, n):  # type: ignore[no-untyped-def]
    """Take one more fact into sums; return the power of two that is set apart."""
    most = 0.0
    for w in range(before.shape[1] - 1, 0, -1):
        after[n, w] = before[place, w] * right + before[place, w - 1] * wrong
        most = max(most, after[n, w])
    after[n, 0] = before[place, 0] * right
    most = max(most, after[n, 0])
    if most >= _SMALL or most == 0.0:
        return 0
    for w in range(after.shape[1]):
        after[n, w] /= _SMALL
    return -400


@inner
def of_cell(right, wrong, share, popular, blind, wrong_items):  # type: ignore[no-untyped-def]
    """Chance of a fact from a cell that it is right, and wrong, about; days aside."""
    if wrong_items:
        return right * popular, (1.0 - share * popular) * blind
    return right * popular, wrong * popular


@inner
def of_day(truth, known, reach, days_below):  # type: ignore[no-untyped-def]
    """Chance of a known day from a cell that it is right, and wrong, about."""
    if truth == UNKNOWN_DAY or known == NO_DAY:
        both = 1.0 if truth == UNKNOWN_DAY and known == NO_DAY else 0.0
        return both, both
    right = 1.0 / (2 * reach + 1) if abs(known - truth) <= reach else 0.0
    first = max(truth - reach, 0)
    last = min(truth + reach + 1, len(days_below) - 1)
    outside = days_below[-1] - (days_below[last] - days_below[first])
    if outside == 0:
        return right, 1.0 if known == truth else 0.0
    if (first <= known and known < last) or known < 0 or known >= len(days_below) - 1:
        return right, 0.0
    return right, (days_below[known + 1] - days_below[known]) / outside
