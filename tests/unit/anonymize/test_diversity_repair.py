from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from starshade import budget
from starshade.anonymize.predictive.diversity_repair import repair_diversity
from starshade.errors import ConfigError, UnmetError
from tests.naive import diversity as naive


def rows_of(table):
    return [set(np.flatnonzero(row).tolist()) for row in table]


def csr_of(table):
    return np.concatenate([[0], np.cumsum(table.sum(axis=1))]), np.nonzero(table)[1].astype("i4")


def cheapest(sizes, spread=None):
    """A member costs one; equal groups come by spread, and as they are numbered."""
    n = len(sizes)

    def cost(item):
        order = np.lexsort([np.zeros(n) if spread is None else spread[item], sizes])
        first = np.empty(n, np.int64)
        first[order] = np.arange(n)
        return np.asarray(sizes, np.float64), first

    return cost


@st.composite
def grouped(draw):
    """Who rated what; groups show what their members rated, and at times more."""
    n_users, n_items = draw(st.integers(1, 10)), draw(st.integers(1, 6))
    row = st.lists(st.booleans(), min_size=n_items, max_size=n_items)
    rated = np.array(draw(st.lists(row, min_size=n_users, max_size=n_users)), dtype=bool)
    n_groups = draw(st.integers(1, 7))
    group = np.array([draw(st.integers(0, n_groups - 1)) for _ in range(n_users)])
    shown = np.array(draw(st.lists(row, min_size=n_groups, max_size=n_groups)), dtype=bool)
    shown &= draw(st.booleans())
    np.logical_or.at(shown, group, rated)
    return rated, shown, np.maximum(np.bincount(group, minlength=n_groups), 1)


@given(grouped(), st.integers(1, 4), st.integers(0, 4), st.integers(0, 99))
def test_whatever_was_short_is_repaired_and_nothing_is_added_twice(drawn, b, least, seed):
    rated, shown, sizes = drawn
    assume(b <= max(rated.sum(axis=1).max(), 1) and least <= len(shown))
    before = shown.copy()
    spread = np.random.default_rng(seed).integers(0, 2, (shown.shape[1], len(shown))) / 2
    asked = []

    def of(item):
        asked.append(item)
        return cheapest(sizes, spread)(item)

    fakes = repair_diversity(shown, csr_of(rated), of, b=b, l=least, seed=seed)
    assert np.array_equal(shown, before)
    assert not shown[fakes.group, fakes.item].any()
    assert len({*zip(fakes.group.tolist(), fakes.item.tolist(), strict=True)}) == len(fakes.group)
    assert sorted(asked) == sorted(set(fakes.item.tolist()))
    shown[fakes.group, fakes.item] = True
    assert all(short == 0 for _, short, _ in naive.count(rows_of(rated), rows_of(shown), b, least))
    again = repair_diversity(shown, csr_of(rated), of, b=b, l=least, seed=seed)
    assert not len(again.group)


@given(grouped(), st.integers(1, 4), st.integers(0, 99))
def test_single_items_are_repaired_where_it_is_cheapest(drawn, least, seed):
    """For b = 1 no choice of other groups has fewer fake edges, item by item."""
    rated, shown, sizes = drawn
    assume(least <= len(shown))
    spread = np.random.default_rng(seed).integers(0, 2, (shown.shape[1], len(shown))) / 2
    fakes = repair_diversity(shown, csr_of(rated), cheapest(sizes, spread), b=1, l=least, seed=seed)
    for item in range(shown.shape[1]):
        chosen = fakes.group[fakes.item == item].tolist()
        lacking = max(least - shown[:, item].sum(), 0) if rated[:, item].any() else 0
        cost = sorted((sizes[g], spread[item, g]) for g in np.flatnonzero(~shown[:, item]))
        assert sorted((sizes[g], spread[item, g]) for g in chosen) == cost[:lacking]


def test_a_pair_goes_where_one_edge_serves_most():
    # item 3 was rated beside 0, 1 and 2 by the one user of group 0; groups 1 to 3 show one of
    # these each, the larger group 4 all of them
    rated = np.array([[1, 1, 1, 1]], dtype=bool)
    shown = np.array([[1, 1, 1, 1], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [1, 1, 1, 0]], bool)
    sizes = np.array([2, 2, 2, 2, 3])
    fakes = repair_diversity(shown, csr_of(rated), cheapest(sizes), b=2, l=2, seed=0)
    assert [*zip(fakes.group.tolist(), fakes.item.tolist(), strict=True)] == [(4, 3)]


@pytest.mark.parametrize("seed", range(8))
def test_what_is_added_to_a_pair_stands_together(seed):
    # the rarer item goes where the other one has been added, whichever that was
    rated, sizes = np.array([[1, 1]], dtype=bool), np.ones(9, dtype=np.int64)
    shown = (np.arange(9) == 0)[:, None] & np.array([True, True])
    fakes = repair_diversity(shown, csr_of(rated), cheapest(sizes), b=2, l=3, seed=seed)
    for item in (0, 1):
        assert set(fakes.group[fakes.item == item].tolist()) == set(fakes.group.tolist())
    assert len(fakes.group) == 4


def test_fewer_groups_than_asked():
    rated, shown = np.ones((4, 2), dtype=bool), np.ones((2, 2), dtype=bool)
    with pytest.raises(UnmetError, match=r"l = 3: the release has 2 different profiles"):
        repair_diversity(shown, csr_of(rated), cheapest([2, 2]), b=1, l=3, seed=0)
    nobody = np.zeros((4, 2), dtype=bool)
    fakes = repair_diversity(shown, csr_of(nobody), cheapest([2, 2]), b=1, l=3, seed=0)
    assert not len(fakes.group)


@pytest.mark.parametrize(
    ("b", "least", "told"),
    [(3, 1, "no user rated that many")],
)
def test_impossible_numbers(b, least, told):
    rated, shown = np.ones((4, 2), dtype=bool), np.ones((2, 2), dtype=bool)
    with pytest.raises(ConfigError, match=told):
        repair_diversity(shown, csr_of(rated), cheapest([2, 2]), b=b, l=least, seed=0)


def test_more_sets_than_memory():
    rated = np.ones((1, 200), dtype=bool)
    shown = np.arange(8)[:, None] == np.zeros(200)
    sizes = np.ones(8, dtype=np.int64)
    with (
        budget.limits(memory=4_000),
        pytest.raises(ConfigError, match=r"need \S+ kB, \S+ kB may be used"),
    ):
        repair_diversity(shown, csr_of(rated), cheapest(sizes), b=2, l=2, seed=0)
