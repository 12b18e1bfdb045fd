"""Make a release, measure and save it."""

from __future__ import annotations

import sys
from time import perf_counter
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np

from starshade.anonymize.again.keep import Kept
from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.anonymize.sharded.anonymize import anonymized_shards, settings_of_run
from starshade.audit.made import Made
from starshade.audit.measure import figures_of
from starshade.audit.shares import SHARES
from starshade.engine.job import Engine
from starshade.engine.journal import Journal
from starshade.errors import ConfigError
from starshade.naming import called
from starshade.ratings.places.atomic import recover, together, vacant
from starshade.ratings.places.done import Done, key_of
from starshade.ratings.places.place import Place, Where
from starshade.ratings.proximity.space import largest_distance, reaches_all
from starshade.ratings.shards.shards import Shards
from starshade.ratings.table import Ratings
from starshade.release.band import Exact
from starshade.release.folder.read import read_release
from starshade.release.manifest import Manifest
from starshade.release.profiles import Profiles
from starshade.release.table import Release
from starshade.rng import Rng, resolve_seed
from starshade.utility.registry import PROBED
from starshade.utility.what_remains import WhatRemains


class Anonymizer(Protocol):
    """A method, as ``starshade list methods`` names them."""

    @property
    def k(self) -> int:
        """Minimum class size."""

    def anonymize(self, ratings: Ratings, rng: Rng = None) -> Release:
        """Make a release without saving it."""


@runtime_checkable
class KeepsGroups(Protocol):
    """A method whose releases can continue an earlier one."""

    @property
    def slack(self) -> int:
        """How many people may leave a class before fewer than k remain."""

    def anonymize(
        self,
        ratings: Ratings,
        rng: Rng = None,
        *,
        after: Release | None = None,
        shortfall: Literal["dummies", "withhold"] = "dummies",
    ) -> Release:
        """Make a release that keeps the classes of `after`, without saving it."""

    def who_stays(
        self,
        ratings: Ratings,
        after: Release,
        shortfall: Literal["dummies", "withhold"] = "dummies",
    ) -> Kept:
        """Return who stays in which class; refuse what cannot be continued."""


def make_release(
    ratings: Ratings,
    method: Anonymizer,
    *,
    out: Where,
    private: Where | None = None,
    rng: Rng = None,
    after: Release | None = None,
    shortfall: Literal["dummies", "withhold"] = "dummies",
) -> Made:
    """Anonymize, measure and save.

    `out`: the release folder; must not exist; `private`: where the private key file goes. Where
    `needs_receipt` gives a reason, no audit can pass without that file. `after`, `shortfall`: the
    release that this one continues, with its key file, by a method that keeps classes
    (`starshade.anonymize.again`).
    """
    started = perf_counter()
    place = Place.of(out)
    _refuse_empty(ratings, method)
    if after is None:
        release = method.anonymize(ratings, rng=rng)
    elif isinstance(method, KeepsGroups):
        release = method.anonymize(ratings, rng=rng, after=after, shortfall=shortfall)
    else:
        raise ConfigError(
            f"{called('after')}: this method cannot continue a release",
            advice="Methods that make classes or profiles can, each its own releases.",
        )
    return _saved(release, ratings, method, place, private, started)


def make_release_of_shards(
    shards: Shards,
    method: PredictiveAnonymizer,
    *,
    out: Where,
    private: Where | None = None,
    rng: Rng = None,
    engine: Engine | None = None,
) -> Made:
    """Anonymize a partitioned store, measure and save; as `make_release`."""
    started = perf_counter()
    place, receipt = Place.of(out), None if private is None else Place.of(private)
    seed = resolve_seed(rng)
    asked = {
        "method": settings_of_run(method),
        "shards": list(shards.keys),
        "seed": seed,
        "places": [each and str(each.path) for each in (place, receipt)],
    }
    done = Done(Journal(None) if engine is None else engine.journal, key_of(asked))
    places = [each for each in (place, receipt) if each is not None]
    for each in places:
        recover(each)
    if (told := done.found()) is not None:  # it was killed with all in place
        release = read_release(place.path, private=None if receipt is None else receipt.path)
        return Made(release, told, release.manifest.claims)
    for each in places:
        vacant(each)
    with anonymized_shards(method, shards, seed, engine) as release:
        return _saved(release, None, method, place, receipt, started, done)


