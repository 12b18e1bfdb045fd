"""Dense rows of bytes laid out item by item: 0 is null, the rest are levels.

What an attack asks of dense rows are columns: the cells of the few items that it knows of. Each is
read from one end to the other, where the rows themselves would be touched all over.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from starshade.kernels.arrays import Array, Bytes, Floats, Int32s, Ints, cut, inner, run
from starshade.kernels.fingerprint import mix

Levels = NDArray[np.uint8]
_TILE = 128  # rows, and items, that are turned at once: both sides stay in the nearest cache
_STRETCH = 1 << 12  # rows whose sums stay in the nearest cache
_RUN = 1 << 22  # cells that a thread turns between two looks at what is to be done


def transpose_bytes(rows: Levels, columns: Levels) -> None:
    """Turn rows of bytes into columns: fill `columns` (items, rows) from `rows` (rows, items)."""
    step = max(_TILE, _RUN // max(1, rows.shape[0]) // _TILE * _TILE)
    starts = range(0, rows.shape[1], step)
    run(lambda i: _transpose(starts[i], starts[i] + step, rows, columns), len(starts))


@njit(cache=True, nogil=True)
def _transpose(first, last, rows, columns):  # type: ignore[no-untyped-def]
    last = min(last, rows.shape[1])
    for row in range(0, rows.shape[0], _TILE):
        for item in range(first, last, _TILE):
            for i in range(item, min(item + _TILE, last)):
                for r in range(row, min(row + _TILE, rows.shape[0])):
                    columns[i, r] = rows[r, i]


def first_equal_column(levels: Levels, *, patterns: bool) -> Ints:
    """Return, for each row, the first that equals it; `patterns`: that is null where it is.

    `levels` (items, rows).
    """
    lanes = cut(np.full(levels.shape[1], levels.shape[0]))
    hashes = np.zeros(levels.shape[1], np.uint64)
    with np.errstate(over="ignore"):  # hashes wrap around, also where run interpreted
        run(lambda lane: _hash(*lanes[lane], levels, patterns, hashes), len(lanes))
    order = np.argsort(hashes, kind="stable")  # rows ascending within a hash
    return np.asarray(_first_equal(order, hashes, levels, patterns))


@njit(cache=True, nogil=True)
def _hash(first, last, levels, patterns, hashes):  # type: ignore[no-untyped-def]
    for item in range(len(levels)):
        column = levels[item]
        for row in range(first, last):
            level = np.uint64(column[row] > 0) if patterns else np.uint64(column[row])
            hashes[row] = mix(hashes[row] + level + np.uint64(1))


@njit(cache=True, nogil=True)
def _first_equal(order, hashes, levels, patterns):  # type: ignore[no-untyped-def]
    first = np.arange(len(order))
    start = 0
    for i in range(1, len(order)):
        if hashes[order[i]] != hashes[order[start]]:
            start = i
            continue
        for j in range(start, i):  # one step, unless two different rows share a hash
            if first[order[j]] == order[j] and _equal(order[i], order[j], levels, patterns):
                first[order[i]] = order[j]
                break
    return first


@inner
def _equal(a, b, levels, patterns):  # type: ignore[no-untyped-def]
    for item in range(len(levels)):
        one, other = levels[item, a], levels[item, b]
        if one != other and (not patterns or one == 0 or other == 0):
            return False
    return True


def count_cells(levels: Levels, sizes: Ints) -> tuple[Ints, Ints]:
    """Count the cells that are not null: of each row, and records of each item."""
    lengths, support = np.zeros(levels.shape[1], np.int64), np.empty(len(levels), np.int64)
    _count(levels, sizes, lengths, support)
    return lengths, support


@njit(cache=True, nogil=True)
def _count(levels, sizes, lengths, support):  # type: ignore[no-untyped-def]
    for item in range(len(levels)):
        column, n = levels[item], np.int64(0)
        for row in range(len(column)):
            some = np.int64(column[row] > 0)
            lengths[row] += some
            n += some * sizes[row]
        support[item] = n


def gather(levels: Levels, items: Ints) -> tuple[Ints, Int32s, Bytes]:
    """List the cells of some items, ascending: of each the rows that have it, and the contents.

    Returns `indptr` (all items + 1,), where others have none, `rows` and `codes`: levels less one.
    """
    counts = np.zeros(len(levels) + 1, np.int64)
    counts[items + 1] = [np.count_nonzero(levels[item]) for item in items]
    indptr = np.cumsum(counts)
    rows, codes = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.uint8)
    _gather(levels, items, indptr, rows, codes)
    return indptr, rows, codes


@njit(cache=True, nogil=True)
def _gather(levels, items, indptr, rows, codes):  # type: ignore[no-untyped-def]
    for item in items:
        column, n = levels[item], indptr[item]
        for row in range(len(column)):
            if column[row] > 0:
                rows[n] = row
                codes[n] = column[row] - np.uint8(1)
                n += 1


def tally_shown(
    levels: Levels,
    ratings: tuple[Ints, Int32s, Array],
    places: tuple[Ints, Ints, Ints],
    counts: Ints,
) -> None:
    """Count ratings by their code and the level that their user's row shows: into `counts`.

    `ratings`: item by item, as `indptr`, users and codes; `places`: items of these that are shown,
    as which, and the row of each user, -1 where there is none.
    """
    lanes = cut(np.diff(ratings[0])[places[0]], counts.size)
    parts = np.zeros((len(lanes), *counts.shape), np.int64)
    told = (levels, *ratings, *places)
    run(lambda lane: _tally(*lanes[lane], *told, parts[lane]), len(lanes))
    counts += parts.sum(axis=0)


@njit(cache=True, nogil=True)
def _tally(first, last, levels, indptr, users, codes, shown, item_of, row, counts):  # type: ignore[no-untyped-def]
    for i in range(first, last):
        column = levels[item_of[i]]
        for p in range(indptr[shown[i]], indptr[shown[i] + 1]):
            if row[users[p]] >= 0:
                counts[codes[p], column[row[users[p]]]] += 1


def count_raters(
    levels: Levels,
    raters: tuple[Ints, Int32s],
    row: Ints,
    start: Ints,
    items: tuple[int, int],
    counts: Ints,
) -> int:
    """Count the rows that show an item by how many of their people rated it: into `counts`.

    `raters`: of each item, as `indptr` and users; `row`: of each user, -1 where there is none;
    `items`: the first, and past the last, that are looked at. Row r with j raters of an item is
    counted in ``counts[item - first, start[r] + j]``. Returns the ratings that no row shows.
    """
    first, last = items
    lanes = cut(np.full(last - first, len(start)), len(start))
    hidden = np.zeros(len(lanes), np.int64)

    def of_lane(lane: int) -> None:
        here = (first + lanes[lane][0], first + lanes[lane][1])
        hidden[lane] = _count_raters(*here, first, levels, *raters, row, start, counts)

    run(of_lane, len(lanes))
    return int(hidden.sum())


@njit(cache=True, nogil=True)
def _count_raters(begin, end, first, levels, indptr, users, row, start, counts):  # type: ignore[no-untyped-def]
    found, hidden = np.zeros(len(start), np.int64), np.int64(0)
    for item in range(begin, end):
        for p in range(indptr[item], indptr[item + 1]):
            if row[users[p]] >= 0:
                found[row[users[p]]] += 1
        column, out = levels[item], counts[item - first]
        for r in range(len(column)):
            if column[r] > 0:
                out[start[r] + found[r]] += 1
            else:
                hidden += found[r]
            found[r] = 0
    return hidden


def sums_of(
    levels: Array, indptr: Ints, items: Ints, kinds: Ints, worth: Floats, out: Floats
) -> None:
    """Add up what facts are worth in every row: into `out` (people, rows).

    `items`, `kinds` (facts,): of each the item, and the row of `worth` (kinds, levels + 1) that
    says what each level is worth, null first; person u has those from indptr[u] to indptr[u + 1].
    """
    lanes = cut(np.diff(indptr) * out.shape[1])
    run(lambda lane: _sum(*lanes[lane], levels, indptr, items, kinds, worth, out), len(lanes))


@njit(cache=True, nogil=True)
def _sum(begin, end, levels, indptr, items, kinds, worth, out):  # type: ignore[no-untyped-def]
    for person in range(begin, end):
        low, high = indptr[person], indptr[person + 1]
        fours = low + (high - low) % 4
        for start in range(0, out.shape[1], _STRETCH):
            here = slice(start, start + _STRETCH)
            stretch = out[person, here]
            for f in range(low, fours):
                column, table = levels[items[f], here], worth[kinds[f]]
                for row in range(len(stretch)):
                    stretch[row] += table[column[row]]
            for f in range(fours, high, 4):  # the same sums, written down a quarter as often
                a, s = levels[items[f], here], worth[kinds[f]]
                b, t = levels[items[f + 1], here], worth[kinds[f + 1]]
                c, u = levels[items[f + 2], here], worth[kinds[f + 2]]
                d, v = levels[items[f + 3], here], worth[kinds[f + 3]]
                for row in range(len(stretch)):
                    so_far = stretch[row] + s[a[row]]
                    stretch[row] = ((so_far + t[b[row]]) + u[c[row]]) + v[d[row]]


def add_evidence(
    cells: tuple[Floats, Floats],
    scales: Floats,
    facts: tuple[Ints, Ints, Floats],
    null: float,
    out: Floats,
) -> None:
    """Add up how far cells deviate towards ratings: into `out` (people, rows).

    `cells` (items, rows): how far each deviates from what is expected there, NaN where it is null,
    and what is expected; `facts`: indptr, items and ratings, person u's from indptr[u] to
    indptr[u + 1]. A rating moves a row's cell by its own distance from what is expected, times the
    row's scale, q; a cell that deviates by x is evidence of x·q - q²/2, a null one of `null`.
    """
    lanes = cut(np.diff(facts[0]) * len(scales))
    run(lambda lane: _add_evidence(*lanes[lane], *cells, scales, *facts, null, out), len(lanes))


@njit(cache=True, nogil=True)
def _add_evidence(first, last, deviations, expected, scales, indptr, items, ratings, null, out):  # type: ignore[no-untyped-def]
    for u in range(first, last):
        for start in range(0, len(scales), _STRETCH):
            here = slice(start, start + _STRETCH)
            stretch, of_rows = out[u, here], scales[here]
            for f in range(indptr[u], indptr[u + 1]):
                x, e, rating = deviations[items[f], here], expected[items[f], here], ratings[f]
                for row in range(len(stretch)):
                    q = (rating - e[row]) * of_rows[row]
                    evidence = q * (x[row] - q / 2)
                    stretch[row] += null if np.isnan(evidence) else evidence


def count_levels(levels: Array, sizes: Ints, counts: Ints) -> None:
    """Count records by item and level: add to `counts` (items, levels + 1), null first."""
    lanes = cut(np.full(len(levels), levels.shape[1]))
    run(lambda lane: _count_levels(*lanes[lane], levels, sizes, counts), len(lanes))


@njit(cache=True, nogil=True)
def _count_levels(first, last, levels, sizes, counts):  # type: ignore[no-untyped-def]
    for item in range(first, last):
        column = levels[item]
        for row in range(len(column)):
            counts[item, column[row]] += sizes[row]


def greatest_shown(
    levels: Array, wanted: tuple[Ints, Ints], logs: Floats, shares: Floats, out: Floats
) -> None:
    """Find the largest number of the rows that show an item as rated: into `out` (wanted,).

    `wanted`: people and items, -1 is none; `logs` (people, rows); `shares`: how much of a rating
    each level is, null first. `out` stays as it is where no row shows the item.
    """
    lanes = cut(np.full(len(out), levels.shape[1]))
    run(lambda lane: _greatest(*lanes[lane], levels, *wanted, logs, shares, out), len(lanes))


@njit(cache=True, nogil=True)
def _greatest(first, last, levels, people, items, logs, shares, out):  # type: ignore[no-untyped-def]
    for i in range(first, last):
        if items[i] < 0:
            continue
        column, of_rows, most = levels[items[i]], logs[people[i]], out[i]
        for row in range(len(column)):
            if column[row] > 0 and of_rows[row] > most and shares[column[row]] > 0:
                most = of_rows[row]
        out[i] = most


def add_by_level(
    levels: Array,
    wanted: tuple[Ints, Ints],
    odds: Floats,
    scales: Floats,
    least: float,
    out: tuple[Ints, Ints],
) -> None:
    """Add up rows by the level that they show: into both of `out` (wanted, levels + 1).

    `wanted`: people and items, -1 is none; `odds` (people, rows). The first are sums of the odds
    times `scales` (wanted,), each cut to a whole number, so that they are the same in any order;
    the second are numbers of rows whose odds are `least` or more. Nulls are not looked at.
    """
    lanes = cut(np.full(len(scales), levels.shape[1]))
    told = levels, *wanted, odds, scales, least, *out
    run(lambda lane: _add_by_level(*lanes[lane], *told), len(lanes))


@njit(cache=True, nogil=True)
def _add_by_level(first, last, levels, people, items, odds, scales, least, whole, best):  # type: ignore[no-untyped-def]
    for i in range(first, last):
        if items[i] < 0:
            continue
        column, of_rows = levels[items[i]], odds[people[i]]
        for row in range(len(column)):
            level = column[row]
            if level > 0:
                whole[i, level] += np.int64(of_rows[row] * scales[i])
                best[i, level] += of_rows[row] >= least


def add_up(counts: Ints, shares: Floats, means: Floats) -> tuple[Floats, Floats]:
    """Return of each row of counts by level how much is rated, and that times its mean rating.

    `counts` (rows, levels); `shares`, `means` (levels,): how much of a rating each is, and which.
    One level is added after the other, however many rows there are.
    """
    out = np.empty((2, len(counts)))
    lanes = cut(np.full(len(counts), counts.shape[1]))
    run(lambda lane: _add_up(*lanes[lane], counts, shares, means, *out), len(lanes))
    return out[0], out[1]


@njit(cache=True, nogil=True)
def _add_up(first, last, counts, shares, means, weights, totals):  # type: ignore[no-untyped-def]
    for row in range(first, last):
        weight = total = 0.0
        for level in range(len(shares)):
            if counts[row, level]:  # mostly there are none
                part = counts[row, level] * shares[level]
                weight += part
                total += part * means[level]
        weights[row], totals[row] = weight, total
