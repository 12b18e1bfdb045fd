from __future__ import annotations

from itertools import count
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade import budget
from starshade.anonymize.baselines import KMember, Mondrian, MondrianRelaxed
from starshade.anonymize.k_exchange import (
    FINEST,
    GridRows,
    KExchange,
    Plan,
    Turn,
    exchange_groups,
    first_groups,
    grid_rows,
    plan,
    rival_groups,
    start_groups,
)
from starshade.anonymize.k_likeness import KLikeness
from starshade.anonymize.order import seeded_order
from starshade.anonymize.points import Points
from starshade.anonymize.prepare import prepare
from starshade.errors import ConfigError
from starshade.kernels import small
from starshade.kernels.exchange.anneal import dissolve
from starshade.privacy.k_anonymity import KAnonymity
from starshade.ratings.read import read_ratings
from starshade.ratings.scale import Scale
from starshade.ratings.select import top_items
from starshade.rng import stream_key
from starshade.utility.losses import GeneralizationLoss
from tests.naive import k_exchange as naive
from tests.strategies import ratings_tables, table

STARS = Scale(1, 5, 1)


def points(ratings, extra=None) -> Points:
    return Points(ratings, np.empty((ratings.n_users, 0), np.uint8) if extra is None else extra)


def as_groups(groups: np.ndarray) -> list[list[int]]:
    return [np.flatnonzero(groups == g).tolist() for g in range(groups.max() + 1)]


def dense(rows) -> list[list[int]]:
    indptr, columns, values, extra = rows.arrays
    out = np.zeros((rows.n, rows.n_columns), dtype=np.int64)
    out[np.repeat(np.arange(rows.n), np.diff(indptr)), columns] = values
    return np.hstack([out, extra]).tolist()


def keys(seed: int):
    return (stream_key(seed, f"k-exchange {i}") for i in count())


def matrix(ratings) -> np.ndarray:
    """Steps above null on a stepped scale, ratings on a real one; null at its level."""
    levels = ratings.dense()
    if ratings.scale.step is None:
        return np.where(np.isnan(levels), ratings.scale.null_level, levels)
    steps = np.rint((levels - ratings.scale.minimum) / ratings.scale.step) + 1
    return np.where(np.isnan(levels), 0, steps)


@st.composite
def cases(draw: st.DrawFn):
    ratings = draw(ratings_tables(min_users=2, max_users=26))
    # small groups, and so many of them, as often as large ones
    k = draw(st.one_of(st.integers(2, min(3, ratings.n_users)), st.integers(2, ratings.n_users)))
    extra = None
    if draw(st.booleans()):
        extra = np.random.default_rng(draw(st.integers(0, 99))).integers(
            -3, draw(st.sampled_from([-1, 40])), (ratings.n_users, 2)
        )
    return points(ratings, extra), k, draw(st.integers(0, 1000))


WEIGHTS = st.sampled_from([0.0, 0.003, 0.2, 1.0, 40.0])


def rated(given_points, order) -> list[list[bool]]:
    extra = np.zeros(given_points.extra.shape, bool)
    return np.hstack([~np.isnan(given_points.ratings.dense()), extra])[order].tolist()


