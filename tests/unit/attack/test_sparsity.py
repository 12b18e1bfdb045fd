"""Nearest neighbours, information gain and the habits of users against their slow twins."""

from __future__ import annotations

import json

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.attack.sparsity.information_gain import information_gain
from starshade.attack.sparsity.sparsity import Sparsity
from starshade.errors import ConfigError
from starshade.kernels.attack import neighbours
from starshade.ratings.describe import rated_outside_top, users_by_activity
from starshade.ratings.holdout import sample_users
from starshade.ratings.scale import Scale
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from tests.naive import sparsity as naive
from tests.strategies import ratings_tables, table

STARS = Scale(1, 5, 1)
ERRORS = st.sampled_from([0.0, 0.5, 1.0, 2.5, 20.0])
DAYS = st.sampled_from([0, 3, 14, 65_535])


@given(ratings_tables(), ERRORS, DAYS)
def test_neighbours_are_the_twins(ratings: Ratings, error: float, days: int) -> None:
    result = Sparsity(targets=None, rating_error=error, day_error=days).run(ratings, rng=0)
    expected = np.array(naive.nearest(ratings, error, days))
    covered = np.array(naive.covered(ratings, error, days))
    for s, curve in enumerate(result.neighbours):
        assert curve.similarity.tolist() == expected[:, s].tolist()
        assert curve.covered.tolist() == covered[:, s].tolist()
    assert len(result.neighbours) == (3 if ratings.has_days else 2)


@given(ratings_tables(max_users=12))
def test_blocks_of_rows_change_nothing(ratings: Ratings) -> None:
    whole = Sparsity(targets=None).run(ratings, rng=0).to_dict()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in list(vars(neighbours).items()):  # what is compiled has its own block
            patch.setattr(neighbours, name, getattr(value, "py_func", value))
        patch.setattr(neighbours, "_BLOCK", 3)
        blocks = Sparsity(targets=None).run(ratings, rng=0).to_dict()
    assert blocks["neighbours"] == whole["neighbours"]


def test_threads_change_nothing() -> None:
    ratings = synthesize(n_users=600, n_items=300, n_ratings=600 * 40, rng=1)
    threads = numba.get_num_threads()
    many = Sparsity(targets=200).run(ratings, rng=3)
    numba.set_num_threads(1)
    try:
        one = Sparsity(targets=200).run(ratings, rng=3)
    finally:
        numba.set_num_threads(threads)
    assert one.to_dict()["neighbours"] == many.to_dict()["neighbours"]
    assert one.targets == 200
    assert one.seed == 3


def test_one_user_has_no_neighbour_and_equal_ones_are_alike() -> None:
    alone = Sparsity().run(table([{0: 3}], STARS), rng=0)
    assert [curve.similarity.tolist() for curve in alone.neighbours] == [[0.0], [0.0]]
    twins = table([{0: 3, 1: 4}, {0: 3, 1: 4}, {}], STARS)
    assert Sparsity().run(twins, rng=0).neighbours[1].similarity.tolist() == [1.0, 1.0, 0.0]


def test_shares_are_of_definition_1_and_figure_1() -> None:
    two_thirds = table([{0: 3, 1: 4}, {0: 3, 1: 4, 2: 1}, {3: 1}], STARS)
    curve = Sparsity().run(two_thirds, rng=0).neighbours[0]
    assert curve.at_least(2 / 3).rate == pytest.approx(2 / 3)
    assert curve.delta(2 / 3).rate == 0  # more than, not at least
    assert curve.at_least(0).rate == 1


def test_a_star_is_a_quarter_of_the_scale() -> None:
    rows = [{0: -10.0}, {0: -5.0}, {0: 0.1}]
    found = Sparsity().run(table(rows, Scale(-10, 10)), rng=0)
    assert found.rating_error == 5
    assert found.neighbours[1].similarity.tolist() == [1.0, 1.0, 0.0]


