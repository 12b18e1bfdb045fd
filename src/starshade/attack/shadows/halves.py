"""Halves: what two sources know of somebody, and the class that both find."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from starshade.attack.shadows.facts import Told
from starshade.attack.shadows.play import Asked, ShadowAttack
from starshade.attack.shadows.resampled import Resampled, mean_of
from starshade.attack.shadows.seen import TIE, Facts, Seen
from starshade.attack.shadows.shadows import Method, Round
from starshade.engine.job import Tables
from starshade.errors import ConfigError
from starshade.figure import Rate
from starshade.kernels.fingerprint import keyed_numbers
from starshade.rng import stream_key

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Halves:
    """How often both halves of somebody's facts lead to one class.

    `known`: facts in each half. `members`, `outsiders`: of people who are in the release, and who
    are not.
    """

    known: int
    members: Rate
    outsiders: Rate


@dataclass(frozen=True)
class HalvesAttack(ShadowAttack[Any]):
    """Give one half of what is known of somebody to one adversary, and the rest to another.

    Each names the likeliest class; if it is the same one, whoever has both halves can join them by
    the release. `known`: facts in each half.
    """

    name: ClassVar[str] = "halves"
    known: int
    rounds: int
    method: Method | None = None

    def begin(self, asked: Asked) -> _Joined:
        """Return what the rounds are added to."""
        return _Joined(asked, self.known)


@dataclass
class _Joined:
    asked: Asked
    known: int
    users: list[NDArray[np.int64]] = field(default_factory=list)
    rounds: list[NDArray[np.int64]] = field(default_factory=list)
    members: list[NDArray[np.bool_]] = field(default_factory=list)
    credits: list[Floats] = field(default_factory=list)

    def ask(self, one: Round) -> Tables:
        answer: dict[str, NDArray[Any]] = {}
        for people, name in ((one.members, "members"), (one.outsiders, "outsiders")):
            users = answer[name] = self.asked.among(people, 2 * self.known)
            if len(users):
                halves = halved(self.asked.told, users, self.known)
                answer[f"{name}.credit"] = joined(one.release, *halves)
        return answer

    def take(self, number: int, answer: Tables) -> None:
        for name in ("members", "outsiders"):
            if len(users := answer[name]):
                self.users.append(users)
                self.rounds.append(np.full(len(users), number))
                self.members.append(np.full(len(users), name == "members"))
                self.credits.append(answer[f"{name}.credit"])

    def found(self, facts: dict[str, Any]) -> Halves:
        some = {bool(each[0]) for each in self.members}
        if some != {True, False}:
            raise ConfigError(f"so few people have {2 * self.known} known facts")
        users, rounds = np.concatenate(self.users), np.concatenate(self.rounds)
        members, credit = np.concatenate(self.members), np.concatenate(self.credits)
        sides = []
        for which in (members, ~members):
            resampled = Resampled(users[which], rounds[which], facts["seed"])
            sides.append(resampled.interval(mean_of(credit[which]), len(np.unique(users[which]))))
        return Halves(self.known, *sides)


def halved(told: Told, users: NDArray[np.int64], known: int) -> tuple[Facts, Facts]:
    """Draw twice as many facts as are `known`, and split each person's by the seed and the ids."""
    facts, people = told.of(users, 2 * known), len(users)
    key = np.uint64(stream_key(told.seed, "halves"))
    place = np.searchsorted(told.item, facts.items)
    owner = np.repeat(told.truth.users.fingerprints[users], 2 * known)
    numbers = keyed_numbers(told.truth.items.fingerprints[place] ^ owner, key)
    order = np.argsort(numbers.reshape(people, -1), axis=1, kind="stable")
    order += np.arange(people)[:, None] * order.shape[1]
    ends = np.arange(people + 1) * known
    first, second = (np.sort(part, axis=1).ravel() for part in (order[:, :known], order[:, known:]))
    return (
        Facts(facts.users, ends, facts.items[first], facts.ratings[first]),
        Facts(facts.users, ends, facts.items[second], facts.ratings[second]),
    )


def joined(seen: Seen, one: Facts, other: Facts) -> Floats:
    """Chance that both halves name one class, each the likeliest, ties shared; (people,)."""
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
