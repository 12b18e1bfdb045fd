"""Dense rows turned into columns, counted, compared and added up: beside what NumPy says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from starshade.kernels import columns
from starshade.kernels.columns import (
    add_by_level,
    add_evidence,
    count_cells,
    count_levels,
    first_equal_column,
    gather,
    greatest_shown,
    sums_of,
    tally_shown,
    transpose_bytes,
)

SHAPES = st.tuples(st.integers(1, 9), st.integers(1, 12))
LEVELS = SHAPES.flatmap(lambda shape: arrays(np.uint8, shape, elements=st.integers(0, 3)))


@given(LEVELS)
def test_turned(levels: np.ndarray) -> None:
    turned = np.full(levels.shape[::-1], 9, dtype=np.uint8)
    transpose_bytes(levels, turned)
    assert np.array_equal(turned, levels.T)


def test_turned_in_many_tiles() -> None:
    levels = np.random.default_rng(0).integers(0, 256, (300, 517)).astype(np.uint8)
    turned = np.empty((517, 300), dtype=np.uint8)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "_RUN", 1)
        transpose_bytes(levels, turned)
    assert np.array_equal(turned, levels.T)


@given(LEVELS, st.booleans())
def test_the_first_equal_row(levels: np.ndarray, patterns: bool) -> None:
    rows = [tuple(row > 0) if patterns else tuple(row) for row in levels.T]
    found = first_equal_column(levels, patterns=patterns)
    assert found.tolist() == [rows.index(row) for row in rows]


@given(LEVELS, st.data())
def test_counted_and_listed(levels: np.ndarray, data: st.DataObject) -> None:
    sizes = np.array(data.draw(st.lists(st.integers(1, 9), min_size=levels.shape[1],
                                        max_size=levels.shape[1])))  # fmt: skip
    lengths, support = count_cells(levels, sizes)
    assert lengths.tolist() == (levels > 0).sum(axis=0).tolist()
    assert support.tolist() == ((levels > 0) @ sizes).tolist()
    items = np.array(sorted(data.draw(st.sets(st.integers(0, len(levels) - 1)))), dtype=np.int64)
    indptr, rows, codes = gather(levels, items)
    assert len(indptr) == len(levels) + 1
    for item in range(len(levels)):
        here = slice(indptr[item], indptr[item + 1])
        some = np.flatnonzero(levels[item]) if item in items else np.empty(0, np.int64)
        assert rows[here].tolist() == some.tolist()
        assert codes[here].tolist() == (levels[item, some] - 1).tolist()


@given(LEVELS, st.integers(0, 2**32))
def test_what_is_shown_of_ratings(levels: np.ndarray, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_users, n_ratings = 6, 20
    item = np.sort(rng.integers(0, len(levels) + 1, n_ratings))  # the last is not released
    users, codes = rng.integers(0, n_users, n_ratings), rng.integers(0, 3, n_ratings)
    indptr = np.searchsorted(item, np.arange(len(levels) + 2))
    row = rng.integers(-1, levels.shape[1], n_users)
    counts, expected = np.zeros((3, 4), np.int64), np.zeros((3, 4), np.int64)
    shown = np.arange(len(levels))
    ratings = indptr.astype(np.int64), users.astype(np.int32), codes.astype(np.uint8)
    tally_shown(levels, ratings, (shown, shown, row), counts)
    for i, user, code in zip(item, users, codes, strict=True):
        if i < len(levels) and row[user] >= 0:
            expected[code, levels[i, row[user]]] += 1
    assert np.array_equal(counts, expected)


@given(LEVELS, st.integers(0, 2**32))
def test_sums(levels: np.ndarray, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_rows = levels.shape[1]
    worth, indptr = rng.random((3, 4)), np.array([0, 2, 2, 5])
    facts, kinds = rng.integers(0, len(levels), 5), rng.integers(0, 3, 5)
    out, pieces = np.zeros((3, n_rows)), np.zeros((3, n_rows))
    sums_of(levels, indptr, facts, kinds, worth, out)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "_STRETCH", 5)
        sums_of(levels, indptr, facts, kinds, worth, pieces)
    assert np.array_equal(out, pieces)
    each = worth[kinds[:, None], levels[facts]]
    assert out == pytest.approx(np.stack([each[:2].sum(0), np.zeros(n_rows), each[2:].sum(0)]))


@given(LEVELS, st.integers(0, 2**32))
def test_evidence(levels: np.ndarray, seed: int) -> None:
    rng = np.random.default_rng(seed)
    expected, scales = rng.random(levels.shape), rng.random(levels.shape[1])
    deviations = np.where(levels > 0, rng.normal(size=levels.shape), np.nan)
    indptr, items, ratings = np.array([0, 2, 2, 5]), rng.integers(0, len(levels), 5), rng.random(5)
    out, pieces = np.ones((3, len(scales))), np.ones((3, len(scales)))
    given_ = (deviations, expected), scales, (indptr, items, ratings), -11.5
    add_evidence(*given_, out)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("starshade.kernels.arrays._WORTH_IT", 1)
        add_evidence(*given_, pieces)
    assert np.array_equal(out, pieces)
    q = (ratings[:, None] - expected[items]) * scales
    each = np.where(levels[items] > 0, q * deviations[items] - q**2 / 2, -11.5)
    assert out == pytest.approx(1 + np.stack([each[:2].sum(0), 0 * scales, each[2:].sum(0)]))


@given(LEVELS, st.integers(0, 2**32))
def test_rows_by_level(levels: np.ndarray, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_items, n_rows = levels.shape
    sizes, counts = rng.integers(1, 5, n_rows), np.ones((n_items, 4), np.int64)
    count_levels(levels, sizes, counts)
    expected = [[1 + sizes[column == level].sum() for level in range(4)] for column in levels]
    assert counts.tolist() == expected

    people, items = np.sort(rng.integers(0, 3, 5)), rng.integers(-1, n_items, 5)
    odds, shares = rng.random((3, n_rows)), np.array([0.0, 0.5, 0.0, 1.0])
    most = np.full(5, -np.inf)
    greatest_shown(levels, (people, items), odds, shares, most)
    scales, least = 2.0 ** rng.integers(0, 50, 5), 0.7
    whole, best = np.zeros((5, 4), np.int64), np.zeros((5, 4), np.int64)
    add_by_level(levels, (people, items), odds, scales, least, (whole, best))
    for i, (person, item) in enumerate(zip(people, items, strict=True)):
        column = levels[item] if item >= 0 else np.zeros(n_rows, np.uint8)
        of_rows = odds[person]
        assert most[i] == max([*of_rows[shares[column] > 0], -np.inf])
        for level in range(1, 4):
            here = of_rows[column == level]
            assert whole[i, level] == sum(int(each * scales[i]) for each in here)
            assert best[i, level] == (here >= least).sum()
    assert not whole[:, 0].any()
    assert not best[:, 0].any()
