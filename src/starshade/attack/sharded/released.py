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
from starshade.attack.likelihood.pools import pools_of
from starshade.attack.likelihood.result import LikelihoodResult
from starshade.attack.result import AttackResult
from starshade.attack.scoreboard_rh.scoreboard_rh import ScoreboardRH
from starshade.attack.sharded.ceiling import ceiling_over
from starshade.attack.sharded.drawing import AttackedShards, draw_over
from starshade.attack.sharded.truth import rows_of_targets
from starshade.attack.targets import warn_of_counts
from starshade.attack.view import View, released_cells, tolerance_of, view_of
from starshade.engine.job import Engine, Job, Tables
from starshade.ratings.levels import translated
from starshade.ratings.shards.counts import counts_of
from starshade.ratings.shards.kept import AnyShards, KeptShards
from starshade.ratings.shards.shards import Shards
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
    store, drawn, view = seen.store, seen.drawn, seen.view
    spread = spread_over(store, engine, store.shards, cast(Columns, view.cells))
    model = Model(view, drawn.knowledge, spread, filled=True, everybody=drawn.counts)
    pools = pools_of(view, seen.known.users, seed)
    outcomes, looked_at = attack.judge(model, seen.known, pools)
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


def _of_released(store: LinkedShards, engine: Engine) -> LinkedShards:
    """Narrow ratings to what was released, as `starshade.attack.view.of_released` one table."""
    people, shards, scale = people_of(store, engine), store.shards, store.release.scale
    kept = shards.items.indices(store.release.items)
    kept = np.sort(kept[kept >= 0])
    if not isinstance(shards, Shards) or (len(kept) == shards.n_items and scale == shards.scale):
        return store
    part = KeptShards(shards, kept, shards.scale, shards.levels, None, people.raters, 0)
    counts = counts_of(part, engine)
    used = np.flatnonzero(counts.levels)
    levels, codes = shards.levels, None
    if scale != shards.scale and scale.contains(levels[used]).all():
        levels, codes = translated(levels, used, scale)
    else:
        scale = shards.scale
    part = KeptShards(shards, kept, scale, levels, codes, people.raters, counts.n_ratings)
    return LinkedShards(part, store.release)


@dataclass(frozen=True, eq=False)
class _Seen:
    """The release beside its targets alone, who are numbered from 0 there.

    `store`: on the released items. `digest`: of the ratings as given.
    """

    store: LinkedShards
    drawn: AttackedShards
    view: View
    known: Known
    since: float
    digest: str

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
        warn_of_counts(knowledge)
        digest, store = digest_of_shards(store.shards), _of_released(store, engine)
        cells = released_cells(store.release, store.shards.items)
        # profiles have no days
        drawn = draw_over(store, engine, replace(knowledge, dates=False), targets, seed)
        since = perf_counter()
        truth = rows_of_targets(store, engine, drawn.known.users)
        known = replace(drawn.known, users=np.arange(truth.n_users))
        view = view_of(truth, cells, drawn.rows, "linked")
        return cls(store, drawn, view, known, since, digest)

    def facts(self, outcomes: Any, config: dict[str, Any], looked_at: int) -> dict[str, Any]:
        """Return the fields of a result that are found alike whatever the attack."""
        return self.drawn.facts_with(
            outcomes,
            config,
            looked_at,
            self.since,
            records=self.view.cells.n_records,
            credit="linked",
            known_from="released items",
            digest=self.digest,
            most=self.view.most,
        )
