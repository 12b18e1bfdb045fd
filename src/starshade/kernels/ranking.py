"""How well scores rank members above outsiders, for many ways to weigh people at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from starshade.kernels.arrays import Floats, Ints, cut, run


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
    lanes = cut(np.full(len(weights), len(ranked.person)))
    run(lambda lane: _rank(*lanes[lane], ranked, weights, alarms, out), len(lanes))
    return out


@njit(cache=True, nogil=True)
def _rank(first, last, ranked, weights, alarms, out):  # type: ignore[no-untyped-def]
    person, member, ends = ranked.person, ranked.member, ranked.ends
    for draw in range(first, last):
        weight = weights[draw]
        members = outsiders = 0.0
        for entry in range(len(person)):
            if member[entry]:
                members += weight[person[entry]]
            else:
                outsiders += weight[person[entry]]
        if members == 0 or outsiders == 0:
            continue
        won = hits = false = 0.0
        start = alarm = 0
        for end in ends:
            here = wrong = 0.0
            for entry in range(start, end):
                if member[entry]:
                    here += weight[person[entry]]
                else:
                    wrong += weight[person[entry]]
            start = end
            won += here * (outsiders - false - wrong + wrong / 2)
            while alarm < len(alarms) and false + wrong > alarms[alarm] * outsiders * (1 + 1e-12):
                part = (alarms[alarm] * outsiders - false) / wrong
                out[draw, 1 + alarm] = (hits + min(1.0, max(0.0, part)) * here) / members
                alarm += 1
            hits += here
            false += wrong
        for rest in range(alarm, len(alarms)):
            out[draw, 1 + rest] = 1.0
        out[draw, 0] = won / (members * outsiders)
