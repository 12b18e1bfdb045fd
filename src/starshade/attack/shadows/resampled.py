"""Figures over people and rounds, with intervals that resample both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from starshade.figure import Rate
from starshade.rng import generator
from starshade.stats import clopper_pearson, wilson

Floats = NDArray[np.float64]
_DRAWS = 1000
_BLOCK = 2**22  # weights held together
_ENDS = (0.025, 0.975)


@dataclass(frozen=True, eq=False)
class Resampled:
    """What was measured of people in rounds.

    `person`, `round` (entries,): any numbers that tell them apart. A draw takes as many people as
    there are, with replacement, and as many rounds; what a person has in a round counts as often
    as both were drawn.
    """

    person: NDArray[np.int64]
    round: NDArray[np.int64]
    seed: int

    @cached_property
    def _places(self) -> list[tuple[int, NDArray[np.int64]]]:
        both = (np.unique(each, return_inverse=True) for each in (self.person, self.round))
        return [(len(values), places) for values, places in both]

    def weights(self) -> Iterator[Floats]:
        """Draw how often each entry counts, in blocks of shape (draws, entries)."""
        streams = [generator(self.seed, f"{each} drawn anew") for each in ("people", "rounds")]
        step = max(1, _BLOCK // max(1, len(self.person)))
        for start in range(0, _DRAWS, step):
            drawn = np.ones((min(step, _DRAWS - start), len(self.person)))
            for rng, (count, places) in zip(streams, self._places, strict=True):
                times = rng.multinomial(count, np.full(count, 1 / count), size=len(drawn))
                drawn *= times[:, places]
            yield drawn

    def interval(self, figure: Callable[[Floats], Floats], size: int) -> Rate:
        """Return a share with its 95 % percentile interval.

        `figure`: of weights (draws, entries) to a share for each draw, NaN where there is none.
        `size`: people that it rests on. Where all draws agree the interval is as wide as Wilson's
        allows for after none in `size` (`starshade.stats.bootstrap`).
        """
        rate, low, high = self.ends(figure)
        rate, low, high = (min(1.0, max(0.0, each)) for each in (rate, low, high))
        if high - low <= 1e-12:
            unseen = wilson(0, size).high
            low, high = rate * (1 - unseen), rate + (1 - rate) * unseen
        return Rate(rate, min(low, rate), max(high, rate))

    def ends(self, figure: Callable[[Floats], Floats]) -> tuple[float, float, float]:
        """Return a figure and the ends of its 95 % percentile interval."""
        here = float(figure(np.ones((1, len(self.person))))[0])
        found = np.concatenate([figure(weights) for weights in self.weights()])
        low, high = np.nanquantile(found, _ENDS).tolist()
        return here, low, high


def mean_of(values: Floats) -> Callable[[Floats], Floats]:
    """Return the mean of an entry's values as a figure of weights; NaN where none is drawn."""

    def mean(weights: Floats) -> Floats:
        total = weights.sum(axis=1)
        return np.where(total > 0, weights @ values / np.where(total > 0, total, 1), np.nan)

    return mean


@dataclass(frozen=True, eq=False)
class Ranking:
    """Entries by descending score: those that should be found, and the others."""

    score: Floats
    member: NDArray[np.bool_]

    @cached_property
    def _order(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The order, and where in it each run of equal scores starts."""
        order = np.argsort(-self.score, kind="stable")
        falls = np.diff(self.score[order]) != 0
        return order, np.flatnonzero(np.append(True, falls))

    def _counts(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return members and outsiders of each run of ties, shape (draws, runs)."""
        order, starts = self._order
        both = (weights[:, order] * which[order] for which in (self.member, ~self.member))
        members, outsiders = (np.add.reduceat(each, starts, axis=1) for each in both)
        return members, outsiders

    def auc(self, weights: Floats) -> Floats:
        """Return the chance that a member is above an outsider, a tie half; NaN without either."""
        members, outsiders = self._counts(weights)
        below = outsiders.sum(1, keepdims=True) - np.cumsum(outsiders, axis=1)
        pairs = members.sum(1) * outsiders.sum(1)
        won = (members * (below + outsiders / 2)).sum(1)
        return np.where(pairs > 0, won / np.where(pairs > 0, pairs, 1), np.nan)

    def found(self, alarms: float) -> Callable[[Floats], Floats]:
        """Return the share of members found where this share of outsiders is called members.

        Those who tie at the threshold are called so in part.
        """

        def of(weights: Floats) -> Floats:
            members, outsiders = (np.cumsum(each, axis=1) for each in self._counts(weights))
            out = np.full(len(weights), np.nan)
            for d, (hits, false) in enumerate(zip(members, outsiders, strict=True)):
                if hits[-1] and false[-1]:
                    at = np.searchsorted(false, alarms * false[-1] * (1 + 1e-12), side="right")
                    before = (hits[at - 1], false[at - 1]) if at else (0.0, 0.0)
                    if at < len(false):  # a part of the next run of ties
                        part = (alarms * false[-1] - before[1]) / (false[at] - before[1])
                        part = min(1.0, max(0.0, part))
                        out[d] = (before[0] + part * (hits[at] - before[0])) / hits[-1]
                    else:
                        out[d] = 1.0
            return out

        return of


def least_epsilon(ranking: Ranking, round_of: NDArray[np.int64]) -> float | None:
    """Return an empirical lower bound of ε, at thresholds that were chosen on other rounds.

    The larger of ln((1 − FN⁺)/FP⁺) and ln((1 − FP⁺)/FN⁺), FN⁺ and FP⁺ the upper ends of
    Clopper & Pearson's intervals (97.5 % each) of the shares of members missed and of outsiders
    called members; never below 0. None: there is one round alone.
    """
    rounds = np.unique(round_of)
    if len(rounds) < 2:
        return None
    member, score = ranking.member, ranking.score
    missed = false = 0
    for each in rounds:
        here = round_of == each
        threshold = _best_threshold(score[~here], member[~here])
        called = score[here] >= threshold
        missed += int((member[here] & ~called).sum())
        false += int((~member[here] & called).sum())
    counts = int(member.sum()), int((~member).sum())
    return max(0.0, float(_epsilon(np.array([missed]), np.array([false]), *counts)[0]))


def _best_threshold(score: Floats, member: NDArray[np.bool_]) -> float:
    """Return the score from which on calling people members bounds ε best."""
    values = np.unique(score)[::-1]
    ranking = Ranking(score, member)
    members, outsiders = ranking._counts(np.ones((1, len(score))))
    missed = member.sum() - np.cumsum(members[0])
    bound = _epsilon(missed, np.cumsum(outsiders[0]), int(member.sum()), int((~member).sum()))
    return float(values[np.argmax(bound)])


def _epsilon(missed: Floats, false: Floats, members: int, outsiders: int) -> Floats:
    missed_most, false_most = clopper_pearson(missed, members), clopper_pearson(false, outsiders)
    with np.errstate(divide="ignore"):
        one = np.log(1 - missed_most) - np.log(false_most)
        other = np.log(1 - false_most) - np.log(missed_most)
    return np.asarray(np.maximum(one, other))
