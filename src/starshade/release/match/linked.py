"""Shards of ratings beside the release that was made of them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from starshade.errors import ConfigError
from starshade.ratings.shards.kept import KeptShards
from starshade.ratings.shards.shards import Shards
from starshade.ratings.table import Ratings
from starshade.release.folder.digest import ratings_digest
from starshade.release.match.evidence import other_ratings
from starshade.release.match.match import refuse_foreign_link
from starshade.release.table import Link, Release


@dataclass(frozen=True, eq=False)
class LinkedShard:
    """A shard; `row_of_user`: the released row of each of its users, -1 for those who have none."""

    ratings: Ratings
    row_of_user: NDArray[np.int64]
    release: Release


@dataclass(frozen=True, eq=False)
class LinkedShards:
    """A store of shards, and a release with its receipt.

    Raises
    ------
    ConfigError
        The release has no receipt, or the link another number of records.
    """

    shards: Shards
    release: Release

    def __post_init__(self) -> None:
        refuse_foreign_link(self.release, self._link)

    @property
    def _link(self) -> Link:
        private = self.release.private
        if private is None:
            raise ConfigError("a release without its receipt has no link")
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


def refuse_other_shards(release: Release, shards: Shards, raters: Sequence[int]) -> None:
    """Refuse other ratings than those that the receipt of a release of profiles was written for.

    `raters`: users of each shard who rated a released item; of such a release nobody is left out.
    """
    private = release.private
    if private is None or not private.ratings:
        return
    items = shards.items.indices(release.items)
    scale, levels = shards.scale, shards.levels
    part = KeptShards(shards, items, scale, levels, None, tuple(raters), shards.n_ratings)
    if ratings_digest(part) != private.ratings:
        raise other_ratings()
