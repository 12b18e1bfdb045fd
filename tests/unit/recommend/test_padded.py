from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.anonymize.predictive import clusters
from starshade.anonymize.predictive.clusters import factored, nearest, within
from starshade.errors import ConfigError
from starshade.ratings.scale import Scale
from starshade.recommend.padded import Padded
from tests.naive import padded as naive
from tests.strategies import table
from tests.unit.recommend.padding import padded_tables, some_factors


def some_groups(m: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Members of some groups, which may overlap."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, m + 1, rng.integers(1, 5))
    members = np.concatenate([rng.permutation(m)[:size] for size in sizes])
    return np.concatenate([[0], np.cumsum(sizes)]), members


def means(rows: np.ndarray, starts: np.ndarray, members: np.ndarray) -> np.ndarray:
    return np.array([rows[members[a:b]].mean(axis=0) for a, b in pairwise(starts)])


@given(padded_tables(), st.booleans(), st.integers(0, 9))
def test_rows_and_means_are_those_written_out(padded, clip, seed):
    rows = naive.padded_rows(padded.ratings, padded.factors, clip=clip)
    users = np.random.default_rng(seed).permutation(padded.n_users)
    np.testing.assert_allclose(padded.block(users, clip=clip), rows[users], rtol=0, atol=1e-9)
    groups = some_groups(padded.n_users, seed)
    expected = means(rows, *groups)
    np.testing.assert_allclose(padded.means(*groups, clip=clip), expected, rtol=0, atol=1e-9)


@given(padded_tables(), st.integers(0, 9))
def test_distances_are_those_of_rows_written_out(padded, seed):
    rows = naive.padded_rows(padded.ratings, padded.factors)
    starts, members = some_groups(padded.n_users, seed)
    weights, base = padded.parts.weights, padded.parts.base
    expected = naive.squared(rows, means(rows, starts, members), base, weights)
    everybody = np.arange(padded.n_users)
    scale = 1e-5 * (1 + expected.max())
    for away in (factored(padded), within(padded, everybody)):
        found = away.to_means(everybody[::-1], starts, members)
        np.testing.assert_allclose(found, expected[::-1], rtol=1e-5, atol=1e-6 * scale)


@given(padded_tables(), st.integers(0, 9), st.sampled_from([1 << 28, 1]))
def test_the_nearest_is_the_first_of_the_least_whatever_is_passed_over(padded, seed, table):
    groups, everybody = some_groups(padded.n_users, seed), np.arange(padded.n_users)[::-1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clusters, "_TABLE", table)  # bytes: 1 makes a table a centre
        found = nearest(padded, everybody, *groups)
    np.testing.assert_array_equal(
        found, factored(padded).to_means(everybody, *groups).argmin(axis=1)
    )


@given(padded_tables())
def test_lengths_and_coordinates(padded):
    rows = naive.padded_rows(padded.ratings, padded.factors) - padded.parts.base
    weights = padded.parts.weights
    np.testing.assert_allclose(padded.lengths, (weights * rows**2).sum(axis=1), atol=1e-7)
    predicted = padded.without_ratings()
    low_rank = predicted.block(np.arange(padded.n_users)) - padded.parts.base
    np.testing.assert_allclose(
        (padded.coordinates**2).sum(axis=1), (weights * low_rank**2).sum(axis=1), atol=1e-6
    )


def test_a_rating_stays_to_the_last_bit_whatever_is_predicted():
    ratings = table([{0: 1, 2: 5}, {1: 3}], Scale(1, 5, 1))
    factors = some_factors(ratings, 2, 3)
    for clip in (False, True):
        rows = Padded(ratings, factors).block(np.array([0, 1]), clip=clip)
        assert (rows[0, 0], rows[0, 2], rows[1, 1]) == (1, 5, 3)
    assert rows.min() >= 1
    assert rows.max() <= 5


def test_factors_and_weights_of_another_shape_are_refused():
    ratings = table([{0: 1, 2: 5}, {1: 3}], Scale(1, 5, 1))
    factors = some_factors(ratings, 2, 3)
    with pytest.raises(ConfigError, match="factors of 2 users and 3 items, ratings of 1 and 3"):
        Padded(ratings.keep_users(np.array([0])), factors)
    for weights in (np.ones(2), np.array([1.0, -1, 1]), np.array([1.0, np.nan, 1])):
        with pytest.raises(ConfigError, match="item weights"):
            Padded(ratings, factors, weights)
