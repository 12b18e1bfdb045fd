"""What the targets really rated, fetched from their shards for whoever compares with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade import budget
from starshade.attack.view import truth_of
from starshade.engine.job import Engine, Job, Tables
from starshade.errors import ConfigError
from starshade.kernels.attack.agreement import Truth
from starshade.naming import aside
from starshade.ratings.shards.kept import AnyShards
from starshade.ratings.shards.sharded import rows_of
from starshade.ratings.table import Ratings
from starshade.release.match.match import LinkedShard, LinkedShards, MadeShards


def rows_of_targets(
    store: AnyShards | LinkedShards, engine: Engine, users: NDArray[np.int64]
) -> Ratings:
    """Return the ratings of some users, ascending among all, as a table of its own.

    They are called by their numbers there; what is drawn by their ids is drawn as everywhere.

    Raises
    ------
    ConfigError
        The memory that may be used does not hold them.
    """
    shards = store.shards if isinstance(store, LinkedShards) else store
    too_many = ConfigError(
        f"the ratings of {len(users):,} targets take more than the "
        f"{budget.amount(budget.memory())} of memory that may be used",
        advice=f"Attack fewer targets{aside('targets')}, or allow more memory{aside('memory')}.",
        setting="targets",
    )
    rows = rows_of(shards, engine, users, "fetching the targets' ratings", too_many=too_many)
    return replace(rows, first_day=shards.first_day)


def told_of_targets(
    attack: Any, shards: AnyShards, engine: Engine, users: NDArray[np.int64]
) -> dict[str, NDArray[Any]]:
    """Lay out the targets' truth as columns for a job, where others than themselves may agree."""
    if attack.theta == 1:
        return {}
    truth = truth_of(rows_of_targets(shards, engine, users))
    return {f"true.{name}": column for name, column in truth._asdict().items()}


def truth_in(tables: Tables) -> Truth:
    """Read what `told_of_targets` laid out."""
    return Truth(*(tables[f"true.{name}"] for name in Truth._fields))


def rows_of_users(
    store: LinkedShards | MadeShards, engine: Engine, users: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the released row of some users, ascending among all; -1 of those who have none."""
    job = Job("finding the targets' rows", _rows)
    return np.concatenate([part["rows"] for part in engine.run(job, store, {"users": users})])


def _rows(part: LinkedShard, first: int, _settings: Mapping[str, Any], tables: Tables) -> Tables:
    start, stop = np.searchsorted(tables["users"], [first, first + part.ratings.n_users])
    return {"rows": part.row_of_user[tables["users"][start:stop] - first]}
