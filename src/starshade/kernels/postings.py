"""Add up what is known of one target over the raters of each item, and list what came of it.

`block`, `aux` and `tables` are the named tuples of `scoreboard`; t is the target.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = [
    "EVERY_ROW",
    "NO_DAY",
    "add_known",
    "is_candidate",
    "list_candidates",
    "list_repeats",
    "list_touched",
]

EVERY_ROW = 2**31 - 1  # as `most`: rows of any length are candidates
NO_DAY = -(2**31)  # the known day that says "not known"
_UNKNOWN_DAY = 65_535  # the released day that says "no day"


@njit(cache=True, nogil=True)
def add_known(t, block, aux, tables, scores, worth, day_worth):  # type: ignore[no-untyped-def]
    """Add every known cell's contribution to the rows that hold the item.

    `worth` (an entry per cell content) is overwritten; `day_worth` (an entry per day) is zero
    before and after. Returns the number of cells looked at.
    """
    touched = 0
    for j in range(aux.item.shape[1]):
        item = aux.item[t, j]
        if item < 0:
            continue
        start, stop = block.indptr[item], block.indptr[item + 1]
        touched += stop - start
        codes = block.codes[start:stop]
        rows = block.rows[start:stop]
        _price_contents(t, j, codes, aux, tables, worth)
        if len(block.days) > 0 and aux.day[t, j] != NO_DAY:
            scale = aux.weight[t, j] * tables.unit
            days = block.days[start:stop]
            _price_days(aux.day[t, j], scale, tables.decay, days, day_worth)
            _add_dated(scores, rows, codes, days, worth, day_worth)
            _price_days(aux.day[t, j], 0.0, tables.decay, days, day_worth)
        else:
            _add(scores, rows, codes, worth)
    return touched


@njit(cache=True, nogil=True)
def _add(scores, rows, codes, worth):  # type: ignore[no-untyped-def]
    for p in range(len(rows)):
        scores[np.uint32(rows[p])] += worth[codes[p]]


@njit(cache=True, nogil=True)
def _add_dated(scores, rows, codes, days, worth, day_worth):  # type: ignore[no-untyped-def]
    for p in range(len(rows)):
        scores[np.uint32(rows[p])] += worth[codes[p]] + day_worth[days[p]]


@njit(cache=True, nogil=True)
def _price_contents(t, j, codes, aux, tables, worth):  # type: ignore[no-untyped-def]
    """Say what each content among `codes` is worth for one known cell."""
    scale = aux.weight[t, j] * tables.unit
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


@njit(cache=True, nogil=True)
def _price_days(day, scale, decay, days, day_worth):  # type: ignore[no-untyped-def]
    """Say what each day is worth beside the known one; `scale` 0 wipes it out again."""
    reach = len(decay) - 1
    if len(days) < reach:  # fewer than there are days within reach
        for p in range(len(days)):
            away = abs(np.int64(days[p]) - day)
            if away <= reach and days[p] != _UNKNOWN_DAY:
                day_worth[days[p]] = np.int32(scale * decay[away] + 0.5)
        return
    for d in range(max(0, day - reach), min(_UNKNOWN_DAY, day + reach + 1)):
        day_worth[d] = np.int32(scale * decay[abs(d - day)] + 0.5)


@njit(cache=True, nogil=True)
def is_candidate(row, t, block, aux):  # type: ignore[no-untyped-def]
    """Tell whether a row's number of ratings fits what the adversary was told."""
    return aux.least[t] <= block.support[row] <= aux.most[t]


@njit(cache=True, nogil=True)
def list_repeats(t, block, aux, scores, repeated):  # type: ignore[no-untyped-def]
    """Copy the scores of candidates that repeat an earlier row; return how many."""
    n = 0
    for i in range(len(block.repeats)):
        row = block.repeats[i]
        if is_candidate(row, t, block, aux):
            repeated[n] = scores[row]
            n += 1
    return n


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def list_touched(t, own, block, aux, absent, scores, values, weights):  # type: ignore[no-untyped-def]
    """Move the scores above 0 of candidates out of `scores`, which is zero again afterwards.

    Returns the rows listed, and how many rows and records with score 0 are left besides.
    """
    n = 0
    listed = 0
    for j in range(aux.item.shape[1]):
        item = aux.item[t, j]
        if item < 0:
            continue
        for p in range(block.indptr[item], block.indptr[item + 1]):
            row = block.rows[p]
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
