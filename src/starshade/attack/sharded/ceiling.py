"""The ceiling of attacks on a release whose ratings lie in shards (definitions, "likelihood").

Whoever has the original rows adds up the chances of each class's records. These lie in any shard,
so of every target the masses of all classes are added up: whole numbers, a few targets at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.attack.knowledge import Knowledge, Known
from starshade.attack.likelihood.informed import Model
from starshade.attack.likelihood.likelihood import of_original
from starshade.attack.sharded.drawing import AttackedShards, known_of, tables_of
from starshade.attack.sharded.likelihood import SoughtInShard, counts_in, tables_of_counts
from starshade.attack.view import released_cells, view_of
from starshade.engine.job import Engine, Job, Tables
from starshade.kernels.attack.posterior import SAME, greatest
from starshade.release.match.match import LinkedShard, LinkedShards

_MASSES = 1 << 24  # of classes, times targets, in memory at once


def ceiling_over(
    store: LinkedShards, engine: Engine, drawn: AttackedShards, first_equal: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Chance that the target's class is named by who has the original rows, shape (targets,).

    `first_equal` (n_rows,): of each released row the first that equals it.
    """
    settings = {"knowledge": asdict(drawn.knowledge)}
    tables = {**tables_of_counts(drawn.counts), "first_equal": first_equal}
    job = Job("weighing the original rows", _weigh, settings, threaded=True)
    answers = engine.run(job, store, {**tables, **tables_of(drawn.known)})
    chance, power = greatest([answer["found"] for answer in answers])
    out = np.zeros(len(drawn.known))
    for some in _batches(len(out), len(first_equal)):
        told = {**tables_of(drawn.known.take(some)), "chance": chance[some], "power": power[some]}
        job = Job("adding up the original rows", _add_up, settings, threaded=True)
        masses = np.zeros((len(chance[some]), len(first_equal)), dtype=np.int64)
        for answer in engine.run(job, store, {**tables, **told}):
            masses[answer["target"], answer["class"]] += answer["mass"]
        most = masses.max(axis=1, keepdims=True)
        best = (masses > 0) & (masses >= most * (1 - SAME))
        right = best[np.arange(len(best)), first_equal[drawn.rows[some]]]
        out[some] = right / np.maximum(best.sum(axis=1), 1)
    return out


def _batches(targets: int, classes: int) -> Iterator[slice]:
    size = max(1, _MASSES // max(1, classes))
    for start in range(0, targets, size):
        yield slice(start, min(start + size, targets))


def _weigh(part: LinkedShard, first: int, settings: Mapping[str, Any], tables: Tables) -> Tables:
    """Find how likely the likeliest record of a shard makes what is known of each target."""
    model, sought = _opened(part, first, settings, tables, None)
    return {"found": model.weigh(known_of(tables), sought)}


def _add_up(part: LinkedShard, first: int, settings: Mapping[str, Any], tables: Tables) -> Tables:
    """Return the masses of classes in a shard, those that are none left out."""
    known: Known = known_of(tables)
    masses = np.zeros((len(known), len(tables["first_equal"])), dtype=np.int64)
    model, sought = _opened(part, first, settings, tables, masses)
    model.weigh(known, sought)
    target, kind = np.nonzero(masses)
    return {"target": target, "class": kind, "mass": masses[target, kind]}


def _opened(
    part: LinkedShard,
    first: int,
    settings: Mapping[str, Any],
    tables: Tables,
    masses: NDArray[np.int64] | None,
) -> tuple[Model, SoughtInShard]:
    counted, rows = counts_in(tables), part.row_of_user
    cells = released_cells(part.release, part.ratings.items)
    view = of_original(view_of(part.ratings, cells, rows, "linked"))
    place = view.item_of
    support = np.zeros(view.cells.n_items, dtype=np.int64)
    support[place[place >= 0]] = counted.items[place >= 0]
    view.__dict__["support"] = support  # what the cached property would count, of all shards
    sought = SoughtInShard(
        view,
        class_of=np.where(rows < 0, -1, tables["first_equal"][rows]),
        greatest=(tables["chance"], tables["power"]) if "chance" in tables else None,
        masses=masses,
        first=first,
        records=counted.n_users,
    )
    return Model(view, Knowledge(**settings["knowledge"]), everybody=counted), sought
