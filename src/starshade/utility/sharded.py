"""What measures find of a release of profiles whose ratings lie in shards."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Any

import numpy as np

from starshade.engine.job import Engine, Job, Tables
from starshade.ratings.shards.shards import Shards
from starshade.ratings.table import Ratings
from starshade.release.match.match import LinkedShard, LinkedShards, people_of
from starshade.release.table import Release
from starshade.utility.held_out.sharded import found_with
from starshade.utility.rating_histogram import HistogramResult, RatingHistogram
from starshade.utility.remaining import Pairs, Said, Tally, tally_of
from starshade.utility.what_remains import WhatRemains

_NAMES = ("left_out", "users", "people", "said_rated")


def found_over(
    shards: Shards, release: Release, engine: Engine, probe: Ratings | None = None
) -> dict[str, dict[str, float | int | None]]:
    """Return what measures find that take all ratings, by their names.

    `probe`: ratings that were held out; None: what takes them is not measured.

    Raises
    ------
    ConfigError
        The release was not made of these ratings, or the probe not held out of them.
    """
    store = LinkedShards(shards, release)
    raters = sum(people_of(store, engine).raters)
    answers = engine.run(Job("counting ratings", _count), store, {})
    tally = reduce(Tally.__add__, map(_read, answers))
    found = WhatRemains().of_tally(Said.of(release), tally, shards.levels, shards.n_items)
    histogram = _histogram(release, tally, raters, shards)
    probed = () if probe is None else found_with(probe, store, engine)
    return {each.measure: each.to_dict() for each in (found, histogram, *probed)}


def _histogram(release: Release, tally: Tally, raters: int, shards: Shards) -> HistogramResult:
    """Count the ratings of the released items, and the cells without one of who rated any."""
    item, level = np.divmod(tally.items.keys, len(shards.levels))
    shown = release.items.indices(shards.items)[item] >= 0
    counts = np.bincount(
        level[shown], weights=tally.items.counts[shown], minlength=len(shards.levels)
    )
    return RatingHistogram().of_counts(release, shards.levels, counts, raters)


def _count(shard: LinkedShard, _first: int, _settings: Mapping[str, Any], _: Tables) -> Tables:
    found = tally_of(Said.of(shard.release), shard.ratings, shard.row_of_user)
    pairs = {"cells": found.cells, "items": found.items}
    columns = {f"{n}_{part}": getattr(pairs[n], part) for n in pairs for part in ("keys", "counts")}
    return columns | {name: np.array([getattr(found, name)]) for name in _NAMES}


def _read(table: Tables) -> Tally:
    cells, items = (Pairs(table[f"{n}_keys"], table[f"{n}_counts"]) for n in ("cells", "items"))
    return Tally(cells, items, *(int(table[name][0]) for name in _NAMES))
