"""What all candidates of a target have in common (PA Def. 5.1; definitions, "homogeneity")."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from starshade.kernels.arrays import Array, Bools, Int32s, Ints, fixed, inner, place_of, run
from starshade.kernels.attack.agreement import Contents, Truth, content_of, is_member
from starshade.kernels.attack.candidates import (
    CHUNK,
    Clues,
    Seen,
    Thresholds,
    list_fitting,
    make_room,
)
from starshade.kernels.warm import announce

_SLACK = 1e-9

#: identical : there are candidates, and they have the same review graph (days do not count)
#: cells : beyond the known ones, cells with a rating that are equal in all candidates
#: true : of these, cells that hold the target's true rating or null
#: single : of these, cells that say one single rating
#: single_true : of the single ones, the target's true rating
#: single_rated, single_near : of the single ones, those whose item the target rated, and rated
#: within the threshold of what the cell says
#: hidden : ratings of the target on released items, beyond the known ones
SHARED = np.dtype(
    [
        ("identical", np.bool_),
        ("cells", np.int64),
        ("true", np.int64),
        ("single", np.int64),
        ("single_true", np.int64),
        ("single_rated", np.int64),
        ("single_near", np.int64),
        ("hidden", np.int64),
    ]
)


class Agreed(NamedTuple):
    """What all candidates of each target say alike.

    some : whether there are candidates, shape (targets,)
    identical : whether they have the same review graph
    known : what the first of them says about each known item, -1: nothing; shape (targets, known)
    lengths : cells with a rating that all have alike, the known items apart; shape (targets,)
    items, codes : these cells, target after target, items ascending
    """

    some: Bools
    identical: Bools
    known: Ints
    lengths: Ints
    items: Ints
    codes: Ints


def shared_cells(
    seen: Seen, clues: Clues, within: Thresholds, truth: Truth, single: Bools
) -> Array:
    """Intersect each target's candidates, and compare with the truth."""
    announce("the homogeneity attack", _intersect_all)
    out = np.zeros(len(clues.item), dtype=SHARED)
    told = seen, clues, within, truth, single, out
    run(lambda chunk: _intersect_all(chunk * CHUNK, *told), math.ceil(len(out) / CHUNK))
    return out


def list_agreed(seen: Seen, clues: Clues, within: Thresholds) -> Agreed:
    """Intersect each target's candidates among some of the rows; see `compare_agreed`."""
    announce("the homogeneity attack", _list_all)
    n, known = clues.item.shape
    some, identical = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    first, lengths = np.full((n, known), -1, np.int64), np.zeros(n, np.int64)
    cells: list[list[Ints]] = [[np.empty(0, np.int64)] * 2] * math.ceil(n / CHUNK)

    def work(chunk: int) -> None:
        told = seen, clues, within, some, identical, first, lengths
        cells[chunk] = _list_all(chunk * CHUNK, *told)

    run(work, len(cells))
    items, codes = (np.concatenate(column) for column in zip(*cells, strict=True))
    return Agreed(some, identical, first, lengths, items, codes)


def compare_agreed(
    agreed: Agreed,
    known: Int32s,
    within: Thresholds,
    truth: Truth,
    contents: Contents,
    single: Bools,
    n_items: int,
) -> Array:
    """Compare what all candidates say alike with the truth, as `shared_cells` does.

    known : items, shape (targets, known). Target t is row t of the truth.
    """
    out = np.zeros(len(agreed.some), dtype=SHARED)
    out["identical"] = agreed.identical
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(agreed.lengths)])
    cells = fixed(ends), fixed(agreed.items), fixed(agreed.codes)
    error, is_known = within.rating + _SLACK, np.zeros(n_items, np.bool_)
    _compare_all(cells, fixed(known), error, truth, contents, single, is_known, out)
    return out


@njit(cache=True, nogil=True)
def _intersect_all(start, seen, clues, within, truth, single, out):  # type: ignore[no-untyped-def]
    room, error = make_room(seen, clues), within.rating + _SLACK
    is_known = np.zeros(len(seen.postings.indptr) - 1, np.bool_)
    items, codes = np.empty(len(is_known), np.int64), np.empty(len(is_known), np.int64)
    for t in range(start, min(start + CHUNK, len(out))):
        _mark(clues.item[t], True, is_known)
        n, _ = list_fitting(t, seen, clues, within, room)
        kept, rows, rated = 0, room.rows[:n], seen.contents.has_rating
        if n > 0:
            kept, out[t]["identical"] = _intersect(rows, seen.by_row, rated, is_known, items, codes)
        cells = (items[:kept], codes[:kept])
        _compare(cells, clues.user[t], truth, seen.contents, single, error, is_known, out[t])
        _mark(clues.item[t], False, is_known)


