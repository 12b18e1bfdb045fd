"""The attacks by candidates on a store of shards: those who fit are counted, and counts add up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.attack.candidates.candidates import CandidateAttack, outcomes_of, seen_by
from starshade.attack.candidates.result import CandidateResult
from starshade.attack.knowledge import Knowledge
from starshade.attack.scoreboard_rh.scoring import goal_of
from starshade.attack.sharded.drawing import AttackedShards, draw_over, known_of, tables_of
from starshade.attack.sharded.truth import told_of_targets, truth_in
from starshade.attack.sharded.view import view_of_shard
from starshade.attack.view import View
from starshade.engine.job import Engine, Job, Tables
from starshade.kernels.arrays import fixed
from starshade.kernels.attack.candidates import Clues, Thresholds, count_candidates
from starshade.ratings.shards.equal import equal_rows
from starshade.ratings.shards.kept import AnyShards
from starshade.ratings.table import Ratings
from starshade.release.folder.digest import digest_of_shards


@dataclass(frozen=True, eq=False)
class Counted:
    """What was asked of the shards about the targets' candidates, and what they came to.

    `settings`, `tables`: of the job that counted them. `figures`: of a `CandidateResult`.
    """

    drawn: AttackedShards
    within: Thresholds
    settings: dict[str, Any]
    tables: Tables
    figures: dict[str, Any]


def by_candidates(
    attack: CandidateAttack[CandidateResult],
    shards: AnyShards,
    engine: Engine,
    knowledge: Knowledge,
    targets: int | None,
    seed: int,
) -> CandidateResult:
    """Attack by counting who fits everything known."""
    return CandidateResult(**count_over(attack, shards, engine, knowledge, targets, seed).figures)


def count_over(
    attack: CandidateAttack[CandidateResult],
    shards: AnyShards,
    engine: Engine,
    knowledge: Knowledge,
    targets: int | None,
    seed: int,
) -> Counted:
    """Draw the targets and count their candidates over all shards."""
    plan = attack.plan(knowledge, 0.0)
    drawn = draw_over(shards, engine, plan.knowledge, targets, seed)
    since = perf_counter()
    users, alike = drawn.known.users, equal_rows(shards, engine)
    tables = {**tables_of(drawn.known), **alike, **told_of_targets(attack, shards, engine, users)}
    settings = {"within": plan.within, "theta": float(attack.theta)}
    job = Job("finding candidates", _count, settings, threaded=True)
    counted = reduce(_added, (part["counted"] for part in engine.run(job, shards, tables)))
    outcomes = outcomes_of(users, counted, shards.n_users, linked=True, absent=attack.absent)
    facts = drawn.facts_with(
        outcomes,
        attack.config | plan.used,
        int(counted["looked_at"].sum()),
        since,
        records=shards.n_users,
        credit="linked",
        known_from="all items",
        digest=digest_of_shards(shards),
    )
    everybody_has_a_copy = len(alike["alike"]) == shards.n_users
    fewest = int(alike["copies"].min()) if everybody_has_a_copy else 1
    figures = facts | attack.counted(outcomes, facts["expected_top1"], fewest)
    return Counted(drawn, plan.within, settings, tables, figures)


def _count(shard: Ratings, first: int, settings: Mapping[str, Any], tables: Tables) -> Tables:
    view = view_of_shard(shard, first, tables)
    goal = goal_of(view, settings["theta"], absent=False)
    counted = count_candidates(
        seen_by(view, goal),
        clues_in(view, first, tables),
        Thresholds(*settings["within"]),
        goal.truth if goal.own_only else truth_in(tables),
        goal.theta,
        own_only=goal.own_only,
    )
    return {"counted": counted}


def clues_in(view: View, first: int, tables: Tables) -> Clues:
    """Say where each known cell is looked up, and which row of the shard is the target's."""
    known = known_of(tables)
    own = known.users - first
    here = (own >= 0) & (own < view.cells.n_groups)
    return Clues(
        view.places(known.items),
        known.ratings,
        known.days,
        fixed(np.where(here, own, -1)),
        np.arange(len(known)),
        *known.supports,
    )


def _added(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """Add up what two shards counted; a profile is counted over all of them already."""
    out = a.copy()
    for name in ("records", "agreeing", "looked_at"):
        out[name] += b[name]
    out["own"] |= b["own"]
    out["profile"] = np.maximum(a["profile"], b["profile"])
    return out
