"""Draw synthetic users: which items they rate, how much they like them, and on which days.

A user's draws come from a stream of that user's own (`fingerprint.number`), so users may be
drawn in any order and by any thread. Threads take chunks of users; each writes only the cells
of its own users.

Items stand on *shelves*, one per genre. To rate an item, a user chooses a shelf by taste and an
item on it by popularity, again and again until enough different ones are found. Shelves have an
alias table each (Walker 1977; Vose 1991), so a draw costs the same on any shelf.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from starshade.kernels.fingerprint import below, mix, uniform
from starshade.kernels.inner import inner

__all__ = [
    "alias_tables",
    "draw_days",
    "draw_items",
    "draw_ratings",
    "normal",
    "place_unrated",
    "sample_opinions",
    "user_keys",
]

_CHUNK = 64  # users that a thread takes at a time: small, because a few users are giants


@njit(cache=True, nogil=True)
def user_keys(key, fingerprints):  # type: ignore[no-untyped-def]
    """Return the key of each user's stream, from a purpose's key and the hash of the user's id."""
    out = np.empty(len(fingerprints), np.uint64)
    for u in range(len(fingerprints)):
        out[u] = mix(np.uint64(key) ^ fingerprints[u])
    return out


@njit(cache=True, nogil=True)
def alias_tables(start, weights):  # type: ignore[no-untyped-def]
    """Build one alias table per shelf.

    `start` (int64 (shelves + 1,)): shelf g holds the places ``start[g]:start[g + 1]``. Returns
    `keep` (float64 (n_items,)): chance that a place keeps the draw that fell on it. `other` (int64
    (n_items,)): the place that gets the draw otherwise.
    """
    keep = np.ones(len(weights))
    other = np.arange(len(weights))
    for g in range(len(start) - 1):
        low, high = start[g], start[g + 1]
        total = weights[low:high].sum()
        poor = np.empty(high - low, np.int64)
        rich = np.empty(high - low, np.int64)
        n_poor = n_rich = 0
        for q in range(low, high):
            keep[q] = weights[q] / total * (high - low)
            if keep[q] < 1.0:
                poor[n_poor] = q
                n_poor += 1
            else:
                rich[n_rich] = q
                n_rich += 1
        while n_poor > 0 and n_rich > 0:
            p, r = poor[n_poor - 1], rich[n_rich - 1]
            n_poor -= 1
            other[p] = r
            keep[r] -= 1.0 - keep[p]
            if keep[r] < 1.0:
                n_rich -= 1
                poor[n_poor] = r
                n_poor += 1
        # what is left is 1 but for rounding
        for q in poor[:n_poor]:
            keep[q] = 1.0
        for q in rich[:n_rich]:
            keep[q] = 1.0
    return keep, other


@inner
def _shelf(cumulative, x):  # type: ignore[no-untyped-def]
    g = 0
    while x >= cumulative[g]:
        g += 1
    return g


@inner
def _fill(key, cumulative, start, items, weights, keep, other, taken, out):  # type: ignore[no-untyped-def]
    """Draw ``len(out)`` different items in proportion to their chance; `taken` is scratch.

    Redrawing what was drawn before is quick while a user is far from having everything. For
    the others the rest comes from an exponential race (the places with the least E / chance),
    which has the same law and costs one pass (Efraimidis and Spirakis 2006).
    """
    count = len(out)
    found = 0
    patience = 24 * len(weights)  # eight draws per place take about as long as the race
    counter = 0
    while found < count and counter < patience:
        g = _shelf(cumulative, uniform(key, np.uint64(counter)))
        q = start[g] + below(key, np.uint64(counter + 1), start[g + 1] - start[g])
        if uniform(key, np.uint64(counter + 2)) >= keep[q]:
            q = other[q]
        counter += 3
        if not taken[items[q]]:
            taken[items[q]] = True
            out[found] = items[q]
            found += 1
    if found < count:
        _race(key, patience, cumulative, start, items, weights, taken, out[found:])
    for item in out:
        taken[item] = False


@njit(cache=True, nogil=True)
def _race(key, counter, cumulative, start, items, weights, taken, out):  # type: ignore[no-untyped-def]
    """Fill `out` with the items not taken that arrive first, and mark them as taken."""
    times = np.full(len(weights), np.inf)
    before = 0.0
    for g in range(len(cumulative)):
        total = weights[start[g] : start[g + 1]].sum()
        for q in range(start[g], start[g + 1]):
            if not taken[items[q]]:
                chance = (cumulative[g] - before) * weights[q] / total
                # a chance may round to 0: such places come last, in the order of their draws
                times[q] = -np.log1p(-uniform(key, np.uint64(counter + q))) / max(chance, 1e-290)
        before = cumulative[g]
    found = 0
    for q in np.argsort(times):
        if found == len(out):
            break
        if not taken[items[q]]:
            taken[items[q]] = True
            out[found] = items[q]
            found += 1


