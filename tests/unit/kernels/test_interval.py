from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.kernels.interval.interval import (
    best_starts,
    best_starts_real,
    clip_groups,
    clip_groups_real,
)
from tests.naive import interval as naive

LEVELS = 5
code_rows = st.integers(1, 4).flatmap(
    lambda m: st.lists(
        st.lists(st.integers(0, LEVELS), min_size=m, max_size=m), min_size=1, max_size=9
    )
)
real = st.floats(-10, 10).map(lambda v: round(v, 2) + 0.0)


def one_group(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.arange(n), np.array([0, n]), np.array([7], dtype=np.uint64)


def as_rows(cells: np.ndarray) -> list[list[float | None]]:
    return [[None if v == 0 or v != v else float(v) for v in row] for row in cells.tolist()]


@given(st.lists(st.integers(1, 9), max_size=12), st.integers(0, 9))
def test_the_best_starts_on_a_stepped_scale(codes: list[int], width: int) -> None:
    first, last, moved = best_starts(np.bincount(codes, minlength=10), width)
    expected = naive.best_starts([float(c) for c in codes], width, 1)
    if not expected:
        assert moved == 0
        assert first == last == min(codes, default=0)
    else:
        assert list(range(first, last + 1)) == expected
        assert moved == naive.moved([float(c) for c in codes], first, width)


@given(st.lists(real, min_size=1, max_size=10), st.sampled_from([0.0, 0.1, 0.5, 1.0, 3.3]))
def test_the_best_starts_on_a_real_scale(ratings: list[float], eps: float) -> None:
    low, high = best_starts_real(np.sort(np.array(ratings)), eps)
    expected = naive.best_starts(ratings, eps, None)
    if not expected:
        assert low == high == min(ratings)
    else:
        assert low == pytest.approx(expected[0], abs=1e-8)
        assert high == pytest.approx(expected[-1], abs=1e-8)


@given(code_rows, st.integers(0, LEVELS), st.sampled_from([5.0, 2.5, -1.0]), st.integers(0, 99))
def test_a_clipped_group_costs_what_the_twin_says_and_is_proximate(
    rows: list[list[int]], width: int, null_cost: float, seed: int
) -> None:
    table = np.array(rows, dtype=np.uint8)
    order, indptr, _ = one_group(len(rows))
    numbers = np.array([seed * 7919], dtype=np.uint64)
    out = np.empty_like(table)
    how = {"n_levels": LEVELS, "width": width, "null_cost": null_cost, "numbers": numbers}
    cost = clip_groups(table, order, indptr, **how, out=out)
    assert clip_groups(table, order, indptr, **how, out=None) == cost
    before, after = as_rows(table), as_rows(out)
    free = null_cost < 0
    assert cost[0] == naive.group_cost(before, width, 1, None if free else null_cost)
    assert cost[0] == naive.distortion(before, after, 1e6 if free else null_cost)
    nulls = "ignore" if free else "strict"
    assert all(
        naive.near(a, b, width, nulls, null_cost if not free else 1.0, 0.0)
        for a in after
        for b in after
    ) or (nulls == "strict" and null_cost <= width)


@given(code_rows, st.integers(0, 99))
def test_filled_cells_lie_in_the_interval_and_are_the_median(
    rows: list[list[int]], seed: int
) -> None:
    table = np.array(rows, dtype=np.uint8)
    order, indptr, _ = one_group(len(rows))
    numbers = np.array([seed], dtype=np.uint64)
    out = np.empty_like(table)
    clip_groups(
        table, order, indptr, n_levels=LEVELS, width=1, null_cost=5.0, numbers=numbers, out=out
    )
    for j in range(table.shape[1]):
        filled = out[(table[:, j] == 0) & (out[:, j] > 0), j]
        if len(filled):
            given = np.sort(table[table[:, j] > 0, j])
            kept = out[table[:, j] > 0, j]
            median = given[(len(given) - 1) // 2]
            assert len(set(filled.tolist())) == 1
            assert filled[0] == np.clip(median, kept.min(), kept.max())


@given(
    st.lists(st.lists(st.none() | real, min_size=2, max_size=2), min_size=1, max_size=8),
    st.sampled_from([0.0, 0.25, 1.0, 3.3]),
    st.sampled_from([20.0, -1.0]),
    st.integers(0, 9),
)
def test_the_same_on_a_real_scale(
    rows: list[list[float | None]], eps: float, null_cost: float, seed: int
) -> None:
    values = np.array([[np.nan if v is None else v for v in row] for row in rows])
    order, indptr, _ = one_group(len(rows))
    out = np.empty_like(values)
    numbers = np.array([seed], dtype=np.uint64)
    how = {"eps": eps, "null_cost": null_cost, "numbers": numbers}
    cost = clip_groups_real(values, order, indptr, **how, out=out)
    assert clip_groups_real(values, order, indptr, **how, out=None) == cost
    after = [[None if v != v else v for v in row] for row in out.tolist()]
    free = null_cost < 0
    expected = naive.group_cost(rows, eps, None, None if free else null_cost)
    assert cost[0] == pytest.approx(expected, abs=1e-6)
    assert naive.distortion(rows, after, 1e6 if free else null_cost) == pytest.approx(
        expected, abs=1e-6
    )
    nulls = "ignore" if free else "strict"
    assert all(naive.near(a, b, eps, nulls, 20.0, -11.0) for a in after for b in after)


def test_groups_are_clipped_each_alone() -> None:
    table = np.array([[1], [5], [1], [5]], dtype=np.uint8)
    out = np.empty_like(table)
    cost = clip_groups(
        table,
        np.array([0, 2, 1, 3]),
        np.array([0, 2, 4]),
        n_levels=5,
        width=1,
        null_cost=5.0,
        numbers=np.zeros(2, dtype=np.uint64),
        out=out,
    )
    assert cost.tolist() == [0.0, 0.0]
    assert out.tolist() == table.tolist()


def test_ties_are_settled_by_the_numbers_given() -> None:
    table = np.array([[1], [6]], dtype=np.uint8)
    found = set()
    for number in range(64):
        out = np.empty_like(table)
        clip_groups(
            table,
            *one_group(2)[:2],
            n_levels=6,
            width=1,
            null_cost=6.0,
            numbers=np.array([number], dtype=np.uint64),
            out=out,
        )
        found.add(tuple(out[:, 0].tolist()))
    assert found == {(a, a + 1) for a in range(1, 6)}
