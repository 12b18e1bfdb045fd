"""Nearest neighbours of records: in a table, and over all partitions of a store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.attack.view import NO_DAYS
from starshade.engine.job import Engine, Job, Tables
from starshade.kernels.arrays import fixed
from starshade.kernels.attack.neighbours import Asked, Likeness, Rows, nearest
from starshade.kernels.csr import keep_rows
from starshade.progress import task
from starshade.ratings.holdout import lowest, sample_numbers
from starshade.ratings.levels import near_levels
from starshade.ratings.shards.shards import Shards
from starshade.ratings.table import Ratings

_BATCH = 64  # targets between two signs of progress
_TOGETHER = 4096  # targets that are looked for in all shards at a time

Found = tuple[NDArray[np.float64], NDArray[np.float64]]


def nearest_records(
    ratings: Ratings, users: NDArray[np.int64], rating_error: float, day_error: int
) -> Found:
    """Return users' highest Sim to any other, and how much of theirs another covers.

    A column for each strictness: rated by both; ratings close as well; days close as well.
    """
    rows, likeness = _rows(ratings), _likeness(ratings, rating_error, day_error)
    with task("computing nearest neighbours", len(users)) as step:
        parts = []
        for start in range(0, len(users), _BATCH):
            batch = users[start : start + _BATCH]
            parts.append(nearest(rows, likeness, _asked(batch, _cells(ratings, batch))))
            step(len(batch))
    return np.concatenate([a for a, _ in parts]), np.concatenate([c for _, c in parts])


def nearest_in_shards(
    shards: Shards,
    engine: Engine,
    users: NDArray[np.int64],
    rating_error: float,
    day_error: int,
) -> Found:
    """Return the same of users of a store, ascending, each compared with those of all shards.

    The highest of several quotients is the quotient of the highest, rounded.
    """
    settings = {"rating_error": float(rating_error), "day_error": int(day_error)}
    reading = Job("reading records", _read)
    seeking = Job("seeking nearest neighbours", _seek, settings, threaded=True)
    alike, covered = np.zeros((len(users), 3)), np.zeros((len(users), 3))
    for start in range(0, len(users), _TOGETHER):
        here = slice(start, start + _TOGETHER)
        told = list(engine.run(reading, shards, {"users": users[here]}))
        cells = {name: np.concatenate([part[name] for part in told]) for name in told[0]}
        for part in engine.run(seeking, shards, {"users": users[here], **cells}):
            np.maximum(alike[here], part["alike"], out=alike[here])
            np.maximum(covered[here], part["covered"], out=covered[here])
    return alike, covered


def sampled(shards: Shards, engine: Engine, targets: int | None, seed: int) -> NDArray[np.int64]:
    """Take the users whose ids hash lowest under the seed, as of one table."""
    if targets is None or targets >= shards.n_users:
        return np.arange(shards.n_users)
    job = Job("choosing records", _choose, {"targets": int(targets), "seed": seed})
    parts = list(engine.run(job, shards, {}))
    users, numbers = (np.concatenate([p[name] for p in parts]) for name in ("users", "numbers"))
    return np.sort(lowest(users, numbers, int(targets)))


def _choose(shard: Ratings, first: int, settings: Mapping[str, Any], _tables: Tables) -> Tables:
    users = np.arange(shard.n_users)
    numbers = sample_numbers(shard, users, settings["seed"])
    place = np.sort(lowest(users, numbers, settings["targets"]))
    return {"users": place + first, "numbers": numbers[place]}


def _read(shard: Ratings, first: int, _settings: Mapping[str, Any], tables: Tables) -> Tables:
    """Return the cells of those targets who are in a shard."""
    here = slice(*np.searchsorted(tables["users"], [first, first + shard.n_users]))
    return _cells(shard, tables["users"][here] - first)


def _seek(shard: Ratings, first: int, settings: Mapping[str, Any], tables: Tables) -> Tables:
    """Compare all targets with the rows of a shard."""
    own = tables["users"] - first
    own[(own < 0) | (own >= shard.n_users)] = -1
    likeness = _likeness(shard, settings["rating_error"], settings["day_error"])
    alike, covered = nearest(_rows(shard), likeness, _asked(own, tables))
    return {"alike": alike, "covered": covered}


def _cells(ratings: Ratings, users: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    indptr, columns, codes, days = keep_rows(
        ratings.indptr, ratings.columns, ratings.codes, ratings.days, users
    )
    days = NO_DAYS if days is None else days
    return {"lengths": np.diff(indptr), "columns": columns, "codes": codes, "days": days}


def _asked(users: NDArray[np.int64], cells: Tables) -> Asked:
    indptr = np.concatenate([[0], np.cumsum(cells["lengths"])]).astype(np.int64)
    return Asked(
        fixed(users),
        fixed(indptr),
        *(fixed(cells[name]) for name in ("columns", "codes", "days")),
    )


def _rows(ratings: Ratings) -> Rows:
    by_item = ratings.by_item
    return Rows(
        fixed(ratings.user_support),
        fixed(by_item.indptr),
        fixed(by_item.users),
        fixed(by_item.codes),
        fixed(NO_DAYS if by_item.days is None else by_item.days),
    )


def _likeness(ratings: Ratings, rating_error: float, day_error: int) -> Likeness:
    low, high = near_levels(ratings.levels, rating_error)
    return Likeness(low, high, int(day_error))
