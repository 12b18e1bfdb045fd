"""`KeptShards`: a sharded store without some items, whoever rated no other, and other users."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from starshade.engine.job import Engine, Job, Tables
from starshade.ratings.scale import Scale
from starshade.ratings.shards.shards import Shards
from starshade.ratings.table import Ratings, ReadReport
from starshade.ratings.vocabulary import Vocabulary

_AT_ONCE = 1 << 22  # ratings looked at together

#: a table in shards, whole or in part
AnyShards: TypeAlias = "Shards | KeptShards"


class Choice(Protocol):
    """Some of the users: each is chosen or not by their own ratings and id alone."""

    @property
    def key(self) -> str:
        """What it is known again by."""

    def __call__(self, shard: Ratings, /) -> NDArray[np.bool_]:
        """Mark those of a shard who are chosen."""


@dataclass(frozen=True, eq=False)
class KeptShards:
    """The table that the same choice would make of all shards together, shard by shard.

    Attributes
    ----------
    store : Shards
    kept : ndarray of int64
        The items that stay, ascending.
    scale : Scale
    levels : ndarray of float64
    codes : ndarray or None
        The code of each of the store's levels; None: levels and scale are the store's.
    users : tuple of int
        Users of each shard who stay.
    n_ratings : int
    chosen : Choice or None
        Who may stay; None: everybody.
    """

    store: Shards
    kept: NDArray[np.int64]
    scale: Scale
    levels: NDArray[np.float64]
    codes: NDArray[Any] | None
    users: tuple[int, ...]
    n_ratings: int
    chosen: Choice | None = None

    def __len__(self) -> int:
        return len(self.store)

    @cached_property
    def keys(self) -> Sequence[str]:
        """What each shard is known again by: of the store's, and of what is kept."""
        kept = hashlib.sha256(np.ascontiguousarray(self.kept).data)
        kept.update(np.ascontiguousarray(self.levels).data)
        if self.chosen is not None:
            kept.update(self.chosen.key.encode())
        return [f"{key} {kept.hexdigest()} {self.scale}" for key in self.store.keys]

    @property
    def path(self) -> Path:
        """The store's folder."""
        return self.store.path

    @property
    def has_days(self) -> bool:
        """Whether any rating may carry a day."""
        return self.store.has_days

    @property
    def first_users(self) -> list[int]:
        """The number of each shard's first user among all who stay."""
        return [0, *np.cumsum(self.users)[:-1].tolist()]

    @property
    def n_users(self) -> int:
        """Users of all shards."""
        return sum(self.users)

    @property
    def n_items(self) -> int:
        """Items that stay."""
        return len(self.kept)

    @cached_property
    def items(self) -> Vocabulary:
        """The items that stay."""
        return self.store.items.take(self.kept)

    @cached_property
    def item_names(self) -> tuple[str, ...] | None:
        """Their names."""
        names = self.store.item_names
        return None if names is None else tuple(names[i] for i in self.kept)

    @property
    def lineage(self) -> str:
        """Random id of the data set."""
        return self.store.lineage

    @property
    def report(self) -> ReadReport:
        """What reading found and decided."""
        return self.store.report

    @property
    def first_day(self) -> int:
        """Day number (since 1970-01-01) that 0 stands for in the days."""
        return self.store.first_day

    @property
    def place(self) -> NDArray[np.int64]:
        """Where each of the store's items is among those that stay, else -1."""
        out = np.full(self.store.n_items, -1, dtype=np.int64)
        out[self.kept] = np.arange(len(self.kept))
        return out

    def who_stays(self, number: int) -> NDArray[np.int64]:
        """Return which users of a shard of the store stay, ascending."""
        shard, place = self.store.shard(number), self.place
        if self.chosen is not None:
            users = np.flatnonzero(self.chosen(shard))
            return users[_with_any(shard.keep_users(users), place)]
        return _with_any(shard, place)

    def bytes_of(self, number: int, /) -> int:
        """Return the bytes of memory that work on a shard takes, at most."""
        return self.store.bytes_of(number)

    def shard(self, number: int, /) -> Ratings:
        """Open what stays of a shard."""
        table = self.store.shard(number)
        if self.chosen is not None:
            table = table.keep_users(np.flatnonzero(self.chosen(table)))
        whole = len(self.kept) == table.n_items
        table = table.drop_empty_users() if whole else table.keep_items(self.kept)
        if self.codes is None:
            return table
        codes = self.codes[table.codes]
        return replace(table, scale=self.scale, levels=self.levels, codes=codes)


def _with_any(shard: Ratings, place: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the users who rated any item that has a place, ascending."""
    if (place >= 0).all():
        return np.flatnonzero(shard.user_support)
    edges = np.searchsorted(shard.indptr, np.arange(0, shard.n_ratings, _AT_ONCE))
    stays = [np.empty(0, dtype=np.int64)]
    for first, last in pairwise([*np.unique(edges).tolist(), shard.n_users]):
        ends = shard.indptr[first : last + 1]
        kept = place[shard.columns[int(ends[0]) : int(ends[-1])]] >= 0
        before = np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])
        stays.append(first + np.flatnonzero(np.diff(before[ends - ends[0]])))
    return np.concatenate(stays)


def those_of(
    shards: Shards, chosen: Choice, engine: Engine, items: NDArray[np.int64]
) -> KeptShards:
    """Return those of a store's users who are chosen, with these items, and rated any of them."""
    nobody = (0,) * len(shards)
    told = shards.scale, shards.levels, None
    table = KeptShards(shards, items, *told, nobody, 0, chosen)
    sizes = [part["size"].tolist() for part in engine.run(Job("counting", _size), table, {})]
    users, ratings = zip(*sizes, strict=True)
    return replace(table, users=users, n_ratings=sum(ratings))


def _size(shard: Ratings, _first: int, _settings: Mapping[str, Any], _tables: Tables) -> Tables:
    return {"size": np.array([shard.n_users, shard.n_ratings])}
