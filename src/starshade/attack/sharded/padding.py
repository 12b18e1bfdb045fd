"""Padding on a release of profiles whose ratings lie in shards: the drawn groups are fetched."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter
from typing import Any, cast

import numpy as np

from starshade.attack.knowledge import Knowledge
from starshade.attack.padding.padding import Judged, PaddingAttack, padded_cells
from starshade.attack.padding.result import PaddingResult
from starshade.attack.sharded.truth import rows_of_targets
from starshade.attack.targets import Request, nobody_rated
from starshade.engine.job import Engine, Job, Tables
from starshade.ratings.shards.counts import counts_of
from starshade.release.folder.digest import digest_of_shards
from starshade.release.match.match import LinkedShard, LinkedShards, people_of
from starshade.release.profiles import Profiles


def by_padding_on_release(
    attack: PaddingAttack,
    store: LinkedShards,
    engine: Engine,
    _knowledge: Knowledge,
    targets: int | None,
    seed: int,
) -> PaddingResult:
    """Rank the cells of profiles by how likely they rest on a real rating."""
    attack.refuse(Request(None, targets, None, None))
    started, shards = perf_counter(), store.shards
    linked, support = people_of(store, engine).linked, counts_of(shards, engine).items
    if not linked or not shards.n_ratings:
        raise nobody_rated()
    drawn = attack.draw(cast(Profiles, store.release.classes), seed)
    parts = list(engine.run(Job("choosing groups", _choose), store, {"place": drawn.place}))
    users, row = (np.concatenate([part[name] for part in parts]) for name in ("users", "row"))
    judged = Judged(rows_of_targets(store, engine, users), row, support)
    ineligible, digest = shards.n_users - linked, digest_of_shards(shards)
    facts = {"targets": linked, "ineligible": ineligible, "digest": digest}
    return attack.found(padded_cells(drawn, judged), drawn, facts, seed, started)


def _choose(part: LinkedShard, first: int, _settings: Mapping[str, Any], tables: Tables) -> Tables:
    """Take the users of a shard who are in the drawn groups."""
    users = np.flatnonzero(tables["place"][part.row_of_user] >= 0)
    return {"users": users + first, "row": part.row_of_user[users]}
