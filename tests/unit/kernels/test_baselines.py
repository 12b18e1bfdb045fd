"""The kernels of k-Member and Mondrian beside their twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from starshade.anonymize.baselines import member_groups, mondrian_groups, relaxed_groups
from starshade.anonymize.points import positions
from starshade.kernels import baselines as kernel
from starshade.kernels import baselines as widened
from starshade.kernels import small
from tests.naive.k_member import k_member, shares
from tests.naive.mondrian import relaxed, strict

TENTHS = st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.6, 1 / 3, -7.5])


@pytest.fixture(params=[0, 1 << 62], ids=["kernels", "NumPy"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compute everything by kernels, and by what stands in for them on small tables."""
    monkeypatch.setattr(small, "_FEW", request.param)


def interpreted(kernel):
    return getattr(kernel, "py_func", kernel)


def as_lists(groups: np.ndarray) -> list[list[int]]:
    return [np.flatnonzero(groups == g).tolist() for g in range(groups.max() + 1)]


def in_order(groups: list[list[int]]) -> list[list[int]]:
    return [sorted(group) for group in groups]


def exact(matrix: np.ndarray) -> list:
    """Shares as the methods see them: exact for whole numbers, else rounded to the unit."""
    whole = bool((matrix == np.rint(matrix)).all())
    return shares(matrix, None if whole else positions(matrix)[1])


