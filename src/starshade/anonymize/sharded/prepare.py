"""What a method does first, over shards: drop rare items, count who is left, find the scale."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from starshade.anonymize.prepare import (
    Prepared,
    common_items,
    found_scale,
    note_left_out,
    refuse_few,
)
from starshade.anonymize.settings import RareItems
from starshade.engine.job import Engine, Job, Tables
from starshade.kernels.arrays import Array, Floats, Ints, fixed
from starshade.kernels.attack.knowledge import tally
from starshade.ratings.levels import translated, users_per_level
from starshade.ratings.scale import Scale
from starshade.ratings.shards.counts import Counts, counts_of
from starshade.ratings.shards.kept import AnyShards, KeptShards
from starshade.ratings.table import Ratings
from starshade.setting import count_of


def prepare_shards(
    shards: AnyShards,
    engine: Engine,
    k: int,
    rare_items: RareItems,
    slack: int,
    item_support: int | str | None = None,
) -> tuple[Prepared[KeptShards], Counts]:
    """Do what `starshade.anonymize.prepare.prepare` does, and return what is counted of all too.

    `shards`: a store, or some of its users and items. The counts are of the items that stay,
    and of the store's levels among them.
    """
    counts = counts_of(shards, engine)
    rated = int(counts.users[counts.support > 0].sum())
    refuse_few(rated, k, slack)
    k += slack
    least = k if rare_items == "drop" else 0
    raters = max(least, count_of(item_support, rated))
    kept = common_items(counts.items, raters, least) if raters else np.arange(shards.n_items)
    stays = what_stays(shards, kept, engine)
    left, rare = sum(stays.users), shards.n_items - len(kept)
    if rare:
        share = 1 - stays.n_ratings / shards.n_ratings
        note_left_out(rare, rated - left, raters, share)
    scale, values, codes = _scale(shards, stays.levels, stays.givers, k)
    sizes = stays.users, stays.n_ratings
    if isinstance(shards, KeptShards):
        table = KeptShards(
            shards.store, shards.kept[kept], scale, values, codes, *sizes, shards.chosen
        )
    else:
        table = KeptShards(shards, kept, scale, values, codes, *sizes)
    counted = Counts(counts.support, counts.users, counts.items[kept], stays.levels, counts.days)
    return Prepared(table, rare, shards.n_users - left, raters), counted


class Stays(NamedTuple):
    """What stays of shards where only some items do.

    `users`: of each shard. `levels` (n_levels,): how often each rating was given to items that
    stay. `givers` (n_levels,): users who gave each rating, to whatever item.
    """

    users: tuple[int, ...]
    levels: Ints
    givers: Ints

    @property
    def n_ratings(self) -> int:
        """Ratings of the items that stay."""
        return int(self.levels.sum())


def what_stays(shards: AnyShards, kept: Ints, engine: Engine) -> Stays:
    """Count what stays of each shard, and who gave each rating in it."""
    marked = np.zeros(shards.n_items, dtype=np.bool_)
    marked[kept] = True
    stays = list(engine.run(Job("counting what stays", _stays), shards, {"kept": marked}))
    users = tuple(int(part["users"][0]) for part in stays)
    levels, givers = (np.array([p[name] for p in stays]).sum(0) for name in ("levels", "givers"))
    return Stays(users, levels, givers)


def _scale(
    shards: AnyShards, levels: Ints, givers: Ints, k: int
) -> tuple[Scale, Floats, Array | None]:
    """Return the scale of a release, its levels, and the code of each of the store's."""
    if not shards.report.scale_inferred:
        return shards.scale, shards.levels, None
    used = np.flatnonzero(levels)
    shared = shards.levels[givers >= k]
    scale = found_scale(shards.levels[used], shared, shards.scale, k)
    if scale == shards.scale:
        return scale, shards.levels, None
    return scale, *translated(shards.levels, used, scale)


def _stays(shard: Ratings, _first: int, _settings: Mapping[str, Any], tables: Tables) -> Tables:
    """Count what stays of a shard, and who gave each rating in it."""
    kept = tables["kept"][shard.columns]
    before = np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])
    users = np.count_nonzero(np.diff(before[shard.indptr]))
    return {
        "users": np.array([users]),
        "levels": tally(fixed(shard.codes[kept]), len(shard.levels)),
        "givers": users_per_level(shard),
    }
