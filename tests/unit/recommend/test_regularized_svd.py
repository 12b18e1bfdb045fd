from __future__ import annotations

import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from starshade import budget
from starshade.errors import ConfigError
from starshade.kernels import arrays
from starshade.progress import watch
from starshade.ratings.holdout import cell_bytes, hold_out
from starshade.ratings.read import read_ratings
from starshade.ratings.scale import Scale
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.recommend import regularized_svd
from starshade.recommend.factors import Factors
from starshade.recommend.regularized_svd import RegularizedSVD
from tests.naive import als as naive
from tests.strategies import ratings_tables, table

STARS = Scale(1, 5, 1)


def rmse(model: Factors, probe: Ratings) -> float:
    users = np.repeat(np.arange(probe.n_users), probe.user_support)
    errors = model.predict(users, probe.columns) - probe.values()
    return float(np.sqrt(np.mean(errors**2)))


def same(a: Factors, b: Factors) -> bool:
    names = ("user_bias", "item_bias", "user_factors", "item_factors")
    return a.mean == b.mean and all(
        np.array_equal(getattr(a, name), getattr(b, name)) for name in names
    )


@given(
    ratings_tables(),
    st.integers(1, 4),
    st.sampled_from([0.01, 0.055, 1.0]),
    st.integers(1, 3),
    st.booleans(),
)
def test_as_the_dense_twin(
    ratings: Ratings, factors: int, regularization: float, sweeps: int, biases: bool
) -> None:
    assume(ratings.n_ratings > 0)
    model = RegularizedSVD(factors, regularization, sweeps, biases, holdout=0).fit(ratings, rng=1)
    rank = min(factors, ratings.n_users, ratings.n_items)
    assert model.n_factors == rank
    first = regularized_svd.first_items(
        ratings.items, regularized_svd.Alternation(rank, regularization, biases, 1)
    )
    expected = naive.fit(ratings.dense(), first, regularization, sweeps, biases)
    assert np.allclose(model.rows(np.arange(ratings.n_users)), expected, rtol=1e-7, atol=1e-6)


@given(ratings_tables(), st.integers(1, 8), st.sampled_from([0.0, 1e-12, 0.055]), st.booleans())
def test_finite_whatever_comes(
    ratings: Ratings, factors: int, regularization: float, biases: bool
) -> None:
    assume(ratings.n_ratings > 0)
    model = RegularizedSVD(factors, regularization, 3, biases).fit(ratings, rng=0)
    rows = model.rows(np.arange(ratings.n_users))
    assert np.isfinite(rows).all()
    assert not model.user_factors[ratings.user_support == 0].any()
    assert not model.user_bias[ratings.user_support == 0].any()
    assert not model.item_factors[ratings.item_support == 0].any()
    assert not model.item_bias[ratings.item_support == 0].any()


@pytest.mark.parametrize("biases", [True, False])
@pytest.mark.parametrize("regularization", [0.0, 0.055])
def test_a_constant_rating_is_predicted_everywhere(biases: bool, regularization: float) -> None:
    ratings = table([{0: 4.0, 1: 4.0}, {}, {1: 4.0, 3: 4.0}], STARS)
    model = RegularizedSVD(2, regularization, biases=biases).fit(ratings, rng=0)
    assert (model.rows(np.arange(3)) == 4.0).all()


def test_one_user_one_item() -> None:
    model = RegularizedSVD().fit(table([{0: 2.0}], STARS), rng=0)
    assert model.rows(np.arange(1)).tolist() == [[2.0]]


def test_low_rank_is_found_again() -> None:
    rng = np.random.default_rng(0)
    true = 2 * rng.normal(size=(60, 2)) @ rng.normal(size=(2, 40))
    true = np.clip(true, -10, 10)
    rated = rng.random(true.shape) < 0.6
    users, items = np.nonzero(rated)
    ratings = Ratings.from_arrays(users, items, true[rated], scale="-10:10")
    # the mean taken off makes a third
    model = RegularizedSVD(3, 1e-5, 60, biases=False, holdout=0).fit(ratings, rng=0)
    inside = ~rated & (np.abs(true) < 8)
    error = model.rows(np.arange(60))[inside] - true[inside]
    assert np.sqrt(np.mean(error**2)) < 0.35


