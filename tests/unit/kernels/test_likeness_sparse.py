from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from starshade import budget
from starshade.anonymize import points as module
from starshade.anonymize.k_likeness import KLikeness, likeness_groups, sparse_likeness_groups
from starshade.anonymize.order import seeded_order
from starshade.anonymize.points import Points, is_sparse, sparse_rows
from starshade.errors import ConfigError
from starshade.kernels.likeness import sparse as likeness_sparse
from starshade.kernels.likeness.sparse import sparse_distances
from starshade.ratings.scale import Scale
from tests.naive.k_likeness import distances, k_likeness
from tests.strategies import ratings_tables, table


def as_lists(groups: np.ndarray) -> list[list[int]]:
    return [sorted(np.flatnonzero(groups == g).tolist()) for g in range(groups.max() + 1)]


STARS = Scale(1, 5, 1)


def some(n: int, items: int, *, share: float = 0.05, scale: Scale = STARS):
    rng = np.random.default_rng(n)
    levels = scale.levels if scale.step is not None else np.linspace(-10, 10, 37)
    rows = [
        {int(i): float(rng.choice(levels)) for i in np.flatnonzero(rng.random(items) < share)}
        for _ in range(n)
    ]
    rows[0] = dict.fromkeys(range(items), float(levels[0]))  # a giant
    rows[-1] = dict(rows[1])
    return table(rows, scale, n_items=items)


#: further columns: none, whole numbers, parts of a step
BESIDE = st.sampled_from([None, np.uint8, np.float64])


def beside(kind: type | None, n: int, seed: int) -> np.ndarray:
    if kind is None:
        return np.empty((n, 0), np.uint8)
    numbers = np.random.default_rng(seed).integers(0, 4, (n, 2))
    return numbers.astype(kind) if kind is np.uint8 else numbers * 0.7


@given(ratings_tables(min_users=2, with_days=False), BESIDE, st.integers(2, 4), st.integers(0, 9))
def test_sparse_rows_the_full_table_and_the_twin_agree(ratings, kind, k, seed):
    points = Points(ratings, beside(kind, ratings.n_users, seed))
    order = seeded_order(ratings.n_users, seed, "any")
    if ratings.n_users < k:
        return
    dense = points.dense()
    expected = [sorted(group) for group in k_likeness(dense, k, order)]
    assert as_lists(sparse_likeness_groups(sparse_rows(points, order), k, order)) == expected
    assert as_lists(likeness_groups(dense, k, order)) == expected


@pytest.mark.parametrize("scale", [STARS, Scale(-10, 10)])
@pytest.mark.parametrize("threads_from", [0, 10**9])
def test_neither_threads_nor_leaving_records_change_a_group(monkeypatch, scale, threads_from):
    monkeypatch.setattr(likeness_sparse, "_WORTH_THREADS", threads_from)
    ratings = some(300, 80, scale=scale)
    points = Points(ratings, beside(None, 300, 0))
    order = np.random.default_rng(0).permutation(300)
    expected = [sorted(group) for group in k_likeness(points.dense(), 4, order)]
    assert as_lists(sparse_likeness_groups(sparse_rows(points, order), 4, order)) == expected


@settings(max_examples=20)
@given(ratings_tables(min_users=1, with_days=False), BESIDE)
def test_distances_are_those_of_the_full_table_to_the_last_bit(ratings, kind):
    points = Points(ratings, beside(kind, ratings.n_users, 0))
    dense = points.dense().astype(np.float64)
    rows = sparse_rows(points, np.arange(ratings.n_users))
    for record in range(ratings.n_users):
        expected = distances(dense, dense[record]).tolist()
        assert sparse_distances(rows, record).tolist() == expected


def test_which_way_is_chosen_by_size_and_share_and_never_changes_a_group(monkeypatch):
    few, wide, full = some(60, 20), some(60, 200), some(60, 200, share=0.5)
    chosen = [is_sparse(Points(r, beside(None, 60, 0)), 4) for r in (few, wide, full)]
    assert chosen == [False, True, False]
    points = Points(wide, beside(None, 60, 0))
    by_rows = KLikeness(3).group(points, 7)
    monkeypatch.setattr(module, "_SHARE", 0.0)
    assert not is_sparse(points, 4)
    assert KLikeness(3).group(points, 7).tolist() == by_rows.tolist()


def test_sparse_rows_are_taken_where_only_they_fit():
    points = Points(some(400, 60, share=0.01), beside(None, 400, 0))
    assert not is_sparse(points, 4)
    with budget.limits(memory=60 * points.ratings.n_ratings + 1):
        assert is_sparse(points, 4)
        assert len(KLikeness(5).group(points, 0)) == 400
    wide = Points(some(60, 200), beside(None, 60, 0))
    with budget.limits(memory=1000), pytest.raises(ConfigError, match="ratings as sparse rows"):
        KLikeness(5).group(wide, 0)


@pytest.mark.real
def test_all_items_of_movielens(ml100k_dir):
    rows = np.loadtxt(ml100k_dir / "u.data", dtype=np.int64)[:, :3]
    people = [{} for _ in range(rows[:, 0].max())]
    for user, item, rating in rows.tolist():
        people[user - 1][item - 1] = float(rating)
    ratings = table(people, STARS)
    points = Points(ratings, beside(None, ratings.n_users, 0))
    assert is_sparse(points, 4)
    order = seeded_order(ratings.n_users, 0, "k-likeness")
    expected = [sorted(group) for group in k_likeness(points.dense(), 5, order)]
    assert as_lists(KLikeness(5).group(points, 0)) == expected
