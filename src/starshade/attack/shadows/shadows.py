"""Releases without some of the people, made as the release under attack was."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from starshade.attack.shadows.folds import FOLDS, edges_of, fold_of, numbers_of
from starshade.attack.shadows.seen import Seen
from starshade.errors import ConfigError, UnmetError
from starshade.progress import silence, task
from starshade.ratings.table import Ratings
from starshade.release.table import Release
from starshade.rng import Rng, stream_key
from starshade.scratch import put_down


class Method(Protocol):
    """What makes releases: an anonymizer with its settings."""

    def anonymize(self, ratings: Ratings, rng: Rng = None) -> Release:
        """Make a release."""


@dataclass(frozen=True, eq=False)
class Round:
    """A release, its reference, and the people who tell them apart.

    `members`, `outsiders`: users of the original who have a record in `release` and none in
    `reference`, and those who have none in either; `left_out`: the ratings of the latter, None
    where they lie in shards. `release`, `reference`: as an adversary sees them. `support`
    (n_items,): people of the reference who rated each item of the original.
    """

    number: int
    members: NDArray[np.int64]
    outsiders: NDArray[np.int64]
    left_out: Ratings | None
    release: Seen
    reference: Seen
    support: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Shadows:
    """How shadow releases are made.

    `original`: what the release under attack was made of, all its items. `people`: users of it
    who may be left out. `method`: None: ratings are released as they are.
    """

    original: Ratings
    people: NDArray[np.int64]
    method: Method | None
    seed: int

    @cached_property
    def fold(self) -> NDArray[np.int64]:
        """The fold of each user of the original, 0 to 9; -1: not among the people."""
        numbers = numbers_of(self.original.users.fingerprints[self.people], self.seed)
        fold = np.full(self.original.n_users, -1, dtype=np.int64)
        fold[self.people] = fold_of(numbers, edges_of(numbers))
        return fold

    def rounds(self, count: int) -> Iterator[Round]:
        """Make the releases of so many rounds, one after the other.

        Raises
        ------
        ConfigError
            There are too few people, or the method cannot make a release of those who are left.
        """
        with task("making releases without some of the people", count) as step:
            for number in range(count):
                yield self._round(number)
                step(1)

    def _round(self, number: int) -> Round:
        out, member = self.fold == number, self.fold == (number + 1) % FOLDS
        whole, part = self.original.keep_users(np.flatnonzero(~out)), ~(out | member)
        rest = self.original.keep_users(np.flatnonzero(part))
        seed = seed_of(self.seed, number)
        reference = Seen.of(self._made(rest, seed), rest)
        release = Seen.of(self._made(whole, seed), whole, reference.spread)
        inside = np.full(self.original.n_users, -1, dtype=np.int64)
        inside[~out] = release.view.row_of_user
        return Round(
            number,
            np.flatnonzero(member & (inside >= 0)),
            np.flatnonzero(out),
            self.original.keep_users(np.flatnonzero(out)),
            release,
            reference,
            rest.item_support,
        )

    def _made(self, ratings: Ratings, seed: int) -> Ratings | Release:
        if self.method is None:
            return ratings
        put_down()  # what was made before takes no memory meanwhile
        try:
            with silence():
                return self.method.anonymize(ratings, rng=seed)
        except (ConfigError, UnmetError) as error:
            raise cannot_be_made(error) from None


def seed_of(seed: int, number: int) -> int:
    """Return the seed of both releases of a round."""
    return stream_key(seed, f"shadow releases {number}") >> 1


def cannot_be_made(error: ConfigError | UnmetError) -> ConfigError:
    """Say that, and why, there is nothing to compare with."""
    return ConfigError(
        f"a release without some of the people cannot be made: {error.message}",
        advice="Whether somebody is in the release can then not be measured.",
    )
