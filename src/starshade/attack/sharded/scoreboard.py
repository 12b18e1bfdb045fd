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
from starshade.attack.sharded.equal import equal_rows
from starshade.attack.view import View
from starshade.engine.job import Engine, Job, Tables
from starshade.engine.local import Local
from starshade.errors import ConfigError
from starshade.kernels.attack.scoreboard import MASSES, Block, Goal, score, weigh
from starshade.kernels.attack.summary import merge
from starshade.naming import called
from starshade.progress import task
from starshade.ratings.shards.shards import Shards
from starshade.ratings.table import Ratings
from starshade.release.cells import cells_of
from starshade.release.folder.digest import digest_of_shards
from starshade.rng import Rng, resolve_seed


def attack_shards(
    attack: ScoreboardRH,
    shards: Shards,
    knowledge: Knowledge | None = None,
    *,
    targets: int | None = None,
    rng: Rng = None,
    engine: Engine | None = None,
) -> AttackResult:
    """Attack a store of shards; the result is that of the same ratings as one table.

    Parameters
    ----------
    attack : ScoreboardRH
        With a `theta` of 1: another one compares every record with every target's truth.
    shards : Shards
    knowledge, targets, rng
        As of `ScoreboardRH.run`.
    engine : Engine, optional
        Who works on the shards; None: this process, without a journal.

    Raises
    ------
    ConfigError
        Settings out of range, nobody to attack, or a `theta` below 1.
    """
    if attack.theta < 1:
        raise ConfigError(
            f"{called('theta')} {attack.theta:g}: only 1 works shard by shard",
            advice="Leave it out, or attack the ratings as one table.",
            setting="theta",
        )
    engine = engine or Local()
    with task(f"attacking: {attack.name}"):
        seed = resolve_seed(rng)
        drawn = draw_over(shards, engine, knowledge or Knowledge(), targets, seed)
        since = perf_counter()
        pricing = Pricing.on(attack, shards.scale)
        alike = equal_rows(shards, engine)
        scores = _Scores(shards, engine, drawn, pricing, alike)
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
            known_released=1.0,
            digest=digest_of_shards(shards),
        )
        return attack.result(outcomes, seed, facts)


class _Scores:
    """The jobs of one attack, and what goes into them."""

    def __init__(
        self,
        shards: Shards,
        engine: Engine,
        drawn: AttackedShards,
        pricing: Pricing,
        alike: Tables,
    ) -> None:
        self.shards, self.engine = shards, engine
        support = drawn.counts.items[drawn.known.items]
        self.tables = {**tables_of(drawn.known), **alike, "support": support}
        self.without = {**self.tables, "support": support - drawn.held}
        self.settings = {"rho0": pricing.rho0, "d0": pricing.d0, "records": shards.n_users}

    def summaries(self, *, absent: bool) -> NDArray[Any]:
        """Sum up all scores, of each target."""
        what = "attacking without the target" if absent else "attacking"
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
    block, goal = _laid(shard, first, settings, tables)
    parts = [score(block, aux, worth, goal) for aux, worth, _ in _batches(shard, settings, tables)]
    return {"summaries": np.concatenate(parts)}


def _weigh(shard: Ratings, first: int, settings: Mapping[str, Any], tables: Tables) -> Tables:
    block, goal = _laid(shard, first, settings, tables)
    merged = tables["summaries"]
    parts = [
        weigh(block, aux, worth, goal, merged[at], settings["records"])
        for aux, worth, at in _batches(shard, settings, tables)
    ]
    return {"masses": np.concatenate(parts)}


def _laid(
    shard: Ratings, first: int, settings: Mapping[str, Any], tables: Tables
) -> tuple[Block, Goal]:
    """Lay out the rows of a shard; those that equal another are known of all shards."""
    rows = np.arange(shard.n_users)
    copies = np.ones(shard.n_users, dtype=np.int64)
    here = slice(*np.searchsorted(tables["alike"], [first, first + shard.n_users]))
    copies[tables["alike"][here] - first] = tables["copies"][here]
    again = slice(*np.searchsorted(tables["repeats"], [first, first + shard.n_users]))
    view = View(
        original=shard,
        cells=cells_of(shard),
        postings=shard.by_item,
        repeats=tables["repeats"][again] - first,
        copies=copies,
        row_of_user=rows,
        item_of=np.arange(shard.n_items, dtype=np.int32),
        credit="linked",
        ungeneralized=True,
    )
    block = block_of(view)._replace(first=first)
    return block, goal_of(view, 1.0, absent=settings["absent"])


def _batches(shard: Ratings, settings: Mapping[str, Any], tables: Tables) -> Any:
    """Yield some targets at a time: where they are looked up, what that is worth, and which."""
    names = ("users", "items", "ratings", "days", "rating_counts")
    known = known_of({name: tables[name] for name in names if name in tables})
    pricing = Pricing(settings["rho0"], settings["d0"])
    symbols = cells_of(shard).symbols
    start = 0
    for part in batches(known, symbols):
        at = slice(start, start + len(part))
        support = tables["support"][at]
        aux, worth = laid_out(symbols, part, pricing, part.items, support, part.users, shard.days)
        yield aux, worth, at
        start = at.stop
