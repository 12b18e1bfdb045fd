from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.errors import ConfigError
from starshade.ratings.proximity.sensitive import (
    moments,
    refuse_above_bound,
    spread_bound,
    spreads,
    too_low,
)
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from tests.naive.spread import spread
from tests.strategies import ratings_tables, table

SIX = Scale(1, 6, 1)


def over_everybody(ratings: Ratings, items: list[int]) -> list[float | None]:
    sums = moments(ratings, np.array(items)).sum(axis=0)[None, :]
    found = spreads(np.array([ratings.n_users]), sums, ratings.scale)[0]
    return [None if math.isnan(s) else s for s in found.tolist()]


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ([6, None], 4.2426),
        ([6, None, None], 4.8990),
        ([1, 5, None], 2.3805),
        ([3, 3, None], 1.7321),
        ([6, 1, 1, 1, 5], 2.2271),  # SR §4.2's example
        ([1, 1], 0.0),
        ([1, 5], 2.0),
    ],
)
def test_spreads_computed_by_hand(column: list[float | None], expected: float) -> None:
    rows = [{0: 1.0} if v is None else {0: 1.0, 1: float(v)} for v in column]
    (found,) = over_everybody(table(rows, SIX), [1])
    assert found == pytest.approx(expected, abs=5e-5)


def test_nobody_rated_it_is_no_spread_and_never_too_low() -> None:
    ratings = table([{0: 1.0}, {0: 2.0}], SIX, n_items=2)
    assert over_everybody(ratings, [1]) == [None]
    sums = moments(ratings, np.array([1])).sum(axis=0)[None, :]
    assert not too_low(spreads(np.array([2]), sums, SIX), 2.0).any()


def test_a_spread_as_large_as_l_is_not_too_low() -> None:
    assert too_low(np.array([2.0 - 1e-10, 2.0 - 1e-8, np.nan]), 2.0).tolist() == [
        False,
        True,
        False,
    ]


@given(ratings_tables(with_days=False), st.data())
def test_agrees_with_the_twin(ratings: Ratings, data: st.DataObject) -> None:
    items = data.draw(st.permutations(range(ratings.n_items)))
    dense = ratings.dense()
    found = over_everybody(ratings, items)
    for item, own in zip(items, found, strict=True):
        expected = spread([None if math.isnan(v) else v for v in dense[:, item].tolist()])
        assert (own is None) == (expected is None)
        if own is not None and expected is not None:
            # a real scale's sums are rounded: a spread of 0 may come out as 1e-7
            near = 1e-9 if ratings.scale.step is not None else 1e-6
            assert own == pytest.approx(expected, abs=near)


def test_many_fine_levels_are_summed_exactly() -> None:
    n, scale = 1_000_000, Scale(0, 65_534, 1)
    sums = np.array([[n, 65_534 * n, 65_534**2 * n]])
    assert spreads(np.array([n]), sums, scale)[0, 0] == 0.0


def test_equal_ratings_of_a_real_scale_do_not_spread_by_rounding() -> None:
    for value in (195_750.83, 12_345.67, 0.1):
        ratings = table([{0: value}] * 7 + [{}] * 2, Scale(0, 200_000))
        assert over_everybody(ratings, [0])[0] == pytest.approx(value * math.sqrt(2 / 9))
        ratings = table([{0: value}] * 7, Scale(0, 200_000))
        assert over_everybody(ratings, [0]) == [0.0]


def test_ratings_of_a_real_scale_that_differ_spread() -> None:
    ratings = table([{0: 1000.0}, {0: 1002.0}], Scale(0, 200_000))
    assert over_everybody(ratings, [0])[0] == pytest.approx(1.0, rel=1e-6)


def test_the_bound_holds_only_where_everybody_rated() -> None:
    ratings = table([{0: 1.0, 1: 2.0}, {0: 1.0, 1: 6.0, 2: 3.0}], SIX)
    assert spread_bound(ratings, np.array([1, 2, 0])).tolist() == [2.0, math.inf, 0.0]


def test_above_the_bound_is_refused_with_the_bound() -> None:
    ratings = table([{0: 1.0, 1: 2.0}, {0: 1.0, 1: 6.0, 2: 3.0}], SIX)
    refuse_above_bound(ratings, np.array([2, 1]), 2.0)
    with pytest.raises(ConfigError, match=r"sensitive item 2 of the 2 given span 4.*half.*2 "):
        refuse_above_bound(ratings, np.array([2, 1]), 2.1)


@given(ratings_tables(with_days=False, min_users=1))
def test_no_spread_is_above_the_bound(ratings: Ratings) -> None:
    items = np.arange(ratings.n_items)
    bound = spread_bound(ratings, items)
    for own, most in zip(over_everybody(ratings, items.tolist()), bound, strict=True):
        assert own is None or own <= most + 1e-9
