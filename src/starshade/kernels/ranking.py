"""How well scores rank members above outsiders, for many ways to weigh people at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from starshade.kernels.arrays import Floats, Ints, cut, inner, product, run

_DRAWS = 250  # that are added up together, one beside the other
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
    out = np.full((len(weights), 1 + len(alarms)), np.nan)
    n, people = weights.shape
    lanes = cut(np.full(-(-n // _DRAWS), len(ranked.person) * _DRAWS))
    sides = np.zeros((people, 2))
    np.add.at(sides, (ranked.person, 1 - ranked.member.astype(np.int64)), 1.0)
    totals = product(weights, sides).T

    def some(lane: int) -> None:
        for block in range(*lanes[lane]):
            here = slice(block * _DRAWS, (block + 1) * _DRAWS)
            turned = np.ascontiguousarray(weights[here].T)
            members, outsiders = np.ascontiguousarray(totals[:, here])
            _rank(ranked, turned, members, outsiders, alarms, out[here])

    run(some, len(lanes))
    return out


@njit(cache=True, nogil=True)
def _rank(ranked, weights, members, outsiders, alarms, out):  # type: ignore[no-untyped-def]
    person, member, ends = ranked.person, ranked.member, ranked.ends
    n = weights.shape[1]
    won, hits, false, here, wrong, none = np.zeros((6, n))
    alarm, limit = np.zeros(n, np.int64), alarms[0] * outsiders * _MORE
    for q in range(n):
        if members[q] == 0 or outsiders[q] == 0:
            limit[q] = np.inf
    start = 0
    for end in ends:
        one = weights[person[start]]
        if end > start + 1:
            here[:] = 0.0
            wrong[:] = 0.0
            for entry in range(start, end):
                _add(weights[person[entry]], here if member[entry] else wrong)
            _alarm(here, wrong, hits, false, (alarms, outsiders, members), alarm, limit, out)
            _win(here, wrong, outsiders, false, won)
            _add(here, hits)
            _add(wrong, false)
        elif member[start]:
            _win(one, none, outsiders, false, won)
            _add(one, hits)
        else:
            _alarm(none, one, hits, false, (alarms, outsiders, members), alarm, limit, out)
            _add(one, false)
        start = end
    for q in range(n):
        if members[q] == 0 or outsiders[q] == 0:
            out[q, :] = np.nan
            continue
        out[q, 1 + alarm[q] :] = 1.0
        out[q, 0] = won[q] / (members[q] * outsiders[q])


@inner
def _add(weight, sums):  # type: ignore[no-untyped-def]
    for q in range(len(sums)):
        sums[q] += weight[q]


@inner
def _win(here, wrong, outsiders, false, won):  # type: ignore[no-untyped-def]
    for q in range(len(won)):
        won[q] += here[q] * (outsiders[q] - false[q] - wrong[q] / 2)


@inner
def _alarm(here, wrong, hits, false, shares, alarm, limit, out):  # type: ignore[no-untyped-def]
    """Note the members found by draws in which a share of false alarms is exceeded."""
    alarms, outsiders, members = shares
    some = 0
    for q in range(len(limit)):
        some += false[q] + wrong[q] > limit[q]
    if some == 0:
        return
    for q in range(len(limit)):
        while false[q] + wrong[q] > limit[q]:
            part = (alarms[alarm[q]] * outsiders[q] - false[q]) / wrong[q]
            found = hits[q] + min(1.0, max(0.0, part)) * here[q]
            out[q, 1 + alarm[q]] = found / members[q]
            alarm[q] += 1
            last = alarm[q] == len(alarms)
            limit[q] = np.inf if last else alarms[alarm[q]] * outsiders[q] * _MORE
