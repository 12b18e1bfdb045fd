from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.kernels import arrays
from starshade.kernels.arrays import fixed
from starshade.kernels.fingerprint import uniform
from starshade.kernels.padded import als
from starshade.kernels.padded.als import half_sweep, squared_error
from starshade.kernels.synth import normals
from starshade.ratings.table import Ratings
from tests.naive import als as naive
from tests.strategies import ratings_tables


@pytest.fixture(params=[1, 1 << 16], ids=["many lanes", "one lane"])
def lane_sizes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "_WORTH_IT", request.param)


def solved(
    ratings: Ratings, others: np.ndarray, penalties: np.ndarray, bias: float, biases: bool
) -> np.ndarray:
    """Half a sweep over the users, about the mean 0."""
    out = np.full((ratings.n_users, others.shape[1]), np.nan)
    half_sweep(
        fixed(ratings.indptr),
        fixed(ratings.columns),
        fixed(ratings.codes),
        fixed(ratings.levels),
        fixed(others),
        fixed(np.column_stack([penalties, np.full(ratings.n_users, bias)])),
        biases,
        out,
    )
    return out


@pytest.mark.usefixtures("lane_sizes")
@given(ratings_tables(max_items=10), st.integers(1, 18), st.booleans(), st.integers(0, 99))
def test_every_row_is_the_minimiser(ratings: Ratings, width: int, biases: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    others = rng.normal(size=(ratings.n_items, width))
    penalties = rng.uniform(0.1, 3.0, ratings.n_users)
    found = solved(ratings, others, penalties, 0.7, biases)
    expected = naive.solve_rows(ratings.dense(), others, penalties, 0.7, biases)
    assert np.allclose(found, expected, rtol=1e-7, atol=1e-8)


@given(ratings_tables(max_users=30, max_items=12), st.integers(0, 99))
def test_sums_written_out_are_the_same_to_the_bit(ratings: Ratings, seed: int) -> None:
    rng = np.random.default_rng(seed)
    others, penalties = rng.normal(size=(ratings.n_items, 4)), rng.random(ratings.n_users)
    out = solved(ratings, others, penalties, 0.7, True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(als, "_USUAL", 0)
        assert np.array_equal(solved(ratings, others, penalties, 0.7, True), out)


@given(ratings_tables(max_items=8), st.integers(1, 10), st.booleans())
def test_without_a_penalty_nothing_explains_more(
    ratings: Ratings, width: int, biases: bool
) -> None:
    others = np.random.default_rng(width).normal(size=(ratings.n_items, width))
    others[:, width // 2] = others[:, 0]  # a direction twice
    found = solved(ratings, others, np.zeros(ratings.n_users), 0.0, biases)
    assert np.isfinite(found).all()
    for row, target in zip(found, ratings.dense(), strict=True):
        rated = ~np.isnan(target)
        x, y = others[rated].copy(), target[rated].copy()
        if biases:
            y -= x[:, -1]
            x[:, -1] = 1.0
        least = np.linalg.lstsq(x, y, rcond=None)[0]
        assert np.allclose(x @ row, x @ least, atol=1e-5 * (1 + np.abs(y).max(initial=0)))


def test_a_bias_alone_by_hand() -> None:
    ratings = Ratings.from_arrays(["a", "a", "b"], ["x", "y", "x"], [4.0, 2.0, 5.0], scale="1:5:1")
    others = np.array([[1.0], [0.5]])
    # a's ratings leave 3 and 1.5 to explain, b's 4; one more rating of 0 is the penalty
    found = solved(ratings, others, np.zeros(2), 1.0, True)
    assert found[:, 0] == pytest.approx([4.5 / 3, 4 / 2])
    # without biases: a 4·1 + 2·0.5 over 1 + 0.25 + 1, b 5 over 1 + 1
    found = solved(ratings, others, np.ones(2), 0.0, False)
    assert found[:, 0] == pytest.approx([5 / 2.25, 2.5])


@pytest.mark.usefixtures("lane_sizes")
@given(ratings_tables(), st.integers(1, 6), st.booleans())
def test_errors_are_summed_by_row(ratings: Ratings, width: int, biases: bool) -> None:
    rng = np.random.default_rng(width)
    rows = rng.normal(size=(ratings.n_users, width))
    others = rng.normal(size=(ratings.n_items, width))
    found = squared_error(
        fixed(ratings.indptr), fixed(ratings.columns), fixed(ratings.codes),
        fixed(ratings.levels), fixed(rows), fixed(others), biases, -1.0, 1.5,
    )  # fmt: skip
    predicted = rows @ others.T
    if biases:
        predicted = rows[:, :-1] @ others[:, :-1].T + rows[:, -1:] + others[:, -1]
    errors = (ratings.dense() - np.clip(predicted, -1.0, 1.5)) ** 2
    assert np.allclose(found, np.nansum(errors, axis=1))


def test_normal_numbers() -> None:
    keys = np.arange(20_000, dtype=np.uint64) * np.uint64(977)
    found = normals(keys, 3)
    key = keys[5]
    radius = np.sqrt(-2.0 * np.log1p(-uniform(key, np.uint64(2))))
    assert found[5, 1] == pytest.approx(radius * np.cos(2 * np.pi * uniform(key, np.uint64(3))))
    assert np.abs(found.mean(axis=0)).max() < 0.03
    assert np.abs(found.std(axis=0) - 1).max() < 0.03
    assert np.abs(np.corrcoef(found.T) - np.eye(3)).max() < 0.03
