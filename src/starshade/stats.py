"""Intervals for rates and means: every attack's figure carries one."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from starshade.figure import Rate

_ERROR = 0.05  # an interval misses so often


def wilson(successes: int, trials: int, *, tries: int = 1) -> Rate:
    """Wilson's score interval (95 %) for a 0/1 outcome; no trials give rate NaN in [0, 1].

    `tries`: of so many outcomes that each has an interval; all of them hold with 95 %
    (Bonferroni).

    Examples
    --------
    >>> wilson(0, 10).high < 0.31
    True
    """
    if trials == 0:
        return Rate(math.nan, 0.0, 1.0)
    p = successes / trials
    z = NormalDist().inv_cdf(1 - _ERROR / tries / 2)
    shrink = 1 + z**2 / trials
    centre = (p + z**2 / (2 * trials)) / shrink
    half = z * math.sqrt(p * (1 - p) / trials + z**2 / (4 * trials**2)) / shrink
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == trials else min(1.0, centre + half)
    return Rate(p, low, high)


def share(which: NDArray[np.bool_]) -> Rate:
    """Return the share of those for whom something is so."""
    return wilson(int(which.sum()), len(which))


def clopper_pearson(
    successes: NDArray[np.floating | np.integer], trials: int
) -> NDArray[np.float64]:
    """Return the upper end of Clopper & Pearson's interval, 97.5 % sure by itself.

    `successes`: counts in [0, trials]. With no trials, or successes alone, it is 1.

    Examples
    --------
    >>> clopper_pearson(np.array([0, 10]), 10).round(3).tolist()
    [0.308, 1.0]
    """
    from scipy.special import betaincinv

    counts = np.asarray(successes, dtype=np.float64)
    sure = counts >= trials
    ends = betaincinv(np.where(sure, 1, counts + 1), np.where(sure, 1, trials - counts), 0.975)
    return np.where(sure, 1.0, ends)


def bootstrap(shares: NDArray[np.float64], *, seed: int, draws: int = 1000, tries: int = 1) -> Rate:
    """Percentile bootstrap interval (95 %) of the mean of fractional credits.

    `tries`: as in `wilson`; the more, the more often credits are drawn again.

    `shares` holds a credit in [0, 1] for each target; no targets give rate NaN in [0, 1].

    Resampling equal credits gives back the same mean, an interval without width that n equal
    observations do not justify. As many targets as Wilson's interval allows for after none in n
    (0.4 % of 1,000) may earn something else, 0 at the least and 1 at the most; credits that are
    all 0 or all 1 get exactly Wilson's interval.

    Examples
    --------
    >>> print(bootstrap(np.ones(100), seed=0), wilson(100, 100))
    100.0% [96.3%, 100.0%] 100.0% [96.3%, 100.0%]
    """
    n = len(shares)
    if n == 0:
        return Rate(math.nan, 0.0, 1.0)
    values, counts = np.unique(shares, return_counts=True)
    if len(values) == 1:
        (same,) = values.tolist()
        unseen = wilson(0, n, tries=tries).high
        return Rate(same, same * (1 - unseen), same + (1 - same) * unseen)
    # resampling n credits = one multinomial draw over the distinct ones
    picks = np.random.default_rng(seed).multinomial(n, counts / n, size=draws * tries)
    low, high = np.quantile(picks @ values / n, [_ERROR / tries / 2, 1 - _ERROR / tries / 2])
    return Rate(float(shares.mean()), float(low), float(high))


def worst_tenth(credits_: NDArray[np.float64]) -> float:
    """Return the mean credit of the tenth of the people who are found most often.

    `credits_` (draws, people): what an attack earned of each person, draw by draw, at least two.
    Who they are is told by every other draw, and how often they are found by those between, then
    the other way round: where all are alike, the worst tenth is as well off as the mean. People
    who tie for the last places share them.

    Examples
    --------
    >>> found = np.zeros((4, 20))
    >>> found[:, :2] = 1  # the same two of twenty, always
    >>> worst_tenth(found), float(found.mean())
    (1.0, 0.1)
    """
    halves = credits_[::2].mean(0), credits_[1::2].mean(0)
    return float(np.mean([_of_top(pick, other) for pick, other in (halves, halves[::-1])]))


def _of_top(pick: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    wanted = max(1.0, len(pick) / 10)
    last = np.sort(pick)[-math.ceil(wanted)]
    above = pick > last
    tied = other[pick == last].mean()
    return float((other[above].sum() + (wanted - above.sum()) * tied) / wanted)
