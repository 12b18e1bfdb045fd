"""The homogeneity attack on shards: what all candidates say alike is intersected over them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np

from starshade.attack.candidates.candidates import seen_by
from starshade.attack.candidates.homogeneity import (
    HomogeneityAttack,
    HomogeneityResult,
    summed_up,
)
from starshade.attack.candidates.sensitive import Alike, SensitiveItem
from starshade.attack.knowledge import Knowledge
from starshade.attack.scoreboard_rh.scoring import goal_of
from starshade.attack.sharded.candidates import Counted, clues_in, count_over
from starshade.attack.sharded.released import by_candidates_on_release
from starshade.attack.sharded.truth import rows_of_targets
from starshade.attack.sharded.view import view_of_shard
from starshade.attack.view import contents_of, groups_of, released_cells, truth_of, view_of
from starshade.engine.job import Engine, Job, Tables
from starshade.kernels.arrays import Array, fixed
from starshade.kernels.attack.candidates import Thresholds
from starshade.kernels.attack.homogeneity import Agreed, compare_agreed, list_agreed
from starshade.ratings.shards.kept import AnyShards
from starshade.ratings.table import Ratings
from starshade.release.cells import cells_of
from starshade.release.match.match import LinkedShard, LinkedShards


def by_homogeneity(
    attack: HomogeneityAttack,
    shards: AnyShards,
    engine: Engine,
    knowledge: Knowledge,
    targets: int | None,
    seed: int,
) -> HomogeneityResult:
    """Learn what all candidates have in common."""
    attack.refuse_beyond(shards.n_items)
    counted = count_over(attack, shards, engine, knowledge, targets, seed)
    known = counted.drawn.known
    shared = _shared(counted, shards, engine)
    further = len(known) * shards.n_items - known.items.size
    # everybody is a group of their own
    shares = [float(counted.drawn.counts.items[i] / shards.n_users) for i in attack.sensitive]
    return HomogeneityResult(
        **counted.figures,
        **summed_up(counted.figures, shared, further),
        classes=shards.n_users,
        averaged=False,
        sensitive=tuple(map(SensitiveItem, attack.sensitive, shares, shares)),
    )


def _shared(counted: Counted, shards: AnyShards, engine: Engine) -> Array:
    job = Job("comparing candidates", _list, counted.settings, threaded=True)
    parts = engine.run(job, shards, counted.tables)
    agreed = reduce(both, (Agreed(**part) for part in parts))
    known = counted.drawn.known
    truth = rows_of_targets(shards, engine, known.users)
    symbols = cells_of(truth).symbols
    told = truth_of(truth), contents_of(symbols), fixed(symbols.is_single), shards.n_items
    return compare_agreed(agreed, known.items, counted.within, *told)


def _list(shard: Ratings, first: int, settings: Mapping[str, Any], tables: Tables) -> Tables:
    view = view_of_shard(shard, first, tables)
    seen = seen_by(view, goal_of(view, 1.0, absent=False))
    clues, within = clues_in(view, first, tables), Thresholds(*settings["within"])
    return list_agreed(seen, clues, within)._asdict()


def both(one: Agreed, other: Agreed) -> Agreed:
    """Join what the candidates among two blocks of rows say alike, earlier rows first."""
    n, joint = len(one.some), one.some & other.some
    target, theirs = (np.repeat(np.arange(n), each.lengths) for each in (one, other))
    width = 1 + int(max(one.items.max(initial=0), other.items.max(initial=0)))
    cells = target * width + one.items, theirs * width + other.items
    _, i, j = np.intersect1d(*cells, assume_unique=True, return_indices=True)
    kept, new = ~joint[target], ~one.some[theirs]
    kept[i] |= one.codes[i] == other.codes[j]
    agreed = np.bincount(target[kept], minlength=n)
    # records that are identical say the same of the known items, and share whatever they say else
    same = one.identical & other.identical & (one.known == other.known).all(axis=1)
    same &= (agreed == one.lengths) & (agreed == other.lengths)
    order = np.argsort(np.concatenate([target[kept], theirs[new]]), kind="stable")
    return Agreed(
        one.some | other.some,
        np.where(joint, same, one.identical | other.identical),
        np.where(one.some[:, None], one.known, other.known),
        agreed + np.bincount(theirs[new], minlength=n),
        np.concatenate([one.items[kept], other.items[new]])[order],
        np.concatenate([one.codes[kept], other.codes[new]])[order],
    )


def by_homogeneity_on_release(
    attack: HomogeneityAttack,
    store: LinkedShards,
    engine: Engine,
    knowledge: Knowledge,
    targets: int | None,
    seed: int,
) -> HomogeneityResult:
    """Learn what all candidates of a release have in common."""
    attack.refuse_beyond(store.shards.n_items)
    found = by_candidates_on_release(attack, store, engine, knowledge, targets, seed)
    if not attack.sensitive:
        return found
    # so far it is said of the targets alone
    job = Job("reading sensitive items", _rated, {"items": list(attack.sensitive)})
    parts = list(engine.run(job, store, {}))
    told = [Alike(*(part[name] for name in ("raters", "low", "high"))) for part in parts]
    given_away = reduce(Alike.__add__, told).given_away(attack.sensitive, parts[0]["sizes"])
    return replace(found, sensitive=given_away)


def _rated(part: LinkedShard, _first: int, settings: Mapping[str, Any], _tables: Tables) -> Tables:
    cells = released_cells(part.release, part.ratings.items)
    view = view_of(part.ratings, cells, part.row_of_user, "linked")
    groups = groups_of(part.release, view)
    return {**vars(Alike.of(part.ratings, settings["items"], groups)), "sizes": groups.sizes}
