"""Settings that no release can be made with, and those that would show nothing."""

from __future__ import annotations

from typing import Any

import pytest

import starshade as ss
from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.errors import ConfigError, UnmetError
from starshade.ratings.scale import Scale
from starshade.ratings.synth.synth import synthesize
from starshade.recommend.regularized_svd import RegularizedSVD
from tests.strategies import table


def some(n_users: int = 40) -> ss.Ratings:
    return synthesize(n_users=n_users, n_items=12, n_ratings=6 * n_users, rng=3)


def test_profiles_without_a_cell_are_not_made() -> None:
    """No group has two raters of an item; so nothing would be said of anything."""
    apart = table([{0: 3.0}, {1: 4.0}, {2: 2.0}, {3: 5.0}], Scale(1, 5, 1))
    method = PredictiveAnonymizer(k=2, profile="simple", min_raters=2, rare_items="keep")
    with pytest.raises(UnmetError, match="all cells would be empty") as caught:
        method.anonymize(apart, rng=0)
    assert "larger groups (k)" in caught.value.advice
    plain = PredictiveAnonymizer(k=2, profile="simple", rare_items="keep")
    assert plain.anonymize(apart, rng=0).classes.levels.any()
    with pytest.raises(UnmetError, match="all cells would be empty"):
        PredictiveAnonymizer(k=2, profile="simple", min_raters=40).anonymize(some(), rng=0)


@pytest.mark.parametrize("least", [41, 99])
def test_more_raters_than_there_are_users(least: int) -> None:
    method = PredictiveAnonymizer(k=2, profile="simple", min_raters=least)
    with pytest.raises(ConfigError, match="there are 40 users"):
        method.anonymize(some(), rng=0)


@pytest.mark.parametrize("step", [1e308, 4_611_686_018_427_387_904])
def test_a_step_wider_than_the_scale(step: float) -> None:
    with pytest.raises(ConfigError, match="does not divide the scale"):
        PredictiveAnonymizer(k=2, step=step).anonymize(some(), rng=0)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("strength", [1e101, 1e308, float("inf"), float("nan"), -1.0])
def test_a_regularization_that_no_number_holds(strength: float) -> None:
    for make in (RegularizedSVD, lambda **asked: PredictiveAnonymizer(k=2, **asked)):
        with pytest.raises(ConfigError, match="from 0 to 1e\\+100"):
            make(regularization=strength)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("profile", ["padded", "model", "pooled"])
def test_the_strongest_regularization_leaves_the_mean_and_biases(profile: Any) -> None:
    method = PredictiveAnonymizer(k=2, profile=profile, regularization=1e100)
    assert method.anonymize(some(), rng=0).classes.levels.all()
    fitted = RegularizedSVD(regularization=1e100).fit(some(), rng=0)
    assert abs(fitted.user_factors @ fitted.item_factors.T).max() < 1e-50
