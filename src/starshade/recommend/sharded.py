"""The regularized SVD over partitions: items are solved once, users in their partition.

A job solves its shard's users from the items and gives the items' normal equations, summed up over
its users: as many numbers as items have, however many users there are. The sums are added in the
order of the shards, and the items solved from them. Users leave no job; whoever needs them solves
them again, from the same items, to the same bits. What comes out is fixed by how shards are cut;
of one shard it is that of the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from starshade.engine.job import Engine, Job, Tables
from starshade.kernels.arrays import Floats, Ints, fixed
from starshade.kernels.padded.als import normal_equations, solve_equations
from starshade.progress import task
from starshade.ratings.holdout import lowest, sample_numbers
from starshade.ratings.shards.sharded import ShardedRatings, rows_of
from starshade.ratings.table import Ratings
from starshade.recommend.factors import Factors
from starshade.recommend.regularized_svd import (
    Alternation,
    RegularizedSVD,
    first_items,
    mean_and_spread_of,
    penalties,
    sample_size,
    stopping_sweep,
)


@dataclass(frozen=True, eq=False)
class ItemFit:
    """Fitted items, by which any users of the table are solved.

    `before` (n_items, width): the items that users are solved from; `items`: those that were solved
    from these users. `mean`, `spread`: of all ratings.
    """

    how: Alternation
    before: Floats
    items: Floats
    mean: float
    spread: float

    def factors(self, ratings: Ratings) -> Factors:
        """Return the factors of a part of the users, as the fit of all has them."""
        users = self.how.users_of(ratings, self.before, self.mean, self.spread)
        return self.how.factors(ratings, users, self.items, self.mean, self.spread)

    @property
    def settings(self) -> dict[str, Any]:
        """With `tables`, what a job needs to have this again."""
        return {"how": asdict(self.how), "mean": self.mean, "spread": self.spread}

    @property
    def tables(self) -> dict[str, Floats]:
        """See `settings`."""
        return {"before": self.before, "items": self.items}

    @classmethod
    def of(cls, settings: Mapping[str, Any], tables: Tables) -> ItemFit:
        """Read what `settings` and `tables` say."""
        how = Alternation(**settings["how"])
        sides = tables["before"], tables["items"]
        return cls(how, *sides, settings["mean"], settings["spread"])


def fit_over(
    svd: RegularizedSVD,
    shards: ShardedRatings,
    sample: Ratings,
    support: Ints,
    levels: Ints,
    engine: Engine,
    seed: int,
) -> ItemFit:
    """Fit the model to all shards; refuses as `RegularizedSVD.fit` does.

    `sample`: of `sample_over`. `support` (n_items,), `levels` (n_levels,): users who rated each
    item, and how often each level was given, over all shards.
    """
    how = svd.alternation(shards, seed)
    sweeps = int(svd.sweeps)
    if svd.holdout:
        sweeps = stopping_sweep(sample, how, sweeps, float(svd.holdout))
    mean, spread = mean_and_spread_of(levels, shards.levels)
    settings = {"how": asdict(how), "mean": mean, "spread": spread}
    items = before = first_items(shards.items, how)
    penalty = penalties(support, how)
    with task("fitting the recommender over partitions", sweeps) as step:
        for sweep in range(sweeps):
            job = Job(f"sweep {sweep + 1} of {sweeps}", _sum_up, settings, threaded=True)
            before, equations = items, None
            for part in engine.run(job, shards, {"items": before}):
                own = part["equations"]
                equations = own if equations is None else equations + own
            assert equations is not None
            items = np.zeros_like(before)
            solve_equations(fixed(equations), fixed(support), penalty, how.biases, items)
            step(1)
    return ItemFit(how, before, items, mean, spread)


def _sum_up(shard: Ratings, _first: int, settings: Mapping[str, Any], tables: Tables) -> Tables:
    """Solve a shard's users, and sum up what they say of the items."""
    how, mean, spread = Alternation(**settings["how"]), settings["mean"], settings["spread"]
    users = how.users_of(shard, tables["items"], mean, spread)
    turned = shard.by_item
    cells = fixed(turned.indptr), fixed(turned.users), fixed(turned.codes)
    targets = fixed((shard.levels - mean) / spread)
    return {"equations": normal_equations(*cells, targets, fixed(users), how.biases)}


def sample_over(shards: ShardedRatings, engine: Engine, seed: int) -> Ratings:
    """Gather the users whom the number of sweeps is found with, as one table."""
    wanted = sample_size(shards)
    chosen = np.arange(shards.n_users) if wanted is None else _lowest(shards, engine, wanted, seed)
    return rows_of(shards, engine, chosen, "gathering a sample")


def _lowest(shards: ShardedRatings, engine: Engine, wanted: int, seed: int) -> Ints:
    job = Job("drawing a sample", _draw, {"wanted": wanted, "seed": seed}, threaded=True)
    parts = list(engine.run(job, shards, {}))
    users, numbers = (np.concatenate([part[name] for part in parts]) for name in parts[0])
    return np.sort(lowest(users, numbers, wanted))


def _draw(shard: Ratings, first: int, settings: Mapping[str, Any], _tables: Tables) -> Tables:
    users = np.arange(shard.n_users)
    numbers = sample_numbers(shard, users, settings["seed"])
    few = lowest(users, numbers, settings["wanted"])
    return {"users": few + first, "numbers": numbers[few]}
