"""Predicates of releases without some of the people, who say how many meet them by chance."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from starshade.attack.predicate.choice import distinct
from starshade.attack.predicate.predicate import written
from starshade.attack.shadows.play import Asked, ShadowAttack
from starshade.attack.shadows.resampled import Resampled, mean_of
from starshade.attack.shadows.shadows import Method, Round
from starshade.engine.job import Tables
from starshade.errors import ConfigError
from starshade.figure import Rate
from starshade.release.cells import Cells


@dataclass(frozen=True)
class Weighed:
    """What predicates come to that are weighed by outsiders too.

    `rounds`, `predicates`, `outsiders`: of all rounds together. `isolates`: the share of them that
    exactly one person of their release's meets, its interval over predicates and rounds. `blind`:
    what others of the same weights come to, a weight being the larger of the two
    (`PredicateAttack`).
    """

    rounds: int
    predicates: int
    outsiders: int
    isolates: Rate
    blind: float


@dataclass(frozen=True)
class PredicatesAttack(ShadowAttack[Any]):
    """Write predicates from each round's release, and count who was left out and meets them.

    A predicate of the release under attack has no outsiders: whoever is at hand is in it.
    `promise`: what cells promise, as the release under attack says it.
    """

    name: ClassVar[str] = "predicate"
    promise: str
    rounds: int
    method: Method | None = None

    def begin(self, asked: Asked) -> _Written:
        """Return what the rounds are added to."""
        return _Written(asked.told.seed, self.promise)


@dataclass
class _Written:
    seed: int
    promise: str
    isolates: list[NDArray[np.bool_]] = field(default_factory=list)
    blind: list[NDArray[np.float64]] = field(default_factory=list)
    outsiders: int = 0
    error: ConfigError | None = None

    def ask(self, one: Round) -> Tables:
        view = one.release.view
        try:
            # means meet no conditions, and of what lies in shards only means are made
            assert isinstance(view.cells, Cells)
            assert one.left_out is not None
            tried = written(view, distinct(view.cells), self.promise, one.left_out, seed=self.seed)
        except ConfigError as error:  # the other attacks go on
            self.error = error
            return {}
        outsiders = np.array([len(one.outsiders)])
        return {"isolates": tried.isolates, "blind": tried.blind, "outsiders": outsiders}

    def take(self, number: int, answer: Tables) -> None:
        if answer:
            self.isolates.append(answer["isolates"])
            self.blind.append(answer["blind"])
            self.outsiders += int(answer["outsiders"][0])

    def found(self, facts: dict[str, Any]) -> Weighed:
        if self.error is not None:
            raise self.error
        isolates = np.concatenate(self.isolates).astype(np.float64)
        round_of = np.repeat(np.arange(len(self.isolates)), list(map(len, self.isolates)))
        resampled = Resampled(np.arange(len(isolates)), round_of, facts["seed"])
        return Weighed(
            rounds=len(self.isolates),
            predicates=len(isolates),
            outsiders=self.outsiders,
            isolates=resampled.interval(mean_of(isolates), len(isolates)),
            blind=float(np.concatenate(self.blind).mean()),
        )