@njit(cache=True, nogil=True, parallel=True)
def draw_items(  # type: ignore[no-untyped-def]
    keys, indptr, cumulative, start, items, weights, keep, other, n_items, columns
):
    """Draw every user's items, ascending and all different.

    `cumulative` (float64 (n_users, shelves)): cumulative shares of the shelves in a user's taste;
    the last is 1. `items` (int32 (places,)): the item at each place; an item may stand on several
    shelves. `columns` (int32 (n_ratings,)): filled.
    """
    n_users = len(keys)
    for chunk in prange((n_users + _CHUNK - 1) // _CHUNK):
        taken = np.zeros(n_items, np.bool_)
        for u in range(chunk * _CHUNK, min(n_users, (chunk + 1) * _CHUNK)):
            row = columns[indptr[u] : indptr[u + 1]]
            _fill(keys[u], cumulative[u], start, items, weights, keep, other, taken, row)
            row.sort()


@njit(cache=True, nogil=True)
def place_unrated(key, indptr, columns, n_items):  # type: ignore[no-untyped-def]
    """Let every item that nobody picked take the place of a pick of an item that has others.

    The pick that gives way is any with equal chance, so mostly one of an active user on a
    popular item. There must be at least as many picks as items.
    """
    support = np.bincount(columns, minlength=n_items)
    counter = 0
    for item in np.flatnonzero(support == 0):
        p = below(key, np.uint64(counter), len(columns))
        while support[columns[p]] < 2:
            counter += 1
            p = below(key, np.uint64(counter), len(columns))
        counter += 1
        support[columns[p]] -= 1
        support[item] += 1
        columns[p] = item
        row = np.searchsorted(indptr, p, side="right") - 1
        columns[indptr[row] : indptr[row + 1]].sort()


@inner
def _opinion(key, i, quality, leniency, liking, noise):  # type: ignore[no-untyped-def]
    """Return what a user thinks of the i-th item: quality + leniency + liking + logistic noise."""
    x = uniform(key, np.uint64(i)) + 2.0**-54  # never 0
    return quality + leniency + liking + noise * np.log(x / (1.0 - x))


@njit(cache=True, nogil=True)
def sample_opinions(  # type: ignore[no-untyped-def]
    keys, stride, indptr, columns, leniency, liking, quality, genre, noise
):
    """Return every `stride`-th opinion of the table."""
    out = np.empty((len(columns) + stride - 1) // stride)
    u = 0
    for k in range(len(out)):
        p = k * stride
        while indptr[u + 1] <= p:
            u += 1
        j = columns[p]
        out[k] = _opinion(
            keys[u], p - indptr[u], quality[j], leniency[u], liking[u, genre[j]], noise
        )
    return out


@njit(cache=True, nogil=True, parallel=True)
def draw_ratings(  # type: ignore[no-untyped-def]
    keys, indptr, columns, leniency, liking, quality, genre, noise, cuts, codes
):
    """Rate every item: the code is the number of `cuts` that the opinion reaches."""
    n_users = len(keys)
    for chunk in prange((n_users + _CHUNK - 1) // _CHUNK):
        for u in range(chunk * _CHUNK, min(n_users, (chunk + 1) * _CHUNK)):
            for i in range(indptr[u + 1] - indptr[u]):
                j = columns[indptr[u] + i]
                opinion = _opinion(keys[u], i, quality[j], leniency[u], liking[u, genre[j]], noise)
                code = 0
                while code < len(cuts) and opinion >= cuts[code]:
                    code += 1
                codes[indptr[u] + i] = code


@inner
def normal(key, counter):  # type: ignore[no-untyped-def]
    """Return a standard normal number from places `counter` and `counter` + 1 (Box-Muller)."""
    radius = np.sqrt(-2.0 * np.log1p(-uniform(key, np.uint64(counter))))
    return radius * np.cos(2.0 * np.pi * uniform(key, np.uint64(counter + 1)))


@njit(cache=True, nogil=True, parallel=True)
def draw_days(  # type: ignore[no-untyped-def]
    keys, indptr, arrival, bouts, last_day, gap, gap_spread, opening, size_spread, days
):
    """Date every rating: a user rates in bouts, the first on the day of arrival.

    `bouts` (int64 (n_users,)): at least 1; those that would fall after the last day do not take
    place. `gap`, `gap_spread`: median and log spread of the days from a bout to the next
    (log-normal, rounded up). `opening`, `size_spread`: median of the first bout's share as a
    multiple of another's; log spread of the shares.
    """
    n_users = len(keys)
    for chunk in prange((n_users + _CHUNK - 1) // _CHUNK):
        for u in range(chunk * _CHUNK, min(n_users, (chunk + 1) * _CHUNK)):
            key = keys[u]
            day = np.empty(bouts[u], np.int64)
            until = np.empty(bouts[u])  # running sum of the shares
            day[0] = arrival[u]
            until[0] = opening * np.exp(size_spread * normal(key, 0))
            n = 1
            while n < bouts[u]:
                later = np.ceil(gap * np.exp(gap_spread * normal(key, 4 * n)))
                if day[n - 1] + later > last_day:
                    break
                day[n] = day[n - 1] + np.int64(later)
                until[n] = until[n - 1] + np.exp(size_spread * normal(key, 4 * n + 2))
                n += 1
            for i in range(indptr[u + 1] - indptr[u]):
                x = uniform(key, np.uint64(4 * bouts[u] + i)) * until[n - 1]
                days[indptr[u] + i] = day[np.searchsorted(until[: n - 1], x, side="right")]
