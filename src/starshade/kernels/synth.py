"""Draw synthetic users, and respondents of a survey."""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from starshade.kernels.arrays import Floats, Words, inner
from starshade.kernels.fingerprint import below, mix, uniform

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


def normals(keys: Words, count: int) -> Floats:
    """Draw `count` standard normal numbers from each stream; shape (len(keys), count)."""
    with np.errstate(over="ignore"):  # counters wrap around, also where run interpreted
        return np.asarray(_normals(keys, count))


@njit(cache=True, nogil=True)
def _normals(keys, count):  # type: ignore[no-untyped-def]
    out = np.empty((len(keys), count))
    for row in range(len(keys)):
        for k in range(count):
            out[row, k] = normal(keys[row], 2 * k)
    return out


# places in a respondent's stream; 0 to 7 are for personal attributes (`numbers`)
_STRAIGHT, _RELUCTANT, _BREAK, _WHERE, _MOOD, _YES = 8, 9, 10, 11, 12, 14
FIRST_TOPIC = 16
_USERS = 1024  # respondents that a thread takes at a time


@njit(cache=True, nogil=True)
def numbers(keys, counter):  # type: ignore[no-untyped-def]
    """Return the number in [0, 1) that stands at place `counter` of each stream."""
    out = np.empty(len(keys))
    for u in range(len(keys)):
        out[u] = uniform(keys[u], np.uint64(counter))
    return out


@inner
def _opinions(key, traits, leaning, topic, loading, spreads, n_topics, out):  # type: ignore[no-untyped-def]
    """Fill in what a respondent thinks of each question, in spreads of the population."""
    mood = spreads[0] * normal(key, _MOOD)
    agreeing = spreads[1] * normal(key, _YES)
    noise = FIRST_TOPIC + 2 * n_topics
    for j in range(len(out)):
        view = mood + spreads[2] * normal(key, FIRST_TOPIC + 2 * topic[j])
        opinion = loading[j] * view + agreeing + spreads[3] * normal(key, noise + 3 * j)
        for f in range(len(traits)):
            opinion += traits[f] * leaning[f, j]
        out[j] = opinion


@inner
def _level(cuts, opinion):  # type: ignore[no-untyped-def]
    level = 1
    while level <= len(cuts) and opinion >= cuts[level - 1]:
        level += 1
    return level


@njit(cache=True, nogil=True, parallel=True)
def draw_answers(  # type: ignore[no-untyped-def]
    keys, traits, leaning, topic, loading, cuts, spreads, silence, gate, closed, straight, shares
):
    """Let everybody answer.

    `leaning` (float64 (f, n_items)): how an opinion leans on each trait. `loading` (float64
    (n_items,)): how a question hears the views that a respondent holds in general and on its topic;
    below 0 where it is worded the other way round. `cuts` (float64 (n_items, levels - 1)):
    ascending: where one answer ends and the next begins. `spreads` (float64 (4,)): of general mood,
    of saying yes to anything, of the view of a topic, of noise. `silence` (float64 (2, n_items)):
    chance that a question is left open, by most respondents and by reluctant ones. `gate` (int64
    (n_items,)): an earlier question that decides whether this one is asked; -1: it always is.
    `closed`: the highest answer to the gate that closes it; no answer closes it too. `straight`
    (float64 (levels - 1,)): cumulative shares of the answers that straight-liners give, but for the
    last. `shares` (float64 (3,)): of straight-liners, of reluctant respondents, of those who break
    off.
    """
    n_users, n_items = len(keys), len(topic)
    n_topics = topic.max() + 1
    last_draw = FIRST_TOPIC + 2 * n_topics + 2
    out = np.zeros((n_users, n_items), np.uint8)
    for chunk in prange((n_users + _USERS - 1) // _USERS):
        opinion = np.empty(n_items)
        for u in range(chunk * _USERS, min(n_users, (chunk + 1) * _USERS)):
            key = keys[u]
            x = uniform(key, np.uint64(_STRAIGHT))
            always = _level(straight, x / shares[0]) if x < shares[0] else 0
            reluctant = 1 if uniform(key, np.uint64(_RELUCTANT)) < shares[1] else 0
            until = n_items
            if uniform(key, np.uint64(_BREAK)) < shares[2]:
                until = 1 + int(uniform(key, np.uint64(_WHERE)) * (n_items - 1))
            if not always:
                _opinions(key, traits[u], leaning, topic, loading, spreads, n_topics, opinion)
            for j in range(until):
                if gate[j] >= 0 and out[u, gate[j]] <= closed:
                    continue
                if always:
                    out[u, j] = always
                elif uniform(key, np.uint64(last_draw + 3 * j)) >= silence[reluctant, j]:
                    out[u, j] = _level(cuts[j], opinion[j])
    return out


@njit(cache=True, nogil=True, parallel=True)
def gather(answers, indptr):  # type: ignore[no-untyped-def]
    """Turn answers into cells: their columns and their codes, from 0."""
    n_users, n_items = answers.shape
    columns = np.empty(indptr[-1], np.int32)
    codes = np.empty(indptr[-1], np.uint8)
    for chunk in prange((n_users + _USERS - 1) // _USERS):
        for u in range(chunk * _USERS, min(n_users, (chunk + 1) * _USERS)):
            p = indptr[u]
            for j in range(n_items):
                if answers[u, j]:
                    columns[p] = j
                    codes[p] = answers[u, j] - 1
                    p += 1
    return columns, codes
