"""AUC of a ranking of cells, with intervals, and precision of the top-ranked ones."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from starshade.figure import Rate
from starshade.rng import generator

_DRAWS = 1000
Floats = NDArray[np.float64]


def auc(score: Floats, positive: Floats, negative: Floats, item: NDArray[np.int64]) -> float | None:
    """Return the chance that a positive is ranked above a negative of the same item, a tie half.

    `score` (float64 (cells,)). `positive`, `negative` (float64 (cells,)): how many of either sort a
    cell stands for. `item` (cells,): only cells of one item are compared; one number for all
    compares all. Returns: in [0, 1], 0.5 where the ranking tells nothing; None: there is no pair to
    compare.

    >>> ones = np.ones(2)
    >>> auc(np.array([3.0, 1.0]), np.array([1.0, 0]), np.array([0, 1.0]), np.zeros(2, np.int64))
    1.0
    """
    won, pairs = _pairs(score, positive, negative, item)
    return float(won.sum() / pairs.sum()) if pairs.any() else None


def auc_interval(
    score: Floats,
    positive: Floats,
    negative: Floats,
    item: NDArray[np.int64],
    group: NDArray[np.int64],
    *,
    seed: int,
) -> Rate | None:
    """Return `auc` with its 95 % percentile interval of a bootstrap over groups.

    `group` (cells,): the group of each cell, from 0: its cells are drawn together.

    A draw counts group a w_a times. Of pairs won C(w) and pairs P(w), both of second order in w,
    the ratio is taken to first order around w = 1: AUC + Σ w_a (U_a − AUC·P_a) / P, where U_a and
    P_a are what the pairs with group a come to. So no draw sorts again.
    """
    won, pairs = _pairs(score, positive, negative, item)
    if not pairs.any():
        return None
    rate = float(won.sum() / pairs.sum())
    n = int(group.max()) + 1
    of_group = np.bincount(group, weights=won, minlength=n) - rate * np.bincount(
        group, weights=pairs, minlength=n
    )
    draws = generator(seed, "padding interval").multinomial(n, np.full(n, 1 / n), size=_DRAWS)
    moved = rate + draws @ of_group / (pairs.sum() / 2)
    low, high = np.clip(np.quantile(moved, [0.025, 0.975]), 0.0, 1.0)
    return Rate(rate, min(float(low), rate), max(float(high), rate))


def among_top(score: Floats, worth: Floats, share: float) -> float:
    """Return the mean worth of the top share of the cells, at least one; ties count in part.

    `score`, `worth` (float64 (cells,)). `share`: in (0, 1].
    """
    places = math.ceil(share * len(score) - 1e-9)
    order = np.argsort(-score, kind="stable")
    last = score[order[places - 1]]
    above = score > last
    tied = score == last
    part = (places - int(above.sum())) / int(tied.sum())
    return float((worth[above].sum() + part * worth[tied].sum()) / places)


def _pairs(
    score: Floats, positive: Floats, negative: Floats, item: NDArray[np.int64]
) -> tuple[Floats, Floats]:
    """Return what the pairs that each cell is in come to, and how many there are.

    Every pair is counted at both its cells.
    """
    order = np.argsort(score, kind="stable")
    narrow = item.astype(np.uint16) if item.max(initial=0) < 2**16 else item  # sorted by counting
    order = order[np.argsort(narrow[order], kind="stable")]
    s, i, pos, neg = score[order], item[order], positive[order], negative[order]
    new_item = np.append(True, i[1:] != i[:-1])
    new_run = new_item | np.append(True, s[1:] != s[:-1])  # runs of ties
    starts, run = np.flatnonzero(new_run), np.cumsum(new_run) - 1
    of_item = (np.cumsum(new_item) - 1)[starts]
    sums = []
    for weight in (pos, neg):
        tied = np.add.reduceat(weight, starts)
        through = np.cumsum(tied)
        first = np.flatnonzero(new_item[starts])
        before = (through - tied)[first][of_item]
        whole = np.add.reduceat(tied, first)[of_item]
        sums.append((tied, through - tied - before, whole))
    (pos_tied, pos_below, pos_all), (neg_tied, neg_below, neg_all) = sums
    pos_above = pos_all - pos_below - pos_tied
    won, pairs = np.empty(len(s)), np.empty(len(s))
    won[order] = pos * (neg_below + neg_tied / 2)[run] + neg * (pos_above + pos_tied / 2)[run]
    pairs[order] = pos * neg_all[run] + neg * pos_all[run]
    return won, pairs
