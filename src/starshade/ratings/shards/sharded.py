"""`ShardedRatings`: ratings in shards, whoever holds them; and some users' of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from starshade import budget
from starshade.engine.job import Engine, Job, Sharded, Tables
from starshade.errors import ConfigError
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary


class ShardedRatings(Sharded, Protocol):
    """What all shards have in common, and each of them as a table."""

    @property
    def items(self) -> Vocabulary:
        """Those of every shard."""
        raise NotImplementedError

    @property
    def item_names(self) -> tuple[str, ...] | None:
        """Their names."""
        raise NotImplementedError

    @property
    def scale(self) -> Scale:
        """Of the ratings."""
        raise NotImplementedError

    @property
    def levels(self) -> NDArray[np.float64]:
        """As in `Ratings`, the same in every shard."""
        raise NotImplementedError

    @property
    def n_users(self) -> int:
        """Users of all shards."""
        raise NotImplementedError

    @property
    def n_items(self) -> int:
        """Items, those without a rating included."""
        raise NotImplementedError

    @property
    def n_ratings(self) -> int:
        """Ratings of all shards."""
        raise NotImplementedError

    def shard(self, number: int, /) -> Ratings:
        """Open a shard."""
        raise NotImplementedError


def rows_of(
    shards: ShardedRatings,
    engine: Engine,
    users: NDArray[np.int64],
    name: str,
    *,
    too_many: ConfigError | None = None,
) -> Ratings:
    """Return the ratings of some users, ascending among all, as a table of its own.

    They are called by their numbers there, and what is drawn by their ids is drawn as everywhere.
    `name`: of the job. `too_many`: raised where the memory that may be used does not hold them.
    """
    job = Job(name, _fetch)
    parts: list[Tables] = []
    held, most = 0, budget.memory()
    for part in engine.run(job, shards, {"users": users}):
        parts.append(part)
        held += sum(column.nbytes for column in part.values())
        if too_many is not None and 2 * held > most:  # while they are joined
            raise too_many
    found = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    numbered = Vocabulary(users)
    # what the cached property would compute, of their ids
    numbered.__dict__["fingerprints"] = found["fingerprints"]
    return Ratings(
        scale=shards.scale,
        users=numbered,
        items=shards.items,
        indptr=np.concatenate([[0], np.cumsum(found["lengths"])]).astype(np.int64),
        columns=found["columns"],
        codes=found["codes"],
        levels=shards.levels,
        days=found.get("days"),
    )


def _fetch(shard: Ratings, first: int, _settings: Mapping[str, Any], tables: Tables) -> Tables:
    start, stop = np.searchsorted(tables["users"], [first, first + shard.n_users])
    rows = shard.keep_users(tables["users"][start:stop] - first)
    found: dict[str, NDArray[Any]] = {"lengths": rows.user_support, "columns": rows.columns}
    found |= {"codes": rows.codes, "fingerprints": rows.users.fingerprints}
    return found if rows.days is None else found | {"days": rows.days}