def _saved(
    release: Release,
    ratings: Ratings | None,
    method: Anonymizer,
    place: Place,
    private: Where | None,
    started: float,
    done: Done | None = None,
) -> Made:
    """`ratings`: None: the release has them itself, in partitions."""
    others = {"query-error", *(entry.name for entry in PROBED)}  # not among the figures
    if ratings is None:
        others.add("generalization-loss")  # does not apply to profiles
    measured = figures_of(release, ratings, without=others)
    manifest, exact = release.manifest, release.exact or Exact()
    with together() as parts:
        release.save(place, private=private)
        figures = {
            "method": manifest.method,
            "k": int(method.k),
            "records": manifest.records,
            "items": manifest.items,
            **{figure.key: measured[figure.key] for figure in WhatRemains.FIGURES},
            "groups": exact.groups,
            "classes": manifest.classes,
            "smallest_class": measured["smallest_class"],
            "median_class": float(np.median(release.classes.sizes)),
            "largest_class": int(release.classes.sizes.max()),
            **{name: measured.get(name) for name in ("dm", "c_avg", "gen_iloss")},
            "distortion": measured.get("distortion"),
            "imputed_cells": exact.imputed_cells,
            "single_rater_cells": exact.single_rater_cells,
            "fake_edges": _fake_edges(release, exact.imputed_cells),
            "rare_items_dropped": exact.rare_items_dropped,
            "users_dropped": exact.users_without_rating,
            "users_deleted": exact.users_deleted,
            "dummy_records": exact.dummy_records,
            **{name: getattr(manifest, name) for name in SHARES},
            "seconds": perf_counter() - started,
            "peak_rss_mb": _peak_rss_mb(),
            "out": str(place),
        }
        if done is not None:
            done.leave(parts, figures)
    written = Manifest.from_json((place.path / "release.json").read_bytes(), str(place))
    return Made(release, figures, written.claims)


def _refuse_empty(ratings: Ratings, method: Anonymizer) -> None:
    """Refuse a vacuous request: no audit would pass such a claim."""
    config: dict[str, Any] = {
        name: getattr(method, name, None) for name in ("eps", "nulls", "l", "t")
    }
    eps, nulls = config["eps"], config["nulls"]
    if eps is not None and reaches_all(ratings.scale, eps, nulls):
        most = largest_distance(ratings.scale, nulls)
        raise ConfigError(
            f"{called('eps')} = {eps:g}: on the scale {ratings.scale} with nulls {nulls} "
            "all records are near each other, so the claim is vacuous",
            advice=f"Choose an eps below {most:g}.",
        )
    if eps is None and config["l"] == 1:
        raise ConfigError(
            f"{called('l')} = 1: every release satisfies it, so the claim is vacuous",
            advice="Choose l = 2 or more, or leave it out.",
        )
    if config["t"] is not None and config["t"] >= 1:
        raise ConfigError(
            f"{called('t')} = 1: every release satisfies it, so the claim is vacuous",
            advice="Choose a t below 1, or leave it out.",
        )


def _fake_edges(release: Release, invented: float | None) -> int | None:
    if invented is None or not isinstance(release.classes, Profiles):
        return None
    if not any(claim.model == "diversity" for claim in release.manifest.claims):
        return None
    return round(invented * int(release.classes.n_rated().sum()))


def _peak_rss_mb() -> float:
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # bytes on macOS, kibibytes elsewhere
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6
