"""Groups by a sample, bins and clusters, against the twin that writes everything out."""

from __future__ import annotations

from dataclasses import replace

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade import budget
from starshade.anonymize.order import seeded_order
from starshade.anonymize.predictive import bins as module
from starshade.anonymize.predictive import clusters as distances
from starshade.anonymize.predictive.bins import group_users
from starshade.anonymize.predictive.clusters import bounded_t_means
from starshade.errors import ConfigError
from starshade.ratings.scale import Scale
from starshade.recommend.padded import DISSIMILARITIES, Padded
from tests.naive import padded as naive
from tests.strategies import table
from tests.unit.recommend.padding import padded_tables, some_factors


def as_lists(groups: np.ndarray) -> list[list[int]]:
    return [np.flatnonzero(groups == g).tolist() for g in range(groups.max() + 1)]


def expected(padded: Padded, k: int, seed: int, compare=None, *, clip: bool = False):
    rows = naive.padded_rows(padded.ratings, padded.factors, clip=clip)
    weights, base, m = padded.parts.weights, padded.parts.base, padded.n_users
    orders = seeded_order(m, seed, "bins"), seeded_order(m, seed, "sample")
    return naive.group_users(
        rows, k, *orders, compare or (lambda x, y: naive.squared(x, y, base, weights))
    )


def some(m: int, n: int, seed: int, *, share: float = 0.4) -> Padded:
    rng = np.random.default_rng(seed)
    rows = [
        {int(i): float(rng.integers(1, 6)) for i in np.flatnonzero(rng.random(n) < share)}
        for _ in range(m)
    ]
    rows[0] = dict.fromkeys(range(n), 5.0)  # a giant
    rows[1] = {}
    rows[-1] = dict(rows[2])
    ratings = table(rows, Scale(1, 5, 1), n_items=n)
    return Padded(ratings, some_factors(ratings, 2, seed))


@given(padded_tables(max_users=30), st.integers(2, 4), st.integers(0, 9))
def test_the_twin_agrees(padded, k, seed):
    if padded.n_users >= k:
        assert as_lists(group_users(padded, k, seed)) == expected(padded, k, seed)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_twin_agrees_on_more_users_than_the_sample(seed):
    padded = some(520, 12, seed)
    groups = group_users(padded, 3, seed)
    assert as_lists(groups) == expected(padded, 3, seed)
    assert np.bincount(groups).min() >= 3


@pytest.mark.parametrize("dissimilarity", DISSIMILARITIES)
@pytest.mark.parametrize("clip", ["mean", "cells"])
def test_rows_written_out(dissimilarity, clip):
    padded = some(40, 7, 5)
    width = padded.ratings.scale.width

    def compare(x, y):
        return np.array(
            [[naive.dissimilarity(a, b, dissimilarity, width) for b in y] for a in x], np.float32
        )

    cells = clip == "cells"
    # by writing out even what needs not be
    away = distances.written_out(padded, dissimilarity, clip=cells)
    m = padded.ratings.n_users
    bins = module.join_small(away, *module.bins_of(away, m, 1), 2)
    found = module.cluster_within(bins, seeded_order(m, 1, "bins"), 2, away, None)
    assert as_lists(found) == expected(padded, 2, 1, compare, clip=cells)
    np.testing.assert_array_equal(
        group_users(padded, 2, 1, dissimilarity=dissimilarity, clip=clip), found
    )


def test_neither_threads_nor_blocks_nor_the_way_to_distances_change_a_group(monkeypatch):
    padded = some(400, 30, 8)
    groups = group_users(padded, 4, 2)
    with budget.limits(threads=1):
        np.testing.assert_array_equal(group_users(padded, 4, 2), groups)
    monkeypatch.setattr(module, "_TOGETHER", 15)  # some bins are larger
    monkeypatch.setattr(module, "_ROWS", 4000)
    monkeypatch.setattr(distances, "_TABLE", 8 * 30 * 3)
    np.testing.assert_array_equal(group_users(padded, 4, 2), groups)
    assert (group_users(padded, 4, 3) != groups).any()
    assert numba.get_num_threads() >= 1


