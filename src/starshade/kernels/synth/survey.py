"""Draw synthetic respondents: what each answers, and which questions stay open.

A respondent's draws come from a stream of that respondent's own (`fingerprint.number`), at
places that the questionnaire alone settles. So nobody's answers depend on who else is asked, and
threads may take respondents in any order.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from starshade.kernels.fingerprint import uniform
from starshade.kernels.inner import inner
from starshade.kernels.synth.synth import normal

__all__ = ["FIRST_TOPIC", "draw_answers", "gather", "numbers"]

# places in a respondent's stream; 0 to 7 are for personal attributes (`numbers`)
_STRAIGHT, _RELUCTANT, _BREAK, _WHERE, _MOOD, _YES = 8, 9, 10, 11, 12, 14
FIRST_TOPIC = 16
_CHUNK = 1024  # respondents that a thread takes at a time


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
    for chunk in prange((n_users + _CHUNK - 1) // _CHUNK):
        opinion = np.empty(n_items)
        for u in range(chunk * _CHUNK, min(n_users, (chunk + 1) * _CHUNK)):
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
    for chunk in prange((n_users + _CHUNK - 1) // _CHUNK):
        for u in range(chunk * _CHUNK, min(n_users, (chunk + 1) * _CHUNK)):
            p = indptr[u]
            for j in range(n_items):
                if answers[u, j]:
                    columns[p] = j
                    codes[p] = answers[u, j] - 1
                    p += 1
    return columns, codes
