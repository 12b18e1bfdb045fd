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
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numba
import numpy as np
from numba import njit
from numpy.typing import NDArray

from starshade.kernels.arrays import Array, Bools, Floats, Int32s, Ints, inner, place_of
from starshade.kernels.attack.postings import NO_DAY
from starshade.kernels.attack.summary import mass_unit
from starshade.kernels.warm import announce

_CHUNK = 32  # targets that share scratch space
_UNKNOWN_DAY = 65_535
_SAME = 1e-9  # posteriors are equal when they differ by less than this share
_SMALL = 2.0**-400  # below it an exponent is set apart


class Rows(NamedTuple):
    """What the adversary sees, row by row and item by item; `days` is empty where there are none.

    cuts, holders : rows with a cell of item i: from cuts[i] to cuts[i + 1]
    sizes : records of each row
    """

    indptr: Ints
    columns: Int32s
    codes: Array
    days: NDArray[np.uint16]
    cuts: Ints
    holders: Int32s
    sizes: Ints


class Counts(NamedTuple):
    """How many of the items that may be known a row rated.

    rated : of each row, -1 where so little was rated that the facts cannot be about it; empty
        where that is not certain
    items : items that may be known
    may : which they are
    share, popular : chance that a cell is a rating: of each content, times that of each item
    nodes, weights : of the integral over [0, 1]
    product : logarithm of the product of 1 - q + q t over a row's cells, shape (rows, nodes)
    """

    rated: Ints
    items: int
    may: Bools
    share: Floats
    popular: Floats
    nodes: Floats
    weights: Floats
    product: Floats


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
    own : the target's row, -1 where it is unknown; shape (targets,)
    told : number of ratings that the target is said to have, -1: not known; shape (targets,)
    share : chance of each number of mistakes among what is not left out, over that of one choice
        of the mistaken; shape (targets, mistakes + 1)
    """

    item: Int32s
    kind: Ints
    day: Int32s
    blind: Floats
    own: Ints
    told: Ints
    share: Floats


#: of each target: records that share the greatest posterior, the target's among them or not; the
#: first of their rows; all posteriors over the greatest one, in units of `mass_unit`; log2 of the
#: target's over the greatest one; the row of which a record is likeliest to be the target's, the
#: target's being as likely; the same of rows, each of which is as likely as its records together
FOUND = np.dtype(
    [
        ("tied", np.int64),
        ("own_tied", np.bool_),
        ("top", np.int64),
        ("mass", np.int64),
        ("own", np.float64),
        ("tied_rows", np.int64),
        ("own_row_tied", np.bool_),
        ("touched", np.int64),
    ]
)


def weigh(rows: Rows, counts: Counts, law: Law, facts: Facts) -> Array:
    """Weigh every row for every target; an array of FOUND, shape (targets,)."""
    announce("the attack", _chunk)
    found = np.zeros(len(facts.item), dtype=FOUND)
    shared = (rows, counts, law, facts, mass_unit(int(rows.sizes.sum())))
    pool = ThreadPoolExecutor(numba.get_num_threads())
    try:
        jobs = [pool.submit(_chunk, s, *shared, found) for s in range(0, len(found), _CHUNK)]
        for job in jobs:
            job.result()
    finally:
        pool.shutdown(cancel_futures=True)  # Ctrl-C waits for the chunks at work, no longer
    return found


@njit(cache=True, nogil=True)
def _chunk(start, rows, counts, law, facts, unit, found):  # type: ignore[no-untyped-def]
    known, n_rows = facts.item.shape[1], len(rows.sizes)
    listed = np.empty(n_rows, np.int32)
    chance, power = np.empty(n_rows, np.float64), np.empty(n_rows, np.int64)
    order, sums = np.empty(known, np.int64), np.empty(law.mistakes + 1)
    room = np.empty(counts.items + 1 if len(counts.rated) == 0 else 1)
    for t in range(start, min(start + _CHUNK, len(found))):
        m = _rarest_first(t, rows, facts, order)
        out = found[t]
        scratch = (order[:m], sums, room)
        n = _possible(t, rows, counts, law, facts, scratch, listed, chance, power, out)
        _sum_up(listed[:n], chance, power, rows.sizes, facts.own[t], unit, out)


@inner
def _rarest_first(t, rows, facts, order):  # type: ignore[no-untyped-def]
    """Sort a target's facts by how many rows have the item; return how many there are."""
    m = 0
    for j in range(len(order)):
        item = facts.item[t, j]
        if item < 0:
            continue
        i, held = m, rows.cuts[item + 1] - rows.cuts[item]
        while i > 0:
            other = facts.item[t, order[i - 1]]
            if rows.cuts[other + 1] - rows.cuts[other] <= held:
                break
            order[i] = order[i - 1]
            i -= 1
        order[i] = j
        m += 1
    return m


