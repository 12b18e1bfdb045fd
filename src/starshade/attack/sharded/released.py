"""Attacks on a release of profiles whose ratings lie in shards.

The release is one; shards have the targets, and what they rated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from time import perf_counter
from typing import Any, cast

import numpy as np

from starshade.attack.candidates.candidates import CandidateAttack, Hunt, Result, judge
from starshade.attack.knowledge import Knowledge, Known
from starshade.attack.likelihood.informed import Model, shown_of, spread_around
from starshade.attack.likelihood.likelihood import Likelihood
from starshade.attack.likelihood.result import LikelihoodResult
from starshade.attack.result import AttackResult
from starshade.attack.scoreboard_rh.scoreboard_rh import ScoreboardRH
from starshade.attack.sharded.ceiling import ceiling_over
from starshade.attack.sharded.drawing import AttackedShards, draw_over
from starshade.attack.sharded.truth import rows_of_targets
from starshade.attack.targets import warn_of_counts
from starshade.attack.view import View, released_cells, tolerance_of, view_of
from starshade.engine.job import Engine, Job, Tables
from starshade.ratings.shards.kept import AnyShards
from starshade.release.columns import Columns
from starshade.release.folder.digest import digest_of_shards
from starshade.release.match.match import LinkedShard, LinkedShards, MadeShards, people_of


def by_score_on_release(
    attack: ScoreboardRH,
    store: LinkedShards,
    engine: Engine,
    knowledge: Knowledge,
    targets: int | None,
    seed: int,
) -> AttackResult:
    """Attack a release by scores."""
    seen = _Seen.of(store, engine, knowledge, targets, seed)
    outcomes, looked_at = attack.judge(seen.view, seen.known)
    outcomes = replace(outcomes, users=seen.drawn.known.users)
    return attack.result(outcomes, seen.facts(outcomes, attack.settings(seen.view), looked_at))


def by_candidates_on_release(
    attack: CandidateAttack[Result],
    store: LinkedShards,
    engine: Engine,
    knowledge: Knowledge,
    targets: int | None,
    seed: int,
) -> Result:
    """Attack a release by counting who fits everything known."""
    plan = attack.plan(knowledge, tolerance_of(store.release))
    seen = _Seen.of(store, engine, plan.knowledge, targets, seed)
    hunt = Hunt.of(seen.view, seen.known, plan.within, attack.theta, absent=attack.absent)
    outcomes, looked_at = judge(hunt)
    outcomes = replace(outcomes, users=seen.drawn.known.users)
    facts = seen.facts(outcomes, attack.config | plan.used, looked_at)
    found: Result = attack.result(attack.figures(outcomes, facts, hunt), hunt, store.release)
    return found


def by_likelihood_on_release(
    attack: Likelihood,
    store: LinkedShards,
    engine: Engine,
    knowledge: Knowledge,
    targets: int | None,
    seed: int,
) -> LikelihoodResult:
    """Attack a release by likelihood."""
    seen = _Seen.of(store, engine, knowledge, targets, seed)
    drawn, view = seen.drawn, seen.view
    spread = spread_over(store, engine, store.shards, cast(Columns, view.cells))
    model = Model(view, drawn.knowledge, spread, filled=True, everybody=drawn.counts)
    outcomes, looked_at = attack.judge(model, seen.known)
    outcomes = replace(outcomes, users=drawn.known.users)
    ceiling = ceiling_over(store, engine, drawn, view.cells.first_equal)
    facts = seen.facts(outcomes, asdict(attack) | {"spread": spread}, looked_at)
    return attack.result(outcomes, seed, facts, ceiling)


def spread_over(
    store: LinkedShards | MadeShards, engine: Engine, shards: AnyShards, profiles: Columns
) -> float:
    """Return how far everybody's ratings lie from their profiles, as `spread_of` one table.

    `shards`: of which the scale and the levels are.
    """
    job = Job("comparing with the profiles", _shown)
    counts = sum(answer["shown"] for answer in engine.run(job, store, {}))
    return spread_around(profiles, shards.scale, shards.levels, np.asarray(counts))


def _shown(part: LinkedShard, _first: int, _settings: Mapping[str, Any], _tables: Tables) -> Tables:
    cells = released_cells(part.release, part.ratings.items)
    view = view_of(part.ratings, cells, part.row_of_user, "linked")
    return {"shown": shown_of(view, cast(Columns, cells))}


@dataclass(frozen=True, eq=False)
class _Seen:
    """The release beside its targets alone, who are numbered from 0 there."""

    store: LinkedShards
    drawn: AttackedShards
    view: View
    known: Known
    since: float

    @classmethod
    def of(
        cls,
        store: LinkedShards,
        engine: Engine,
        knowledge: Knowledge,
        targets: int | None,
        seed: int,
    ) -> _Seen:
        """Draw the targets and what is known of them, and fetch what they rated."""
        people_of(store, engine)
        warn_of_counts(knowledge)
        cells = released_cells(store.release, store.shards.items)
        # profiles have no days
        drawn = draw_over(store, engine, replace(knowledge, dates=False), targets, seed)
        since = perf_counter()
        truth = rows_of_targets(store, engine, drawn.known.users)
        known = replace(drawn.known, users=np.arange(truth.n_users))
        return cls(store, drawn, view_of(truth, cells, drawn.rows, "linked"), known, since)

    def facts(self, outcomes: Any, config: dict[str, Any], looked_at: int) -> dict[str, Any]:
        """Return the fields of a result that are found alike whatever the attack."""
        return self.drawn.facts_with(
            outcomes,
            config,
            looked_at,
            self.since,
            records=self.view.cells.n_records,
            credit="linked",
            known_released=float((self.view.item_of[self.known.items] >= 0).mean()),
            digest=digest_of_shards(self.store.shards),
            most=self.view.most,
        )
