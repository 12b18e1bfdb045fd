"""Single items and single ratings that people know of each other, counted in shards.

Sets of several are no sums over shards: these take one table.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.engine.job import Engine, Job, Tables
from starshade.kernels.csr import keep_rows
from starshade.privacy.item_diversity import Diversity
from starshade.privacy.item_sets import DiversityVerdict, SetCount
from starshade.privacy.k_m import KM, KMVerdict
from starshade.privacy.verdict import SHOWN, check_records
from starshade.ratings.shards.counts import counts_of
from starshade.ratings.shards.equal import equal_rows
from starshade.ratings.shards.shards import Shards
from starshade.ratings.table import Ratings

Ints = NDArray[np.int64]


def single_ratings_fit(model: KM, shards: Shards, engine: Engine) -> KMVerdict:
    """Count who has a rating that fewer than k share; of an `m` of 1."""
    check_records(model.k, shards.n_users)
    facts = fits = np.empty(0, dtype=np.int64)
    for part in engine.run(Job("counting ratings", _facts), shards, {}):
        facts, place = np.unique(np.concatenate([facts, part["facts"]]), return_inverse=True)
        both = np.concatenate([fits, part["fits"]])
        fits = np.zeros(len(facts), dtype=np.int64)
        np.add.at(fits, place, both)
    people = _holders(shards, engine, facts[fits < model.k], rated=True)
    item = facts // max(1, len(shards.levels))
    return model.of_single(item, fits, people, shards.n_users)


def single_items_shown(model: Diversity, shards: Shards, engine: Engine) -> DiversityVerdict:
    """Count who rated an item that fewer than l different profiles show; of a `b` of 1."""
    model.check_groups(shards.n_users)
    support = counts_of(shards, engine).items
    equal = equal_rows(shards, engine, days=False)
    tables = {"repeats": equal["repeats"]}
    repeated = engine.run(Job("counting profiles", _repeated), shards, tables)
    cover = support - np.sum([part["items"] for part in repeated], axis=0)
    groups = np.minimum(cover, model.l)
    short = np.flatnonzero((support > 0) & (cover < model.l))
    worst = short[np.argsort(groups[short], kind="stable")][:SHOWN]
    fewest = int(groups[support > 0].min(initial=model.l))
    count = SetCount(1, True, int((support > 0).sum()), len(short), fewest)
    alone = len(equal["alike"]) < shards.n_users
    return model.verdict(
        (count,),
        tuple({"items": [int(item)], "classes": int(groups[item])} for item in worst),
        records=shards.n_users,
        failing=_holders(shards, engine, short, rated=False),
        groups=shards.n_users - len(equal["repeats"]),
        smallest=1 if alone else int(equal["copies"].min()),
    )


def _holders(shards: Shards, engine: Engine, facts: Ints, *, rated: bool) -> int:
    """Count who has one of these facts, or rated one of these items."""
    job = Job("looking for who has them", _having, {"rated": rated})
    return sum(int(part["people"][0]) for part in engine.run(job, shards, {"facts": facts}))


def _keys(shard: Ratings, *, rated: bool) -> Ints:
    items = shard.columns.astype(np.int64)
    return items * max(1, len(shard.levels)) + shard.codes if rated else items


def _facts(shard: Ratings, _first: int, _settings: Mapping[str, Any], _tables: Tables) -> Tables:
    facts, fits = np.unique(_keys(shard, rated=True), return_counts=True)
    return {"facts": facts, "fits": fits}


def _having(shard: Ratings, _first: int, settings: Mapping[str, Any], tables: Tables) -> Tables:
    """Count the people of a shard who have one of the facts, ascending."""
    keys = _keys(shard, rated=settings["rated"])
    place = np.searchsorted(tables["facts"], keys)
    has = np.append(tables["facts"], -1)[place] == keys
    before = np.concatenate([[0], np.cumsum(has)])
    return {"people": np.array([np.count_nonzero(np.diff(before[shard.indptr]))])}


def _repeated(shard: Ratings, first: int, _settings: Mapping[str, Any], tables: Tables) -> Tables:
    """Count the ratings of each item in rows that equal an earlier one."""
    here = slice(*np.searchsorted(tables["repeats"], [first, first + shard.n_users]))
    rows = tables["repeats"][here] - first
    _, columns, _, _ = keep_rows(shard.indptr, shard.columns, shard.codes, None, rows)
    return {"items": np.bincount(columns, minlength=shard.n_items)}
