"""Attacks on a release of profiles whose ratings lie in shards.

The release is one; shards have the targets, and what they rated.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np

from starshade.attack.candidates.candidates import CandidateAttack, Hunt, judge
from starshade.attack.candidates.result import CandidateResult
from starshade.attack.knowledge import Knowledge, Known
from starshade.attack.result import AttackResult
from starshade.attack.scoreboard_rh.scoreboard_rh import ScoreboardRH
from starshade.attack.sharded.drawing import AttackedShards, draw_over
from starshade.attack.sharded.truth import rows_of_targets
from starshade.attack.targets import warn_of_counts
from starshade.attack.view import View, released_cells, tolerance_of, view_of
from starshade.engine.job import Engine
from starshade.release.folder.digest import digest_of_shards
from starshade.release.match.match import LinkedShards, raters_of


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
    return attack.result(
        outcomes, seed, seen.facts(outcomes, attack.settings(seen.view), looked_at)
    )


def by_candidates_on_release(
    attack: CandidateAttack[CandidateResult],
    store: LinkedShards,
    engine: Engine,
    knowledge: Knowledge,
    targets: int | None,
    seed: int,
) -> CandidateResult:
    """Attack a release by counting who fits everything known."""
    plan = attack.plan(knowledge, tolerance_of(store.release))
    seen = _Seen.of(store, engine, plan.knowledge, targets, seed)
    hunt = Hunt.of(seen.view, seen.known, plan.within, attack.theta, absent=attack.absent)
    outcomes, looked_at = judge(hunt)
    outcomes = replace(outcomes, users=seen.drawn.known.users)
    facts = seen.facts(outcomes, attack.config | plan.used, looked_at)
    found: CandidateResult = attack.result(
        attack.figures(outcomes, seed, facts, hunt), hunt, store.release
    )
    return found


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
        raters_of(store, engine)
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
        )
