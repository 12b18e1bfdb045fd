"""What can be counted of ratings and added up over parts of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.engine.job import Engine, Job, Tables
from starshade.kernels.arrays import fixed
from starshade.kernels.attack.knowledge import tally
from starshade.ratings.shards.kept import AnyShards
from starshade.ratings.table import UNKNOWN_DAY, Ratings

_NO_DAYS = np.empty(0, dtype=np.uint16)


@dataclass(frozen=True, eq=False)
class Counts:
    """Whole numbers, so that parts add up exactly in any order.

    `support`, `users` (n,): numbers of ratings that users have, ascending, and how many have so
    many. `items` (n_items,): users who rated each item. `levels` (n_levels,): how often each was
    given. `days` (65536,): ratings of each day, the last: of no known day.
    """

    support: NDArray[np.int64]
    users: NDArray[np.int64]
    items: NDArray[np.int64]
    levels: NDArray[np.int64]
    days: NDArray[np.int64]

    @classmethod
    def of(cls, ratings: Ratings) -> Counts:
        """Count a table."""
        support, users = np.unique(ratings.user_support, return_counts=True)
        days = _NO_DAYS if ratings.days is None else ratings.days
        return cls(
            support,
            users,
            ratings.item_support,
            tally(fixed(ratings.codes), len(ratings.levels)),
            tally(fixed(days), UNKNOWN_DAY + 1),
        )

    def __add__(self, other: Counts) -> Counts:
        both = np.concatenate([self.support, other.support])
        support, place = np.unique(both, return_inverse=True)
        users = np.zeros(len(support), dtype=np.int64)
        np.add.at(users, place, np.concatenate([self.users, other.users]))
        return Counts(
            support,
            users,
            self.items + other.items,
            self.levels + other.levels,
            self.days + other.days,
        )

    @property
    def n_users(self) -> int:
        """Users, those without a rating included."""
        return int(self.users.sum())

    @property
    def n_ratings(self) -> int:
        """Ratings."""
        return int(self.levels.sum())


def counts_of(shards: AnyShards, engine: Engine) -> Counts:
    """Count a sharded store."""
    answers: Iterable[Tables] = engine.run(Job("counting", _count), shards, {})
    return reduce(Counts.__add__, (Counts(**answer) for answer in answers))


def _count(shard: Any, _first: int, _settings: Mapping[str, Any], _tables: Tables) -> Tables:
    return vars(Counts.of(shard))
