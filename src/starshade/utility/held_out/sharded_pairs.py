"""Pairs of people whose ratings lie in shards: who is compared, gathered as one table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.engine.job import Engine, Job, Tables
from starshade.ratings.holdout import lowest, sample_numbers
from starshade.ratings.table import Ratings
from starshade.release.match.match import LinkedShard, LinkedShards
from starshade.utility.held_out.nearest import most_within
from starshade.utility.held_out.pairwise_dissimilarity import PairwiseDissimilarity, PairwiseResult

Indices = NDArray[np.int64]


def pairs_over(
    pairs: PairwiseDissimilarity,
    store: LinkedShards,
    engine: Engine,
    ratings_of: Callable[[Indices], Ratings],
) -> PairwiseResult:
    """Compare pairs over all shards; who has a record in the release is all its people.

    `ratings_of`: returns some users' ratings, on which training is done.
    """
    release, shards = store.release, store.shards
    work = pairs.work(release, release.n_people or 0)
    most = most_within(shards.n_items, pairs.users, work)
    asked = {"most": most, "seed": pairs.seed}
    drawn = _joined(engine.run(Job("drawing people", _draw, asked), store, {}))
    place = np.sort(lowest(np.arange(len(drawn["users"])), drawn["numbers"], most))
    sample, rows = drawn["users"][place], drawn["rows"][place]
    if not len(sample):
        return pairs.compared(release, ratings_of(sample), rows, sample)
    others = _members(store, engine, rows, pairs.seed)
    users, first = np.unique(np.concatenate([sample, others["users"]]), return_index=True)
    row_of_user = np.concatenate([rows, others["rows"]])[first]
    found = np.searchsorted(users, sample)
    return pairs.compared(release, ratings_of(users), row_of_user, found)


def _members(store: LinkedShards, engine: Engine, rows: Indices, seed: int) -> Tables:
    """Return who is in the clusters that a sample of people leads to, and their rows.

    `rows`: of the sample. Of the last cluster as many as fill it up.
    """
    lead = np.array(list(dict.fromkeys(rows.tolist())), dtype=np.int64)
    every, most = np.sort(lead), len(rows)
    job = Job("counting clusters", _sizes)
    sizes = np.sum([part["sizes"] for part in engine.run(job, store, {"rows": every})], axis=0)
    ends = np.cumsum(sizes[np.searchsorted(every, lead)])
    last = int(np.searchsorted(ends, most))
    before = int(ends[last - 1]) if last else 0
    asked = {"seed": seed, "last": int(lead[last]), "most": most - before}
    job = Job("gathering clusters", _gather, asked)
    found = _joined(engine.run(job, store, {"rows": np.sort(lead[: last + 1])}))
    return _cut(found, asked)


def _joined(parts: Iterable[Tables]) -> dict[str, NDArray[Any]]:
    every = list(parts)
    return {name: np.concatenate([part[name] for part in every]) for name in every[0]}


def _cut(found: Tables, asked: Mapping[str, Any]) -> Tables:
    """Keep of the last cluster's members those with the lowest numbers."""
    last = np.flatnonzero(found["rows"] == asked["last"])
    few = lowest(last, found["numbers"][last], asked["most"])
    kept = np.sort(np.concatenate([np.flatnonzero(found["rows"] != asked["last"]), few]))
    return {name: column[kept] for name, column in found.items()}


def _told(shard: LinkedShard, users: Indices, first: int, seed: int) -> Tables:
    return {
        "users": users + first,
        "rows": shard.row_of_user[users],
        "numbers": sample_numbers(shard.ratings, users, seed),
    }


def _draw(shard: LinkedShard, first: int, settings: Mapping[str, Any], _tables: Tables) -> Tables:
    linked = np.flatnonzero(shard.row_of_user >= 0)
    numbers = sample_numbers(shard.ratings, linked, settings["seed"])
    few = np.sort(lowest(linked, numbers, settings["most"]))
    return _told(shard, few, first, settings["seed"])


def _sizes(shard: LinkedShard, _first: int, _settings: Mapping[str, Any], tables: Tables) -> Tables:
    place = _place(shard, tables["rows"])
    return {"sizes": np.bincount(place[place >= 0], minlength=len(tables["rows"]))}


def _gather(shard: LinkedShard, first: int, settings: Mapping[str, Any], tables: Tables) -> Tables:
    members = np.flatnonzero(_place(shard, tables["rows"]) >= 0)
    return _cut(_told(shard, members, first, settings["seed"]), settings)


def _place(shard: LinkedShard, rows: Indices) -> Indices:
    """Return where each user's row is among some, ascending; -1: it is none of them."""
    place = np.minimum(np.searchsorted(rows, shard.row_of_user), len(rows) - 1)
    return np.where(rows[place] == shard.row_of_user, place, -1)
