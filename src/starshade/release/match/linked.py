"""Shards of ratings with the release that was made of them, or is being made."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from starshade.engine.job import Engine, Job, Tables
from starshade.errors import ConfigError
from starshade.ratings.shards.kept import AnyShards, KeptShards
from starshade.ratings.shards.shards import Shards
from starshade.ratings.table import Ratings
from starshade.release.folder.digest import ratings_digest
from starshade.release.match.evidence import (
    other_ratings,
    refuse_foreign_link,
    refuse_strangers,
)
from starshade.release.table import Link, Part, Release


@dataclass(frozen=True, eq=False)
class LinkedShard:
    """A shard; `row_of_user`: the released row of each of its users, -1 for those who have none."""

    ratings: Ratings
    row_of_user: NDArray[np.int64]
    release: Release


@dataclass(frozen=True, eq=False)
class LinkedShards:
    """A store of shards, and a release with its key file.

    Raises
    ------
    ConfigError
        The release has no key file, or the link another number of records.
    """

    shards: AnyShards
    release: Release

    def __post_init__(self) -> None:
        refuse_foreign_link(self.release, self._link)

    @property
    def _link(self) -> Link:
        private = self.release.private
        if private is None:
            raise ConfigError("a release without its key file has no link")
        return private.link

    def __len__(self) -> int:
        return len(self.shards)

    @cached_property
    def keys(self) -> Sequence[str]:
        """Of each shard, with the release: another of either has another key."""
        release = hashlib.sha256(self.release.manifest.to_json().encode()).hexdigest()
        return [f"{key} {release}" for key in self.shards.keys]

    @property
    def first_users(self) -> list[int]:
        """The number of each shard's first user among all."""
        return self.shards.first_users

    def bytes_of(self, number: int, /) -> int:
        """Return the bytes of memory that work on a shard takes, at most."""
        return self.shards.bytes_of(number)

    def shard(self, number: int, /) -> LinkedShard:
        """Open a shard."""
        ratings = self.shards.shard(number)
        place = self._link.users.indices(ratings.users)
        rows = self.release.class_of_record[self._link.record[place]]
        return LinkedShard(ratings, np.where(place < 0, -1, rows), self.release)


@dataclass(frozen=True, eq=False)
class RecordFiles:
    """Opens a store's shards, each with its users' records, which lie in a file for each."""

    table: KeptShards
    files: Sequence[Path]

    def __call__(self) -> Iterator[Part]:
        """Open one after the other."""
        return map(self.part, range(len(self.files)))

    def part(self, number: int) -> Part:
        """Open one."""
        record = np.load(self.files[number], mmap_mode="c")
        return Part(self.table.store.shard(number), self.table.place, record)


@dataclass(frozen=True, eq=False)
class MadeShards:
    """A store of shards, and a release just made of some of its users, whose link lies in files."""

    release: Release
    records: RecordFiles

    def __len__(self) -> int:
        return len(self.records.table)

    @property
    def keys(self) -> Sequence[str]:
        """Of each shard, with what the release was made of; the folder of `files` tells how."""
        return self.records.table.keys

    @property
    def first_users(self) -> list[int]:
        """The number of each shard's first user among all of the store."""
        return self.records.table.store.first_users

    def bytes_of(self, number: int, /) -> int:
        """Return the bytes of memory that work on a shard takes, at most."""
        return self.records.table.bytes_of(number)

    def shard(self, number: int, /) -> LinkedShard:
        """Open a shard."""
        ratings, _, record = self.records.part(number)
        rows = np.where(record < 0, -1, self.release.class_of_record[record])
        return LinkedShard(ratings, rows, self.release)


# a store never changes while it is open, and every attack on a release comes by here
_matched: WeakKeyDictionary[AnyShards, set[str]] = WeakKeyDictionary()


class People(NamedTuple):
    """How many users of each shard rated a released item, and how many of all have a record.

    `ends`: how many with a record come before the end of each shard.
    """

    raters: tuple[int, ...]
    linked: int
    ends: tuple[int, ...]


def people_of(store: LinkedShards, engine: Engine) -> People:
    """Count who is behind a release, and see that it was made of these ratings.

    Raises
    ------
    ConfigError
        The release was not made of these ratings, or of others than those that the receipt was
        written for.
    """
    job = Job("comparing with the key file", _count)
    answers = list(engine.run(job, store, {}))
    raters = tuple(int(answer["raters"][0]) for answer in answers)
    release, shards = store.release, store.shards
    linked = sum(int(answer["linked"][0]) for answer in answers)
    refuse_strangers(release, shards.items, linked)
    private, matched = release.private, _matched.setdefault(shards, set())
    if private is not None and private.ratings and private.ratings not in matched:
        _refuse_others(private.ratings, release, shards, raters)
        matched.add(private.ratings)
    return People(raters, linked, tuple(accumulate(int(a["linked"][0]) for a in answers)))


def _refuse_others(told: str, release: Release, shards: AnyShards, raters: tuple[int, ...]) -> None:
    """Refuse ratings other than those of the key file."""
    if isinstance(shards, Shards):
        items = shards.items.indices(release.items)
        scale, levels = shards.scale, shards.levels
        # of profiles nobody is left out
        shards = KeptShards(shards, items, scale, levels, None, raters, shards.n_ratings)
    if ratings_digest(shards) != told:
        raise other_ratings()


def _count(shard: LinkedShard, _first: int, _settings: Mapping[str, Any], _: Tables) -> Tables:
    ratings = shard.ratings
    shown = shard.release.items.indices(ratings.items) >= 0
    before = np.concatenate([[0], np.cumsum(shown[ratings.columns], dtype=np.int64)])
    raters = np.count_nonzero(np.diff(before[ratings.indptr]))
    linked = np.count_nonzero(shard.row_of_user >= 0)
    return {"raters": np.array([raters]), "linked": np.array([linked])}
