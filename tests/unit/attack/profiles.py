"""Releases of averaged profiles made by hand: plain NumPy pads, groups and averages."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.release.build import Provenance
from starshade.release.manifest import Claim
from starshade.release.profile_release import profile_release
from starshade.release.profiles import quantize
from starshade.release.table import Release
from tests.strategies import ratings_tables

HALF, FIVE = Scale(0.5, 5, 0.5), Scale(1, 5, 1)
KINDS = ("padded", "model", "simple")


def dense(ratings: Ratings) -> np.ndarray[Any, Any]:
    """A row per user, NaN where they did not rate."""
    out = np.full((ratings.n_users, ratings.n_items), np.nan)
    out[np.repeat(np.arange(ratings.n_users), ratings.user_support), ratings.columns] = (
        ratings.values()
    )
    return out


def predicted(ratings: Ratings, rank: int = 2) -> np.ndarray[Any, Any]:
    """A model of low rank: item means, plus what a few singular vectors say."""
    rows = dense(ratings)
    there = ~np.isnan(rows)
    total = np.where(there, rows, 0.0).sum(axis=0)
    mean = (total + 3 * (ratings.scale.minimum + ratings.scale.width / 2)) / (there.sum(axis=0) + 3)
    left, values, right = np.linalg.svd(np.where(there, rows - mean, 0.0), full_matrices=False)
    return mean + (left[:, :rank] * values[:rank]) @ right[:rank]


def averaged(
    ratings: Ratings, groups: np.ndarray[Any, Any], kind: str, *, step: float, k: int = 1
) -> Release:
    """One profile a group, as defined (definitions, "predictive"), on the model of `predicted`."""
    rows, model = dense(ratings), predicted(ratings)
    profiles = np.full((groups.max() + 1, ratings.n_items), np.nan)
    for g in range(len(profiles)):
        mine, guess = rows[groups == g], model[groups == g]
        if kind == "simple":
            rated = ~np.isnan(mine)
            some = rated.any(axis=0)
            profiles[g, some] = np.nansum(mine, axis=0)[some] / rated.sum(axis=0)[some]
        else:
            padded = np.where(np.isnan(mine), guess, mine) if kind == "padded" else guess
            profiles[g] = padded.mean(axis=0)
    return profile_release(
        ratings,
        quantize(profiles, ratings.scale, step),
        groups,
        Provenance(
            method="by hand",
            seed=0,
            claims=(Claim(model="review-graph", parameters={"k": k}),) if k > 1 else (),
            rare_items="keep",
        ),
        step=step,
        profile=kind,
    )


@st.composite
def averaged_releases(draw: st.DrawFn) -> tuple[Ratings, Release]:
    """Some table and an averaged release of it."""
    ratings = draw(ratings_tables(scales=(FIVE, HALF), min_users=2, max_users=9, with_days=False))
    n = ratings.n_users
    label = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    groups = np.unique(label, return_inverse=True)[1]
    kind = draw(st.sampled_from(KINDS))
    return ratings, averaged(ratings, groups, kind, step=draw(st.sampled_from([0.25, 0.5])))
