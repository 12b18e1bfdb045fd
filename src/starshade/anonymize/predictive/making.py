"""From padded rows to groups and profiles: of a whole table, and of a part of one.

`method`: a `PredictiveAnonymizer`, whose settings are all that is asked of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from starshade.anonymize.order import put_back, seeded_order
from starshade.anonymize.predictive.bins import distances_of, group_users
from starshade.anonymize.predictive.clusters import bounded_t_means, exchange_users
from starshade.anonymize.predictive.diversity_repair import diverse_profiles
from starshade.anonymize.predictive.homogenize import (
    Levels,
    Members,
    join_equal,
    mean_profiles,
    pooled_profiles,
    simple_profiles,
)
from starshade.errors import UnmetError
from starshade.kernels.arrays import Floats, Ints
from starshade.naming import aside, called
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.recommend.factors import Factors
from starshade.recommend.padded import Padded
from starshade.recommend.regularized_svd import RegularizedSVD
from starshade.release.manifest import Claim
from starshade.release.profiles import default_step, released_levels

if TYPE_CHECKING:
    from starshade.anonymize.predictive.predictive import PredictiveAnonymizer

OWN = ("factors", "regularization", "sweeps", "biases")  # settings that a recommender may have
_ACTIVE = 0.75  # power of the number of ratings that a user's error counts with


def step_of(method: PredictiveAnonymizer, scale: Scale) -> float:
    """Return the step of released levels; refuse one that does not fit, before any work."""
    step = default_step(scale) if method.step is None else float(method.step)
    released_levels(scale, step)
    return step


def refuse_one_group(method: PredictiveAnonymizer, people: int) -> None:
    """Refuse a k of which so many people form one group: its profile would be everyone's."""
    least = method.k + method.slack
    if people >= 2 * least:
        return
    slack = f", {called('slack')} = {method.slack}" if method.slack else ""
    largest = people // 2 - method.slack
    use = f"use k-exchange{aside('method', 'k-exchange')}, which works with one group"
    raise UnmetError(
        f"{called('k')} = {method.k}{slack}, records = {people}: they form one group, so all "
        "would share one profile",
        advice=f"Choose k up to {largest}, or {use}." if largest >= 2 else f"{use.capitalize()}.",
        setting="k",
    )


def refuse_one_profile(classes: int) -> None:
    """Refuse a release in which all profiles are equal, and so one class."""
    if classes > 1:
        return
    raise UnmetError(
        "all profiles are equal, so the release would contain no information about differences",
        advice="If all ratings are equal, such as likes, use "
        f"k-exchange{aside('method', 'k-exchange')} on selected "
        f"items{aside('items', 'top:N')}. Otherwise choose a smaller k.",
    )


def padded_by(
    method: PredictiveAnonymizer, table: Ratings, fitted: Factors, support: Ints | None = None
) -> Padded:
    """Return the padded rows of a table; `support`: of its items over all rows, if it is a part."""
    support = table.item_support if support is None else support
    weighted = _weights(method) == "support"
    return Padded(table, fitted, support.astype(np.float64) if weighted else None)


def groups_of(method: PredictiveAnonymizer, padded: Padded, seed: int) -> Ints:
    """Put all users into groups."""
    k = method.k + method.slack
    if _grouping(method) == "t-means":
        return group_users(padded, k, seed, dissimilarity=method.dissimilarity, clip=method.clip)
    return exchange_users(padded.coordinates, _activity(method, padded), k, seed)


def groups_among(method: PredictiveAnonymizer, padded: Padded, users: Ints, seed: int) -> Ints:
    """Return the groups of some of the users, who stay among themselves."""
    if not len(users):
        return users
    k = min(method.k + method.slack, max(len(users), method.k))
    if _grouping(method) == "exchange":
        weights = _activity(method, padded)[users]
        return exchange_users(padded.coordinates[users], weights, k, seed)
    away = distances_of(padded, method.dissimilarity, method.clip)
    order = seeded_order(len(users), seed, "newcomers")
    found = bounded_t_means(away, users[order], len(users) // k, k)
    return put_back(order, np.unique(found, return_inverse=True)[1].astype(np.int64))


def _activity(method: PredictiveAnonymizer, padded: Padded) -> Floats:
    """Return what a user's error counts with."""
    support = padded.ratings.user_support.astype(np.float64)
    return support**_ACTIVE if _weights(method) == "support" else np.ones(len(support))


def profiles_of(
    method: PredictiveAnonymizer,
    padded: Padded,
    groups: Ints,
    step: float,
    seed: int,
    spread: float | None = None,
) -> tuple[Ints, Levels]:
    """Return the groups, of which equal ones may have been joined, and their profiles.

    `spread`: of all ratings, where these are a part of them.
    """
    ends = np.concatenate([[0], np.cumsum(np.bincount(groups))]).astype(np.int64)
    members: Members = ends, np.argsort(groups, kind="stable")
    table = padded.ratings
    if method.profile == "padded":
        return groups, mean_profiles(padded, members, step, method.clip)
    if method.profile == "model":
        return groups, mean_profiles(padded.without_ratings(), members, step, method.clip)
    if method.profile == "pooled":
        svd = method.padding()
        assert isinstance(svd, RegularizedSVD)
        penalty = svd.penalties(table, spread)
        return groups, pooled_profiles(padded, members, step, penalty, biases=svd.biases)
    least = int(method.min_raters)
    levels = simple_profiles(table, members, step, least)
    if method.l:
        settings = {"b": method.b, "l": method.l, "min_raters": least}
        return diverse_profiles(
            padded, groups, levels, step, **settings, fake_edges=method.fake_edges, seed=seed
        )
    if least > 1:
        return join_equal(table, groups, levels, step, least)
    return groups, levels


def _grouping(method: PredictiveAnonymizer) -> str:
    exact = method.dissimilarity == "euclidean" and method.clip == "mean"
    return method.grouping or ("exchange" if exact else "t-means")


def _weights(method: PredictiveAnonymizer) -> str:
    return method.weights or ("support" if _grouping(method) == "exchange" else "uniform")


def claims_of(method: PredictiveAnonymizer) -> tuple[Claim, ...]:
    """Return what a release promises."""
    proximity = Claim(model="review-graph", parameters={"k": int(method.k)})
    if not method.l:
        return (proximity,)
    return proximity, Claim(model="diversity", parameters={"b": int(method.b), "l": int(method.l)})


def resolved(method: PredictiveAnonymizer, step: float) -> dict[str, Any]:
    """Return what was left to the method and its recommender, as it came out."""
    made = method.padding()
    return {
        **{name: getattr(made, name, None) for name in OWN},
        "grouping": _grouping(method),
        "weights": _weights(method),
        **({} if method.l else {"b": None, "fake_edges": None}),
        "step": step,
    }
