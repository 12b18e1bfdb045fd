"""One release, measured: a part. Errors are of users; nothing of the size users × items is held."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.audit.reproduction.parts import Part
from starshade.errors import ConfigError
from starshade.progress import note
from starshade.ratings.holdout import sample_users
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.recommend.registry import Fitted, Recommender
from starshade.release.profiles import Profiles
from starshade.release.table import Release
from starshade.rng import generator
from starshade.utility.held_out.nearest import SAME, compared
from starshade.utility.held_out.probe import Probe, linked_probe, linked_users
from starshade.utility.held_out.recommender_error import fitting, trained

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
REFIT_CELLS = 30_000_000  # of profiles that a recommender learns from; more are sampled
_ASKED = 2_000  # users held against their profile, and against every profile, at most
_LEAST = 50  # … and at least
_NEAR = 30_000_000_000  # cells of profiles that they are compared on, if they are not fewer


def measure_release(
    release: Release,
    train: Ratings,
    probe: Ratings,
    method: PredictiveAnonymizer,
    seed: int,
    *,
    near: bool,
) -> Part:
    """Measure a release: errors on what was held out, groups, nulls, actual ratings.

    `near`: compare users with every profile as well.
    """
    profiles, linked = release.classes, linked_probe(release, train, probe)
    assert isinstance(profiles, Profiles)
    assert linked is not None
    model = method.padding()
    fitted = trained(model, train, seed)
    out: dict[str, Any] = {
        **errors_of(profiles, linked, fitted, train),
        **_refitted(profiles, linked, fitted, model, seed),
        **_shape(release, profiles),
        **_actual(release, profiles, train, seed),
    }
    if near:
        most = max(_LEAST, min(_ASKED, _NEAR // max(1, profiles.levels.size)))
        asked = sample_users(train, np.unique(linked.users), most, seed)
        full = fitted if method.profile != "simple" else None
        found = near_of(release, profiles, train, linked, fitted=full, asked=asked)
        out |= {
            **found,
            "near_original": out["original"] * found["asked"],
            "target": out["release"] * found["asked"],
            "target_n": out["n"] * found["asked"],
        }
    return out


class PerUser:
    """Sums of what is known of pairs, by user of the probe."""

    def __init__(self, probe: Probe) -> None:
        self.users, self.of_pair = np.unique(probe.users, return_inverse=True)

    def sum(self, figures: Floats | NDArray[np.bool_]) -> Floats:
        """Add up figures of pairs."""
        return np.bincount(self.of_pair, figures, len(self.users)).astype(np.float64)


def errors_of(profiles: Profiles, probe: Probe, fitted: Fitted, train: Ratings) -> Part:
    """Add up squared errors of each user: of the original's model and of the released cell.

    A null counts as the level below the scale (`null_…`: cells that are null).
    """
    users = PerUser(probe)
    level = profiles.levels[probe.rows, probe.columns]
    null = level == 0
    said = np.append(train.scale.null_level, profiles.ratings)[level]
    released = (said - probe.values) ** 2
    original = (fitted.predict(probe.users, probe.items) - probe.values) ** 2
    return {
        "n": users.sum(np.ones(len(null))),
        "original": users.sum(original),
        "release": users.sum(released),
        "null_n": users.sum(null),
        "null_release": users.sum(released * null),
        "null_original": users.sum(original * null),
        "shown": users.sum(released * ~null),
        "shown_original": users.sum(original * ~null),
        "shown_n": users.sum(~null),
    }


def _refitted(
    profiles: Profiles, probe: Probe, fitted: Fitted, model: Recommender, seed: int
) -> Part:
    """Train on the profiles, each a user; on some of them, drawn, where they have many cells."""
    some = max(1, REFIT_CELLS // max(1, profiles.n_items))
    rows = np.arange(profiles.n_groups)
    if profiles.n_groups > some:
        rng = generator(seed, "profiles to train on")
        rows = np.sort(rng.choice(profiles.n_groups, some, replace=False))
        note(f"a recommender learns from {some:,} of {profiles.n_groups:,} profiles, drawn")
    table, users = as_ratings(profiles, rows), PerUser(probe)
    place = np.full(profiles.n_groups, -1)
    place[rows] = np.arange(len(rows))
    here = place[probe.rows] >= 0
    off, base = np.zeros(len(here)), np.zeros(len(here))
    try:
        again = fitting(model, table).fit(table, rng=seed)
    except ConfigError as error:  # a release may hold no rating
        note(f"no refit: {error.message}")
        return {}
    true = probe.values[here]
    off[here] = (again.predict(place[probe.rows[here]], probe.columns[here]) - true) ** 2
    base[here] = (fitted.predict(probe.users[here], probe.items[here]) - true) ** 2
    return {
        "refit": users.sum(off),
        "refit_original": users.sum(base),
        "refit_n": users.sum(here),
    }


def as_ratings(profiles: Profiles, rows: Ints) -> Ratings:
    """Read profiles as a table of ratings, a user for each."""
    levels = profiles.levels[rows]
    rated = levels > 0
    scale = profiles.scale
    return Ratings(
        scale=Scale(scale.minimum, scale.maximum),
        users=Vocabulary(np.arange(len(rows))),
        items=profiles.items,
        indptr=np.concatenate([[0], np.cumsum(rated.sum(1))]),
        columns=np.nonzero(rated)[1].astype(np.int32),
        codes=levels[rated] - np.uint8(1),
        levels=profiles.ratings,
    )


def _shape(release: Release, profiles: Profiles) -> Part:
    rated, exact = profiles.n_rated(), release.exact
    assert exact is not None
    cells = release.n_records * profiles.n_items
    single = exact.single_rater_cells
    return {
        "groups": np.array([float(exact.groups)]),
        "records": np.array([float(release.n_records)]),
        "smallest": np.array([float(profiles.sizes.min())]),
        "nulls": np.array([1 - float((rated * profiles.sizes).sum()) / cells]),
        "shown_by_all": np.array([float(profiles.levels.min(axis=0).astype(bool).mean())]),
        "one_rater": np.array([np.nan if single is None else single]),
    }


def _actual(release: Release, profiles: Profiles, train: Ratings, seed: int) -> Part:
    """Hold some users' actual ratings against the profile that stands for them."""
    rows = linked_users(release, train)
    assert rows is not None
    users = sample_users(train, np.flatnonzero(rows >= 0), _ASKED, seed)
    part = train.keep_users(users)
    columns = profiles.items.indices(train.items)[part.columns]
    owner = np.repeat(np.arange(part.n_users), part.user_support)
    said = np.append(train.scale.null_level, profiles.ratings)[
        profiles.levels[rows[users][owner], columns]
    ]
    off = np.abs(said - part.values())
    right = off <= (train.scale.step or 0) / 2
    return {
        "actual": np.bincount(owner, off**2, part.n_users),
        "actual_right": np.bincount(owner, right, part.n_users),
        "actual_n": part.user_support.astype(np.float64),
    }


