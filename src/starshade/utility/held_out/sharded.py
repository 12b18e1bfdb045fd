"""What held-out ratings say of a release of profiles whose ratings lie in shards.

The probe is one table, and so is the release; of the ratings that it was made of no more is
gathered than what the probe has of its own, and some people's whose number a measure's settings
bound. A job per shard finds who of the probe is there, another predicts their held-out ratings from
items that were fitted over all shards. Measures that ask a sample are given its ratings as a table
on which training is already done: users' factors depend on their own ratings and the items alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.engine.job import Engine, Job, Tables
from starshade.errors import ConfigError
from starshade.ratings.places.checked import ids_as_arrays, ids_in
from starshade.ratings.shards.counts import counts_of
from starshade.ratings.shards.sharded import rows_of
from starshade.ratings.table import Ratings
from starshade.recommend.regularized_svd import RegularizedSVD
from starshade.recommend.sharded import ItemFit, fit_over, sample_over
from starshade.release.match.match import LinkedShard, LinkedShards
from starshade.release.table import Release
from starshade.utility.held_out.nearest import SelfRank, SimilarUserDeviation
from starshade.utility.held_out.pairwise_dissimilarity import PairwiseDissimilarity
from starshade.utility.held_out.probe import Asked, HeldOut, Probe, Wanted
from starshade.utility.held_out.recommender_error import (
    RecommenderError,
    TargetDeviation,
    chosen,
    trained_elsewhere,
)
from starshade.utility.held_out.sharded_pairs import pairs_over
from starshade.utility.held_out.top_n import TopN, rated_of
from starshade.utility.result import UtilityResult
from starshade.utility.settings import RecommenderErrorSettings

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


def takes_one_table(release: Release) -> str:
    """Say why a probe takes ratings as one table even where they lie in shards; else ""."""
    recommender = chosen(None, release)
    if isinstance(recommender, RegularizedSVD):
        return ""
    return f"with a probe and the recommender {recommender.name}"


def found_with(probe: Ratings, store: LinkedShards, engine: Engine) -> Iterator[UtilityResult]:
    """Yield what each measure that is given a probe finds; the release is known to fit.

    Raises
    ------
    ConfigError
        The probe does not belong to these ratings, or the recommender is not fitted over shards.
    """
    if why := takes_one_table(store.release):
        raise ConfigError(f"measuring {why} takes one table")
    beside = Beside(store, engine, Asked.of(probe, store.shards.scale, store.shards.items))
    release, probed = store.release, beside.probe
    yield RecommenderError().beside(release, probed, beside.predicted)
    yield TargetDeviation().found(release, beside.people, beside.of_people)
    for nearness in (SimilarUserDeviation(), SelfRank()):
        sample = nearness.sample(release, beside.people, beside.of_people)
        yield beside.of_sample(nearness, sample)
    pairs = PairwiseDissimilarity()
    yield pairs_over(pairs, store, engine, beside.part)
    top = TopN()
    sample = top.sample(release, beside.people, beside.of_people, beside.rated)
    yield beside.of_sample(top, sample)


@dataclass(frozen=True, eq=False)
class Beside:
    """A probe beside a store of shards and the release that was made of it."""

    store: LinkedShards
    engine: Engine
    asked: Asked

    @cached_property
    def _found(self) -> list[Tables]:
        asked = self.asked
        tables = ids_as_arrays("users", asked.users)
        tables |= {"indptr": asked.indptr, "items": asked.items}
        job = Job("finding who is in the probe", _find)
        return list(self.engine.run(job, self.store, tables))

    @cached_property
    def probe(self) -> Probe:
        """The probe, its users numbered over all shards."""
        return self.asked.placed(self.store.release, self.store.shards.items, self._found)

    @cached_property
    def numbers(self) -> Indices:
        """Those who are asked, of all users."""
        return np.unique(self.probe.users)

    @cached_property
    def of_people(self) -> Probe:
        """The probe, its users numbered among `people`."""
        return self.probe.of(self.numbers)

    @cached_property
    def people(self) -> Ratings:
        """Those who are asked, by their ids, without their ratings."""
        shards = self.store.shards
        every = np.concatenate([part["users"] for part in self._found])
        return Ratings(
            scale=shards.scale,
            users=self.asked.users.take(np.searchsorted(every, self.numbers)),
            items=shards.items,
            indptr=np.zeros(len(self.numbers) + 1, dtype=np.int64),
            columns=np.empty(0, dtype=np.int32),
            codes=np.empty(0, dtype=np.uint8),
            levels=shards.levels,
        )

    @cached_property
    def rated(self) -> Indices:
        """How many released items each of `people` rated."""
        job = Job("counting what is left to rate", _rated)
        parts = self.engine.run(job, self.store, {"users": self.numbers})
        return np.concatenate([part["rated"] for part in parts])

    @cached_property
    def _recommender(self) -> RegularizedSVD:
        found = chosen(None, self.store.release)
        assert isinstance(found, RegularizedSVD)
        return found

    @cached_property
    def _fit(self) -> ItemFit:
        shards, engine = self.store.shards, self.engine
        counts = counts_of(shards, engine)
        sample = sample_over(shards, engine, _SEED)
        told = counts.items, counts.levels
        return fit_over(self._recommender, shards, sample, *told, engine, _SEED)

    def predicted(self) -> Floats:
        """Return what a recommender on all shards predicts of the probe's ratings."""
        fit, probe = self._fit, self.probe
        tables = {**fit.tables, "users": probe.users, "of": probe.items}
        job = Job("predicting held-out ratings", _predict, fit.settings, threaded=True)
        parts = self.engine.run(job, self.store.shards, tables)
        return np.concatenate([part["predicted"] for part in parts])

    def part(self, users: Indices) -> Ratings:
        """Return the ratings of some of all users, on which training is done."""
        rows = rows_of(self.store.shards, self.engine, users, "fetching ratings")
        if len(users):
            trained_elsewhere(self._recommender, rows, _SEED, self._fit.factors(rows))
        return rows

    def of_sample(self, measure: HeldOut[UtilityResult], sample: Indices) -> UtilityResult:
        """Measure some of `people`, who are all that the measure will find."""
        part = self.part(self.numbers[sample])
        return measure.found(self.store.release, part, self.of_people.of(sample))


_SEED = RecommenderErrorSettings.seed  # of every measure


def _find(shard: LinkedShard, first: int, _settings: Mapping[str, Any], tables: Tables) -> Tables:
    asked = Wanted(ids_in("users", tables), tables["indptr"], tables["items"])
    return asked.found_in(shard.ratings, shard.row_of_user, first)


def _rated(shard: LinkedShard, first: int, _settings: Mapping[str, Any], tables: Tables) -> Tables:
    start, stop = np.searchsorted(tables["users"], [first, first + shard.ratings.n_users])
    rows = shard.ratings.keep_users(tables["users"][start:stop] - first)
    return {"rated": rated_of(shard.release, rows)}


def _predict(shard: Ratings, first: int, settings: Mapping[str, Any], tables: Tables) -> Tables:
    start, stop = np.searchsorted(tables["users"], [first, first + shard.n_users])
    users, place = np.unique(tables["users"][start:stop], return_inverse=True)
    if not len(users):
        return {"predicted": np.empty(0)}
    fitted = ItemFit.of(settings, tables).factors(shard.keep_users(users - first))
    return {"predicted": fitted.predict(place, tables["of"][start:stop])}
