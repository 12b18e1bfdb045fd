"""The attack by likelihood on a store of shards.

Chances are added up beside the greatest of all, so shards are gone through twice: once for it, and
once for what is shared out beside it, in whole numbers. What the chance of a stranger is found of
is added up the first time, in whole numbers too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import reduce
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.attack.knowledge import Knowledge
from starshade.attack.likelihood.informed import Model
from starshade.attack.likelihood.likelihood import Likelihood, outcomes_of
from starshade.attack.likelihood.plain import weigh_plainly
from starshade.attack.likelihood.pools import empty_pools, places_of
from starshade.attack.likelihood.result import LikelihoodResult
from starshade.attack.likelihood.sought import Sought
from starshade.attack.sharded.drawing import AttackedShards, draw_over, known_of, tables_of
from starshade.attack.sharded.view import view_of_shard
from starshade.engine.job import Engine, Job, Tables
from starshade.kernels.arrays import Array, fixed
from starshade.kernels.attack.posterior import Goal, Pools, Sums, greatest, merge, merge_pools
from starshade.kernels.attack.summary import mass_unit
from starshade.ratings.shards.counts import Counts
from starshade.ratings.shards.equal import equal_rows
from starshade.ratings.shards.kept import AnyShards
from starshade.ratings.table import Ratings
from starshade.release.folder.digest import digest_of_shards


def by_likelihood(
    attack: Likelihood,
    shards: AnyShards,
    engine: Engine,
    knowledge: Knowledge,
    targets: int | None,
    seed: int,
) -> LikelihoodResult:
    """Attack by likelihood."""
    drawn = draw_over(shards, engine, knowledge, targets, seed)
    since = perf_counter()
    alike = equal_rows(shards, engine)
    users, records = drawn.known.users, shards.n_users
    copies = np.ones(len(users), dtype=np.int64)
    place = np.searchsorted(alike["alike"], users)
    there = place < len(alike["alike"])
    there[there] = alike["alike"][place[there]] == users[there]
    copies[there] = alike["copies"][place[there]]
    weighed = _Weighed(attack, shards, engine, drawn, alike)
    found, without = weighed.found(absent=False), None
    touched = int(found["touched"].sum())
    if attack.absent:
        without = weighed.found(absent=True)
        touched += int(without["touched"].sum())
    pooled = weighed.pools.found
    outcomes = outcomes_of(users, found, without, attack.min_posterior, records, copies, pooled)
    facts = drawn.facts_with(
        outcomes,
        asdict(attack) | {"spread": None},
        touched,
        since,
        records=records,
        credit="linked",
        known_from="all items",
        digest=digest_of_shards(shards),
    )
    return attack.result(outcomes, seed, facts)


class _Weighed:
    """The jobs of one attack, and what goes into them."""

    def __init__(
        self,
        attack: Likelihood,
        shards: AnyShards,
        engine: Engine,
        drawn: AttackedShards,
        alike: Tables,
    ) -> None:
        self.shards, self.engine = shards, engine
        place = places_of(np.ones(shards.n_users, dtype=np.int64), drawn.seed)
        self.pools = empty_pools(place, place[drawn.known.users], shards.n_users)
        self.tables = {**tables_of(drawn.known), **alike, **tables_of_counts(drawn.counts)}
        self.settings = {
            "adversary": attack.adversary,
            "knowledge": asdict(drawn.knowledge),
            "strangers": attack.absent,
        }

    def found(self, *, absent: bool) -> Array:
        """Weigh every row for every target; where they are there, also among candidates."""
        settings, how = self.settings | {"absent": absent}, " without the target's record" * absent
        job = Job(f"attacking{how}", _weigh, settings, threaded=True)
        pools: dict[str, NDArray[Any]] = {} if absent else {"place": self.pools.place}
        parts, pooled, sums = [], [], None
        for part in self.engine.run(job, self.shards, {**self.tables, **pools}):
            parts.append(part["found"])
            pooled.append(part["pooled"])
            here = _sums_in(part)
            sums = here if sums is None else Sums(*map(np.add, sums, here))
        assert sums is not None
        chance, power = greatest(parts)
        job = replace(job, name=f"weighing{how}")
        tables = {**self.tables, "chance": chance, "power": power, **_tables_of_sums(sums)}
        if not absent:
            pools["pool_chance"], pools["pool_power"] = greatest(pooled)
        answers = list(self.engine.run(job, self.shards, {**tables, **pools}))
        if not absent:
            joined = reduce(merge_pools, (answer["pooled"] for answer in answers))
            self.pools = self.pools._replace(found=joined)
        return reduce(merge, (answer["found"] for answer in answers))


def _weigh(shard: Ratings, first: int, settings: Mapping[str, Any], tables: Tables) -> Tables:
    counted, known = counts_in(tables), known_of(tables)
    view = view_of_shard(shard, first, tables)
    view.__dict__["support"] = counted.items  # what the cached property would count, of all shards
    again, informed = "chance" in tables, settings["adversary"] == "informed"
    strangers = settings["strangers"] and informed  # to the plain there are none
    nobody = Sums.of_nobody(len(known) if strangers else 0, known.items.shape[1])
    sought = SoughtInShard(
        view,
        absent=settings["absent"],
        strangers=strangers,
        greatest=(tables["chance"], tables["power"]) if again else None,
        sums=_sums_in(tables) if again else nobody,
        pools=_pools_in(tables, known.users, counted.n_users, slice(first, first + shard.n_users)),
        first=first,
        records=counted.n_users,
    )
    if informed:
        model = Model(view, Knowledge(**settings["knowledge"]), everybody=counted)
        found = model.weigh(known, sought)
    else:
        found = weigh_plainly(view, known, sought, counted)
    pooled = np.empty((0, 0)) if sought.pools is None else sought.pools.found
    both = {"found": found, "pooled": pooled}
    return both if again else both | _tables_of_sums(nobody)


def _pools_in(tables: Tables, users: NDArray[np.int64], records: int, rows: slice) -> Pools | None:
    if "place" not in tables:
        return None
    place = tables["place"]
    pools = empty_pools(place[rows], place[users], records)
    if "pool_chance" not in tables:
        return pools
    return pools._replace(chance=tables["pool_chance"], power=tables["pool_power"])


def _tables_of_sums(sums: Sums) -> dict[str, NDArray[Any]]:
    return {f"summed.{name}": column for name, column in sums._asdict().items()}


def _sums_in(tables: Tables) -> Sums:
    # kernels take them as they take those that are yet to be filled
    return Sums(*(np.array(tables[f"summed.{name}"]) for name in Sums._fields))


def tables_of_counts(counts: Counts) -> dict[str, NDArray[Any]]:
    """Lay out what is counted of everybody as columns, for a job."""
    return {f"counted.{name}": column for name, column in vars(counts).items()}


def counts_in(tables: Tables) -> Counts:
    """Read what `tables_of_counts` laid out."""
    return Counts(*(tables[f"counted.{each.name}"] for each in fields(Counts)))


@dataclass(frozen=True, eq=False)
class SoughtInShard(Sought):
    """Rows of a shard, of which users and records are counted over all shards."""

    first: int = 0
    records: int = 0

    def of(self, users: NDArray[np.int64], targets: slice) -> Goal:
        """Lay out whose record is right, wherever it is."""
        own = fixed(users)
        goal = super().of(np.zeros(len(users), dtype=np.int64), targets)
        return goal._replace(own=own, users=own, first=self.first, unit=mass_unit(self.records))
