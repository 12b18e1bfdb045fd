"""Patterns, cuts and packing: the three kernels that decide who is clipped together."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from starshade.kernels.interval.interval import join_small
from starshade.kernels.interval.pack import count_groups, pack, union_costs
from starshade.kernels.interval.split import split
from tests.naive import interval as naive

LEVELS, R = 4, 4.0
HOW = {"n_levels": LEVELS, "width": 1, "null_cost": R}


def tables(min_size: int, max_size: int) -> st.SearchStrategy[np.ndarray]:
    code = st.sampled_from([0, 0, 1, 2, 3, 4])
    row = st.lists(code, min_size=3, max_size=3)
    return st.lists(row, min_size=min_size, max_size=max_size).map(
        lambda rows: np.array(rows, dtype=np.uint8)
    )


def cost(rows: np.ndarray) -> float:
    own = [[None if v == 0 else float(v) for v in row] for row in rows.tolist()]
    return naive.group_cost(own, 1, 1, R) if own else 0.0


def runs(starts: np.ndarray) -> list[slice]:
    edges = [*np.flatnonzero(starts).tolist(), len(starts)]
    return [slice(a, b) for a, b in pairwise(edges)]


@given(
    st.lists(st.tuples(*[st.booleans()] * 5), min_size=1, max_size=12, unique=True),
    st.data(),
    st.integers(1, 6),
)
def test_small_patterns_join_as_the_twin_says(
    patterns: list[tuple[bool, ...]], data: st.DataObject, k: int
) -> None:
    sizes = data.draw(st.lists(st.integers(1, 8), min_size=len(patterns), max_size=len(patterns)))
    words = np.array([[sum(b << i for i, b in enumerate(p))] for p in patterns], dtype=np.uint64)
    found = join_small(words, np.array(sizes), k)
    assert found.tolist() == naive.joined(patterns, sizes, k)


def test_distance_is_counted_over_every_word() -> None:
    words = np.array([[0, 0], [2**64 - 1, 0], [0, 2**63 | 1]], dtype=np.uint64)
    assert join_small(words, np.array([5, 5, 1]), 2).tolist() == [0, 1, 0]


@given(tables(1, 14), st.integers(2, 4), st.integers(1, 6))
def test_cuts_keep_order_and_size_and_never_cost_more(
    table: np.ndarray, k: int, enough: int
) -> None:
    rows, order = table.copy(), np.arange(len(table))
    starts = np.zeros(len(table), dtype=np.bool_)
    starts[0] = True
    split(rows, order, starts, **HOW, k=k, enough=enough)
    assert sorted(order.tolist()) == list(range(len(table)))
    assert np.array_equal(rows, table[order])
    parts = runs(starts)
    for part in parts:
        assert part.stop - part.start >= min(k, len(table))
        assert order[part].tolist() == sorted(order[part].tolist())
    assert sum(cost(rows[part]) for part in parts) <= cost(table)


def cuts(rows: np.ndarray, k: int) -> list[tuple[float, int, int]]:
    """Every cut that leaves k on either side: cost of both parts, item, value."""
    found = []
    for item in range(rows.shape[1]):
        for value in range(LEVELS):
            left = rows[:, item] <= value
            if min(left.sum(), (~left).sum()) >= k:
                found.append((cost(rows[left]) + cost(rows[~left]), item, value))
    return found


@given(tables(4, 12))
def test_a_node_is_left_whole_only_if_it_costs_nothing_or_cannot_be_cut(
    table: np.ndarray,
) -> None:
    rows, order = table.copy(), np.arange(len(table))
    starts = np.zeros(len(table), dtype=np.bool_)
    starts[0] = True
    split(rows, order, starts, **HOW, k=2, enough=1)
    for part in runs(starts):
        assert cost(rows[part]) == 0 or not cuts(rows[part], 2)


def test_the_cut_that_leaves_least_is_made() -> None:
    table = np.array([[1, 1, 4], [1, 4, 4], [4, 1, 1], [4, 4, 1]], dtype=np.uint8)
    rows, order = table.copy(), np.arange(4)
    starts = np.array([True, False, False, False])
    split(rows, order, starts, **HOW, k=2, enough=1)
    assert order.tolist() in ([0, 1, 2, 3], [2, 3, 0, 1])  # by item 0 or 2, which agree
    assert starts.tolist() == [True, False, True, False]


def packed(table: np.ndarray, k: int, sweeps: int = 50) -> np.ndarray:
    return pack(table, np.array([0, len(table)]), **HOW, k=k, sweeps=sweeps, tried=99)


def total(table: np.ndarray, label: np.ndarray) -> float:
    return sum(cost(table[label == g]) for g in set(label.tolist()))


@given(tables(2, 14), st.integers(2, 4))
def test_packed_groups_are_large_enough_and_never_cost_more(table: np.ndarray, k: int) -> None:
    label = packed(table, k)
    assert np.bincount(label).min() >= min(k, len(table))
    assert total(table, label) <= cost(table)
    assert total(table, label) <= total(table, packed(table, k, sweeps=0))


@given(tables(4, 9), st.integers(2, 3))
def test_no_single_move_or_exchange_is_left_that_would_cost_less(table: np.ndarray, k: int) -> None:
    label = packed(table, k)
    least, sizes = total(table, label), np.bincount(label)
    for r in range(len(table)):
        for g in range(len(sizes)):
            other = label.copy()
            other[r] = g
            assert sizes[label[r]] <= k or g == label[r] or total(table, other) >= least - 1e-6
        for s in range(r):
            other = label.copy()
            other[[r, s]] = label[[s, r]]
            assert total(table, other) >= least - 1e-6


def test_each_node_is_packed_alone() -> None:
    table = np.array([[1], [4], [1], [4], [4], [1], [4], [1]], dtype=np.uint8)
    label = pack(table, np.array([0, 4, 8]), **HOW, k=2, sweeps=9, tried=9)
    assert [label[i] for i in (0, 1)] == [label[i] for i in (2, 3)]
    assert [label[i] for i in (4, 5)] == [label[i] for i in (6, 7)]


@given(tables(2, 10), st.data())
def test_unions_cost_what_the_twin_says(table: np.ndarray, data: st.DataObject) -> None:
    n = len(table)
    groups = np.array(data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    counts = count_groups(table, groups, 3, LEVELS)
    found = union_costs(counts, 0, np.array([1, 2]), 1, R)
    for g, added in zip((1, 2), found.tolist(), strict=True):
        apart = cost(table[groups == 0]) + cost(table[groups == g])
        assert added == cost(table[(groups == 0) | (groups == g)]) - apart
