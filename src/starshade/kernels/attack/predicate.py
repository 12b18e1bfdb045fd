"""Chances that one value of a class has exactly one holder, and the best of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from starshade.kernels.arrays import Bools, Floats, Int32s, Ints, cut, inner, place_of, run
from starshade.kernels.attack.agreement import Rows
from starshade.kernels.warm import announce

_WHOLE = 64  # members up to which all that a cell promises is weighed; 1/64! is still a float
_NEGLIGIBLE = 1e-12
_TABLE = 2**23  # entries of the largest table of what cells and questions have in common


class Named(NamedTuple):
    """What each symbol says, in levels: 0 is null, ratings that the release names follow.

    Symbol s names the levels ``levels[offsets[s]:offsets[s + 1]]``, ascending; `held`: whether some
    member of the class is known to hold it. `first`, `last` (n_symbols,): the ratings' levels
    strictly inside a range, which it does not name one by one; last < first: none.
    """

    offsets: Ints
    levels: Ints
    held: Bools
    first: Ints
    last: Ints


class Kinds(NamedTuple):
    """Cells that are alike: of one item and symbol, in classes of one size, shape (n_kinds,)."""

    item: Ints
    symbol: Ints
    size: Ints


class Chances(NamedTuple):
    """What to expect of each kind: kind k has the values ``offsets[k]:offsets[k + 1]``.

    once : chance that exactly one member holds the value
    share : chance that a given member holds it
    inside : shape (n_kinds,); chance that they hold another rating of the range
    """

    offsets: Ints
    once: Floats
    share: Floats
    inside: Floats


def weigh(kinds: Kinds, named: Named, prior: Floats, bins: Ints, unit: Floats) -> Chances:
    """Weigh what members may hold, drawn by `prior`, given that what is held is held.

    `prior` (n_items, n_bins); level v weighs ``prior[item, bins[v]] * unit[v]``.
    """
    announce("the predicate attack", _weigh)
    offsets = np.concatenate([[0], np.cumsum(np.diff(named.offsets)[kinds.symbol])])
    total = int(offsets[-1])
    out = Chances(
        offsets.astype(np.int64), np.empty(total), np.empty(total), np.zeros(len(kinds.item))
    )
    _weigh(kinds, named, prior, bins, unit, out)
    return out


@njit(cache=True, nogil=True)
def _weigh(kinds, named, prior, bins, unit, out):  # type: ignore[no-untyped-def]
    for k in range(len(kinds.item)):
        item, symbol, n = kinds.item[k], kinds.symbol[k], kinds.size[k]
        start, stop = named.offsets[symbol], named.offsets[symbol + 1]
        m = stop - start
        q = np.empty(m + 1)
        for e in range(m):
            level = named.levels[start + e]
            q[e] = prior[item, bins[level]] * unit[level]
        q[m] = 0.0
        if named.last[symbol] >= named.first[symbol]:
            level = named.first[symbol]
            q[m] = prior[item, bins[level]] * unit[level] * (named.last[symbol] - level + 1)
        whole = 0.0
        for e in range(m + 1):
            whole += q[e]
        for e in range(m + 1):
            q[e] = q[e] / whole if whole > 0 else 1.0 / (m + 1)
        held = named.held[start:stop]
        first, last = out.offsets[k], out.offsets[k + 1]
        once, share = out.once[first:last], out.share[first:last]
        if not (n <= _WHOLE and _together(q, held, n, once, share)):
            _one_by_one(q, held, n, once, share)
        known = 0.0
        for e in range(m):
            known += share[e]
        out.inside[k] = max(0.0, 1 - known) if q[m] > 0 else 0.0


@inner
def _one_by_one(q, held, n, once, share):  # type: ignore[no-untyped-def]
    """Weigh each value as if nothing were known of the others."""
    for e in range(len(once)):
        some = 1 - (1 - q[e]) ** n if held[e] else 1.0
        once[e] = n * q[e] * (1 - q[e]) ** (n - 1) / some if some > 0 else 0.0
        share[e] = min(1.0, q[e] / some) if some > 0 else 0.0


@inner
def _together(q, held, n, once, share):  # type: ignore[no-untyped-def]
    """Weigh all values at once; False where no n members can hold all that is held.

    A value contributes Σ_t (q x)^t/t!, from t = 1 where it is held; n! times the coefficient of x^n
    in the product is the chance that all of it is so.
    """
    m = len(once)
    before, after = np.zeros((m + 2, n + 1)), np.zeros((m + 2, n + 1))
    part = np.zeros((m + 1, n + 1))
    for e in range(m + 1):
        part[e, 0] = 1.0
        for t in range(1, n + 1):
            part[e, t] = part[e, t - 1] * q[e] / t
        if e < m and held[e]:
            part[e, 0] = 0.0
    before[0, 0] = after[m + 1, 0] = 1.0
    for e in range(m + 1):
        for a in range(n + 1):
            if before[e, a] > 0:
                for t in range(n + 1 - a):
                    before[e + 1, a + t] += before[e, a] * part[e, t]
    for e in range(m, -1, -1):
        for a in range(n + 1):
            if after[e + 1, a] > 0:
                for t in range(n + 1 - a):
                    after[e, a + t] += after[e + 1, a] * part[e, t]
    if not before[m + 1, n] > 0:
        return False
    for e in range(m):
        one, mean = 0.0, 0.0
        for t in range(1, n + 1):
            others = 0.0
            for a in range(n - t + 1):
                others += before[e, a] * after[e + 1, n - t - a]
            if t == 1:
                one = q[e] * others
            mean += t * part[e, t] * others
        once[e] = min(1.0, one / before[m + 1, n])
        share[e] = min(1.0, mean / before[m + 1, n] / n)
    return True


@inner
def _chance_of(level, kind, kinds, named, chances):  # type: ignore[no-untyped-def]
    """Return the chance that a member of a class with such a cell holds a level there."""
    symbol = kinds.symbol[kind]
    start, stop = named.offsets[symbol], named.offsets[symbol + 1]
    place = place_of(named.levels, start, stop, level)
    if place < stop and named.levels[place] == level:
        return chances.share[chances.offsets[kind] + place - start]
    if named.first[symbol] <= level <= named.last[symbol]:
        return chances.inside[kind] / (named.last[symbol] - named.first[symbol] + 1)
    return 0.0


@inner
def _fits(symbol, kind, kinds, named, chances):  # type: ignore[no-untyped-def]
    """Return the chance that a member of a class with such a cell fits a symbol there."""
    total = 0.0
    for e in range(named.offsets[symbol], named.offsets[symbol + 1]):
        total += _chance_of(named.levels[e], kind, kinds, named, chances)
    first, last = named.first[symbol], named.last[symbol]
    if last < first:
        return min(1.0, total)
    theirs = kinds.symbol[kind]
    for e in range(named.offsets[theirs], named.offsets[theirs + 1]):
        if first <= named.levels[e] <= last:
            total += chances.share[chances.offsets[kind] + e - named.offsets[theirs]]
    both = min(last, named.last[theirs]) - max(first, named.first[theirs]) + 1
    if both > 0:
        width = named.last[theirs] - named.first[theirs] + 1
        total += chances.inside[kind] * both / width
    return min(1.0, total)


class Meeting(NamedTuple):
    """Cells of one kind against what may be asked there; empty where that is reckoned each time.

    fits : shape (n_kinds, n_symbols); chance that a member with such a cell fits the symbol
    holds : shape (n_kinds, n_levels); chance that they hold the level
    """

    fits: Floats
    holds: Floats


def choose(
    rows: Ints, table: Rows, sizes: Ints, kinds: Kinds, named: Named, chances: Chances, n_items: int
) -> tuple[Int32s, Ints, Floats]:
    """Choose for each of `rows` the item and the level that most likely one person alone has.

    `table`: all rows, the kind of each cell as its code. Returns the items (-1: the row has no
    cell), the levels, and the chances as the adversary sees them.
    """
    announce("the predicate attack", _choose)
    item, level = np.full(len(rows), -1, np.int32), np.zeros(len(rows), np.int64)
    chance = np.empty(len(rows))
    meeting = _meeting(kinds, named, chances)
    lanes = cut(np.full(len(rows), len(table.columns)))

    def work(lane: int) -> None:
        first, last = lanes[lane]
        own = slice(first, last)
        told = kinds, named, chances, meeting, n_items
        _choose(rows[own], table, sizes, *told, item[own], level[own], chance[own])

    run(work, len(lanes), "choosing predicates")
    return item, level, chance


def _meeting(kinds: Kinds, named: Named, chances: Chances) -> Meeting:
    n_symbols, n_levels = len(named.first), int(named.levels.max(initial=0)) + 1
    n = len(kinds.item) if len(kinds.item) * max(n_symbols, n_levels) <= _TABLE else 0
    out = Meeting(np.empty((n, n_symbols)), np.empty((n, n_levels)))
    _meet(kinds, named, chances, out)
    return out


@njit(cache=True, nogil=True)
def _meet(kinds, named, chances, out):  # type: ignore[no-untyped-def]
    for kind in range(len(out.fits)):
        for symbol in range(out.fits.shape[1]):
            out.fits[kind, symbol] = _fits(symbol, kind, kinds, named, chances)
        for level in range(out.holds.shape[1]):
            out.holds[kind, level] = _chance_of(level, kind, kinds, named, chances)


@njit(cache=True, nogil=True)
def _choose(rows, table, sizes, kinds, named, chances, meeting, n_items, item, level, chance):  # type: ignore[no-untyped-def]
    place = np.full(n_items, -1, np.int64)  # of an item among the cells of the row
    asked = np.zeros(n_items, np.int64)  # the row's symbol there
    there = np.zeros(n_items, np.int64)  # the kind of another class's cell; by place
    both = np.zeros(n_items)  # the chance that they fit there
    told = kinds, named, chances, meeting
    for r in range(len(rows)):
        row = rows[r]
        start, stop = table.indptr[row], table.indptr[row + 1]
        needed = 0
        offsets = np.zeros(stop - start + 1, np.int64)
        for p in range(start, stop):
            symbol = kinds.symbol[table.codes[p]]
            place[table.columns[p]] = p - start
            asked[p - start] = symbol
            values = named.offsets[symbol + 1] - named.offsets[symbol]
            offsets[p - start + 1] = offsets[p - start] + values
            needed += not _has_null(symbol, named)
        nobody = np.zeros(offsets[stop - start])  # logarithm of the chance that nobody else fits
        alone = 0.0
        for other in range(len(sizes)):
            if other != row:
                there[: stop - start] = -1
                fits = _meets(other, table, place, asked, there, both, needed, told)
                if fits >= _NEGLIGIBLE:
                    alone += _none(fits, sizes[other])
                    _elsewhere(fits, sizes[other], asked, there, both, offsets, nobody, told)
        best = -1.0
        for p in range(start, stop):
            kind = table.codes[p]
            for e in range(offsets[p - start + 1] - offsets[p - start]):
                score = chances.once[chances.offsets[kind] + e]
                score *= np.exp(nobody[offsets[p - start] + e])
                if score > best * (1 + 1e-9):
                    best = score
                    item[r] = table.columns[p]
                    level[r] = named.levels[named.offsets[asked[p - start]] + e]
            place[table.columns[p]] = -1
        if start == stop:
            best = np.exp(alone) if sizes[row] == 1 else 0.0
        chance[r] = best


@inner
def _has_null(symbol, named):  # type: ignore[no-untyped-def]
    start = named.offsets[symbol]
    return start < named.offsets[symbol + 1] and named.levels[start] == 0


@inner
def _meets(other, table, place, asked, there, both, needed, told):  # type: ignore[no-untyped-def]
    """Return the chance that a member of another class fits; note their cells by place."""
    kinds, named, chances, meeting = told
    quick = len(meeting.fits) > 0
    fits = 1.0
    for q in range(table.indptr[other], table.indptr[other + 1]):
        kind = table.codes[q]
        p = place[table.columns[q]]
        if p < 0:
            if quick:
                fits *= meeting.holds[kind, 0]
            else:
                fits *= _chance_of(0, kind, kinds, named, chances)
        else:
            symbol = asked[p]
            if quick:
                both[p] = meeting.fits[kind, symbol]
            else:
                both[p] = _fits(symbol, kind, kinds, named, chances)
            there[p] = kind
            fits *= both[p]
            needed -= not _has_null(symbol, named)
        if fits < _NEGLIGIBLE:
            return 0.0
    return 0.0 if needed > 0 else fits  # somebody must have rated what nobody there did


@inner
def _elsewhere(fits, size, asked, there, both, offsets, nobody, told):  # type: ignore[no-untyped-def]
    """Take into account that members of another class may hold each value."""
    kinds, named, chances, meeting = told
    quick = len(meeting.fits) > 0
    for p in range(len(offsets) - 1):
        first, kind = named.offsets[asked[p]], there[p]
        for e in range(offsets[p + 1] - offsets[p]):
            value = named.levels[first + e]
            if kind < 0:
                holds = 1.0 if value == 0 else 0.0
            elif quick:
                holds = meeting.holds[kind, value] / both[p]
            else:
                holds = _chance_of(value, kind, kinds, named, chances) / both[p]
            if holds > 0:
                nobody[offsets[p] + e] += _none(min(1.0, fits * holds), size)


@inner
def _none(chance, members):  # type: ignore[no-untyped-def]
    """Return the logarithm of the chance that none of the members does."""
    if chance < 1e-4:  # the next term of the series is below 1e-12
        return -members * chance * (1 + chance / 2)
    return members * np.log1p(-chance) if chance < 1 else -np.inf
