"""Scoreboard-RH on a release of profiles whose ratings lie in shards.

The release is one: shards have the targets, and what they rated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from starshade.attack.knowledge import Knowledge
from starshade.attack.result import AttackResult
from starshade.attack.scoreboard_rh.scoreboard_rh import ScoreboardRH
from starshade.attack.sharded.drawing import AttackedShards, draw_over
from starshade.attack.targets import warn_of_counts
from starshade.attack.view import released_cells, view_of
from starshade.engine.job import Engine, Job, Tables
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.folder.digest import digest_of_shards
from starshade.release.match.match import LinkedShard, LinkedShards, raters_of


def by_score_on_release(
    attack: ScoreboardRH,
    store: LinkedShards,
    engine: Engine,
    knowledge: Knowledge,
    targets: int | None,
    seed: int,
) -> AttackResult:
    """Attack a release by scores, with a `theta` of 1."""
    raters_of(store, engine)
    warn_of_counts(knowledge)
    cells = released_cells(store.release, store.shards.items)
    # profiles have no days
    drawn = draw_over(store, engine, replace(knowledge, dates=False), targets, seed)
    since = perf_counter()
    rows = drawn.rows
    view = view_of(_attacked(store, engine, drawn), cells, rows, "linked")
    known = replace(drawn.known, users=np.arange(len(rows)))
    outcomes, looked_at = attack.judge(view, known)
    outcomes = replace(outcomes, users=drawn.known.users)
    facts = drawn.facts_with(
        outcomes,
        attack.settings(view),
        looked_at,
        since,
        records=view.cells.n_records,
        credit="linked",
        known_released=float((view.item_of[known.items] >= 0).mean()),
        digest=digest_of_shards(store.shards),
    )
    return attack.result(outcomes, seed, facts)


def _attacked(store: LinkedShards, engine: Engine, drawn: AttackedShards) -> Ratings:
    """Return the ratings of the targets, as a table of its own."""
    job = Job("fetching the targets' ratings", _fetch)
    parts = list(engine.run(job, store, {"users": drawn.known.users}))
    lengths, columns, codes = (
        np.concatenate([part[name] for part in parts]) for name in ("lengths", "columns", "codes")
    )
    shards = store.shards
    return Ratings(
        scale=shards.scale,
        users=Vocabulary(np.arange(len(lengths))),
        items=shards.items,
        indptr=np.concatenate([[0], np.cumsum(lengths)]),
        columns=columns,
        codes=codes,
        levels=shards.levels,
    )


def _fetch(shard: LinkedShard, first: int, _settings: Mapping[str, Any], tables: Tables) -> Tables:
    ratings = shard.ratings
    start, stop = np.searchsorted(tables["users"], [first, first + ratings.n_users])
    part = ratings.keep_users(tables["users"][start:stop] - first)
    return {"lengths": part.user_support, "columns": part.columns, "codes": part.codes}
