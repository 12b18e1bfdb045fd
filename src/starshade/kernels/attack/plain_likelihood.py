"""How likely every row makes what is known, by fixed weights: facts may be wrong, items too."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from starshade.kernels.arrays import (
    UNKNOWN_DAY,
    Array,
    Bools,
    Floats,
    Int32s,
    Ints,
    in_chunks,
    inner,
)
from starshade.kernels.attack.candidates import Postings
from starshade.kernels.attack.posterior import FOUND, Goal, sum_up
from starshade.kernels.warm import announce

_NOTHING = 45.0  # so far below the greatest logarithm a chance is less than half a unit of mass


class Weights(NamedTuple):
    """What a likeness is worth.

    right : chance of a rating where the item was rated, for each content, (facts, contents)
    share : chance that a content is a rating
    rated, unrated : items that each row rated, and did not, on average
    """

    right: Floats
    share: Floats
    rated: Floats
    unrated: Floats


class Facts(NamedTuple):
    """What is known, shape (targets, known).

    item : place among the items, -1 where it is not there: such facts are left out
    kind : row of the table of weights
    blind : chance of the fact if the item was not rated
    first, last : days that are alike; near, far : what a day is worth that is, and is not
    dated : whether a day is known
    """

    item: Int32s
    kind: Ints
    blind: Floats
    first: Ints
    last: Ints
    near: Floats
    far: Floats
    dated: Bools


def weigh(held: Postings, weights: Weights, facts: Facts, goal: Goal) -> Array:
    """Weigh every row for every target; an array of FOUND, shape (targets,)."""
    announce("the attack", _chunk)
    found = np.zeros(len(facts.item), dtype=FOUND)
    in_chunks(_chunk, len(found), held, weights, facts, goal, found)
    return found


@njit(cache=True, nogil=True)
def _chunk(start, stop, held, weights, facts, goal, found):  # type: ignore[no-untyped-def]
    n_rows = len(goal.sizes)
    score, spare = np.empty(n_rows), np.empty(n_rows)
    for row in range(n_rows):  # of a fact about an item that a row did not rate
        spare[row] = -math.log(weights.unrated[row]) if weights.unrated[row] > 0 else 0.0
    listed, power = np.empty(n_rows, np.int32), np.empty(n_rows, np.int64)
    masses = np.zeros(0, np.int64)
    for t in range(start, stop):
        _add_up(t, held, weights, facts, spare, score, found[t])
        least = -math.inf
        if goal.own[t] >= 0 and len(goal.pools.sizes) == 0:  # in a pool all may be far behind
            least = _greatest(t, score, goal) - _NOTHING
        n = 0
        for row in range(n_rows):
            if score[row] >= least or row + goal.first == goal.own[t]:
                bits = score[row] / math.log(2.0)
                listed[n], power[n] = row, np.int64(math.floor(bits))
                score[n] = 2.0 ** (bits - power[n])
                n += 1
        sum_up(t, listed[:n], score, power, (0.0, np.int64(0)), goal, masses, found[t])


@inner
def _greatest(t, score, goal):  # type: ignore[no-untyped-def]
    """Return the greatest score of the rows that are there."""
    out = -math.inf
    for row in range(len(score)):
        if goal.sizes[row] - (goal.absent and row + goal.first == goal.own[t]) > 0:
            out = max(out, score[row])
    return out


@inner
def _add_up(t, held, weights, facts, spare, score, out):  # type: ignore[no-untyped-def]
    """Fill `score` with the logarithm of the chance of all facts from each row."""
    m, known = 0, 0.0
    for j in range(facts.item.shape[1]):
        if facts.item[t, j] >= 0:
            m += 1
            known += math.log(facts.blind[t, j])
    for row in range(len(score)):
        score[row] = known + m * spare[row]
    for j in range(facts.item.shape[1]):
        item, blind = facts.item[t, j], facts.blind[t, j]
        if item < 0:
            continue
        out["touched"] += held.indptr[item + 1] - held.indptr[item]
        for p in range(held.indptr[item], held.indptr[item + 1]):
            row, code = held.rows[p], held.codes[p]
            chance = weights.right[facts.kind[t, j], code]
            if chance > 0:  # else the cell is null, and the row may have rated nothing
                chance /= weights.rated[row]
            if facts.dated[t, j]:
                day = np.int64(held.days[p])
                near = day != UNKNOWN_DAY and facts.first[t, j] <= day <= facts.last[t, j]
                chance *= facts.near[t, j] if near else facts.far[t, j]
            if weights.share[code] < 1.0 and weights.unrated[row] > 0:
                chance += (1.0 - weights.share[code]) * blind / weights.unrated[row]
            score[row] += math.log(chance) - math.log(blind) - spare[row]
