"""Singling out: predicates written from releases of halves, and who meets them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from starshade.attack.predicate.choice import distinct
from starshade.attack.predicate.predicate import written
from starshade.attack.shadows.halves import Half, Method
from starshade.attack.shadows.play import Asked, ShadowAttack
from starshade.attack.shadows.resampled import drawn_again
from starshade.engine.job import Tables
from starshade.errors import ConfigError
from starshade.figure import Rate
from starshade.ratings.holdout import sample_users
from starshade.release.cells import Cells

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SingledOut:
    """How often a release alone tells a condition that exactly one of its people meets.

    `releases`, `predicates`: tried. `isolates`: of members, the mean over releases; `outsiders`:
    the same predicates among as many people who are not in the release. `excess`: (r − b)/(1 − b)
    of the two, the mean over releases with its interval. `by_weight`: what n·w(1 − w)^(n − 1)
    comes to, w the weight. `how`: which conditions these are, in a sentence.
    """

    releases: int
    predicates: int
    isolates: float
    outsiders: float
    excess: Rate
    by_weight: float
    how: str = ""


def excess_of(isolates: Floats, outsiders: Floats, seed: int) -> Rate:
    """Return the mean excess of releases, with an interval that draws these again.

    `isolates`, `outsiders`: shares of each release's predicates.
    """
    sure = outsiders >= 1
    excess = np.where(sure, 0.0, (isolates - outsiders) / np.where(sure, 1.0, 1 - outsiders))

    def mean(weights: Floats) -> Floats:
        return np.asarray(weights @ excess / weights.sum(axis=1))[:, None]

    (drawn,) = drawn_again(mean, len(excess), seed)
    return Rate(drawn.value, min(drawn.low, drawn.value), max(drawn.high, drawn.value))


@dataclass(frozen=True)
class PredicatesAttack(ShadowAttack[Any]):
    """Write predicates from each release of a half, and count who meets them, in it or not.

    `promise`: what cells promise, as the release under attack says it.
    """

    name: ClassVar[str] = "predicate"
    promise: str
    shadows: int | None = None
    method: Method | None = None

    def begin(self, asked: Asked) -> Predicates:
        """Return what asks the releases, and sums up."""
        return Predicates(asked, self.promise)


@dataclass(frozen=True, eq=False)
class Predicates:
    """How many predicates exactly one member meets, and exactly one outsider."""

    asked: Asked
    promise: str

    def ask(self, half: Half) -> Tables:
        """Write predicates from one release."""
        told, view = self.asked.told, half.seen.view
        # means meet no conditions, and of what lies in shards only means are made
        assert isinstance(view.cells, Cells)
        users = np.flatnonzero(half.outsiders)
        some = sample_users(told.truth, users, int(half.members.sum()), told.seed)
        outsiders = told.truth.keep_users(some)
        try:
            tried = written(view, distinct(view.cells), self.promise, outsiders, seed=told.seed)
        except ConfigError as error:  # the other attacks go on
            why = np.array([error.message])
            return {
                "isolates": np.empty(0),
                "outsiders": np.empty(0),
                "blind": np.empty(0),
                "why": why,
            }
        assert tried.among is not None
        return {"isolates": tried.isolates, "outsiders": tried.among == 1, "blind": tried.blind}

    def found(self, answers: Sequence[Tables], facts: dict[str, Any]) -> SingledOut:
        """Sum up all releases."""
        some = [each for each in answers if len(each["isolates"])]
        if not some:
            raise ConfigError(str(answers[0]["why"][0]))
        isolates, outsiders, blind = (
            np.array([float(each[name].mean()) for each in some])
            for name in ("isolates", "outsiders", "blind")
        )
        return SingledOut(
            releases=len(some),
            predicates=sum(len(each["isolates"]) for each in some),
            isolates=float(isolates.mean()),
            outsiders=float(outsiders.mean()),
            excess=excess_of(isolates, outsiders, facts["seed"]),
            by_weight=float(blind.mean()),
        )
