"""Exact sums of scores: against whole-number arithmetic without limits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from starshade.kernels.attack.summary import (
    SUMMARY,
    leave_out,
    mass,
    mass_unit,
    merge,
    power,
    powers,
    sigmas,
    summarize,
)
from tests.naive import summary as naive

HIGHEST = 2**31 - 1
SCORE = st.sampled_from([0, 1, 2, HIGHEST - 1, HIGHEST]) | st.integers(0, HIGHEST)
ROWS = st.lists(st.tuples(SCORE, st.sampled_from([1, 2, 100_000])), max_size=12)
ONES = st.lists(st.tuples(SCORE, st.just(1)), max_size=12)


def summarized(
    rows: list[tuple[int, int]],
    zero_rows: int = 0,
    zero_records: int = 0,
    repeated: list[int] | None = None,
) -> Any:
    out = np.zeros(1, dtype=SUMMARY)
    out["own"] = out["best"] = -1
    values = np.array([s for s, _ in rows], dtype=np.int32)
    weights = np.array([n for _, n in rows], dtype=np.int64)
    single = all(n == 1 for _, n in rows) and zero_rows == zero_records
    summarize(values, weights, single, zero_records, zero_rows, out[0])
    leave_out(np.array(repeated or [], dtype=np.int32), out[0])
    return out


def assert_figures(out: Any, rows: list[tuple[int, int]], repeated: list[int]) -> None:
    scores, sizes = [s for s, _ in rows], [n for _, n in rows]
    expected = naive.summary(scores, sizes, repeated)
    for name, value in expected.items():
        if "square" in name:
            high, low = int(out[f"{name}_high"][0]), int(out[f"{name}_low"][0])
            assert high * 2**32 + low == value, name
            assert 0 <= low < 2**32  # equal sums look equal
        else:
            assert int(out[name][0]) == value, name
    assert sigmas(out)[0] == pytest.approx(naive.sigma(scores, sizes), rel=1e-9)
    profiles = list(scores)
    for s in repeated:
        profiles.remove(s)
    of_profiles = naive.sigma(profiles, [1] * len(profiles))
    if len(set(profiles)) == len(set(scores)):  # a repeated row leaves its first one behind
        assert sigmas(out, profiles=True)[0] == pytest.approx(of_profiles, rel=1e-9)
    if len(set(scores)) < 2:
        assert sigmas(out)[0] == 0  # exactly


@given(ROWS | ONES, st.data())
def test_sums_are_exact(rows: list[tuple[int, int]], data: st.DataObject) -> None:
    rows = rows + rows[:3]
    repeated = [s for s, _ in rows[: data.draw(st.integers(0, min(3, len(rows))))]]
    assert_figures(summarized(rows, repeated=repeated), rows, repeated)


@given(ROWS | ONES, st.integers(1, 5), st.integers(0, 3))
def test_rows_that_nothing_touched_count_as_zeros(
    rows: list[tuple[int, int]], zero_rows: int, more: int
) -> None:
    zeros = [(0, 1)] * (zero_rows - 1) + [(0, 1 + more)]
    assert_figures(summarized(rows, zero_rows, zero_rows + more), rows + zeros, [])


@given(st.lists(ROWS, min_size=3, max_size=3))
def test_blocks_merge_exactly_in_any_order(blocks: list[list[tuple[int, int]]]) -> None:
    a, b, c = (summarized(rows) for rows in blocks)
    whole = summarized([row for rows in blocks for row in rows])
    assert merge(merge(a, b), c) == whole
    assert merge(c, merge(b, a)) == whole


def test_merging_keeps_the_targets_own_scores() -> None:
    a, b = summarized([(5, 1)]), summarized([(7, 1)])
    a["own"], b["best"] = 5, 7
    merged = merge(a, b)
    assert (merged["own"][0], merged["best"][0]) == (5, 7)


def test_sigma_keeps_a_unit_beside_huge_scores() -> None:
    rows = [(HIGHEST, 100_000), (HIGHEST - 1, 1)]
    assert sigmas(summarized(rows))[0] == pytest.approx(naive.sigma(*zip(*rows, strict=True)))


@given(ROWS | ONES, st.floats(0, 0.01) | st.just(0.0))
@example([(0, 100_000), (4701, 1)], 2**-7)
def test_mass_is_the_sum_of_powers(rows: list[tuple[int, int]], rate: float) -> None:
    scores, sizes = [s for s, _ in rows], [n for _, n in rows]
    top = max(scores, default=0)
    unit = mass_unit(max(sum(sizes), 1))
    values = np.array(scores, dtype=np.int32)
    weights = np.array(sizes, dtype=np.int64)
    room, tables = np.empty_like(values), powers(top, rate, unit)
    found = mass(values, weights, all(n == 1 for n in sizes), top, *tables, room)
    assert 0 <= found <= 2**62
    cut = sum(sizes) / unit  # what each record adds is cut to whole units
    assert found / unit == pytest.approx(naive.mass(scores, sizes, top, rate), rel=1e-12, abs=cut)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 1.0])
@pytest.mark.parametrize("single", [True, False])
def test_mass_of_many_rows_is_what_each_adds(share: float, single: bool) -> None:
    """Over several runs, of which rows without a score are counted."""
    rng = np.random.default_rng(int(100 * share))
    values = rng.integers(1, 5_000, 9_001, dtype=np.int32) * (rng.random(9_001) < share)
    weights = np.ones(9_001, np.int64) if single else rng.integers(1, 9, 9_001)
    tables = powers(5_000, 1e-3, mass_unit(9 * 9_001))
    room = np.empty(9_001, np.int32)
    each = [power(5_000 - v, *tables) * w for v, w in zip(values, weights, strict=True)]
    found = mass(values.astype(np.int32), weights, single, 5_000, *tables, room)
    assert found == sum(each)


@given(SCORE, st.data(), st.sampled_from([0.0, 1e-9, 3e-6, 0.001, 1.0, 1000.0]))
def test_power_is_a_power_of_two(top: int, data: st.DataObject, rate: float) -> None:
    distance = data.draw(st.sampled_from([0, top]) | st.integers(0, top))
    unit = mass_unit(1)
    tables = powers(top, rate, unit)
    found = power(distance, *tables) / unit
    assert found == pytest.approx(2.0 ** (-distance * rate), rel=1e-12, abs=2.0**-61)
    assert power(0, *tables) == unit


@given(
    st.integers(0, 3),
    st.sampled_from([0, 3, HIGHEST]),
    st.lists(st.tuples(st.floats(0, 1), SCORE), max_size=5),
)
def test_sums_over_many_runs_of_rows(
    runs: int, usual: int, others: list[tuple[float, int]]
) -> None:
    """The top and what is just below it may lie in one run of 4,096 rows or in several."""
    values = np.full(runs * 4096 + 5, usual, dtype=np.int32)
    for place, score in others:
        values[int(place * (len(values) - 1))] = score
    rows = [(int(v), 1) for v in values]
    assert_figures(summarized(rows), rows, [])


def test_the_runner_up_may_lie_in_another_run() -> None:
    rows = [(0, 1)] * 9000
    rows[0], rows[8500] = (9, 1), (5, 1)
    assert summarized(rows)["runner_up"][0] == 5


@pytest.mark.parametrize("records", [1, 2, 3, 480_189, 2**31])
def test_mass_of_all_records_fits(records: int) -> None:
    assert 2**60 <= records * mass_unit(records) <= 2**62