@njit(cache=True, nogil=True)
def _list_all(start, seen, clues, within, some, identical, known, lengths):  # type: ignore[no-untyped-def]
    """Return the items and the codes that the candidates of each target have alike."""
    room = make_room(seen, clues)
    is_known = np.zeros(len(seen.postings.indptr) - 1, np.bool_)
    items, codes = np.empty(len(is_known), np.int64), np.empty(len(is_known), np.int64)
    all_items, all_codes, used = np.empty(0, np.int64), np.empty(0, np.int64), 0
    for t in range(start, min(start + CHUNK, len(some))):
        n, _ = list_fitting(t, seen, clues, within, room)
        if n == 0:
            continue
        _mark(clues.item[t], True, is_known)
        rows, rated = room.rows[:n], seen.contents.has_rating
        kept, identical[t] = _intersect(rows, seen.by_row, rated, is_known, items, codes)
        _mark(clues.item[t], False, is_known)
        some[t], lengths[t] = True, kept
        for j in range(known.shape[1]):
            known[t, j] = content_of(np.int64(rows[0]), clues.item[t, j], seen.by_row)
        if used + kept > len(all_items):
            all_items = _longer(all_items, used, 2 * (used + kept))
            all_codes = _longer(all_codes, used, 2 * (used + kept))
        all_items[used : used + kept], all_codes[used : used + kept] = items[:kept], codes[:kept]
        used += kept
    return all_items[:used].copy(), all_codes[:used].copy()


@inner
def _longer(values, used, length):  # type: ignore[no-untyped-def]
    out = np.empty(length, values.dtype)
    out[:used] = values[:used]
    return out


@njit(cache=True, nogil=True)
def _compare_all(cells, known, error, truth, contents, single, is_known, out):  # type: ignore[no-untyped-def]
    ends, items, codes = cells
    for t in range(len(out)):
        _mark(known[t], True, is_known)
        own = (items[ends[t] : ends[t + 1]], codes[ends[t] : ends[t + 1]])
        _compare(own, t, truth, contents, single, error, is_known, out[t])
        _mark(known[t], False, is_known)


@inner
def _mark(items, mark, is_known):  # type: ignore[no-untyped-def]
    for item in items:
        if item >= 0:
            is_known[item] = mark


@inner
def _intersect(rows, by_row, rated, is_known, items, codes):  # type: ignore[no-untyped-def]
    """List the first row's cells, with a rating and not known, that all rows have alike.

    Returns how many, and whether the rows are identical. Most intersections are empty after a
    few rows, and then the others need not be looked at.
    """
    kept = _first_cells(np.int64(rows[0]), by_row, rated, is_known, items, codes)
    identical = True
    for i in range(1, len(rows)):
        if kept == 0 and not identical:
            break
        row = np.int64(rows[i])
        identical = identical and _same_graph(np.int64(rows[0]), row, by_row)
        kept = _keep_alike(row, by_row, items, codes, kept)
    return kept, identical


@inner
def _first_cells(row, by_row, rated, is_known, items, codes):  # type: ignore[no-untyped-def]
    """List a row's cells with a rating that are not known; return how many."""
    n = 0
    if len(by_row.levels) > 0:
        for item in range(len(by_row.levels)):
            content = content_of(row, item, by_row)
            if content >= 0 and not is_known[item]:
                items[n], codes[n] = item, content
                n += 1
        return n
    for p in range(by_row.indptr[row], by_row.indptr[row + 1]):
        if rated[by_row.codes[p]] and not is_known[by_row.columns[p]]:
            items[n], codes[n] = by_row.columns[p], by_row.codes[p]
            n += 1
    return n


@inner
def _keep_alike(row, by_row, items, codes, kept):  # type: ignore[no-untyped-def]
    """Keep those of the listed cells that a row has alike; return how many."""
    dense, left = len(by_row.levels) > 0, 0
    q, stop = by_row.indptr[row], by_row.indptr[row + 1]
    for j in range(kept):
        if dense:
            same = content_of(row, items[j], by_row) == codes[j]
        else:
            q = place_of(by_row.columns, q, stop, items[j])
            same = q < stop and by_row.columns[q] == items[j] and by_row.codes[q] == codes[j]
        if same:
            items[left], codes[left] = items[j], codes[j]
            left += 1
    return left


@inner
def _same_graph(a, b, by_row):  # type: ignore[no-untyped-def]
    p, q = by_row.indptr[a], by_row.indptr[b]
    n = by_row.indptr[a + 1] - p
    if by_row.indptr[b + 1] - q != n:
        return False
    if len(by_row.levels) > 0:
        for item in range(len(by_row.levels)):
            if by_row.levels[item, a] != by_row.levels[item, b]:
                return False
        return True
    for i in range(n):
        if by_row.columns[p + i] != by_row.columns[q + i]:
            return False
        if by_row.codes[p + i] != by_row.codes[q + i]:
            return False
    return True


@inner
def _compare(cells, user, truth, contents, single, error, is_known, out):  # type: ignore[no-untyped-def]
    start, stop = truth.indptr[user], truth.indptr[user + 1]
    for p in range(start, stop):
        out["hidden"] += not is_known[truth.columns[p]]
    for i in range(len(cells[0])):
        item, symbol = cells[0][i], cells[1][i]
        place = place_of(truth.columns, start, stop, item)
        has_rated = place < stop and truth.columns[place] == item
        held = has_rated and is_member(truth.levels[truth.codes[place]], symbol, contents)
        out["cells"] += 1
        out["true"] += held or (not has_rated and contents.null[symbol])
        out["single"] += single[symbol]
        out["single_true"] += single[symbol] and held
        if single[symbol] and has_rated:
            says = contents.high[symbol]
            if np.isnan(says):
                says = contents.members[contents.offsets[symbol]]
            out["single_rated"] += 1
            out["single_near"] += abs(truth.levels[truth.codes[place]] - says) <= error
