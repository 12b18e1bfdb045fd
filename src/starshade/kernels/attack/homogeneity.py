"""What all candidates of a target have in common (PA Def. 5.1; definitions, "homogeneity")."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from starshade.kernels.arrays import Array, Bools, inner, place_of, run
from starshade.kernels.attack.agreement import Truth, content_of, is_member
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


def shared_cells(
    seen: Seen, clues: Clues, within: Thresholds, truth: Truth, single: Bools
) -> Array:
    """Intersect each target's candidates, and compare with the truth."""
    announce("the homogeneity attack", _intersect_all)
    out = np.zeros(len(clues.item), dtype=SHARED)
    told = seen, clues, within, truth, single, out
    run(lambda chunk: _intersect_all(chunk * CHUNK, *told), math.ceil(len(out) / CHUNK))
    return out


@njit(cache=True, nogil=True)
def _intersect_all(start, seen, clues, within, truth, single, out):  # type: ignore[no-untyped-def]
    room = make_room(seen, clues)
    by_row = seen.by_row
    is_known = np.zeros(len(seen.postings.indptr) - 1, np.bool_)
    items, codes = np.empty(len(is_known), np.int64), np.empty(len(is_known), np.int64)
    for t in range(start, min(start + CHUNK, len(out))):
        for item in clues.item[t]:
            if item >= 0:
                is_known[item] = True
        n, _ = list_fitting(t, seen, clues, within, room)
        kept = 0
        if n > 0:
            kept, out[t]["identical"] = _intersect(
                room.rows[:n], by_row, seen.contents.has_rating, is_known, items, codes
            )
        error = within.rating + _SLACK
        cells = (items[:kept], codes[:kept])
        _compare(cells, clues.user[t], truth, seen.contents, single, error, out[t])
        user = clues.user[t]
        for p in range(truth.indptr[user], truth.indptr[user + 1]):
            out[t]["hidden"] += not is_known[truth.columns[p]]
        for item in clues.item[t]:
            if item >= 0:
                is_known[item] = False


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
def _compare(cells, user, truth, contents, single, error, out):  # type: ignore[no-untyped-def]
    start, stop = truth.indptr[user], truth.indptr[user + 1]
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
