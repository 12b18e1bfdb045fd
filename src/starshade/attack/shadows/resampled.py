"""Figures over people, or over releases, with intervals that draw these again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from starshade.figure import Rate
from starshade.kernels.arrays import fixed, product
from starshade.kernels.ranking import Ranked, rank
from starshade.rng import generator
from starshade.stats import clopper_pearson, wilson

Floats = NDArray[np.float64]
_DRAWS = 1000
_BLOCK = 2**22  # weights held together
_ENDS = (0.025, 0.975)
_POINTS = 33  # of a curve
FEWEST = 30  # people, or conditions, or a figure is not measured
_THRESHOLDS = 256  # tried for a bound of ε, at most


@dataclass(frozen=True)
class Drawn:
    """A figure, and the ends of its 95 % percentile interval."""

    value: float
    low: float
    high: float

    def rate(self, size: int) -> Rate:
        """Return it as a share that rests on so many people.

        Where all draws agree the interval is as wide as Wilson's allows for after none in `size`
        (`starshade.stats.bootstrap`).
        """
        rate, low, high = (min(1.0, max(0.0, each)) for each in (self.value, self.low, self.high))
        if high - low <= 1e-12:
            unseen = wilson(0, size).high
            low, high = rate * (1 - unseen), rate + (1 - rate) * unseen
        return Rate(rate, min(low, rate), max(high, rate))

    def difference(self, size: int) -> Rate:
        """Return it as a difference of two shares that rest on so many people, or conditions.

        Where all draws agree the interval is as wide to both sides as Wilson's after none in
        `size`.
        """
        low, high = self.low, self.high
        if high - low <= 1e-12:
            unseen = wilson(0, size).high
            low, high = self.value - unseen, self.value + unseen
        return Rate(self.value, max(-1.0, min(low, self.value)), min(1.0, max(high, self.value)))


def drawn_again(figures: Callable[[Floats], Floats], count: int, seed: int) -> list[Drawn]:
    """Return figures with their intervals.

    A draw takes as many of `count` people (or releases) as there are, with replacement.

    Parameters
    ----------
    figures : callable
        Of how often each counts, shape (draws, count), to shape (draws, figures); NaN where there
        is none.
    count, seed : int
    """
    here = figures(np.ones((1, count)))[0]
    few = count * _DRAWS <= _BLOCK
    all_weights = (_all_weights(count, seed),) if few else _weights(count, seed)
    some = np.concatenate([figures(weights) for weights in all_weights])
    out = []
    for value, column in zip(here.tolist(), some.T, strict=True):
        there = column[~np.isnan(column)]
        low, high = np.quantile(there, _ENDS).tolist() if len(there) else (value, value)
        out.append(Drawn(value, low, high))
    return out


@lru_cache(maxsize=1)  # figures of the same people come one after the other
def _all_weights(count: int, seed: int) -> Floats:
    return fixed(np.concatenate([*_weights(count, seed)]))


def _weights(count: int, seed: int) -> Iterator[Floats]:
    rng = generator(seed, "people drawn again")
    step = max(1, _BLOCK // max(1, count))
    for start in range(0, _DRAWS, step):
        draws = min(step, _DRAWS - start)
        who = rng.integers(0, count, (draws, count)) + np.arange(draws)[:, None] * count
        times = np.bincount(who.ravel(), minlength=draws * count)
        yield times.reshape(draws, count).astype(np.float64)


def mean_of(values: Floats, times: Floats) -> Callable[[Floats], Floats]:
    """Return the mean of values as a figure of weights; NaN where none is drawn.

    `values`, `times` (count,): of each person the sum of their values, and how many these are.
    """
    both = np.stack([values, times]).T  # columns in one piece

    def mean(weights: Floats) -> Floats:
        sums, total = product(weights, both).T
        return np.where(total > 0, sums / np.where(total > 0, total, 1), np.nan)[:, None]

    return mean


@dataclass(frozen=True, eq=False)
class Ranking:
    """Entries that are ranked by their score: members should be above outsiders.

    `score`, `person`, `member` (entries,): whose each is, and whether they are a member there.
    """

    score: Floats
    person: NDArray[np.int64]
    member: NDArray[np.bool_]

    @cached_property
    def _ranked(self) -> Ranked:
        order = np.argsort(-self.score, kind="stable")
        falls = np.flatnonzero(np.diff(self.score[order]) != 0) + 1
        ends = np.append(falls, len(order)).astype(np.int64)
        return Ranked(fixed(self.person[order]), fixed(self.member[order]), fixed(ends))

    def figures(self, weights: Floats, alarms: tuple[float, ...]) -> Floats:
        """Return the AUC and the shares of members found, shape (draws, 1 + alarms); see `rank`."""
        return rank(self._ranked, fixed(weights), fixed(np.array(alarms)))

    def threshold(self, alarms: float) -> float:
        """Return the score from which on no more than a share of the outsiders is found."""
        score = np.sort(self.score[~self.member])[::-1]
        allowed = int(alarms * len(score) * (1 + 1e-12))
        return float(score[allowed]) if allowed < len(score) else -np.inf

    def curve(self) -> tuple[tuple[float, float], ...]:
        """Return shares of outsiders, and of members found with as many: the ROC curve.

        From one false alarm on, at points that are as far apart on a logarithmic axis.
        """
        outsiders, people = int((~self.member).sum()), int(self.person.max(initial=0)) + 1
        shares = tuple(
            10.0**power for power in np.linspace(-4, 0, _POINTS) if 10.0**power * outsiders >= 1
        )
        found = self.figures(np.ones((1, people)), shares)[0, 1:]
        return tuple(zip(shares, found.tolist(), strict=True))


def least_epsilon(ranking: Ranking, target: NDArray[np.int64]) -> float | None:
    """Return an empirical lower bound of ε, at thresholds that were chosen on other targets.

    The larger of ln((1 − FN⁺)/FP⁺) and ln((1 − FP⁺)/FN⁺), FN⁺ and FP⁺ the upper ends of
    Clopper & Pearson's intervals (97.5 % each) of the shares of members missed and of outsiders
    called members; never below 0. A share rests on as many trials as there are different people,
    however many releases they are in. None: there is one target alone.
    """
    targets = np.unique(target)
    if len(targets) < 2:
        return None
    member, score = ranking.member, ranking.score
    n_members, n_outsiders = (len(np.unique(ranking.person[which])) for which in (member, ~member))
    people = n_members, n_outsiders
    missed = false = 0
    for each in targets:
        here = target == each
        threshold = _best_threshold(score[~here], member[~here], people)
        called = score[here] >= threshold
        missed += int((member[here] & ~called).sum())
        false += int((~member[here] & called).sum())
    missed_share = np.array([missed / max(1, member.sum())])
    false_share = np.array([false / max(1, (~member).sum())])
    return max(0.0, float(_epsilon(missed_share, false_share, people)[0]))


def _best_threshold(score: Floats, member: NDArray[np.bool_], people: tuple[int, int]) -> float:
    """Return the score from which on calling people members bounds ε best.

    Of many scores only some are tried, as evenly as can be by rank.
    """
    values = np.unique(score)[::-1]
    if len(values) > _THRESHOLDS:
        values = values[np.linspace(0, len(values) - 1, _THRESHOLDS).astype(np.int64)]
    sides = (np.sort(score[which]) for which in (member, ~member))
    found, false = (1 - np.searchsorted(each, values) / max(1, len(each)) for each in sides)
    return float(values[np.argmax(_epsilon(1 - found, false, people))])


def _epsilon(missed: Floats, false: Floats, people: tuple[int, int]) -> Floats:
    """Bound ε by shares of members missed and of outsiders called members, of so many people."""
    members, outsiders = people
    missed_most = clopper_pearson(missed * members, members)
    false_most = clopper_pearson(false * outsiders, outsiders)
    with np.errstate(divide="ignore"):
        one = np.log(1 - missed_most) - np.log(false_most)
        other = np.log(1 - false_most) - np.log(missed_most)
    return np.asarray(np.maximum(one, other))