def near_of(
    release: Release,
    profiles: Profiles,
    train: Ratings,
    probe: Probe,
    *,
    fitted: Fitted | None,
    asked: Ints,
) -> Part:
    """Compare users with profiles: what the nearest predicts, and the rank of their own.

    A null of the nearest counts as the level below the scale; `near_shown`: cells that it shows
    alone. Of users who were not asked all is 0.
    """
    everybody, first = np.unique(probe.users, return_index=True)
    own = probe.rows[first]
    ends = np.append(first, len(probe.users))
    ratings = np.append(train.scale.null_level, profiles.ratings)
    out = {name: np.zeros(len(everybody)) for name in _RANKED}
    for block, unlike in compared(release, train, fitted, asked, "weighted-sq"):
        places = np.searchsorted(everybody, block)
        for at, away in zip(places.tolist(), unlike, strict=True):
            pairs = slice(ends[at], ends[at + 1])
            tied = np.flatnonzero(away <= away.min() + SAME)
            level = profiles.levels[np.ix_(tied, probe.columns[pairs])]
            off = (ratings[level] - probe.values[pairs]) ** 2
            mine = away[own[at]]
            rank = (away < mine - SAME).sum() + ((np.abs(away - mine) <= SAME).sum() + 1) / 2
            out["near"][at] = off.sum() / len(tied)
            out["near_n"][at] = off.shape[1]
            out["near_shown"][at] = off[level > 0].sum() / len(tied)
            out["near_shown_n"][at] = (level > 0).sum() / len(tied)
            out["asked"][at] = 1
            out["rank"][at] = 100 * rank / len(away)
    return out


_RANKED = ("near", "near_n", "near_shown", "near_shown_n", "asked", "rank")


def within(ranks: Floats) -> Iterator[float]:
    """Return the share of percentiles within 1, 2, …, 100 %."""
    upto = np.searchsorted(np.sort(ranks), np.arange(1, 101) + SAME, side="right")
    yield from (upto / len(ranks)).tolist()
