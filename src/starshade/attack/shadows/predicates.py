"""Singling out: predicates written from shadow releases, and who satisfies them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from starshade.attack.predicate.choice import distinct
from starshade.attack.predicate.predicate import written
from starshade.attack.shadows.facts import Told
from starshade.attack.shadows.halves import Half, Method, seed_of
from starshade.attack.shadows.play import Asked, Game, ShadowAttack
from starshade.attack.shadows.profile_predicates import OneTable, count_isolated, summarize
from starshade.attack.shadows.resampled import FEWEST, drawn_again
from starshade.engine.job import Tables
from starshade.errors import ConfigError
from starshade.figure import Rate
from starshade.ratings.holdout import sample_users
from starshade.release import ProfileKind
from starshade.release.cells import Cells

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SingledOut:
    """Singling out from a release alone: share of isolating predicates.

    `releases`, `predicates`: numbers tested. `isolates`: among members, the mean over releases;
    `outsiders`: among as many non-members. `excess`: (r − b)/(1 − b) of the two, the mean over
    releases with its interval. `by_weight`: the baseline n·w(1 − w)^(n − 1), w the weight. `how`:
    a sentence on these predicates.
    """

    releases: int
    predicates: int
    isolates: float
    outsiders: float
    excess: Rate
    by_weight: float
    how: str = ""


def excess_of(isolates: Floats, outsiders: Floats, predicates: int, seed: int) -> Rate:
    """Return the mean excess of releases, with an interval that draws these again.

    `isolates`, `outsiders`: shares of each release's predicates. `predicates`: of all releases.

    Raises
    ------
    ConfigError
        There are too few predicates, or non-members satisfy all of them.
    """
    if predicates < FEWEST:
        raise ConfigError(
            f"{predicates:,} predicates in {len(isolates):,} shadow releases; {FEWEST} are needed"
        )
    some = outsiders < 1  # where outsiders meet all nothing can be beyond them
    if not some.any():
        raise ConfigError("non-members satisfy all predicates of a release")
    excess = (isolates[some] - outsiders[some]) / (1 - outsiders[some])

    def mean(weights: Floats) -> Floats:
        return np.asarray(weights @ excess / weights.sum(axis=1))[:, None]

    (drawn,) = drawn_again(mean, len(excess), seed)
    return drawn.difference(predicates)


@dataclass(frozen=True)
class PredicatesAttack(ShadowAttack[Any]):
    """Write predicates from each shadow release, and count members and non-members.

    `promise`: what generalized cells promise, as the release under attack says it. `profile`: what
    the cells of profiles are; None: they are no means.
    """

    name: ClassVar[str] = "predicate"
    promise: str
    profile: ProfileKind | None = None
    shadows: int | None = None
    method: Method | None = None

    def begin(self, asked: Asked) -> Game[Any]:
        """Return what asks the releases, and sums up."""
        if self.profile is None:
            return Predicates(asked, self.promise)
        return OfProfiles(asked, self.profile)


def members_and_outsiders(told: Told, half: Half) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the members, and as many outsiders drawn by the seed, or all if they are fewer."""
    members, outsiders = np.flatnonzero(half.members), np.flatnonzero(half.outsiders)
    if not len(members):
        return members, members
    return members, sample_users(told.truth, outsiders, len(members), told.seed)


@dataclass(frozen=True, eq=False)
class Predicates:
    """How many predicates of generalized cells exactly one member meets, and one outsider."""

    asked: Asked
    promise: str

    def ask(self, half: Half) -> Tables:
        """Write predicates from one release."""
        told, view = self.asked.told, half.seen.view
        assert isinstance(view.cells, Cells)  # no means
        _, some = members_and_outsiders(told, half)
        outsiders = told.truth.keep_users(some)
        try:
            tried = written(view, distinct(view.cells), self.promise, outsiders, seed=told.seed)
        except ConfigError as error:  # the other attacks go on
            return {"why": np.array([error.message])}
        assert tried.among is not None
        return {"isolates": tried.isolates, "outsiders": tried.among == 1, "blind": tried.blind}

    def found(self, answers: Sequence[Tables], facts: dict[str, Any]) -> SingledOut:
        """Sum up all releases."""
        some = _of_those_written(answers)
        isolates, outsiders, blind = (
            np.array([float(each[name].mean()) for each in some])
            for name in ("isolates", "outsiders", "blind")
        )
        predicates = sum(len(each["isolates"]) for each in some)
        return _summed(isolates, outsiders, predicates, float(blind.mean()), "", facts["seed"])


@dataclass(frozen=True, eq=False)
class OfProfiles:
    """How many predicates of profiles exactly one member meets, and one outsider."""

    asked: Asked
    profile: ProfileKind

    def ask(self, half: Half) -> Tables:
        """Write predicates from one release."""
        told, people = self.asked.told, half.people
        if people is None:
            members, outsiders = members_and_outsiders(told, half)
            facts = told.of(np.concatenate([members, outsiders]), None)
            people = OneTable(facts, np.arange(len(facts)) < len(members))
        try:
            own = seed_of(told.seed, half.number)
            return count_isolated(half.seen, people, self.profile, own)
        except ConfigError as error:  # the other attacks go on
            return {"why": np.array([error.message])}

    def found(self, answers: Sequence[Tables], facts: dict[str, Any]) -> SingledOut:
        """Sum up all releases."""
        found = summarize(_of_those_written(answers), self.profile)
        shares = found.isolates, found.outsiders
        return _summed(*shares, found.predicates, found.by_weight, found.how, facts["seed"])


def _of_those_written(answers: Sequence[Tables]) -> list[Tables]:
    """Return the answers of releases from which predicates could be written."""
    some = [each for each in answers if "why" not in each]
    if not some:
        raise ConfigError(str(answers[0]["why"][0]))
    return some


def _summed(
    isolates: Floats, outsiders: Floats, predicates: int, by_weight: float, how: str, seed: int
) -> SingledOut:
    return SingledOut(
        releases=len(isolates),
        predicates=predicates,
        isolates=float(isolates.mean()),
        outsiders=float(outsiders.mean()),
        excess=excess_of(isolates, outsiders, predicates, seed),
        by_weight=by_weight,
        how=how,
    )
