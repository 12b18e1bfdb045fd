"""Padding on ratings in shards, and on a release of profiles that was made of them."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from starshade.attack.knowledge import Knowledge
from starshade.attack.padding.padding import (
    DrawnGroups,
    Judged,
    PaddingAttack,
    padded_cells,
    rated_cells,
)
from starshade.attack.padding.result import PaddingResult
from starshade.attack.targets import Request, nobody_rated
from starshade.engine.job import Engine, Job, Tables
from starshade.ratings.shards.counts import counts_of
from starshade.ratings.shards.kept import AnyShards
from starshade.ratings.shards.sharded import rows_of
from starshade.release.folder.digest import digest_of_shards
from starshade.release.match.match import LinkedShard, LinkedShards, people_of
from starshade.release.profiles import Profiles


def by_padding(
    attack: PaddingAttack,
    shards: AnyShards,
    engine: Engine,
    _knowledge: Knowledge,
    targets: int | None,
    seed: int,
) -> PaddingResult:
    """Rank the cells of some users, who are fetched: each is a group."""
    attack.refuse(Request(None, targets, None, None))
    started, counts, n_users = perf_counter(), counts_of(shards, engine), shards.n_users
    if not shards.n_ratings:
        raise nobody_rated()
    users = attack.draw_rows(n_users, shards.n_items, seed)
    table, rows = rows_of(shards, engine, users, "fetching users"), np.arange(len(users))
    drawn = DrawnGroups(table, rows, np.broadcast_to(np.int64(1), n_users))
    rated = rated_cells(table, rows, table.items, rows)
    raters = np.bincount(rated, minlength=len(users) * shards.n_items).reshape(len(users), -1)
    cells = padded_cells(drawn, Judged(raters, shards.items, counts.items))
    facts = {"targets": n_users, "ineligible": 0, "digest": digest_of_shards(shards)}
    return attack.found(cells, drawn, facts, seed, started)


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
    cells = padded_cells(drawn, judged_over(store, engine, drawn, support))
    ineligible, digest = shards.n_users - linked, digest_of_shards(shards)
    facts = {"targets": linked, "ineligible": ineligible, "digest": digest}
    return attack.found(cells, drawn, facts, seed, started)


def judged_over(
    store: LinkedShards, engine: Engine, drawn: DrawnGroups, support: NDArray[np.int64]
) -> Judged:
    """Count who of the drawn groups rated what, as `Judged.of` one table."""
    raters = np.zeros((len(drawn.rows), len(drawn.shown.items)), dtype=np.int64)
    for part in engine.run(Job("reading classes", _count), store, {"place": drawn.place}):
        raters.ravel()[part["cells"]] += part["raters"]
    return Judged(raters, store.shards.items, support)


def _count(part: LinkedShard, _first: int, _settings: Mapping[str, Any], tables: Tables) -> Tables:
    items = cast(Profiles, part.release.classes).items
    rated = rated_cells(part.ratings, part.row_of_user, items, tables["place"])
    cells, raters = np.unique(rated, return_counts=True)
    return {"cells": cells, "raters": raters}
