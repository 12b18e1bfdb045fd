"""How well scores rank members above outsiders, for many ways to weigh people at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from starshade.kernels.arrays import Floats, Ints, cut, fixed, inner, run

_BATCH = 250  # draws that are added up together, one beside the other
_MORE = 1 + 1e-12


class Ranked(NamedTuple):
    """Entries by descending score: whose each is, and where each run of equal scores ends."""

    person: Ints
    member: NDArray[np.bool_]
    ends: Ints


def rank(ranked: Ranked, weights: Floats, alarms: Floats) -> Floats:
    """Return the AUC, and the share of members found at each share of false alarms.

    Parameters
    ----------
    ranked : Ranked
    weights : ndarray of float64, shape (draws, people)
        How often each person's entries count.
    alarms : ndarray of float64
        Ascending shares in [0, 1].

    Returns
    -------
    ndarray of float64, shape (draws, 1 + alarms)
        NaN where there are no members or no outsiders. Ties count half in the AUC; those who tie
        at a threshold are found in part.
    """
    n, people = weights.shape
    out = np.full((n, 1 + len(alarms)), np.nan)
    entries = np.bincount(2 * ranked.person + ranked.member, minlength=2 * people)
    lanes = cut(np.full(-(-n // _BATCH), len(ranked.person) * _BATCH))

    def some(lane: int) -> None:
        for block in range(*lanes[lane]):
            here = slice(block * _BATCH, (block + 1) * _BATCH)
            _rank(ranked, fixed(weights[here].T), entries, alarms, out[here])

    run(some, len(lanes))
    return out


@njit(cache=True, nogil=True)
def _rank(ranked, weights, entries, alarms, out):  # type: ignore[no-untyped-def]
    person, member, ends = ranked.person, ranked.member, ranked.ends
    n = weights.shape[1]
    members, outsiders, none = np.zeros(n), np.zeros(n), np.zeros(n)
    for someone in range(len(weights)):
        _add(entries[2 * someone + 1], weights[someone], members)
        _add(entries[2 * someone], weights[someone], outsiders)
    # each an array of its own: rows of one would not be known to lie in one piece
    won, hits, false, here, wrong = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
    alarm, limit = np.zeros(n, np.int64), alarms[0] * outsiders * _MORE
    for q in range(n):
        if members[q] == 0 or outsiders[q] == 0:
            limit[q] = np.inf
    shares, start = (alarms, outsiders, members), 0
    for end in ends:
        one = weights[person[start]]
        if end > start + 1:
            here[:] = 0.0
            wrong[:] = 0.0
            for entry in range(start, end):
                _add(1, weights[person[entry]], here if member[entry] else wrong)
            if _add_wrong(wrong, false, limit) > 0:
                _note(here, wrong, hits, false, shares, alarm, limit, out)
            for q in range(n):
                won[q] += here[q] * (wrong[q] / 2)
            _add_right(here, outsiders, false, won, hits)
        elif member[start]:
            _add_right(one, outsiders, false, won, hits)
        elif _add_wrong(one, false, limit) > 0:
            _note(none, one, hits, false, shares, alarm, limit, out)
        start = end
    for q in range(n):
        if members[q] == 0 or outsiders[q] == 0:
            out[q, :] = np.nan
            continue
        out[q, 1 + alarm[q] :] = 1.0
        out[q, 0] = won[q] / (members[q] * outsiders[q])


@inner
def _add(times, weight, sums):  # type: ignore[no-untyped-def]
    for q in range(len(sums)):
        sums[q] += times * weight[q]


@inner
def _add_right(here, outsiders, false, won, hits):  # type: ignore[no-untyped-def]
    """Add members, who win against the outsiders below them."""
    for q in range(len(won)):
        won[q] += here[q] * (outsiders[q] - false[q])
        hits[q] += here[q]


@inner
def _add_wrong(wrong, false, limit):  # type: ignore[no-untyped-def]
    """Add outsiders; returns in how many draws they are now more than a limit."""
    more = 0
    for q in range(len(false)):
        so_far = false[q] + wrong[q]
        false[q] = so_far
        more += so_far > limit[q]
    return more


@inner
def _note(here, wrong, hits, false, shares, alarm, limit, out):  # type: ignore[no-untyped-def]
    """Note the members found by draws in which a share of false alarms is exceeded."""
    alarms, outsiders, members = shares
    for q in range(len(limit)):
        while false[q] > limit[q]:
            part = (alarms[alarm[q]] * outsiders[q] - (false[q] - wrong[q])) / wrong[q]
            share = hits[q] + min(1.0, max(0.0, part)) * here[q]
            out[q, 1 + alarm[q]] = share / members[q]
            alarm[q] += 1
            last = alarm[q] == len(alarms)
            limit[q] = np.inf if last else alarms[alarm[q]] * outsiders[q] * _MORE
