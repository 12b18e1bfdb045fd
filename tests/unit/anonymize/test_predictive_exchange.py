from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from starshade import budget
from starshade.anonymize.predictive import clusters as room
from starshade.anonymize.predictive.clusters import exchange_users
from starshade.kernels.predictive.exchange import cut, squared_errors
from tests.naive import predictive_exchange as naive


@st.composite
def clouds(draw: st.DrawFn):
    """Points with ties and equal ones, weights, and a k."""
    n = draw(st.integers(2, 16))
    f = draw(st.integers(1, 3))
    value = st.one_of(st.sampled_from([0.0, 1.0, -2.0]), st.floats(-9, 9))
    points = draw(st.lists(st.lists(value, min_size=f, max_size=f), min_size=n, max_size=n))
    weights = draw(st.lists(st.sampled_from([1.0, 1.0, 3.5, 20.0]), min_size=n, max_size=n))
    return np.array(points), np.array(weights), draw(st.integers(2, n))


@settings(max_examples=60)
@given(clouds(), st.integers(0, 9))
def test_no_single_move_or_exchange_would_gain(cloud, seed: int) -> None:
    points, weights, k = cloud
    groups = exchange_users(points, weights, k, seed)
    sizes = np.bincount(groups)
    assert sizes.min() >= k
    assert len(sizes) == len(points) // k
    error = naive.squared_error(points, weights, groups)
    everything = naive.squared_error(points, weights, np.zeros(len(points), int))
    for other in naive.neighbours(groups, k):
        gained = error - naive.squared_error(points, weights, other)
        assert gained <= 2e-9 * everything + 1e-12


@given(clouds())
def test_the_error_is_that_of_the_twin(cloud) -> None:
    points, weights, k = cloud
    groups = np.arange(len(points)) // k
    assert squared_errors(points, weights, groups) == pytest.approx(
        naive.squared_error(points, weights, groups), abs=1e-9
    )


@given(clouds(), st.integers(1, 8))
def test_parts_are_whole_units_and_hold_everybody(cloud, most: int) -> None:
    points, _, unit = cloud
    order = np.arange(len(points))
    ends = cut(points, order, unit, most, 7)
    assert sorted(order) == list(range(len(points)))
    assert ends[0] == 0
    assert ends[-1] == len(points)
    sizes = np.diff(ends)
    assert (sizes >= min(unit, len(points))).all()
    assert (sizes[sizes > most] < 2 * unit).all()
    assert (sizes[:-1] % unit == 0).all()


def test_far_clumps_become_groups() -> None:
    points = np.repeat([[0.0, 0], [50, 0], [0, 50], [50, 50]], 5, axis=0)
    points += np.random.default_rng(0).normal(size=points.shape)
    mixed = np.random.default_rng(1).permutation(20)
    groups = exchange_users(points[mixed], np.ones(20), 5, 3)
    assert {frozenset(mixed[groups == g] // 5) for g in range(4)} == {
        frozenset({c}) for c in range(4)
    }


def test_many_leaves_come_near_one_and_threads_change_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    points = np.random.default_rng(0).normal(size=(300, 3))
    weights = np.random.default_rng(1).integers(1, 9, 300).astype(float)
    whole = exchange_users(points, weights, 5, 0)
    monkeypatch.setattr(room, "_SMALL", 60)  # also: partners in a window of a leaf
    monkeypatch.setattr(room, "_LEAF", (100, 100))
    parts = exchange_users(points, weights, 5, 0)
    with budget.limits(threads=1):
        assert np.array_equal(exchange_users(points, weights, 5, 0), parts)
    assert np.bincount(parts).min() >= 5
    first = np.arange(300)
    ends = cut(points, first, 5, 1, 0)
    start = np.empty(300, int)
    start[first] = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
    best, reached, begun = (squared_errors(points, weights, g) for g in (whole, parts, start))
    assert reached < 1.1 * best < 0.8 * begun


def test_the_seed_decides() -> None:
    points = np.random.default_rng(0).normal(size=(60, 2))
    a, b = (exchange_users(points, np.ones(60), 4, seed) for seed in (0, 1))
    assert np.array_equal(a, exchange_users(points, np.ones(60), 4, 0))
    assert not np.array_equal(a, b)
