from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.kernels.predictive import diversity_repair
from starshade.kernels.predictive.diversity_repair import (
    bits_of_levels,
    bits_of_rows,
    choose_groups,
)
from starshade.kernels.predictive.rated_sets import count_sets, covers, list_short, rated_table
from tests.naive import diversity as naive


def rows_of(table):
    return [set(np.flatnonzero(row).tolist()) for row in table]


def csr_of(table):
    return np.concatenate([[0], np.cumsum(table.sum(axis=1))]), np.nonzero(table)[1].astype("i4")


@st.composite
def rated_and_shown(draw):
    """Who rated what and who shows what; groups need not show what their members rated."""
    n_items = draw(st.integers(1, 6))
    row = st.lists(st.booleans(), min_size=n_items, max_size=n_items)
    rated = np.array(draw(st.lists(row, min_size=1, max_size=9)), dtype=bool)
    shown = np.array(draw(st.lists(row, min_size=1, max_size=9)), dtype=bool)
    return rated, shown


def test_bits_of_many_groups_are_where_they_belong(monkeypatch):
    monkeypatch.setattr(
        diversity_repair, "_BLOCK", 65
    )  # blocks of 13 groups, were they not cut to whole bytes
    levels = np.random.default_rng(0).integers(0, 3, (200, 5)).astype(np.uint8)
    bits = bits_of_levels(levels)
    assert bits.shape == (5, 4)
    for item in range(5):
        for group in range(200):
            bit = int(bits[item, group // 64]) >> (group % 64) & 1
            assert bit == (levels[group, item] > 0)
    assert np.array_equal(bits, bits_of_rows(*csr_of(levels > 0), 5))


@given(rated_and_shown(), st.integers(1, 4), st.integers(1, 4))
def test_sets_are_counted_as_the_twin_counts_them(drawn, b, least):
    rated, shown = drawn
    table = rated_table(*csr_of(rated), bits_of_levels(shown))
    tally = count_sets(table, b, least)
    expected = naive.count(rows_of(rated), rows_of(shown), b, least)
    found = [
        (tally.sets[:, s].sum(), tally.short[:, s].sum(), tally.fewest[:, s].min())
        for s in range(b)
    ]
    assert found == expected
    risky = naive.at_risk(rows_of(rated), rows_of(shown), b, least)
    assert np.flatnonzero(tally.at_risk).tolist() == risky
    for item, size in zip(*np.nonzero(tally.fewest < least), strict=True):
        worst = tally.worst[item, size, : size + 1].tolist()
        assert min(worst) == item
        assert any(set(worst) <= row for row in rows_of(rated))
        assert naive.cover(frozenset(worst), rows_of(shown)) == tally.fewest[item, size]


@given(rated_and_shown(), st.integers(1, 3), st.integers(1, 4))
def test_short_sets_are_listed_each_once(drawn, b, least):
    rated, shown = drawn
    table = rated_table(*csr_of(rated), bits_of_levels(shown))
    found = []
    for first in range(rated.shape[1]):
        sets, cover = list_short(first, table, b, least)
        assert (sets[:, 0] == first).all()
        found += [
            (frozenset(s[s >= 0].tolist()), c) for s, c in zip(sets, cover.tolist(), strict=True)
        ]
    shows = rows_of(shown)
    expected = {
        (chosen, naive.cover(chosen, shows))
        for size in range(1, b + 1)
        for chosen in naive.rated_sets(rows_of(rated), size)
        if naive.cover(chosen, shows) < least
    }
    assert len(found) == len(expected)
    assert set(found) == expected


def test_more_short_sets_than_there_was_room_for():
    rated = np.ones((1, 100), dtype=bool)
    table = rated_table(*csr_of(rated), bits_of_levels(np.zeros((3, 100), dtype=bool)))
    sets, cover = list_short(0, table, 2, 1)
    assert sets.tolist() == [[0, -1], *([0, item] for item in range(1, 100))]
    assert not cover.any()


@given(rated_and_shown(), st.integers(1, 4))
def test_the_cover_of_given_sets(drawn, least):
    _, shown = drawn
    n = shown.shape[1]
    sets = np.array([[i, j] for i in range(n) for j in range(n)])
    expected = [min(naive.cover(frozenset(s), rows_of(shown)), least) for s in sets.tolist()]
    assert covers(sets, bits_of_levels(shown), least).tolist() == expected


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_change_nothing(threads):
    from starshade import budget

    rng = np.random.default_rng(1)
    rated, shown = rng.random((900, 120)) < 0.7, rng.random((90, 120)) < 0.2
    table = rated_table(*csr_of(rated), bits_of_levels(shown))
    with budget.limits(threads=threads):
        tally = count_sets(table, 2, 5)
    assert tally.sets.sum(axis=0).tolist() == [120, 120 * 119 // 2]
    pairs = (shown.T.astype(int) @ shown)[np.triu_indices(120, 1)]
    assert tally.short[:, 1].sum() == (pairs < 5).sum()


@st.composite
def choices(draw):
    n_groups = draw(st.integers(1, 7))
    sets = draw(st.lists(st.sets(st.integers(0, n_groups - 1)), min_size=1, max_size=6))
    missing = [draw(st.integers(0, len(s))) for s in sets]
    few = st.integers(1, 3)
    sizes = draw(st.lists(few, min_size=n_groups, max_size=n_groups))
    spread = draw(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=n_groups, max_size=n_groups))
    return sets, missing, sizes, spread, draw(st.permutations(range(n_groups)))


def ranks(*keys):
    """Places among groups that cost as much: by the last key, then the one before."""
    return np.argsort(np.lexsort(keys))


@given(choices(), st.sampled_from([0, 61, 130]))
def test_groups_are_chosen_as_the_twin_chooses(drawn, before):
    """`before`: groups that serve nothing stand first, so that bits fall into several words."""
    sets, missing, sizes, spread, tie = drawn
    words = np.zeros((len(sets), 3), dtype=np.uint64)
    for s, groups in enumerate(sets):
        for group in groups:
            place = group + before
            words[s, place // 64] |= np.uint64(1) << np.uint64(place % 64)
    found = choose_groups(
        words,
        np.array(missing),
        np.array([1.0] * before + sizes),
        np.array([*range(before), *(before + ranks(tie, spread, sizes))]),
    )
    assert (found - before).tolist() == naive.choose(sets, missing, sizes, spread, tie)


def words_of(sets):
    return np.array([[sum(1 << group for group in groups)] for groups in sets], dtype=np.uint64)


@pytest.mark.parametrize(
    ("sets", "missing", "sizes", "expected"),
    [
        ([{0, 1}, {0, 1}, {2}], [1, 1, 1], [1, 1, 1], [0, 2]),  # 1 serves nothing any more
        ([{0, 1}, {0}], [1, 1], [2, 1], [1, 0]),  # as cheap for a set: the smaller first
        ([{0, 1}, {0}], [1, 1], [1, 1], [0]),  # for two sets at once: cheaper
        ([{0}, {1, 2}], [0, 2], [1, 9, 9], [1, 2]),  # nothing is missing: serves nothing
    ],
)
def test_which_groups_are_the_cheapest(sets, missing, sizes, expected):
    n = len(sizes)
    found = choose_groups(
        words_of(sets), np.array(missing), np.array(sizes, float), ranks(range(n), sizes)
    )
    assert found.tolist() == expected == naive.choose(sets, missing, sizes, [0.0] * n, range(n))
