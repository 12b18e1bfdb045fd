"""Add up what is known of one target over the raters of each item, and list what came of it.

`block`, `aux` and `tables` are the named tuples of `scoreboard`; t is the target.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from starshade.kernels.arrays import UNKNOWN_DAY, Int32s, Ints, fixed, inner, place_of

WINDOW = 1 << 16  # rows whose numbers differ in their lower 16 bits only

EVERY_ROW = 2**31 - 1  # as `most`: rows of any length are candidates
NO_DAY = -(2**31)  # the known day that says "not known"
_TOGETHER = 16  # known cells that are priced at once
_ENTRIES = 1 << 22  # contents priced at once, over these cells


def windows_of(indptr: Ints, rows: Int32s, n_rows: int) -> tuple[Ints, NDArray[np.uint16]]:
    """Cut each item's raters where a new window of 65,536 rows begins.

    Within a window a row is known by its lower 16 bits: there is less to read, and the scores of
    one window at a time stay in the processor's cache.

    Returns `cuts` (n_items, n_windows + 1): item i's raters in window w are those from cuts[i, w]
    to cuts[i, w + 1].
    """
    cuts = np.empty((len(indptr) - 1, window_count(n_rows) + 1), dtype=np.int64)
    _cut(fixed(indptr), fixed(rows), cuts)
    return cuts, rows.astype(np.uint16)


def window_count(n_rows: int) -> int:
    """Return how many windows that many rows make, at least one."""
    return max(1, -(-n_rows // WINDOW))


@njit(cache=True, nogil=True)
def _cut(indptr, rows, cuts):  # type: ignore[no-untyped-def]
    for i in range(len(cuts)):
        cuts[i, 0] = indptr[i]
        for w in range(1, cuts.shape[1]):
            cuts[i, w] = place_of(rows, cuts[i, w - 1], indptr[i + 1], w * WINDOW)


@inner
def scratch(known, last_day, tables):  # type: ignore[no-untyped-def]
    """Return room for what contents and days are worth, for some known cells at a time."""
    contents = max(tables.similarity.shape[1], len(tables.levels), 1)
    together = priced_together(known, contents)
    return np.zeros((together, contents), np.int32), np.zeros((together, last_day + 1), np.int32)


@njit(cache=True, nogil=True)
def priced_together(known, contents):  # type: ignore[no-untyped-def]
    """How many known cells' worths are held at once."""
    return max(1, min(known, _TOGETHER, _ENTRIES // contents))


@inner
def add_known(t, block, aux, tables, scores, worth, day_worth):  # type: ignore[no-untyped-def]
    """Add every known cell's contribution to the rows that hold the item.

    `worth` (an entry per cell content) is overwritten; `day_worth` (an entry per day) is zero
    before and after; see `scratch`. Returns the number of cells looked at.
    """
    touched = 0
    known = aux.item.shape[1]
    with_days = len(block.days) > 0
    for first in range(0, known, len(worth)):
        last = min(first + len(worth), known)
        touched += _price(t, first, last, 1.0, block, aux, tables, worth, day_worth)
        for w in range(block.cuts.shape[1] - 1):
            window = scores[w * WINDOW : (w + 1) * WINDOW]
            for j in range(first, last):
                item = aux.item[t, j]
                if item < 0:
                    continue
                start, stop = block.cuts[item, w], block.cuts[item, w + 1]
                rows, codes = block.local[start:stop], block.codes[start:stop]
                if with_days and aux.day[t, j] != NO_DAY:
                    days = block.days[start:stop]
                    _add_dated(window, rows, codes, days, worth[j - first], day_worth[j - first])
                else:
                    _add(window, rows, codes, worth[j - first])
        _price(t, first, last, 0.0, block, aux, tables, worth, day_worth)
    return touched


@inner
def _add(window, rows, codes, worth):  # type: ignore[no-untyped-def]
    for p in range(len(rows)):
        window[rows[p]] += worth[codes[p]]


@inner
def _add_dated(window, rows, codes, days, worth, day_worth):  # type: ignore[no-untyped-def]
    for p in range(len(rows)):
        window[rows[p]] += worth[codes[p]] + day_worth[days[p]]


@inner
def _price(t, first, last, times, block, aux, tables, worth, day_worth):  # type: ignore[no-untyped-def]
    """Say what contents and days are worth (`times` 0 wipes days); return the cells looked at."""
    n = 0
    for j in range(first, last):
        item = aux.item[t, j]
        if item < 0:
            continue
        start, stop = block.cuts[item, 0], block.cuts[item, -1]
        n += stop - start
        scale = aux.weight[t, j] * tables.unit * times
        if times > 0:
            _price_contents(t, j, scale, block.codes[start:stop], aux, tables, worth[j - first])
        if len(block.days) > 0 and aux.day[t, j] != NO_DAY:
            days = block.days[start:stop]
            _price_days(aux.day[t, j], scale, tables.decay, days, day_worth[j - first])
    return n


@inner
def _price_contents(t, j, scale, codes, aux, tables, worth):  # type: ignore[no-untyped-def]
    """Say what each content among `codes` is worth for one known cell."""
    sim = aux.sim[t, j]
    if sim < 0:  # too many contents for a table
        rating = aux.rating[t, j]
        for p in range(len(codes)):
            level = tables.levels[codes[p]]
            near = np.exp(-abs(rating - level) / tables.rho0)
            worth[codes[p]] = np.int32(scale * near + 0.5)
    elif len(codes) < tables.similarity.shape[1]:
        for p in range(len(codes)):
            worth[codes[p]] = np.int32(scale * tables.similarity[sim, codes[p]] + 0.5)
    else:
        for c in range(tables.similarity.shape[1]):
            worth[c] = np.int32(scale * tables.similarity[sim, c] + 0.5)


@inner
def _price_days(day, scale, decay, days, day_worth):  # type: ignore[no-untyped-def]
    """Say what each day is worth beside the known one; `scale` 0 wipes it out again."""
    reach = len(decay) - 1
    if len(days) < reach:  # fewer than there are days within reach
        for p in range(len(days)):
            away = abs(np.int64(days[p]) - day)
            if away <= reach and days[p] != UNKNOWN_DAY:
                day_worth[days[p]] = np.int32(scale * decay[away] + 0.5)
        return
    last = min(UNKNOWN_DAY, len(day_worth))
    for d in range(max(0, day - reach), min(last, day + reach + 1)):
        day_worth[d] = np.int32(scale * decay[abs(d - day)] + 0.5)


@inner
def is_candidate(row, t, block, aux):  # type: ignore[no-untyped-def]
    """Tell whether a row's number of ratings fits what the adversary was told."""
    return aux.least[t] <= block.support[row] <= aux.most[t]


@inner
def list_repeats(t, block, aux, scores, repeated):  # type: ignore[no-untyped-def]
    """Copy the scores of candidates that repeat an earlier row; return how many."""
    n = 0
    for i in range(len(block.repeats)):
        row = block.repeats[i]
        if is_candidate(row, t, block, aux):
            repeated[n] = scores[row]
            n += 1
    return n


@inner
def list_candidates(t, own, block, aux, absent, scores, values, weights):  # type: ignore[no-untyped-def]
    """Copy the scores and sizes of all candidates; return how many rows."""
    n = 0
    for row in range(len(scores)):
        weight = block.sizes[row] - (absent and row == own)
        if weight > 0 and is_candidate(row, t, block, aux):
            values[n] = scores[row]
            weights[n] = weight
            n += 1
    return n


@inner
def list_touched(t, own, block, aux, absent, scores, values, weights):  # type: ignore[no-untyped-def]
    """Move the scores above 0 of candidates out of `scores`, which is zero again afterwards.

    Returns the rows listed, and how many rows and records with score 0 are left besides.
    """
    n = 0
    listed = 0
    n_windows = block.cuts.shape[1] - 1
    for j in range(aux.item.shape[1]):
        item = aux.item[t, j]
        for w in range(n_windows if item >= 0 else 0):
            for p in range(block.cuts[item, w], block.cuts[item, w + 1]):
                row = w * WINDOW + np.int64(block.local[p])
                weight = block.sizes[row] - (absent and row == own)
                if scores[row] > 0 and weight > 0 and is_candidate(row, t, block, aux):
                    values[n] = scores[row]
                    weights[n] = weight
                    n += 1
                    listed += weight
                scores[row] = 0
    last = len(block.rows_below) - 1
    low, high = min(aux.least[t], last), min(aux.most[t] + 1, last)
    rows = block.rows_below[high] - block.rows_below[low] - n
    records = block.records_below[high] - block.records_below[low] - listed
    if absent and own >= 0 and is_candidate(own, t, block, aux):
        rows -= block.sizes[own] == 1
        records -= 1
    return n, rows, records
