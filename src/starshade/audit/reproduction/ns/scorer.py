"""Scoreboard-RH under any reading, to the letter where that can be run: plain sums of floats.

The library's attack is one of the readings. This one is slower and says the same of it; it exists
for the others: signed differences, thresholds, equal weights, other ρ0 and d0, candidates that
are narrowed by more than the number of their ratings.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.attack.knowledge import Known
from starshade.attack.scoreboard_rh.tradeoff import SLACK
from starshade.kernels.attack.postings import NO_DAY
from starshade.progress import task
from starshade.ratings.table import UNKNOWN_DAY, Ratings

Floats = NDArray[np.float64]
#: the number of a target among those known → who comes into question
Narrow = Callable[[int], NDArray[np.bool_]]
_MOST = 700.0  # e to more than this is no float


@dataclass(frozen=True)
class Reading:
    """How a record is scored; `rho0` in ratings, `within`: of a threshold, in ratings and days."""

    similarity: str = "distance"
    strict: bool = False
    rho0: float = 1.5
    d0: float = 30.0
    phi: float = 1.5
    weighted: bool = True
    within: tuple[float, float] = (0.0, 0.0)


def scored(
    table: Ratings,
    known: Known,
    reading: Reading,
    *,
    absent: bool = False,
    narrow: Narrow | None = None,
    after: bool = False,
) -> dict[str, NDArray[Any]]:
    """Attack every target; `known.users` are their rows in `table`, -1 where they have none.

    Of each target: whether a record stood out (`named`), and rightly; the `eccentricity`; the `top1` credit;
    the `bits` missing; `right`, whether theirs is among the best. `postings`: cells looked at.
    `absent`: their record is taken out first. `narrow`: scores of others do not count; with `after`
    they do, and who stands out is named only if among those.
    """
    names = ("named", "success", "eccentricity", "right", "top1", "bits")
    out: dict[str, NDArray[Any]] = {name: np.zeros(len(known)) for name in names}
    postings = 0
    with task("scoring to the letter", len(known)) as step:
        for t in range(len(known)):
            scores, looked_at = _scores(table, known, t, reading, absent=absent)
            own, postings = int(known.users[t]), postings + looked_at
            fits = np.ones(len(scores), np.bool_) if narrow is None else narrow(t)
            allowed = np.ones(len(scores), np.bool_) if after else fits.copy()
            if absent and own >= 0:
                allowed[own] = False
            ours = scores[own] if own >= 0 and allowed[own] else None
            for name, value in _judged(scores[allowed], ours, table.n_users, reading).items():
                out[name][t] = value
            if after and not fits[np.argmax(np.where(allowed, scores, -1.0))]:
                out["named"][t] = out["success"][t] = 0.0
            step(1)
    return out | {"postings": np.array([float(postings)])}


def _scores(
    table: Ratings, known: Known, t: int, reading: Reading, *, absent: bool
) -> tuple[Floats, int]:
    by_item, own = table.by_item, int(known.users[t])
    scores, looked_at = np.zeros(table.n_users), 0
    for j in range(known.items.shape[1]):
        item = known.items[t, j]
        cells = slice(by_item.indptr[item], by_item.indptr[item + 1])
        raters = by_item.users[cells]
        days = None if by_item.days is None else by_item.days[cells]
        terms = _terms(
            table.levels[by_item.codes[cells]],
            days,
            float(known.ratings[t, j]),
            int(known.days[t, j]),
            reading,
        )
        support = len(raters) - (absent and bool((raters == own).any()))
        weight = 1 / math.log(max(support, 2)) if reading.weighted else 1.0
        scores[raters] += weight * terms
        looked_at += len(raters)
    return scores, looked_at


def _terms(
    ratings: Floats, days: NDArray[np.uint16] | None, rating: float, day: int, reading: Reading
) -> Floats:
    """How like raters' cells are to one that is known; an unknown rating or day gives no term."""
    ratings_off = None if math.isnan(rating) else rating - ratings
    days_off = None if day == NO_DAY or days is None else day - days.astype(np.float64)
    undated = np.zeros(len(ratings), np.bool_) if days is None else days == UNKNOWN_DAY
    if ratings_off is None and days_off is None:
        return np.ones(len(ratings))
    if reading.similarity == "threshold":
        fits = np.ones(len(ratings), np.bool_)
        if ratings_off is not None:
            fits &= np.abs(ratings_off) <= reading.within[0] + SLACK
        if days_off is not None:
            fits &= (np.abs(days_off) <= reading.within[1]) & ~undated
        return fits.astype(np.float64)
    signed = reading.similarity == "signed"
    total = np.zeros(len(ratings))
    if ratings_off is not None:
        total += _power(ratings_off / reading.rho0, signed=signed)
    if days_off is not None:
        total += np.where(undated, 0.0, _power(days_off / reading.d0, signed=signed))
    return total


def _power(off: Floats, *, signed: bool) -> Floats:
    return np.asarray(np.exp(np.minimum(off if signed else -np.abs(off), _MOST)))


def _judged(scores: Floats, ours: float | None, records: int, reading: Reading) -> dict[str, float]:
    prior = math.log2(records)
    if not len(scores):
        return {"bits": prior}
    top = float(scores.max())
    unit = top if top > 0 else 1.0  # an eccentricity has no unit, and squares may be no floats
    shares = scores / unit
    second = float(np.partition(shares, -2)[-2]) if len(shares) > 1 else 1.0
    best, sigma = top / unit, float(shares.std())
    flat = best - float(shares.min()) <= SLACK * best
    tied = best - second <= SLACK * best
    eccentricity = 0.0 if flat or tied else (best - second) / sigma
    over = eccentricity > reading.phi
    if not reading.strict:
        over = over or eccentricity >= reading.phi * (1 - SLACK)
    matched = over and not tied and not flat
    right = ours is not None and best - ours / unit <= SLACK * best
    found = {"named": matched, "success": matched and right, "right": right}
    bits = prior if ours is None else _bits(shares, ours / unit, 0.0 if flat else sigma)
    ties = int((best - shares <= SLACK * best).sum())
    return found | {"eccentricity": eccentricity, "top1": right / ties, "bits": bits}


def _bits(shares: Floats, ours: float, sigma: float) -> float:
    """-log2 of the share of e^(Score/σ) that the target's record has."""
    if not sigma:
        return math.log2(len(shares))
    return math.log2(float(np.exp((shares - ours) / sigma).sum()))
