from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from starshade import budget
from starshade.anonymize.predictive.homogenize import (
    check_profile_memory,
    mean_profiles,
    pooled_profiles,
    simple_profiles,
)
from starshade.errors import ConfigError
from starshade.ratings.scale import Scale
from starshade.recommend.factors import Factors
from starshade.recommend.padded import Padded
from tests.naive import homogenize as naive
from tests.strategies import ratings_tables, table

NEAR = 1e-6  # of a step: sums in another order


@st.composite
def cases(draw: st.DrawFn):
    """A table, any factors for it, and a partition of its users without empty groups."""
    ratings = draw(ratings_tables())
    width = draw(st.integers(0, 3))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    factors = Factors(
        users=ratings.users,
        items=ratings.items,
        scale=ratings.scale,
        mean=float(rng.normal(3)),
        user_bias=rng.normal(size=ratings.n_users),
        item_bias=rng.normal(size=ratings.n_items),
        user_factors=rng.normal(size=(ratings.n_users, width)),
        item_factors=rng.normal(size=(ratings.n_items, width)),
    )
    n_groups = draw(st.integers(1, ratings.n_users))
    groups = np.concatenate(
        [np.arange(n_groups), rng.integers(0, n_groups, ratings.n_users - n_groups)]
    )
    return Padded(ratings, factors), rng.permutation(groups)


def members_of(groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    ends = np.concatenate([[0], np.cumsum(np.bincount(groups))]).astype(np.int64)
    return ends, np.argsort(groups, kind="stable")


def step_of(scale: Scale) -> float:
    return scale.width / 80 or 1.0


def agree(found: np.ndarray, values: np.ndarray, scale: Scale) -> None:
    """Equal levels, but for values so near the middle of two that rounding decides."""
    step = step_of(scale)
    assert found.dtype == np.uint8
    low, high = (naive.level_of(values + d * step * NEAR, scale, step) for d in (-1, 1))
    assert ((found == low) | (found == high)).all()


@given(cases())
def test_mean_profiles_are_those_of_rows_written_out(case) -> None:
    padded, groups = case
    ratings, scale = padded.ratings, padded.ratings.scale
    members, step = members_of(groups), step_of(padded.ratings.scale)
    agree(
        mean_profiles(padded, members, step), naive.padded(ratings, padded.factors, groups), scale
    )
    agree(
        mean_profiles(padded, members, step, "cells"),
        naive.padded(ratings, padded.factors, groups, clip=True),
        scale,
    )
    agree(
        mean_profiles(padded.without_ratings(), members, step),
        naive.model(padded.factors, groups),
        scale,
    )


@given(cases(), st.integers(1, 3))
def test_simple_profiles_are_means_of_those_who_rated(case, min_raters: int) -> None:
    padded, groups = case
    ratings, scale = padded.ratings, padded.ratings.scale
    found = simple_profiles(ratings, members_of(groups), step_of(scale), min_raters)
    agree(found, naive.simple(ratings, groups, min_raters), scale)


@given(cases(), st.booleans())
def test_pooled_profiles_are_ridge_regressions(case, biases: bool) -> None:
    padded, groups = case
    ratings, scale = padded.ratings, padded.ratings.scale
    penalty = 1.0 + np.random.default_rng(1).random((ratings.n_users, 2))
    found = pooled_profiles(padded, members_of(groups), step_of(scale), penalty, biases=biases)
    agree(found, naive.pooled(ratings, padded.factors, groups, penalty, biases), scale)


@settings(max_examples=20)
@given(cases())
def test_threads_do_not_change_a_profile(case) -> None:
    padded, groups = case
    members, step = members_of(groups), step_of(padded.ratings.scale)
    found = mean_profiles(padded, members, step)
    with budget.limits(threads=1):
        assert np.array_equal(mean_profiles(padded, members, step), found)


def test_more_items_than_a_tile_and_more_groups_than_a_chunk() -> None:
    rng = np.random.default_rng(0)
    rows = [
        {int(i): float(rng.integers(1, 6)) for i in rng.integers(0, 5000, 9)} for _ in range(80)
    ]
    ratings = table(rows, Scale(1, 5, 1), n_items=5000)
    factors = Factors(
        ratings.users, ratings.items, ratings.scale, 3.0, rng.normal(size=80),
        rng.normal(size=5000), rng.normal(size=(80, 2)), rng.normal(size=(5000, 2)),
    )  # fmt: skip
    groups = np.arange(80) // 2
    found = mean_profiles(Padded(ratings, factors), members_of(groups), 0.05)
    agree(found, naive.padded(ratings, factors, groups), ratings.scale)


def test_too_many_profiles_are_refused_with_the_figure() -> None:
    ratings = table([{0: 1.0}] * 4, Scale(1, 5, 1), n_items=5000)
    with budget.limits(memory=9_000), pytest.raises(ConfigError, match=r"2 profiles .* 10 kB"):
        check_profile_memory(ratings, 2)
    with budget.limits(memory=11_000):
        check_profile_memory(ratings, 2)