@inner
def _possible(t, rows, counts, law, facts, scratch, listed, chance, power, out):  # type: ignore[no-untyped-def]
    """List the rows that may have led to what is known, with their chances; return how many."""
    order, n = scratch[0], 0
    seeds = 1 + (law.mistakes if law.wrong_items else 0)
    if seeds > len(order):  # whoever rated none of the items may be it
        out["touched"] += len(rows.sizes)
        for row in range(len(rows.sizes)):
            n = _try(row, t, rows, counts, law, facts, scratch, listed, chance, power, n)
        return n
    for s in range(seeds):
        item = facts.item[t, order[s]]
        out["touched"] += rows.cuts[item + 1] - rows.cuts[item]
        for p in range(rows.cuts[item], rows.cuts[item + 1]):
            row, seen = rows.holders[p], False
            for other in range(s):
                seen = seen or _place(row, facts.item[t, order[other]], rows) >= 0
            if not seen:
                n = _try(row, t, rows, counts, law, facts, scratch, listed, chance, power, n)
    return n


@inner
def _try(row, t, rows, counts, law, facts, scratch, listed, chance, power, n):  # type: ignore[no-untyped-def]
    if len(counts.rated) == 0 or counts.rated[row] >= 0:
        chance[n], power[n] = _chance(row, t, rows, counts, law, facts, *scratch)
        if chance[n] > 0:
            listed[n] = row
            n += 1
    return n


@inner
def _place(row, item, rows):  # type: ignore[no-untyped-def]
    stop = rows.indptr[row + 1]
    p = place_of(rows.columns, rows.indptr[row], stop, item)
    return p if p < stop and rows.columns[p] == item else np.int64(-1)


@njit(cache=True, nogil=True)
def _chance(row, t, rows, counts, law, facts, order, sums, room):  # type: ignore[no-untyped-def]
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
                owed = _owed(row, t, len(order) - w, w, rows, counts, facts, order, room)
                out += sums[w] * facts.share[t, w] * owed
    else:
        for w in range(len(sums)):
            out += sums[w] * facts.share[t, w]
        if out > 0:
            out *= _owed(row, t, len(order), 0, rows, counts, facts, order, room)
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
        p = _place(row, facts.item[t, j], rows)
        if p < 0:
            lacking += 1
            if not law.wrong_items or lacking > law.mistakes:
                return 1
            right, wrong = 0.0, facts.blind[t, j]
        else:
            right, wrong = _cell(rows.codes[p], t, j, counts, law, facts)
            if law.day_error >= 0 and len(rows.days) > 0:
                right_day, wrong_day = _day(rows.days[p], t, j, law, facts)
                right *= right_day
                wrong *= 1.0 if law.wrong_items else wrong_day
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
            power -= 400
    return power


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
    if day == _UNKNOWN_DAY or known == NO_DAY:
        both = 1.0 if day == _UNKNOWN_DAY and known == NO_DAY else 0.0
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
def _owed(row, t, right, wrong, rows, counts, facts, order, room):  # type: ignore[no-untyped-def]
    """1 / (C(n, right) · C(items - n, wrong)) · chance of what is told, over the law of n.

    Where n is certain it comes without the factors right! and wrong!, which are alike for all.
    """
    if len(counts.rated) > 0:
        n, out = counts.rated[row], 1.0
        for i in range(right):
            out /= n - i
        for i in range(wrong):
            out /= counts.items - n - i
        return out * _told(facts.told[t], rows.indptr[row + 1] - rows.indptr[row])
    if wrong == 0 and facts.told[t] < 0:
        return _by_integral(row, t, right, rows, counts, facts, order)
    n = _rated_beside(row, t, rows, counts, facts, order, room)
    out = 0.0
    for more in range(wrong, n + 1):  # so much can be known of whoever rated as many as are known
        some = room[more]
        if counts.items - right - more < wrong:
            break
        for i in range(right):
            some *= (i + 1.0) / (right + more - i)
        for i in range(wrong):
            some *= (i + 1.0) / (counts.items - right - more - i)
        out += some * _told(facts.told[t], right + more)
    return out


