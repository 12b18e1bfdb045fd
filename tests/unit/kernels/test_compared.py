"""Plain algorithms that count what they compare, against their twins, and by formula."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.anonymize.baselines import mondrian_groups
from starshade.kernels.compared import (
    FIRST,
    SEED,
    SUM,
    plain_likeness,
    plain_member,
    plain_mondrian,
)
from tests.naive import compared as naive


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[list[int]], int]:
    k = draw(st.integers(2, 5))
    row = st.lists(st.integers(0, 3), min_size=3, max_size=3)
    return draw(st.lists(row, min_size=k, max_size=25)), k


def classes(group: np.ndarray) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(group == g).tolist()) for g in set(group.tolist())}


@given(tables(), st.booleans())
def test_k_likeness_and_its_cells(case: tuple[list[list[int]], int], printed: bool) -> None:
    rows, k = case
    others = k if printed else k - 1
    found = plain_likeness(np.array(rows, np.float64), k, others, FIRST, SUM, 0.0)
    groups, nuclei, rest = naive.likeness(rows, k, others)
    assert classes(found[0]) == {frozenset(group) for group in groups}
    assert found[1:] == (nuclei, rest)


@given(tables())
def test_k_member_and_its_cells(case: tuple[list[list[int]], int]) -> None:
    rows, k = case
    group, cells, anew = plain_member(np.array(rows, np.int64), k, SEED)
    groups, counted = naive.member(rows, k)
    assert classes(group) == {frozenset(each) for each in groups}
    assert cells == counted <= anew


@given(tables())
def test_mondrian_and_its_cells(case: tuple[list[list[int]], int]) -> None:
    rows, k = case
    table = np.array(rows, np.int64)
    group, cells = plain_mondrian(table, k)
    assert cells == naive.mondrian(rows, list(range(len(rows))), k)
    if (np.ptp(table, axis=0) == 3).all():  # places of equal widths
        assert classes(group) == classes(mondrian_groups(table.astype(np.uint8), k))


@pytest.mark.parametrize(("n", "k", "m"), [(40, 4, 3), (43, 4, 3), (30, 7, 2)])
def test_cells_of_k_likeness_by_formula(n: int, k: int, m: int) -> None:
    """A nucleus is compared to all who are left; who is left over to all in classes."""
    rows = np.random.default_rng(0).integers(0, 6, (n, m)).astype(np.float64)
    _, nuclei, rest = plain_likeness(rows, k, k - 1, FIRST, SUM, 0.0)
    formed = n // k
    assert nuclei == m * sum(n - k * c - 1 for c in range(formed))
    assert rest == m * sum(k * formed + i for i in range(n % k))
