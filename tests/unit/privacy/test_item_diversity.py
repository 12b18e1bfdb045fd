from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from starshade.errors import ConfigError
from starshade.privacy import item_sets
from starshade.privacy.item_diversity import Diversity
from starshade.ratings.read import read_ratings
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.stats import wilson
from tests.naive import diversity as naive
from tests.strategies import ratings_tables, table
from tests.unit.utility.cases import profile_releases, profiled

STARS = Scale(1, 5, 1)


def rows_of(ratings):
    return [
        set(ratings.columns[ratings.indptr[u] : ratings.indptr[u + 1]].tolist())
        for u in range(ratings.n_users)
    ]


def profiles_of(ratings):
    """What each different row shows."""
    values = ratings.values()
    graphs = {
        tuple(
            (int(ratings.columns[p]), float(values[p]))
            for p in range(ratings.indptr[u], ratings.indptr[u + 1])
        )
        for u in range(ratings.n_users)
    }
    return [{item for item, _ in graph} for graph in graphs]


def told(verdict):
    return [(c.sets, c.short_sets, c.fewest_classes) for c in verdict.sets]


@given(ratings_tables(min_users=3), st.integers(1, 3), st.integers(1, 3))
def test_ratings_are_judged_as_the_twin_judges(ratings, b, least):
    rows, shows = rows_of(ratings), profiles_of(ratings)
    assume(b <= max(1, *map(len, rows)))
    verdict = Diversity(b, least).check(ratings)
    expected = naive.count(rows, shows, b, least)
    assert told(verdict) == expected
    assert verdict.satisfied == (not any(short for _, short, _ in expected))
    assert verdict.failing_records == len(naive.at_risk(rows, shows, b, least))
    assert verdict.exact


@given(profile_releases(), st.integers(1, 3), st.integers(1, 3))
def test_profiles_are_judged_as_the_twin_judges(made, b, least):
    release, original = made
    rows = rows_of(release.private.original)  # of the released items
    assume(b <= max(map(len, rows)) and least <= release.n_records)
    shows = [set(np.flatnonzero(row).tolist()) for row in release.classes.levels]
    verdict = Diversity(b, least).check(release, original=original)
    assert told(verdict) == naive.count(rows, shows, b, least)
    assert verdict.classes == release.classes.n_groups
    just_made = Diversity(b, least).check(release).to_dict()
    assert just_made | {"seconds": 0} == verdict.to_dict() | {"seconds": 0}


@given(profile_releases(), st.integers(1, 3), st.integers(1, 3))
def test_what_is_said_without_the_original_is_true(made, b, least):
    """Of a release that shows no item that nobody rated."""
    release, original = made
    part = release.private.original  # of the released items
    assume(b <= max(map(len, rows_of(part))) and least <= release.n_records)
    assume((part.item_support > 0).all() and (release.classes.levels > 0).any(axis=0).all())
    truth = Diversity(b, least).check(release, original=original)
    found = replace(release, private=None)
    verdict = Diversity(b, least).check(found)
    assert told(verdict)[0] == told(truth)[0]
    for single, whole in zip(verdict.sets, truth.sets, strict=False):
        assert single.holds == whole.holds
    if verdict.undecided:
        assert 1 not in verdict.undecided
        assert verdict.undecided == tuple(range(len(verdict.sets) + 1, b + 1))
        assert not verdict.satisfied
        assert "(original=RATINGS does)" in str(verdict)
        return
    assert truth.satisfied == verdict.satisfied
    assert (verdict.failing_records > 0) == (not verdict.satisfied)


def test_no_null_proves_it_for_any_size():
    original = table([{0: 3.0}, {1: 4.0}, {2: 1.0}, {0: 3.0, 2: 1.0}], STARS)
    release = replace(profiled(original, [[1] * 3, [2] * 3], [0, 0, 1, 1], 1.0), private=None)
    verdict = Diversity(2, 2).check(release)
    assert verdict.satisfied
    assert "all sets of 2 items are in at least 2 profiles" in str(verdict)
    assert not Diversity(2, 3).check(release).satisfied


def test_single_items_in_enough_profiles_do_not_prove_it_for_pairs():
    original = table([{0: 3.0, 1: 4.0}] * 4, STARS)
    release = profiled(original, [[0, 1], [1, 1], [2, 2], [1, 0]], [0, 1, 2, 3], 1.0, "simple")
    assert Diversity(1, 3).check(release).satisfied
    assert Diversity(2, 2).check(replace(release, private=None)).satisfied  # missing in one each
    assert not Diversity(2, 3).check(release).satisfied
    open_ = Diversity(2, 3).check(replace(release, private=None))
    assert (open_.satisfied, open_.failing_records, open_.undecided) == (False, 0, (2,))
    assert "is not decided: 0 of 2 rated items are in fewer than 3 of the 4 profiles; " in str(
        open_
    )
    assert "sets of 2 items are undecided" in str(open_)
    partly = Diversity(4, 2).check(replace(release, private=None))
    assert ([s.size for s in partly.sets], partly.undecided) == ([1, 2], (3, 4))
    # where single items are too few already, nothing is left to decide
    assert Diversity(2, 4).check(replace(release, private=None)).undecided == ()


