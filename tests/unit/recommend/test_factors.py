from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.errors import ConfigError
from starshade.kernels.padded import als
from starshade.ratings.scale import Scale
from starshade.ratings.vocabulary import Vocabulary
from starshade.recommend.factors import Factors


def some_factors(n_users: int, n_items: int, f: int, seed: int = 0) -> Factors:
    rng = np.random.default_rng(seed)
    return Factors(
        users=Vocabulary(np.arange(n_users)),
        items=Vocabulary(np.arange(n_items)),
        scale=Scale(1, 5, 1),
        mean=3.0,
        user_bias=rng.normal(size=n_users),
        item_bias=rng.normal(size=n_items),
        user_factors=rng.normal(size=(n_users, f)),
        item_factors=rng.normal(size=(n_items, f)),
    )


@given(st.integers(1, 6), st.integers(1, 9), st.integers(0, 5))
def test_rows_and_pairs_are_the_formula(n_users: int, n_items: int, f: int) -> None:
    model = some_factors(n_users, n_items, f)
    whole = (
        model.mean + model.user_bias[:, None] + model.item_bias
        + model.user_factors @ model.item_factors.T
    )  # fmt: skip
    rows = model.rows(np.arange(n_users)[::-1])
    assert np.allclose(rows, whole[::-1], rtol=1e-13)
    users, items = np.divmod(np.arange(n_users * n_items), n_items)
    assert np.allclose(model.predict(users, items), np.clip(whole, 1, 5).ravel(), rtol=1e-13)
    assert model.n_factors == f


def test_rows_and_pairs_agree_to_the_bit() -> None:
    model = some_factors(3, 5000, 16)  # more items than are taken at once
    users, items = np.divmod(np.arange(15_000), 5000)
    rows = model.rows(np.arange(3))
    assert np.array_equal(model.predict(users, items), np.clip(rows, 1, 5).ravel())
    assert als._ITEMS < 5000


def test_no_row_and_no_pair() -> None:
    model = some_factors(3, 4, 2)
    nobody = np.empty(0, dtype=np.int64)
    assert model.rows(nobody).shape == (0, 4)
    assert model.predict(nobody, nobody).shape == (0,)


def test_indices_that_are_none() -> None:
    model = some_factors(3, 4, 2)
    for users, items, message in (
        ([3], [0], "users: indices must be from 0 to 2"),
        ([-1], [0], "users: indices must be from 0 to 2"),
        ([0], [4], "items: indices must be from 0 to 3"),
        ([0, 1], [0], "2 users and 1 items"),
        ([0.5], [0], "users: must be a one-dimensional array"),
        ([[0]], [0], "users: must be a one-dimensional array"),
    ):
        with pytest.raises(ConfigError, match=message):
            model.predict(np.array(users), np.array(items))
    with pytest.raises(ConfigError, match="users: indices must be from 0 to 2"):
        model.rows(np.array([3]))


def test_nobody_is_shown() -> None:
    assert repr(some_factors(3, 4, 2)) == "Factors(3 users x 4 items, 2 factors, scale 1:5:1)"