def test_the_seed_decides_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "_WORTH_IT", 1)
    ratings = synthesize(n_users=300, n_items=90, n_ratings=6000, rng=0)
    with budget.limits(threads=1):
        one = RegularizedSVD(5).fit(ratings, rng=3)
    assert same(one, RegularizedSVD(5).fit(ratings, rng=3))
    monkeypatch.setattr(arrays, "_WORTH_IT", 1 << 40)
    assert same(one, RegularizedSVD(5).fit(ratings, rng=3))
    assert not same(one, RegularizedSVD(5).fit(ratings, rng=4))


def test_the_unit_of_the_scale_does_not_matter() -> None:
    stars = synthesize(n_users=100, n_items=40, n_ratings=1500, rng=0)
    users = np.repeat(np.arange(100), stars.user_support)
    tens = Ratings.from_arrays(
        [stars.users[u] for u in users],
        [stars.items[i] for i in stars.columns],
        stars.values() * 10 - 25,
        scale="-15:25:10",
    )
    rows = [RegularizedSVD(4).fit(r, rng=0).rows(np.arange(100)) for r in (stars, tens)]
    assert np.allclose(rows[0] * 10 - 25, rows[1], atol=1e-8)


def test_more_factors_than_items_are_not_fitted() -> None:
    said: list[str] = []

    class Ear:
        def start(self, label: str, total: float | None) -> int:
            return 0

        def advance(self, handle: int, amount: float) -> None: ...
        def stop(self, handle: int) -> None: ...
        def note(self, message: str) -> None:
            said.append(message)

    ratings = synthesize(n_users=30, n_items=4, n_ratings=60, rng=0)
    with watch(Ear()):
        model = RegularizedSVD(factors=9, sweeps=2).fit(ratings, rng=0)
    assert model.item_factors.shape == (4, 4)
    assert "factors 9: 4 are fitted" in " ".join(said)


def test_many_more_factors_than_users_or_items_are_refused() -> None:
    ratings = synthesize(n_users=30, n_items=20, n_ratings=200, rng=0)
    RegularizedSVD(factors=20, sweeps=1).fit(ratings, rng=0)
    with pytest.raises(ConfigError, match="factors 21: must be at most 20 for 30 users"):
        RegularizedSVD(factors=21).fit(ratings, rng=0)
    few = synthesize(n_users=5, n_items=4, n_ratings=15, rng=0)
    assert RegularizedSVD().fit(few, rng=0).n_factors == 4


@pytest.mark.parametrize("factors", [1, 6])
def test_sweeps_stop_where_the_held_out_ratings_say(factors: int) -> None:
    ratings = synthesize(n_users=300, n_items=90, n_ratings=6000, rng=0)
    how = regularized_svd.Alternation(factors, 0.02, True, seed=7)
    found = regularized_svd.stopping_sweep(ratings, how, 9, 0.1)
    train, probe = hold_out(ratings, 0.1, rng=7)
    errors = [
        rmse(RegularizedSVD(factors, 0.02, n, holdout=0).fit(train, rng=7), probe)
        for n in range(1, 10)
    ]
    assert errors[found - 1] == min(errors[: found + 1])
    fitted = RegularizedSVD(factors, 0.02, 9, holdout=0.1).fit(ratings, rng=7)
    assert same(fitted, RegularizedSVD(factors, 0.02, found, holdout=0).fit(ratings, rng=7))


