"""What the targets really rated, fetched from their shards for whoever compares with it."""

from __future__ import annotations

from collections.abc import Mapping
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
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.match.match import LinkedShard, LinkedShards, MadeShards


def rows_of_targets(
    store: AnyShards | LinkedShards, engine: Engine, users: NDArray[np.int64]
) -> Ratings:
    """Return the ratings of some users, ascending among all, as a table of its own.

    They are numbered from 0 there, and what is drawn by their ids is drawn as everywhere.

    Raises
    ------
    ConfigError
        The memory that may be used does not hold them.
    """
    job = Job("fetching the targets' ratings", _fetch)
    parts: list[Tables] = []
    held, most = 0, budget.memory()
    for part in engine.run(job, store, {"users": users}):
        parts.append(part)
        held += sum(column.nbytes for column in part.values())
        if 2 * held > most:  # while they are joined
            raise ConfigError(
                f"the ratings of {len(users):,} targets take more than the {budget.amount(most)} "
                "of memory that may be used",
                advice=f"Attack fewer{aside('targets')}, or allow more memory{aside('memory')}.",
                setting="targets",
            )
    found = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    shards = store.shards if isinstance(store, LinkedShards) else store
    numbered = Vocabulary(np.arange(len(users)))
    # what the cached property would compute, of their ids
    numbered.__dict__["fingerprints"] = found["fingerprints"]
    return Ratings(
        scale=shards.scale,
        users=numbered,
        items=shards.items,
        indptr=np.concatenate([[0], np.cumsum(found["lengths"])]),
        columns=found["columns"],
        codes=found["codes"],
        levels=shards.levels,
        days=found.get("days"),
        first_day=shards.first_day,
    )


def _fetch(
    part: Ratings | LinkedShard, first: int, _settings: Mapping[str, Any], tables: Tables
) -> Tables:
    ratings = part if isinstance(part, Ratings) else part.ratings
    start, stop = np.searchsorted(tables["users"], [first, first + ratings.n_users])
    rows = ratings.keep_users(tables["users"][start:stop] - first)
    found: dict[str, NDArray[Any]] = {"lengths": rows.user_support, "columns": rows.columns}
    found |= {"codes": rows.codes, "fingerprints": rows.users.fingerprints}
    return found if rows.days is None else found | {"days": rows.days}


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
