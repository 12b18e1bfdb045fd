"""Targets and their known facts, drawn once over all partitions.

Who is eligible, the sample by the hash of ids and each target's facts are functions of one user and
of what is counted of all: of everybody's levels and days, and of each item's raters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.attack.knowledge import Knowledge, Known
from starshade.attack.targets import Attacked, People, nobody, without_a_record
from starshade.attack.view import rows_of
from starshade.engine.job import Engine, Job, Tables
from starshade.kernels.attack.scoreboard import holds
from starshade.progress import note
from starshade.ratings.holdout import check_targets, lowest, sample_numbers
from starshade.ratings.shards.counts import Counts, counts_of
from starshade.ratings.shards.kept import AnyShards
from starshade.ratings.table import Ratings
from starshade.release.cells import cells_of
from starshade.release.match.match import LinkedShard, LinkedShards


@dataclass(frozen=True, eq=False)
class AttackedShards(Attacked):
    """Targets, their known facts, and counts over all users.

    `held` (targets, known): which known items the target did rate. `rows` (targets,): the released
    row of each, of ratings beside a release; else none.
    """

    counts: Counts
    held: NDArray[np.bool_]
    rows: NDArray[np.int64]


def draw_over(
    store: AnyShards | LinkedShards,
    engine: Engine,
    knowledge: Knowledge,
    targets: int | None,
    seed: int,
) -> AttackedShards:
    """Choose the targets and draw their known facts, as for one table.

    Users are numbered over all shards. Beside a release those alone are attacked who have a record.
    """
    check_targets(targets)
    started = perf_counter()
    shards = store.shards if isinstance(store, LinkedShards) else store
    if not shards.has_days:
        knowledge = replace(knowledge, dates=False)
    counts = counts_of(shards, engine)
    eligible = knowledge.eligible_among(shards.items, lambda: counts.items)
    settings = {"knowledge": asdict(knowledge), "seed": seed, "targets": targets and int(targets)}
    users, able = chosen_over(store, engine, settings, eligible)
    if not able:
        raise nobody(knowledge)
    tables = {"users": users, "eligible": eligible, "levels": counts.levels, "days": counts.days}
    job = Job("drawing known ratings", _draw, settings)
    parts = [part for part in engine.run(job, store, tables) if len(part["users"])]
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    ineligible = shards.n_users - able
    told = People.of(counts.support, counts.users), counts, joined["held"], joined["rows"]
    return AttackedShards(knowledge, known_of(joined), targets, ineligible, seed, started, *told)


def chosen_over(
    store: AnyShards | LinkedShards,
    engine: Engine,
    settings: Mapping[str, Any],
    eligible: NDArray[np.bool_],
) -> tuple[NDArray[np.int64], int]:
    """Return the targets, ascending, and how many users are eligible."""
    job = Job("choosing targets", _choose, settings)
    parts = list(engine.run(job, store, {"eligible": eligible}))
    if unreleased := sum(int(part["unreleased"][0]) for part in parts):
        note(without_a_record(unreleased))
    users = np.concatenate([part["users"] for part in parts])
    able = sum(int(part["able"][0]) for part in parts)
    targets = settings["targets"]
    if targets is None or targets >= able:
        return users, able
    numbers = np.concatenate([part["numbers"] for part in parts])
    return np.sort(lowest(users, numbers, int(targets))), able


def _choose(
    part: Ratings | LinkedShard, first: int, settings: Mapping[str, Any], tables: Tables
) -> Tables:
    """Take those of a shard who may be among the targets."""
    shard, rows = _opened(part)
    knowledge, targets = Knowledge(**settings["knowledge"]), settings["targets"]
    eligible = knowledge.with_enough(shard, tables["eligible"])
    users = np.flatnonzero(eligible & (rows >= 0))
    able = np.array([len(users)])
    unreleased = np.array([np.count_nonzero(eligible & (rows < 0))])
    numbers = np.empty(0, dtype=np.uint64)
    if targets is not None:
        numbers = sample_numbers(shard, users, settings["seed"])
        place = np.sort(lowest(np.arange(len(users)), numbers, int(targets)))
        users, numbers = users[place], numbers[place]
    return {"users": users + first, "numbers": numbers, "able": able, "unreleased": unreleased}


def _opened(part: Ratings | LinkedShard) -> tuple[Ratings, NDArray[np.int64]]:
    """Return the ratings of a shard, and a row of each user: the released one, or their own."""
    if isinstance(part, Ratings):
        return part, np.arange(part.n_users)
    return part.ratings, part.row_of_user


def _draw(
    part: Ratings | LinkedShard, first: int, settings: Mapping[str, Any], tables: Tables
) -> Tables:
    """Draw what is known of the targets in a shard."""
    shard, rows = _opened(part)
    knowledge = Knowledge(**settings["knowledge"])
    start, stop = np.searchsorted(tables["users"], [first, first + shard.n_users])
    users = tables["users"][start:stop] - first
    if not len(users):
        return {"users": users}
    # only what is wrong is drawn from the data's own ratings and days
    days = tables["days"] * (knowledge.knows_days and knowledge.wrong > 0)
    levels = tables["levels"] * (knowledge.wrong > 0)
    known = knowledge.draw_of(shard, users, settings["seed"], tables["eligible"], levels, days)
    cells = cells_of(shard)
    held = holds(rows_of(cells), cells.symbols.has_rating, users, known.items)
    return tables_of(known) | {"users": users + first, "held": held, "rows": rows[users]}


def tables_of(known: Known) -> dict[str, NDArray[Any]]:
    """Lay out what is known as columns, for a job."""
    return {name: value for name, value in vars(known).items() if value is not None}


def known_of(tables: Tables) -> Known:
    """Read what `tables_of` laid out, among other columns too."""
    names = (each.name for each in fields(Known))
    return Known(**{name: tables[name] for name in names if name in tables})