@st.composite
def matrices(draw: st.DrawFn) -> np.ndarray:
    """Few levels, columns of different ranges, constant ones, equal rows, halves and thirds."""
    n, m = draw(st.integers(2, 24)), draw(st.integers(1, 6))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    matrix = random.integers(0, random.integers(1, 8, m), (n, m))
    if draw(st.booleans()):
        matrix[n // 2 :] = matrix[: n - n // 2]
    kind = draw(st.sampled_from([np.uint8, np.uint16, np.float64]))
    if kind is not np.float64:
        return matrix.astype(kind)
    return matrix * draw(st.sampled_from([1.0, 0.1, 1 / 3])) + draw(TENTHS)


def orders(matrix: np.ndarray) -> st.SearchStrategy[list[int]]:
    return st.permutations(range(len(matrix)))


@given(matrices(), st.data())
def test_k_members_groups_are_those_of_the_twin(matrix, data):
    k = data.draw(st.integers(2, len(matrix)))
    order = data.draw(orders(matrix))
    found = as_lists(member_groups(matrix, k, np.array(order)))
    assert found == in_order(k_member(exact(matrix), k, order))


@given(matrices(), st.data())
def test_strict_mondrians_groups_are_those_of_the_twin(matrix, data):
    k = data.draw(st.integers(2, max(2, len(matrix) // 2)))
    found = as_lists(mondrian_groups(matrix, k))
    assert found == strict(exact(matrix), list(range(len(matrix))), k)


@given(matrices(), st.data())
def test_relaxed_mondrians_groups_are_those_of_the_twin(matrix, data):
    k = data.draw(st.integers(2, max(2, len(matrix) // 2)))
    order = data.draw(orders(matrix))
    found = as_lists(relaxed_groups(matrix, k, np.array(order)))
    assert found == in_order(relaxed(exact(matrix), order, k))


def test_k_members_groups_are_those_of_the_twin_across_blocks_and_closed_ranks(monkeypatch):
    random = np.random.default_rng(0)
    matrix = random.integers(0, 6, (60, 4))[random.integers(0, 60, 120)].astype(np.uint8)
    order = random.permutation(120)
    expected = in_order(k_member(shares(matrix), 4, order.tolist()))
    assert as_lists(member_groups(matrix, 4, order)) == expected
    for module in (widened, kernel):  # compiled with blocks of 8192
        for name, value in list(vars(module).items()):
            monkeypatch.setattr(module, name, interpreted(value))
    monkeypatch.setattr(widened, "_BLOCK", 7)
    monkeypatch.setattr(widened, "_STRIDE", 3)
    monkeypatch.setattr(kernel, "_SHARE", 2)
    assert as_lists(member_groups(matrix, 4, order)) == expected


@pytest.mark.parametrize("levels", [6, 41, 3000, 2**17])
def test_many_levels_take_wider_types(levels):
    """Places in 8 and in 32 bits."""
    random = np.random.default_rng(levels)
    matrix = random.integers(0, levels, (40, 5)).astype(np.float64)
    matrix[:2] = [[0] * 5, [levels - 1] * 5]
    matrix[2:, 4] = 0  # two distances apart only
    order = random.permutation(40)
    rows = shares(matrix)
    assert as_lists(member_groups(matrix, 3, order)) == in_order(k_member(rows, 3, order.tolist()))
    assert as_lists(mondrian_groups(matrix, 3)) == strict(rows, list(range(40)), 3)
    found = as_lists(relaxed_groups(matrix, 3, order))
    assert found == in_order(relaxed(rows, order.tolist(), 3))


@given(matrices())
@example(np.array([[0], [127]], dtype=np.uint8))
@example(np.array([[0], [128]], dtype=np.uint8))
def test_places_are_exact_shares_where_all_is_whole(matrix):
    places, unit = positions(matrix)
    assert places.min() >= 0
    assert places.max() <= unit
    for row, found in zip(exact(matrix), places.tolist(), strict=True):
        assert [share * unit for share in row] == found


def test_places_of_coprime_ranges_are_rounded_to_a_billionth():
    ranges = [997, 991, 983, 977]
    places, unit = positions(np.array([[0] * 4, [1] * 4, ranges], dtype=np.float64))
    assert unit == 2**30
    assert places[1].tolist() == [round(2**30 / r) for r in ranges]


def test_places_of_what_no_decimals_write_are_as_fine():
    places, unit = positions(np.array([[0.0, 0], [1 / 7, 1], [1.0, 3]]))
    assert unit == 3 * (2**30 // 3)
    assert places.tolist() == [[0, 0], [round(unit / 7), unit // 3], [unit, unit]]
    places, unit = positions(np.array([[0.0], [1e-7], [1.0]]))  # a seventh decimal
    assert (unit, places.ravel().tolist()) == (2**30, [0, round(2**30 * 1e-7), 2**30])


@pytest.mark.parametrize(
    ("column", "unit", "places"),
    [
        ([0.1, 0.2, 0.1 + 0.2], 2, [0, 1, 2]),
        ([-11.0, 0.365, 0.000001 + 0.365], 11_365_001, [0, 11_365_000, 11_365_001]),
        ([1.0, 1.5, 1.5 + 9e-10], 5, [0, 5, 5]),  # nearer than two ratings can be
        ([1e8, 1e8 + 0.5, 1e8 + 2], 20, [0, 5, 20]),
        ([5.0, 5.0, 5.0], 1, [0, 0, 0]),
        ([0.0, 5e-10, 0.0], 2**30, [0, 2**30, 0]),
    ],
)
def test_places_of_decimals_are_exact(column, unit, places):
    found, of = positions(np.array(column)[:, None])
    assert (of, found.ravel().tolist()) == (unit, places)


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.1, 0.01, 0.5, 1e-6, 3.0]), st.data())
def test_the_unit_of_the_numbers_changes_no_group(seed, by, data):
    """2/9 + 3/9 is 5/9 in tenths too: true ties stay ties."""
    random = np.random.default_rng(seed)
    matrix = random.integers(0, random.integers(2, 12, 5), (30, 5))
    order = random.permutation(30)
    low = data.draw(TENTHS)
    for scaled in (matrix * by + low, np.round(matrix * by, 6)):
        places = positions(scaled)
        whole = positions(matrix)
        # the same shares: equal once multiplied crosswise
        assert (places[0] * np.int64(whole[1]) == whole[0] * np.int64(places[1])).all()
        for groups in (member_groups, relaxed_groups):
            assert groups(scaled, 3, order).tolist() == groups(matrix, 3, order).tolist()
        assert mondrian_groups(scaled, 3).tolist() == mondrian_groups(matrix, 3).tolist()


def test_a_cluster_that_grew_costs_more_to_widen():
    """[0, 40] takes 60; then 75 costs it 4·75 - 3·60 = 120, and [100, 140] 3·65 - 2·40 = 115."""
    low, high, sizes = np.array([[0], [100]]), np.array([[40], [140]]), np.array([2, 2])
    assert small.join(np.array([60]), low, high, sizes) == 0
    assert small.join(np.array([75]), low, high, sizes) == 1
    assert (low.tolist(), high.tolist(), sizes.tolist()) == ([[0], [75]], [[60], [140]], [3, 3])


def test_sides_smaller_than_k_make_way_for_the_next_item():
    """The widest item holds one outlier; the cut is made on the second."""
    rows = np.array([[9, 1], [0, 1], [0, 1], [0, 5], [0, 5], [0, 5]], dtype=np.uint8)
    assert mondrian_groups(rows, 3).tolist() == [0, 0, 0, 1, 1, 1]
    assert mondrian_groups(rows[:, :1], 2).tolist() == [0] * 6
    assert relaxed_groups(rows[:, :1], 2, np.arange(6)).tolist() == [1, 0, 0, 0, 1, 1]


def test_equal_records_are_not_cut():
    rows = np.full((12, 3), 4, dtype=np.uint8)
    assert mondrian_groups(rows, 2).tolist() == [0] * 12
    assert relaxed_groups(rows, 2, np.arange(12)).tolist() == [0] * 12
    assert np.bincount(member_groups(rows, 5, np.arange(12))).tolist() == [7, 5]