@pytest.fixture(params=[0, 1 << 62], ids=["kernels", "NumPy"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compute everything by kernels, and by what stands in for them on small tables."""
    monkeypatch.setattr(small, "_FEW", request.param)


@pytest.mark.usefixtures("way")
@given(
    cases(),
    st.integers(1, 3),
    st.integers(2, 4),
    st.sampled_from([0.0, 0.2, 1.5]),
    st.booleans(),
    WEIGHTS,
)
def test_the_groups_are_those_of_the_twin(case, start, leaf, heat, all_starts, weight):
    agrees(case, start, leaf, heat, all_starts, weight)


@pytest.mark.usefixtures("way")
def test_with_further_columns_of_few_values_they_are_too():
    rng = np.random.default_rng(0)
    for seed in range(3):
        rows = [dict(enumerate(rng.integers(1, 6, 2).astype(float))) for _ in range(24)]
        ages = rng.integers(0, 2, (24, 2))
        agrees((points(table(rows, STARS), ages), 3, seed), 3, 8, 0.2, False, 1.0)


def agrees(case, start, leaf, heat, all_starts, weight) -> None:
    given_points, k, seed = case
    order = seeded_order(given_points.ratings.n_users, seed, "k-exchange")
    rows = grid_rows(given_points, order, weight)
    turn = Turn(leaf, heat * sqrt(rows.unit), np.array([1.0, 0.4, 0.0]), 4.0)
    rivals = [found[order] for found in rival_groups(given_points, k, seed)]
    groups = exchange_groups(rows, k, seed, Plan(start, (turn, turn), all_starts), rivals)
    whole = np.hstack([matrix(given_points.ratings), given_points.extra])[order]
    placed, unit = naive.on_grid(whole.tolist(), real=given_points.ratings.scale.step is None)
    if weight:
        placed = naive.weighed(placed, unit, weight, rated(given_points, order))
        assert rows.price == (placed.step, placed.single)
    assert (dense(rows), rows.unit) == (placed, unit)
    expected = naive.k_exchange(
        placed, k, start, [turn, turn], keys(seed), list(map(as_groups, rivals)), all_starts
    )
    assert as_groups(groups) == [sorted(group) for group in expected]


@given(cases(), WEIGHTS)
def test_exchanges_never_cost_and_no_group_is_too_small(case, weight):
    given_points, k, seed = case
    order = np.arange(given_points.n_records)
    rows = grid_rows(given_points, order, weight)
    whole = dense(rows)
    if weight:
        unweighed = dense(grid_rows(given_points, order))
        whole = naive.weighed(unweighed, rows.unit, weight, rated(given_points, order))
    steps = plan(rows, k)
    groups = as_groups(exchange_groups(rows, k, seed, steps))
    assert len(groups) <= rows.n // k
    assert min(map(len, groups)) >= k
    assert sorted(i for group in groups for i in group) == list(range(rows.n))
    if not weight:
        assert naive.cost(whole, groups) <= naive.cost(whole, [list(range(rows.n))])
    if rows.n >= 2 * k:
        assert max(map(len, groups)) < 2 * k
        before = as_groups(start_groups(rows, k, steps.start, keys(seed)))
        assert naive.cost(whole, groups) <= naive.cost(whole, before)


@st.composite
def small_tables(draw: st.DrawFn):
    """Rows of which many are equal, or nearly so."""
    n, m = draw(st.integers(4, 30)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    kinds = rng.integers(0, 6, (draw(st.integers(1, n)), m))
    rows = kinds[rng.integers(0, len(kinds), n)]
    rows = np.where(rng.random(rows.shape) < draw(st.sampled_from([0, 0.1])), 1, rows)
    rows[(rows == 0).all(axis=1), 0] = 1
    return table(
        [{j: float(v) for j, v in enumerate(row) if v} for row in rows], STARS, n_items=m
    ), draw(st.integers(2, n // 2))


RIVALS = (KLikeness, KMember, Mondrian, MondrianRelaxed)


@given(small_tables(), st.integers(0, 1000))
def test_no_rival_loses_less(case, seed):
    ratings, k = case
    ours, *theirs = (
        GeneralizationLoss()
        .measure(method(k, "range", rare_items="keep").anonymize(ratings, rng=seed), ratings)
        .figures["gen_iloss"]
        for method in (KExchange, *RIVALS)
    )
    assert ours <= min(theirs) + 1e-12


@pytest.mark.parametrize("copies", [(3, 3, 5), (7, 2, 9, 3)])
def test_copies_stay_together_whatever_their_number(copies):
    rows = np.repeat(np.arange(4 * len(copies)).reshape(-1, 4) * 7 % 5 + 1, copies, axis=0)
    ratings = table([dict(enumerate(row.astype(float))) for row in rows], STARS)
    for seed in range(5):
        rows = grid_rows(points(ratings), seeded_order(ratings.n_users, seed, "k-exchange"))
        groups = exchange_groups(rows, 2, seed, plan(rows, 2))  # by itself, without rivals
        assert naive.cost(dense(rows), as_groups(groups)) == 0


def test_a_group_goes_where_its_members_are_at_home():
    table = np.zeros((10, 16), np.int16)
    table[:4, 0], table[4:8, 1] = 9, 9
    table[8, 0], table[9, 1] = 9, 9
    group = np.repeat(np.arange(5), 2)
    assert dissolve(table, group, 5, 2, None) == 1
    assert group.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 0, 2]
    assert dissolve(table, group, 5, 2, None) == 0


def test_many_records_of_few_kinds_lose_nothing():
    rng = np.random.default_rng(6)
    kinds = rng.integers(1, 6, (60, 8)).astype(float)
    chosen = np.concatenate([np.repeat(np.arange(60), 10), rng.integers(0, 60, 40_000)])
    ratings = table([dict(enumerate(kinds[c])) for c in chosen], STARS)
    rows = grid_rows(points(ratings), np.arange(len(chosen)))
    assert rows.n * 8 > 1 << 18  # no rival is asked
    assert rival_groups(points(ratings), 10, 0) == []
    groups = exchange_groups(rows, 10, 0, plan(rows, 10))
    order = np.argsort(groups, kind="stable")
    first = np.cumsum(np.bincount(groups)) - np.bincount(groups)
    assert (
        np.maximum.reduceat(chosen[order], first) == np.minimum.reduceat(chosen[order], first)
    ).all()


def test_a_weight_parts_those_who_agree():
    ratings = table([{0: 5.0}, {0: 5.0}, {0: 4.0}, {0: 4.0}], STARS)
    for weight, pairs in ((0, ["11", "22"]), (0.9, ["11", "22"]), (1.1, ["12", "12"])):
        groups = KExchange(2, disclosure_weight=weight).group(points(ratings), 0)
        codes = np.array(["2", "2", "1", "1"])  # ranges cost 1, single values the weight
        assert sorted("".join(sorted(codes[groups == g])) for g in (0, 1)) == pairs


def test_single_values_of_further_columns_cost_nothing():
    ratings = table([{0: float(i % 2 + 1)} for i in range(40)], STARS)
    ages = np.repeat([20, 30], 20)[:, None]
    groups = KExchange(4, disclosure_weight=3).group(points(ratings, ages), 0)
    levels = np.arange(40) % 2
    for g in range(groups.max() + 1):
        assert len(set(levels[groups == g])) == 2
        assert len(set(ages[groups == g, 0])) == 1


def test_who_joins_a_group_may_end_what_it_shows():
    table = np.zeros((9, 16), np.int16)
    table[:, 0] = [1, 2, 2, 9, 9, 9, 9, 9, 9]
    group = np.array([0, 0, 0, 1, 1, 2, 2, 3, 3])
    assert dissolve(table, group.copy(), 4, 2, (1, 0)) == 0
    assert dissolve(table, group, 4, 2, (1, 100)) == 1
    assert group.tolist() == [1, 2, 3, 1, 1, 2, 2, 3, 3]


def test_a_weight_beyond_its_bounds_is_refused():
    for weight in (-0.1, 101, float("nan"), float("inf"), "1", True):
        with pytest.raises(ConfigError, match="disclosure_weight"):
            KExchange(5, disclosure_weight=weight)


def test_pairs_that_are_equal_are_found():
    rng = np.random.default_rng(0)
    half = [dict(enumerate(rng.integers(1, 6, 8).astype(float))) for _ in range(60)]
    ratings = table([*half, *half], STARS)
    release = KExchange(2).anonymize(ratings, rng=1)
    assert GeneralizationLoss().measure(release, ratings).figures["gen_iloss"] == 0


def full_rows(table, unit: int) -> GridRows:
    none = np.empty(0, np.int32), np.empty(0, np.int16)
    indptr = np.zeros(len(table) + 1, np.int64)
    return GridRows((indptr, *none, table.astype(np.int16)), 0, unit)


@pytest.mark.parametrize("unit", [1, 6, 7, 819, 820, FINEST])
def test_costs_fit_into_the_numbers_that_hold_them(unit):
    # 20 columns: bytes up to 6, two bytes up to 819
    rng = np.random.default_rng(unit)
    table = np.minimum(rng.integers(0, unit + 1, (280, 20)), rng.integers(0, unit + 1, 20))
    table[::9], table[1::9] = 0, unit
    groups = first_groups(full_rows(table, unit), 10, 1000, keys(1))
    expected = naive.greedy(table.tolist(), list(range(len(table))), 10)
    assert as_groups(groups) == [sorted(group) for group in expected]


def test_the_cheapest_is_found_however_far_off_it_stands():
    rng = np.random.default_rng(1)
    half = np.unique(rng.integers(0, 6, (6000, 12)), axis=0)
    table = np.vstack([half, half])[rng.permutation(2 * len(half))]
    groups = first_groups(full_rows(table, 5), 2, len(table), keys(1))
    assert np.array_equal(
        *table[np.argsort(groups, kind="stable")].reshape(-1, 2, 12).swapaxes(0, 1)
    )


def test_fewer_than_two_groups_are_one():
    ratings = table([{0: float(1 + i % 5)} for i in range(9)], STARS)
    assert KExchange(9).group(points(ratings), 0).tolist() == [0] * 9
    assert KExchange(5).group(points(ratings), 0).tolist() == [0] * 9
    assert np.bincount(KExchange(4).group(points(ratings), 0)).tolist() in ([4, 5], [5, 4])


def test_the_grid_is_exact_where_it_can_be():
    ratings = table([{0: 1.0, 1: 5.0}, {0: 3.0, 1: 4.0}, {0: 4.0, 1: 5.0}], STARS)
    rows = grid_rows(points(ratings), np.array([2, 0, 1]))
    assert rows.unit == 3  # ranges of 3 and 1
    assert dense(rows) == [[3, 3], [0, 3], [2, 0]]
    real = table([{0: -10.0}, {0: 3.3}, {0: 10.0}], Scale(-10, 10))
    assert dense(grid_rows(points(real), np.arange(3))) == [[0], [10_895], [FINEST]]
    assert grid_rows(points(real, np.array([[0.5], [7], [2]])), np.arange(3)).unit == FINEST


@pytest.mark.parametrize("scale", [STARS, Scale(0.5, 5, 0.5), Scale(-10, 10)])
def test_the_seed_decides_and_not_the_threads(scale):
    rng = np.random.default_rng(3)
    levels = scale.levels if scale.step else np.linspace(-10, 10, 41)
    rows = [
        {int(i): float(rng.choice(levels)) for i in np.flatnonzero(rng.random(9) < 0.7)}
        for _ in range(3000)
    ]
    many = points(prepare(table(rows, scale), 5).ratings)
    found = []
    for threads, weight in ((1, 0.0), (2, 0.0), (1, 0.3), (2, 0.3)):
        with budget.limits(threads=threads):
            found.append(KExchange(5, disclosure_weight=weight).group(many, 8))
    assert np.array_equal(*found[:2])
    assert np.array_equal(*found[2:])
    assert not np.array_equal(*found[1:3])
    assert np.bincount(found[2]).min() >= 5
    assert not np.array_equal(found[0], KExchange(5).group(many, 9))
    assert np.bincount(found[0]).min() >= 5


def test_a_sparse_table_is_never_made_full():
    rng = np.random.default_rng(5)
    rows = [dict.fromkeys(rng.choice(3000, 12, replace=False).tolist(), 4.0) for _ in range(600)]
    ratings = table(rows, STARS, n_items=3000)
    with budget.limits(memory=600 * 3000 // 2):  # KLikeness may not have it full either
        groups = KExchange(5).group(points(ratings), 0)
    assert np.bincount(groups).min() >= 5
    rows = grid_rows(points(ratings), np.arange(600))
    most = plan(rows, 5).turns[0].leaf * 5
    assert most < 600


def test_further_columns_weigh_as_much_as_an_item():
    ratings = table([{0: 3.0}] * 40, STARS)
    ages = np.repeat([20, 30, 40, 50], 10)[:, None]
    groups = KExchange(10).group(points(ratings, ages), 0)
    assert [len(set(ages[groups == g, 0])) for g in range(4)] == [1, 1, 1, 1]


@pytest.mark.real
@pytest.mark.parametrize(("k", "bound"), [(2, 0.092), (5, 0.262), (10, 0.404), (20, 0.535)])
def test_less_is_lost_than_by_any_rival(ml100k_dir, k, bound):
    ratings = read_ratings(ml100k_dir / "u.data")
    for seed in range(1, 6):
        release = KExchange(k, items=top_items(10)).anonymize(ratings, rng=seed)
        assert KAnonymity(k).check(release).satisfied
        assert release.n_records / (k * (release.n_records // k)) < 1.02
        loss = GeneralizationLoss().measure(release, ratings).figures["gen_iloss"]
        assert loss is not None
        assert loss < bound


@pytest.mark.real
def test_a_weight_halves_what_is_read_plainly_for_little_loss(ml100k_dir):
    ratings = read_ratings(ml100k_dir / "u.data")
    loss, shown = {0.0: 0.0, 0.2: 0.0}, {0.0: 0.0, 0.2: 0.0}
    for weight in loss:
        for seed in range(1, 6):
            method = KExchange(5, items=top_items(10), disclosure_weight=weight)
            release = method.anonymize(ratings, rng=seed)
            assert KAnonymity(5).check(release).satisfied
            loss[weight] += GeneralizationLoss().measure(release, ratings).figures["gen_iloss"] / 5
            shown[weight] += release.manifest.users_rating_disclosed / 5
    assert shown[0.2] <= 0.2 < shown[0.0]
    assert loss[0.2] <= 1.10 * loss[0.0]


@pytest.mark.real
def test_all_items_at_once(ml100k_dir):
    ratings = read_ratings(ml100k_dir / "u.data")
    ours, theirs = (
        GeneralizationLoss().measure(method(5).anonymize(ratings, rng=1), ratings).figures
        for method in (KExchange, KLikeness)
    )
    assert ours["gen_iloss"] < theirs["gen_iloss"]