def test_rows_of_equal_levels_are_one_group_wherever_they_stand():
    original = table([{0: 1.0}, {0: 2.0}, {1: 1.0}, {0: 5.0}], STARS)
    release = profiled(original, [[1, 0], [2, 0], [0, 3]], [0, 1, 2, 1], 1.0, "simple")
    levels = release.classes.keep_rows(np.array([2, 1, 2, 0, 0]))
    verdict = Diversity(1, 2).check(replace(release, classes=levels))
    assert (verdict.classes, verdict.sets[0].short_sets) == (3, 1)
    assert verdict.worst == ({"items": [1], "classes": 1},)


def test_groups_of_equal_profiles_are_one():
    ratings = table([{0: 3.0}] * 2 + [{0: 4.0}], STARS)
    assert Diversity(1, 2).check(ratings).satisfied
    assert not Diversity(1, 2).check(ratings.keep_users(np.array([0, 1]))).satisfied


def test_items_that_were_not_released_are_outside():
    original = table([{0: 3.0, 1: 2.0}, {0: 3.0, 2: 1.0}], STARS)
    released = table([{0: 3.0}, {0: 4.0}], STARS, n_items=1)
    assert Diversity(1, 2).check(released, original=original).satisfied
    with pytest.raises(ConfigError, match="items that the original ratings do not have"):
        Diversity(1, 1).check(original, original=released)


def test_a_sample_where_sets_are_too_many(monkeypatch):
    rng = np.random.default_rng(0)
    rows = [{int(i): 3.0 for i in rng.choice(12, 6, replace=False)} for _ in range(30)]
    ratings = table([*rows, {0: 1.0}], STARS, n_items=12)
    exact = Diversity(3, 3).check(ratings)
    share = np.mean([
        [
            naive.cover(frozenset(rng.choice(sorted(row), 3, replace=False).tolist()),
                        profiles_of(ratings)) < 3
            for _ in range(40)
        ]
        for row in rows
    ])  # fmt: skip
    monkeypatch.setattr(item_sets, "_MOST_WORK", 0)
    verdict = Diversity(3, 3, draws=2_000).check(ratings)
    one, _, three = verdict.sets
    assert one == exact.sets[0]
    assert (three.exact, three.sets, three.drawn) == (False, None, 2_000)
    assert three.short_share == wilson(three.short_drawn, 2_000)
    assert abs(three.short_share.rate - share) < 0.06
    assert not verdict.satisfied
    assert 0 < verdict.failing_records <= exact.failing_records
    same = Diversity(3, 3, draws=2_000).check(ratings)
    other = Diversity(3, 3, draws=2_000).check(ratings, rng=1)
    assert same.sets == verdict.sets != other.sets
    easy = Diversity(2, 2, draws=50).check(ratings)
    assert easy.satisfied
    assert not easy.exact
    assert "a sample proves nothing of the others" in str(easy)


def test_draws_are_uniform_over_a_user_s_sets(monkeypatch):
    monkeypatch.setattr(item_sets, "_MOST_WORK", 0)
    seen = []
    monkeypatch.setattr(
        item_sets, "covers", lambda sets, bits, least: seen.append(sets) or np.ones(len(sets))
    )
    Diversity(3, 1, draws=20_000).check(table([dict.fromkeys(range(5), 3.0), {0: 1.0}], STARS))
    sets, counts = np.unique(np.sort(seen[-1], axis=1), axis=0, return_counts=True)
    assert len(sets) == 10
    assert (np.diff(sets, axis=1) > 0).all()
    assert np.abs(counts / 20_000 - 0.1).max() < 0.01


@pytest.mark.parametrize(
    ("b", "least", "told_of"),
    [
        (0, 1, "b = 0: must be a whole number, 1 or more"),
        (1, 2.5, "l = 2.5"),
        (True, 1, "b = True"),
        (1, "2", "l = '2'"),
        (1, float("nan"), "l = nan"),
        (1, float("inf"), "l = inf: must be a whole number"),
        (1, 1e300, r"l = 1e\+300: must be .*\nThe largest allowed number is 2\*\*63 - 1"),
        pytest.param(10**400, 1, "b = a number too large for a float: must", id="huge"),
        pytest.param(-(10**400), 1, "b = a number too large for a float: must", id="far below"),
        (3, 1, "no user rated so many"),
        (1, 4, "l = 4, records = 3"),
    ],
)
def test_impossible_numbers(b, least, told_of):
    with pytest.raises(ConfigError, match=told_of):
        Diversity(b, least).check(table([{0: 1.0, 1: 2.0}] * 3, STARS))


def test_whole_numbers_of_the_command_line():
    assert Diversity(1, 2.0) == Diversity(1, 2)


def test_nobody_rated_anything():
    verdict = Diversity(1, 2).check(table([{}, {}], STARS, n_items=2))
    assert verdict.satisfied
    assert told(verdict) == [(0, 0, 2)]


@pytest.mark.real
def test_pairs_of_movielens(ml100k_dir):
    ratings = read_ratings(ml100k_dir / "u.data")
    assert isinstance(ratings, Ratings)
    verdict = Diversity(2, 2).check(ratings)
    rated = np.zeros((ratings.n_users, ratings.n_items), dtype=np.float32)
    rated[np.repeat(np.arange(ratings.n_users), ratings.user_support), ratings.columns] = 1
    together = (rated.T @ rated)[np.triu_indices(ratings.n_items, 1)]  # counts: exact in float32
    assert told(verdict) == [
        (1682, int((ratings.item_support == 1).sum()), 1),
        (int((together > 0).sum()), int((together == 1).sum()), 1),
    ]
