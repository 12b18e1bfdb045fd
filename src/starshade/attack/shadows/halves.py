"""Releases of random halves of the people, made as the release under attack was."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from starshade.attack.settings import MANY_RATINGS
from starshade.attack.shadows.profile_predicates import People
from starshade.attack.shadows.seen import Seen
from starshade.errors import ConfigError, UnmetError
from starshade.kernels.fingerprint import keyed_numbers
from starshade.progress import silence
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.table import Release
from starshade.rng import Rng, resolve_seed, stream_key
from starshade.scratch import put_down
from starshade.setting import count_of

SHADOWS = 16
FEW_SHADOWS = 4
OF_SPREAD = 3  # halves whose ratings say how far they lie from profiles


class Method(Protocol):
    """An anonymizer with its settings."""

    def anonymize(self, ratings: Ratings, rng: Rng = None) -> Release:
        """Make a release."""


@dataclass(frozen=True, eq=False, repr=False)
class Continued:
    """A method by which a release continues an earlier one (`starshade.anonymize.again`).

    A half is released in two steps. The method first releases those of its people who were in an
    earlier release, of their present ratings, and then continues that release with all of them. So
    groups are kept, and newcomers form groups of their own; in a half with fewer than k newcomers
    these wait, as in any release, and are neither members nor non-members of it. Several earlier
    releases count as one. People of theirs whom the ratings no longer have are ignored, and with
    the same people in both steps no group falls short.

    `earlier`: original ids of those who were in an earlier release.
    """

    method: Any
    earlier: Vocabulary

    @property
    def k(self) -> int:
        """Minimum class size."""
        return int(self.method.k)

    def anonymize(self, ratings: Ratings, rng: Rng = None) -> Release:
        """Make both releases; returns the second."""
        seed = resolve_seed(rng)
        # people fetched from a store have fingerprints, and no ids
        there = np.isin(ratings.users.fingerprints, self.earlier.fingerprints)
        before = ratings.keep_users(np.flatnonzero(there))
        if not before.n_users:
            raise ConfigError("none of these people is in the earlier release")
        first = self.method.anonymize(before, rng=stream_key(seed, "earlier release") >> 1)
        method = replace(self.method, items=None)  # those of the first
        release: Release = method.anonymize(ratings, rng=seed, after=first)
        return release

    def __repr__(self) -> str:
        digest = hashlib.sha256(self.earlier.fingerprints.tobytes()).hexdigest()
        return f"Continued({self.method}, earlier={digest})"  # no id


@dataclass(frozen=True, eq=False)
class Half:
    """A release of a random half of the people, as an adversary sees it.

    `number`: 0 to N. `members`, `outsiders` (n_users,): who is in the half and has a record, and
    who is not in the half; whom the method left out is neither. `seen`: the release. `support`
    (n_items,): people of the half who rated each item. `people`: everyone in it and as many
    outsiders, of a store; None: they are among `members` and `outsiders`.
    """

    number: int
    members: NDArray[np.bool_]
    outsiders: NDArray[np.bool_]
    seen: Seen
    support: NDArray[np.int64]
    people: People | None = None

    @property
    def status(self) -> NDArray[np.int8]:
        """1 for members, 0 for non-members, -1 for others, shape (n_users,)."""
        return np.where(self.members, 1, np.where(self.outsiders, 0, -1)).astype(np.int8)


def shadows_for(shadows: int | None, ratings: int) -> int:
    """Return the number of shadow releases: as set, or 16, and 4 above 20 million ratings."""
    if shadows is not None:
        return shadows
    return FEW_SHADOWS if ratings > MANY_RATINGS else SHADOWS


def in_half(fingerprints: NDArray[np.uint64], seed: int, number: int) -> NDArray[np.bool_]:
    """Say who is in a half: each with probability 1/2, by their id alone."""
    numbers = keyed_numbers(fingerprints, np.uint64(stream_key(seed, f"half {number}")))
    return np.asarray(numbers >> np.uint64(63), dtype=np.bool_)


def seed_of(seed: int, number: int) -> int:
    """Return the seed of the release of a half."""
    return stream_key(seed, f"release of half {number}") >> 1


def catalogue_of(
    method: Any, items: Vocabulary, support: NDArray[np.int64], people: int
) -> NDArray[np.int64]:
    """Return which released items are in the one public catalogue of all halves.

    Those that twice as many people rated as the release needs of an item; of a named list, and of
    sensitive items, all. The items of an earlier release that is continued are no such list.
    `support` (n_items,): who rated each of the released `items`, of `people` with a rating.

    Raises
    ------
    ConfigError
        There is no such item.
    """
    continued = isinstance(method, Continued)
    method = method.method if continued else method
    if method is None or (getattr(method, "items", None) is not None and not continued):
        return np.arange(len(items))
    drops = getattr(method, "rare_items", "keep") == "drop"
    needed = method.k + getattr(method, "slack", 0) if drops else 1
    needed = max(needed, count_of(getattr(method, "item_support", None), people))
    stays = support >= 2 * needed
    stays[[p for key in getattr(method, "sensitive", ()) if (p := items.index(key)) >= 0]] = True
    if not stays.any():
        few = ConfigError(
            f"no item was rated by {2 * needed:,} people, twice the minimum of a half"
        )
        raise cannot_be_made(few)
    return np.flatnonzero(stays)


def on_catalogue(method: Any) -> Any:
    """Return a method that keeps every item which it is given."""
    if isinstance(method, Continued):
        return replace(method, method=on_catalogue(method.method))
    if not is_dataclass(method) or isinstance(method, type):
        return method
    every = {"items": None, "rare_items": "keep", "item_support": None}
    own = {each.name for each in fields(method)}
    return replace(method, **{name: every[name] for name in every if name in own})


@dataclass(frozen=True, eq=False)
class Halves:
    """How the halves of one table are made.

    `people`: everybody who rated an item of the catalogue, on these items. `method`: None: ratings
    are released as they are.
    """

    people: Ratings
    method: Method | None
    seed: int

    def made(self, numbers: Sequence[int], spread: float | None) -> Iterator[Half]:
        """Make the halves of these numbers, one after the other.

        `spread`: of ratings around the cells of profiles, where it is known; otherwise the root
        of the mean square over the first three halves.

        Raises
        ------
        ConfigError
            The method cannot make a release of a half.
        """
        some = list(numbers[:OF_SPREAD]) if spread is None else []
        first = {number: self._seen(number) for number in some}
        if some:
            spread = common_spread([seen.spread for seen in first.values()])
        for number in numbers:
            seen = first.pop(number, None) or self._seen(number)
            inside = self._inside(number)
            member = np.zeros(self.people.n_users, dtype=np.bool_)
            member[inside] = seen.view.row_of_user >= 0
            support = seen.view.original.item_support
            yield Half(number, member, ~inside, replace(seen, spread=spread), support)

    def _inside(self, number: int) -> NDArray[np.bool_]:
        return in_half(self.people.users.fingerprints, self.seed, number)

    def _seen(self, number: int) -> Seen:
        half = self.people.keep_users(np.flatnonzero(self._inside(number)))
        if not half.n_users:
            raise nobody_in_it()
        if self.method is None:
            return Seen.of(half, half)
        put_down()  # what was made before takes no memory meanwhile
        with making():
            release = self.method.anonymize(half, rng=seed_of(self.seed, number))
        return Seen.of(release, half)


def common_spread(spreads: Sequence[float | None]) -> float | None:
    """Return the root of the mean square of spreads; None: cells are what somebody rated."""
    known = [each for each in spreads if each is not None]
    return float(np.sqrt(np.mean(np.square(known)))) if known else None


@contextmanager
def making() -> Iterator[None]:
    """Make a shadow release silently; where that fails, raise the reason."""
    try:
        with silence():
            yield
    except (ConfigError, UnmetError) as error:
        raise cannot_be_made(error) from None


def nobody_in_it() -> ConfigError:
    """Return the error that a half of the people has no ratings."""
    return cannot_be_made(ConfigError("too few people: a random half has no ratings"))


def cannot_be_made(error: ConfigError | UnmetError) -> ConfigError:
    """Return the error that a shadow release cannot be made, with the reason."""
    return ConfigError(f"a shadow release (half of the people) cannot be made: {error.message}")