def test_neighbours_go_into_json_without_single_users() -> None:
    result = Sparsity().run(synthesize(n_users=100, n_items=300, n_ratings=100 * 40, rng=1), rng=0)
    told = json.loads(json.dumps(result.to_dict()))
    assert [c["name"] for c in told["neighbours"]] == [
        "rated", "ratings ±1", "ratings ±1, days ±14"
    ]  # fmt: skip
    assert all(
        c.keys() == {"name", "at_least", "delta", "covered_at_least"} for c in told["neighbours"]
    )
    shares = [point["rate"] for point in told["neighbours"][0]["at_least"]]
    assert shares == sorted(shares, reverse=True)
    assert "more than half" in str(result)


@pytest.mark.parametrize(
    "settings", [{"targets": 0}, {"rating_error": -1.0}, {"day_error": -1}, {"day_error": 10**6}]
)
def test_settings_out_of_range_are_refused(settings: dict[str, float]) -> None:
    with pytest.raises(ConfigError):
        Sparsity(**settings)  # type: ignore[arg-type]


def test_a_sample_does_not_depend_on_who_else_there_is() -> None:
    ratings = synthesize(n_users=300, n_items=300, n_ratings=300 * 40, rng=1)
    some = sample_users(ratings, np.arange(300), 50, 7)
    half = np.arange(0, 300, 2)
    assert sample_users(ratings, half, None, 7).tolist() == half.tolist()
    again = sample_users(ratings, half, len(half) - 1, 7)
    assert set(some[some % 2 == 0]) <= set(again)


@given(ratings_tables(), ERRORS, DAYS)
def test_gains_are_the_twins(ratings: Ratings, error: float, days: int) -> None:
    found = information_gain(ratings, rating_error=error, day_error=days)
    expected = np.array(naive.gains(ratings, error, days)).reshape(-1, 3)
    np.testing.assert_allclose(found.rated, expected[:, 0], atol=1e-12)
    np.testing.assert_allclose(found.with_rating, expected[:, 1], atol=1e-12)
    if ratings.has_days:
        assert found.with_day is not None
        np.testing.assert_allclose(found.with_day, expected[:, 2], atol=1e-12)
    else:
        assert found.with_day is None


@given(st.lists(st.floats(-10, 10, allow_nan=False), min_size=1, max_size=40), ERRORS)
def test_gains_of_one_item_on_a_real_scale(values: list[float], error: float) -> None:
    ratings = table([{0: round(v, 6)} for v in values], Scale(-10, 10))
    found = information_gain(ratings, rating_error=error).with_rating
    np.testing.assert_allclose(found, [naive.gains(ratings, error, 0)[0][1]], atol=1e-12)


def test_gains_say_what_is_shown() -> None:
    ratings = synthesize(n_users=400, n_items=300, n_ratings=400 * 40, rng=1)
    gain = information_gain(ratings)
    told = json.loads(json.dumps(gain.to_dict()))
    assert told["rank"][0] == 1
    assert told["rank"][-1] == told["items"] == np.count_nonzero(ratings.item_support)
    assert len(told["rank"]) <= 200
    assert set(told["bits"]) == {"rated at all", "rating ±1", "day ±14"}
    assert "most rated item" in str(gain)
    assert (
        str(information_gain(table([{}], STARS))) == "No item was rated, so no rating can be known."
    )


@given(ratings_tables(), st.integers(0, 7), st.integers(1, 4))
def test_off_the_top_is_the_twins(ratings: Ratings, top: int, n: int) -> None:
    (row,) = rated_outside_top(ratings, [top], [n])
    assert row.at_least[n] == naive.off_top(ratings, top, n)
    assert row.items == max(0, ratings.n_items - top)


def test_activity_counts_users_with_exactly_so_many() -> None:
    rows = table([{}, {0: 1}, {1: 1}, {0: 1, 1: 2}, {0: 1, 1: 1, 2: 1}], STARS)
    assert users_by_activity(rows, 2).tolist() == [1, 2, 1]
    assert users_by_activity(rows, 5).tolist() == [1, 2, 1, 1, 0, 0]


def test_habits_refuse_numbers_out_of_range() -> None:
    with pytest.raises(ConfigError):
        users_by_activity(table([{0: 1}], STARS), -1)
    with pytest.raises(ConfigError):
        rated_outside_top(table([{0: 1}], STARS), [-1])
    with pytest.raises(ConfigError):
        rated_outside_top(table([{0: 1}], STARS), [1], [0])
