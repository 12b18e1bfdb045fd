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
_MANY = 8192  # raters
_FOUND = dict.fromkeys(("named", "success", "right"), np.bool_) | dict.fromkeys(
    ("eccentricity", "top1", "bits"), np.float64
)


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

    Of each target: whether a record stood out (`named`), and rightly; the `eccentricity`; the
    `top1` credit; the `bits` missing; `right`, whether theirs is among the best. `postings`: cells
    looked at. `absent`: their record is taken out first. `narrow`: scores of others do not count;
    with `after` they do, and who stands out is named only if among those.
    """
    out: dict[str, NDArray[Any]] = {
        name: np.zeros(len(known), kind) for name, kind in _FOUND.items()
    }
    postings = 0
    with task("scoring to the letter", len(known)) as step:
        for t in range(len(known)):
            scores, looked_at = _scores(table, known, t, reading, absent=absent)
            own, postings = int(known.users[t]), postings + looked_at
            fits = None if narrow is None else narrow(t)
            there = own >= 0 and not absent and (after or fits is None or bool(fits[own]))
            found = _judged(
                _counted(scores, None if after else fits, own if absent else -1),
                float(scores[own]) if there else None,
                table.n_users,
                reading,
            )
            if after and fits is not None:
                scores[own if absent else []] = -1.0
                if not fits[np.argmax(scores)]:
                    found |= {"named": 0.0, "success": 0.0}
            for name, value in found.items():
                out[name][t] = value
            step(1)
    return out | {"postings": np.array([float(postings)])}


def _counted(scores: Floats, fits: NDArray[np.bool_] | None, gone: int) -> Floats:
    if fits is None:
        return np.delete(scores, gone) if gone >= 0 else scores
    if gone >= 0:
        fits = fits.copy()
        fits[gone] = False
    return scores[fits]


def _scores(
    table: Ratings, known: Known, t: int, reading: Reading, *, absent: bool
) -> tuple[Floats, int]:
    by_item, own = table.by_item, int(known.users[t])
    scores, looked_at = np.zeros(table.n_users), 0
    for j in range(known.items.shape[1]):
        item = known.items[t, j]
        cells = slice(by_item.indptr[item], by_item.indptr[item + 1])
        raters = by_item.users[cells]
        support = len(raters) - (absent and bool((raters == own).any()))
        weight = 1 / math.log(max(support, 2)) if reading.weighted else 1.0
        rating, day = float(known.ratings[t, j]), int(known.days[t, j])
        dated = day != NO_DAY and by_item.days is not None
        terms = _of_ratings(table.levels, rating, reading, dated=dated)[by_item.codes[cells]]
        if dated and by_item.days is not None:
            of_days = _of_days(by_item.days[cells], day, reading)
            terms = terms * of_days if reading.similarity == "threshold" else terms + of_days
        scores[raters] += weight * terms
        looked_at += len(raters)
    return scores, looked_at


def _of_ratings(levels: Floats, rating: float, reading: Reading, *, dated: bool) -> Floats:
    """Say what each rating is worth; one that is not known is no term beside a day."""
    threshold = reading.similarity == "threshold"
    if math.isnan(rating):
        return np.full(len(levels), 1.0 if threshold or not dated else 0.0)
    if threshold:
        return (np.abs(rating - levels) <= reading.within[0] + SLACK).astype(np.float64)
    return _power((rating - levels) / reading.rho0, reading)


def _of_days(days: NDArray[np.uint16], day: int, reading: Reading) -> Floats:
    """Say what each rater's day is worth; nothing where it is not known."""
    if len(days) > _MANY:  # work out each day once, and look the raters' up
        last = int(days.max())
        if last < UNKNOWN_DAY:
            return _worth_of(np.arange(last + 1), day, reading)[days]
    return _worth_of(days, day, reading)


def _worth_of(days: NDArray[Any], day: int, reading: Reading) -> Floats:
    off = day - days.astype(np.float64)
    if reading.similarity == "threshold":
        worth = (np.abs(off) <= reading.within[1]).astype(np.float64)
    else:
        worth = _power(off / reading.d0, reading)
    return np.where(days == UNKNOWN_DAY, 0.0, worth)


def _power(off: Floats, reading: Reading) -> Floats:
    off = off if reading.similarity == "signed" else -np.abs(off)
    return np.asarray(np.exp(np.minimum(off, _MOST)))


def _judged(scores: Floats, ours: float | None, records: int, reading: Reading) -> dict[str, float]:
    prior = math.log2(records)
    if not len(scores):
        return {"bits": prior}
    top = float(scores.max())
    unit = top if top > 0 else 1.0  # an eccentricity has no unit, and squares may be no floats
    shares = scores / unit
    best, sigma = top / unit, float(shares.std())
    ties = int(np.count_nonzero(shares >= best * (1 - SLACK)))
    second = best if ties > 1 else float(shares.max(where=shares < best, initial=-1.0))
    flat = ties == len(shares)
    eccentricity = 0.0 if flat or ties > 1 else (best - second) / sigma
    over = eccentricity > reading.phi
    if not reading.strict:
        over = over or eccentricity >= reading.phi * (1 - SLACK)
    named = over and ties == 1 and not flat
    right = ours is not None and ours / unit >= best * (1 - SLACK)
    bits = prior if ours is None else _bits(shares, ours / unit, 0.0 if flat else sigma)
    return {
        "named": named,
        "success": named and right,
        "right": right,
        "eccentricity": eccentricity,
        "top1": right / ties,
        "bits": bits,
    }


def _bits(shares: Floats, ours: float, sigma: float) -> float:
    """-log2 of the share of e^(Score/σ) that the target's record has."""
    if not sigma:
        return math.log2(len(shares))
    best = float(shares.max())
    some = shares[shares > 0]
    zeros = (len(shares) - len(some)) * math.exp(-best / sigma)
    all_of_them = float(np.exp((some - best) / sigma).sum()) + zeros
    return math.log2(all_of_them) + (best - ours) / sigma * math.log2(math.e)
