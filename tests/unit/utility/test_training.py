from __future__ import annotations

from dataclasses import replace

import pytest

import starshade as ss
from starshade.errors import ConfigError
from starshade.recommend.regularized_svd import RegularizedSVD
from starshade.utility.held_out.recommender_error import chosen, refit

SETTINGS = {"factors": 2, "regularization": 0.02, "sweeps": 3, "biases": False}


@pytest.fixture(scope="module")
def ratings() -> ss.Ratings:
    return ss.synthesize(n_users=60, n_items=20, n_ratings=700, rng=0)


@pytest.fixture(scope="module")
def release(ratings: ss.Ratings) -> ss.Release:
    return ss.PredictiveAnonymizer(k=5, **SETTINGS).anonymize(ratings, rng=0)


def test_the_recommender_of_a_release_is_the_one_it_was_made_with(release: ss.Release) -> None:
    assert chosen(None, release) == RegularizedSVD(**SETTINGS)
    assert chosen(None, release) == ss.PredictiveAnonymizer(k=5, **SETTINGS).padding()


def test_a_recommender_that_is_named_is_taken(release: ss.Release) -> None:
    assert chosen("regularized-svd", release) == RegularizedSVD()
    own = RegularizedSVD(factors=7)
    assert chosen(own, release) is own


def test_a_method_that_trains_nothing_is_measured_by_defaults(ratings: ss.Ratings) -> None:
    assert chosen(None, ss.KLikeness(k=5).anonymize(ratings, rng=0)) == RegularizedSVD()


def test_the_error_on_the_original_is_of_the_same_recommender(ratings: ss.Ratings) -> None:
    train, probe = ss.hold_out(ratings, 0.2, rng=0)
    made = ss.PredictiveAnonymizer(k=5, rare_items="keep", **SETTINGS).anonymize(train, rng=0)
    told = ss.RecommenderError().measure(made, original=train, probe=probe)
    same = ss.RecommenderError(RegularizedSVD(**SETTINGS)).measure(
        made, original=train, probe=probe
    )
    other = ss.RecommenderError("regularized-svd").measure(made, original=train, probe=probe)
    assert told.figures == same.figures
    assert told.figures["rmse_original"] != other.figures["rmse_original"]


@pytest.mark.parametrize("config", [{"recommender": "none"}, {"factors": "many"}, {"sweeps": -1}])
def test_a_release_that_names_no_such_recommender(release: ss.Release, config: dict) -> None:
    said = {**release.manifest.config, **config}
    forged = replace(release, manifest=release.manifest.model_copy(update={"config": said}))
    with pytest.raises(ConfigError):
        chosen(None, forged)


def test_a_release_of_fewer_rows_than_factors_is_refitted(ratings: ss.Ratings) -> None:
    method = ss.PredictiveAnonymizer(k=10, factors=18, sweeps=1)
    release = method.anonymize(ratings, rng=0)
    assert release.manifest.classes < 18
    again = refit(chosen(None, release), release, 0)
    assert again.fitted is not None
    assert again.reason == ""
