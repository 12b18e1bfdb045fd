"""Scoreboard-RH on a store of shards: scores summed up shard by shard, then weighed.

The probabilities need the highest score and the spread of all, so shards are gone through twice;
summaries and masses are whole numbers, which add up the same in any order.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.attack.knowledge import Knowledge
from starshade.attack.result import AttackResult
from starshade.attack.scoreboard_rh.scoreboard_rh import ScoreboardRH, outcomes_of
from starshade.attack.scoreboard_rh.scoring import Pricing, batches, block_of, goal_of, laid_out
from starshade.attack.sharded.drawing import AttackedShards, draw_over, known_of, tables_of
from starshade.attack.sharded.truth import told_of_targets, truth_in
from starshade.attack.sharded.view import view_of_shard
from starshade.attack.view import View
from starshade.engine.job import Engine, Job, Tables
from starshade.kernels.attack.scoreboard import MASSES, Block, Goal, score, weigh
from starshade.kernels.attack.summary import merge
from starshade.ratings.shards.equal import equal_rows
from starshade.ratings.shards.kept import AnyShards
from starshade.ratings.table import Ratings
from starshade.release.folder.digest import digest_of_shards


def by_score(
    attack: ScoreboardRH,
    shards: AnyShards,
    engine: Engine,
    knowledge: Knowledge,
    targets: int | None,
    seed: int,
) -> AttackResult:
    """Attack by scores."""
    drawn = draw_over(shards, engine, knowledge, targets, seed)
    since = perf_counter()
    pricing = Pricing.on(attack, shards.scale)
    told = told_of_targets(attack, shards, engine, drawn.known.users)
    told |= equal_rows(shards, engine)
    scores = _Scores(shards, engine, drawn, pricing, attack.theta, told)
    summaries = scores.summaries(absent=False)
    masses = scores.masses(summaries)
    without = scores.summaries(absent=True) if attack.absent else None
    outcomes = outcomes_of(
        drawn.known.users,
        summaries,
        masses,
        attack.phi,
        without,
        records=shards.n_users,
        linked=True,
    )
    looked_at = int(drawn.counts.items[drawn.known.items].sum()) * (1 + attack.absent)
    facts = drawn.facts_with(
        outcomes,
        attack.priced(pricing),
        looked_at,
        since,
        records=shards.n_users,
        credit="linked",
        known_from="all items",
        digest=digest_of_shards(shards),
    )
    return attack.result(outcomes, facts)


class _Scores:
    """The jobs of one attack, and what goes into them."""

    def __init__(
        self,
        shards: AnyShards,
        engine: Engine,
        drawn: AttackedShards,
        pricing: Pricing,
        theta: float,
        told: Tables,
    ) -> None:
        self.shards, self.engine = shards, engine
        support = drawn.counts.items[drawn.known.items]
        self.tables = {**tables_of(drawn.known), **told, "support": support}
        self.without = {**self.tables, "support": support - drawn.held}
        priced = {"rho0": pricing.rho0, "d0": pricing.d0}
        self.settings = priced | {"theta": float(theta), "records": shards.n_users}

    def summaries(self, *, absent: bool) -> NDArray[Any]:
        """Sum up all scores, of each target."""
        what = "attacking without the target's record" if absent else "attacking"
        job = Job(what, _score, self.settings | {"absent": absent}, threaded=True)
        parts = self.engine.run(job, self.shards, self.without if absent else self.tables)
        return reduce(merge, (part["summaries"] for part in parts))

    def masses(self, summaries: NDArray[Any]) -> NDArray[Any]:
        """Turn all scores into probabilities, once their summaries are known."""
        job = Job("weighing", _weigh, self.settings | {"absent": False}, threaded=True)
        out = np.zeros(len(summaries), dtype=MASSES)
        for part in self.engine.run(job, self.shards, {**self.tables, "summaries": summaries}):
            for name in MASSES.names or ():
                out[name] += part["masses"][name]
        return out


def _score(shard: Ratings, first: int, settings: Mapping[str, Any], tables: Tables) -> Tables:
    view, block, goal = _laid(shard, first, settings, tables)
    parts = [score(block, aux, worth, goal) for aux, worth, _ in _batches(view, settings, tables)]
    return {"summaries": np.concatenate(parts)}


def _weigh(shard: Ratings, first: int, settings: Mapping[str, Any], tables: Tables) -> Tables:
    view, block, goal = _laid(shard, first, settings, tables)
    merged = tables["summaries"]
    parts = [
        weigh(block, aux, worth, goal, merged[at], settings["records"])
        for aux, worth, at in _batches(view, settings, tables)
    ]
    return {"masses": np.concatenate(parts)}


def _laid(
    shard: Ratings, first: int, settings: Mapping[str, Any], tables: Tables
) -> tuple[View, Block, Goal]:
    """Lay out the rows of a shard."""
    view = view_of_shard(shard, first, tables)
    block = block_of(view)._replace(first=first)
    goal = goal_of(view, settings["theta"], absent=settings["absent"])
    return view, block, goal if goal.own_only else goal._replace(truth=truth_in(tables))


def _batches(view: View, settings: Mapping[str, Any], tables: Tables) -> Any:
    """Yield some targets at a time: where they are looked up, what that is worth, and which."""
    known = known_of(tables)
    pricing = Pricing(settings["rho0"], settings["d0"])
    symbols, days = view.cells.symbols, view.cells.days
    start = 0
    for part in batches(known, view):
        at = slice(start, start + len(part))
        support = tables["support"][at]
        aux, worth = laid_out(symbols, part, pricing, part.items, support, part.users, days)
        yield aux._replace(user=np.arange(at.start, at.stop)), worth, at
        start = at.stop