@pytest.mark.parametrize("clip", ["mean", "cells"])
@pytest.mark.parametrize("dissimilarity", ["closeness-0.5", "closeness-1.0"])
@given(padded_tables(max_users=30), st.integers(2, 4), st.integers(0, 9))
def test_the_twin_agrees_where_rows_that_differ_are_at_no_distance(
    dissimilarity, clip, padded, k, seed
):
    if padded.n_users < k:
        return
    limit, weights = float(dissimilarity.removeprefix("closeness-")) + 1e-9, padded.parts.weights

    def compare(x, y):
        far = np.abs(x[:, None] - y) > limit
        whole = weights.sum()
        # no item counts: nothing is common
        return np.where(whole > 0, far @ weights / (whole or 1.0), 1.0).astype(np.float32)

    found = group_users(padded, k, seed, dissimilarity=dissimilarity, clip=clip)
    assert as_lists(found) == expected(padded, k, seed, compare, clip=clip == "cells")


@pytest.mark.parametrize("biases", [0.0, 1.0])
def test_equal_rows_are_one_centre_where_no_item_counts(biases):
    ratings = table([{} for _ in range(6)], Scale(1, 5, 1), n_items=1)
    factors = some_factors(ratings, 0, 0)
    factors = replace(factors, user_bias=biases * np.arange(6.0))
    padded = Padded(ratings, factors, np.zeros(1))
    groups = group_users(padded, 2, 0, dissimilarity="closeness-0.5")
    assert as_lists(groups) == expected(padded, 2, 0, lambda x, y: np.ones((len(x), len(y))))
    assert groups.max() == (0 if biases == 0 else 2)  # 6 users, two each


def test_centres_are_distinct_rows_though_all_are_at_no_distance():
    rng = np.random.default_rng(0)
    rows = [{i: float(r) for i, r in enumerate(rng.integers(0, 2, 12))} for _ in range(60)]
    rows += rows[:5]
    ratings = table(rows, Scale(0, 1, 1), n_items=12)
    padded = Padded(ratings, some_factors(ratings, 2, 0))
    away = distances.written_out(padded, "closeness-1.0", clip=False)
    users = np.arange(65)
    assert not away.to_means(users, np.arange(66), users).any()
    found = bounded_t_means(away, users, 20, 3)
    assert np.bincount(found).min() >= 3
    assert len(np.bincount(found)) == 20
    assert len(np.bincount(bounded_t_means(away, users, 65, 1))) == len(ratings.dense()) - 5
    assert len(np.bincount(group_users(padded, 3, 0, dissimilarity="closeness-1.0"))) > 10


def test_equal_users_are_one_group_however_many():
    rows = [{0: 5.0, 2: 1.0}] * 50 + [{}] * 40 + [{1: 3.0}] * 10
    ratings = table(rows, Scale(1, 5, 1), n_items=3)
    groups = group_users(Padded(ratings, some_factors(ratings, 1, 0, plain=True)), 5, 0)
    # nobody can tell a rating of 3 from the padding, which is 3 for everybody
    assert sorted(as_lists(groups)) == [list(range(50)), list(range(50, 100))]


def test_too_little_memory_is_said_with_the_figures():
    padded = some(40, 5, 1)
    with (
        budget.limits(memory=100),
        pytest.raises(ConfigError, match=r"32 users to 32 centres need .* 100 bytes may be used"),
    ):
        group_users(padded, 2, 0)
    with (
        budget.limits(memory=2000),
        pytest.raises(ConfigError, match=r"centres written out need .* 2 kB may be used"),
    ):
        group_users(padded, 2, 0, dissimilarity="weighted")


def test_no_more_threads_than_have_room(monkeypatch):
    monkeypatch.setattr(budget, "threads", lambda: 8)  # on a machine of any size
    with budget.limits(memory=500_000):
        assert module._threads(100) == 3  # 160 kB each
        assert module._threads(10) == 8
        with pytest.raises(ConfigError, match=r"of 200 users, needs 640 kB; 500 kB may be used"):
            module._threads(200)


@pytest.mark.real
def test_groups_are_nearer_than_chance(ml100k_dir):
    import starshade as ss
    from starshade.recommend.regularized_svd import RegularizedSVD

    ratings = ss.read_ratings(ml100k_dir / "u.data")
    padded = Padded(ratings, RegularizedSVD(factors=8, sweeps=5).fit(ratings, rng=0))
    rows = padded.block(np.arange(ratings.n_users))

    def error(groups):
        starts = np.argsort(groups, kind="stable"), np.bincount(groups)
        centres = padded.means(np.concatenate([[0], np.cumsum(starts[1])]), starts[0])
        return float(((rows - centres[groups]) ** 2).mean())

    for k in (5, 50):
        groups = group_users(padded, k, 0)
        sizes = np.bincount(groups)
        assert sizes.min() >= k
        assert len(sizes) >= 0.7 * ratings.n_users / k
        shuffled = np.random.default_rng(0).permutation(groups)
        assert error(groups) < 0.6 * error(shuffled)