@inner
def _told(told, n):  # type: ignore[no-untyped-def]
    """Chance of a number within half of n, to the nearest."""
    if told < 0:
        return 1.0
    return max(0.0, min(told + 0.5, 1.5 * n) - max(told - 0.5, 0.5 * n)) / n


@inner
def _by_integral(row, t, m, rows, counts, facts, order):  # type: ignore[no-untyped-def]
    out = 0.0
    for i in range(len(counts.nodes)):
        node = counts.nodes[i]
        rest = counts.product[row, i]
        for k in range(len(order)):
            p = _place(row, facts.item[t, order[k]], rows)
            q = counts.share[rows.codes[p]] * counts.popular[rows.columns[p]]
            rest -= math.log(1.0 - q + q * node)
        out += counts.weights[i] * m * (1.0 - node) ** (m - 1) * math.exp(rest)
    return out


@inner
def _rated_beside(row, t, rows, counts, facts, order, room):  # type: ignore[no-untyped-def]
    """Fill `room` with the law of how many items beside the known ones were rated; the most."""
    n = 0
    room[0] = 1.0
    for p in range(rows.indptr[row], rows.indptr[row + 1]):
        known = not counts.may[rows.columns[p]]
        for k in range(len(order)):
            known = known or facts.item[t, order[k]] == rows.columns[p]
        if not known:
            q = counts.share[rows.codes[p]] * counts.popular[rows.columns[p]]
            n += 1
            room[n] = room[n - 1] * q
            for i in range(n - 1, 0, -1):
                room[i] = room[i] * (1.0 - q) + room[i - 1] * q
            room[0] *= 1.0 - q
    return n


@inner
def _sum_up(listed, chance, power, sizes, own, unit, out):  # type: ignore[no-untyped-def]
    """Set all chances beside the greatest; the sum is of whole numbers, alike in any order."""
    top = -1
    for i in range(len(listed)):
        if top < 0 or (power[i], chance[i]) > (power[top], chance[top]):
            top = i
    out["top"], out["own"] = -1, -math.inf
    most = 0.0
    for i in range(len(listed)):
        share = math.ldexp(chance[i] / chance[top], int(max(power[i] - power[top], -1_000)))
        size = sizes[listed[i]]
        most = max(most, share * size)
        out["mass"] += np.int64(share * unit + 0.5) * size
        if share >= 1.0 - _SAME:
            out["tied"] += size
            out["own_tied"] = out["own_tied"] or listed[i] == own
            out["top"] = listed[i] if out["top"] < 0 else min(out["top"], listed[i])
        if listed[i] == own:
            out["own"] = math.log2(chance[i] / chance[top]) + (power[i] - power[top])
    for i in range(len(listed)):
        share = math.ldexp(chance[i] / chance[top], int(max(power[i] - power[top], -1_000)))
        if share * sizes[listed[i]] >= most * (1.0 - _SAME):
            out["tied_rows"] += 1
            out["own_row_tied"] = out["own_row_tied"] or listed[i] == own
