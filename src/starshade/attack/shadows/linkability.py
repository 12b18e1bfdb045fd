"""Linkability: two sources with different ratings of one person find one class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from starshade.attack.shadows.facts import Told
from starshade.attack.shadows.halves import Half, Method
from starshade.attack.shadows.play import Asked, ShadowAttack
from starshade.attack.shadows.resampled import FEWEST, drawn_again
from starshade.attack.shadows.seen import TIE, Facts, Seen
from starshade.engine.job import Tables
from starshade.errors import ConfigError
from starshade.figure import Rate
from starshade.kernels.arrays import product
from starshade.kernels.fingerprint import keyed_numbers
from starshade.rng import stream_key

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Linked:
    """Linkability: share of people whose two sets of facts lead to one class.

    `known`: facts in each set. `people`: people tested. `members`, `outsiders`: rate of people in
    the release, and of non-members. `excess`: (r − b)/(1 − b) of the two, which may be below 0.
    """

    known: int
    people: int
    members: Rate
    outsiders: Rate
    excess: Rate


@dataclass(frozen=True)
class LinkabilityAttack(ShadowAttack[Any]):
    """Link two partial profiles of one person by the release (split knowledge).

    Each of two sources names the most likely class; if it is the same one, their profiles can be
    linked by the release. `known`: facts in each part.
    """

    name: ClassVar[str] = "linkability"
    known: int
    shadows: int | None = None
    method: Method | None = None

    def begin(self, asked: Asked) -> Linkability:
        """Return what asks the releases, and sums up."""
        return Linkability(asked, self.known)


@dataclass(frozen=True, eq=False)
class Linkability:
    """Whether two sets of so many `known` facts each lead to one class, release by release."""

    asked: Asked
    known: int

    @cached_property
    def users(self) -> NDArray[np.int64]:
        """Who is asked about."""
        return self.asked.enough(2 * self.known)

    @cached_property
    def sets(self) -> tuple[Facts, Facts]:
        """What each of the two knows of them."""
        return parted(self.asked.told, self.users, self.known)

    def ask(self, half: Half) -> Tables:
        """Say of everybody asked about how likely both sets name one class."""
        return {"credit": joined(half.seen, *self.sets)}

    def found(self, answers: Sequence[Tables], facts: dict[str, Any]) -> Linked:
        """Sum up all releases."""
        status = np.array([each["status"][self.users] for each in answers])
        credit = np.array([each["credit"] for each in answers])
        sides = [
            np.array([(status == which).sum(0), np.where(status == which, credit, 0).sum(0)])
            for which in (1, 0)
        ]
        if not all(side[0].any() for side in sides):
            raise ConfigError(f"too few people have {2 * self.known} ratings that can be known")

        def figures(weights: Floats) -> Floats:
            both = [product(weights, side.T) for side in sides]
            with np.errstate(invalid="ignore", divide="ignore"):
                r, b = (each[:, 1] / each[:, 0] for each in both)
                # where every outsider is joined nothing can be beyond
                excess = np.where(b < 1, (r - b) / (1 - b), np.where(b >= 1, 0.0, np.nan))
                return np.stack([r, b, excess], axis=1)

        people = len(self.users)
        if people < FEWEST:
            raise ConfigError(
                f"{people:,} people have {2 * self.known} ratings that can be known; "
                f"{FEWEST} are needed"
            )
        r, b, excess = drawn_again(figures, people, facts["seed"])
        return Linked(
            known=self.known,
            people=people,
            members=r.rate(people),
            outsiders=b.rate(people),
            excess=excess.difference(people),
        )


def parted(told: Told, users: NDArray[np.int64], known: int) -> tuple[Facts, Facts]:
    """Draw twice as many facts as are `known`, and part each person's by the seed and the ids."""
    facts, people = told.of(users, 2 * known), len(users)
    key = np.uint64(stream_key(told.seed, "two sets of facts"))
    owner = np.repeat(told.truth.users.fingerprints[users], 2 * known)
    numbers = keyed_numbers(told.truth.items.fingerprints[facts.items] ^ owner, key)
    order = np.argsort(numbers.reshape(people, 2 * known), axis=1, kind="stable")
    order += np.arange(people)[:, None] * order.shape[1]
    ends = np.arange(people + 1) * known
    first, second = (np.sort(part, axis=1).ravel() for part in (order[:, :known], order[:, known:]))
    return (
        Facts(facts.users, ends, facts.items[first], facts.ratings[first]),
        Facts(facts.users, ends, facts.items[second], facts.ratings[second]),
    )


def joined(seen: Seen, one: Facts, other: Facts) -> Floats:
    """Chance that both sets name one class, each the likeliest, ties shared; (people,)."""
    credit = np.zeros(len(one))
    for (people, first), (_, second) in zip(
        likeliest(seen, one), likeliest(seen, other), strict=True
    ):
        credit[people] = (first * second).sum(axis=1)
    return credit


def likeliest(seen: Seen, facts: Facts) -> Iterator[tuple[slice, Floats]]:
    """Say which rows are likeliest to be each person's: they share where they are equal.

    Yields some people, in their order, and shares of shape (people, rows) and sum 1.
    """
    for people, logs, _ in seen.fits(facts):
        odds = np.exp(logs - logs.max(axis=1, keepdims=True, initial=-np.inf))
        best = odds >= 1 - TIE
        yield people, best / best.sum(axis=1, keepdims=True)