def test_some_users_suffice_to_find_the_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    ratings = synthesize(n_users=300, n_items=90, n_ratings=6000, rng=0)
    monkeypatch.setattr(regularized_svd, "_SEARCHED", 2000)
    few = regularized_svd._some_users(ratings, seed=0)
    assert few.n_users == 100
    assert few.items == ratings.items
    assert (
        1
        <= regularized_svd.stopping_sweep(
            few, regularized_svd.Alternation(4, 0.05, True, 0), 6, 0.1
        )
        <= 6
    )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"factors": 0}, "factors = 0: must be a whole number"),
        ({"factors": 2.5}, "factors = 2.5: must be a whole number"),
        ({"factors": True}, "factors = True: must be a whole number"),
        ({"sweeps": 0}, "sweeps = 0: must be a whole number"),
        ({"regularization": -1}, "regularization = -1: must be a number from 0 to 1"),
        ({"regularization": float("nan")}, "regularization = nan"),
        ({"regularization": float("inf")}, "regularization = inf"),
        ({"holdout": 1}, "holdout = 1: must be a finite number, 0 or more and below 1"),
        ({"holdout": -0.1}, "holdout = -0.1"),
    ],
)
def test_settings_that_are_none(settings: dict[str, float], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        RegularizedSVD(**settings)  # type: ignore[arg-type]


def test_nothing_to_learn_from() -> None:
    with pytest.raises(ConfigError, match="no ratings to fit to"):
        RegularizedSVD().fit(table([{}, {}], STARS), rng=0)


def test_too_little_memory() -> None:
    ratings = synthesize(n_users=300, n_items=90, n_ratings=6000, rng=0)
    with (
        budget.limits(memory=100_000),
        pytest.raises(ConfigError, match="16 factors of 300 users and 90 items need"),
    ):
        RegularizedSVD().fit(ratings, rng=0)


@pytest.mark.parametrize(
    ("n_ratings", "searched"), [(6_000, 10**9), (300_000, 10**9), (300_000, 10**5)]
)
@pytest.mark.parametrize("holdout", [0.0, 0.05])
def test_what_a_fit_holds_is_what_it_is_held_to(
    n_ratings: int, searched: int, holdout: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(regularized_svd, "_SEARCHED", searched)
    made = synthesize(n_users=n_ratings // 100, n_items=900, n_ratings=n_ratings, rng=0)
    svd = RegularizedSVD(factors=4, sweeps=2, holdout=holdout)
    svd.fit(made, rng=0)  # what is computed once is there
    ratings = replace(made)
    tracemalloc.start()
    svd.fit(ratings, rng=0)
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    data = ratings.n_ratings * cell_bytes(ratings)
    with budget.limits(memory=data + held), pytest.raises(ConfigError, match="need"):
        svd.fit(replace(made), rng=0)
    with budget.limits(memory=data + 2 * held):
        svd.fit(replace(made), rng=0)


@pytest.mark.real
def test_movielens_100k(ml100k_dir: Path) -> None:
    ratings = read_ratings(ml100k_dir / "u.data")
    errors, plain = [], []
    for seed in range(5):
        train, probe = hold_out(ratings, 0.1, rng=seed)
        errors.append(rmse(RegularizedSVD().fit(train, rng=seed), probe))
        plain.append(rmse(RegularizedSVD(biases=False).fit(train, rng=seed), probe))
    assert max(errors) < 0.92
    assert np.mean(errors) < 0.905
    assert np.mean(errors) < np.mean(plain) < 0.94


@pytest.mark.real
def test_half_stars(ml_latest_small_dir: Path) -> None:
    ratings = read_ratings(ml_latest_small_dir / "ratings.csv")
    train, probe = hold_out(ratings, 0.1, rng=0)
    assert rmse(RegularizedSVD().fit(train, rng=0), probe) < 0.86


def test_synthetic_ratings_are_not_overfitted() -> None:
    ratings = synthesize(n_users=900, n_items=700, n_ratings=60_000, rng=0)
    train, probe = hold_out(ratings, 0.1, rng=0)
    default = rmse(RegularizedSVD().fit(train, rng=0), probe)
    biases = rmse(RegularizedSVD(regularization=1e3).fit(train, rng=0), probe)
    assert default < 1.005 * biases
