from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from starshade.kernels.arrays import place_after, place_of
from starshade.kernels.attack.agreement import (
    NO_LEVELS,
    Contents,
    Rows,
    Truth,
)
from starshade.kernels.attack.agreement import agrees as _agrees
from starshade.kernels.attack.agreement import is_member as _is_member
from starshade.ratings.scale import Scale
from starshade.release.cells import Symbols
from tests.unit.attack.samples import symbol_tables


@njit
def is_member(rating, symbol, contents):
    return _is_member(rating, symbol, contents)


@njit
def agrees(row, rows, user, truth, contents, theta):
    return _agrees(row, rows, user, truth, contents, theta)


def contents_of(symbols: Symbols) -> Contents:
    return Contents(
        symbols.offsets,
        symbols.members,
        symbols.null,
        symbols.low,
        symbols.high,
        symbols.has_rating,
        symbols.scale.minimum,
    )


@given(symbol_tables(), st.floats(-12, 12) | st.sampled_from([-11.0, -10.0, 0.25, 1.0, 4.5, 5.0]))
def test_a_rating_is_a_member_as_symbols_say(symbols: Symbols, rating: float) -> None:
    contents = contents_of(symbols)
    for near in (rating, rating + 5e-10, rating - 5e-10):
        expected = symbols.contains(np.array([near]))[0]
        assert [is_member(near, s, contents) for s in range(len(symbols))] == expected.tolist()


@given(st.lists(st.integers(0, 6)).map(sorted), st.integers(-1, 7), st.data())
def test_places_are_those_of_a_sorted_list(
    values: list[int], value: int, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(values)))
    stop = data.draw(st.integers(start, len(values)))
    part = np.array(values, dtype=np.int64)
    inside = part[start:stop]
    assert place_of(part, start, stop, value) == start + np.searchsorted(inside, value)
    assert place_after(part, start, stop, value) == start + np.searchsorted(
        inside, value, side="right"
    )


def test_the_part_of_a_range_below_the_scale_holds_no_rating() -> None:
    symbols = Symbols.ranges(Scale(-10, 10), np.array([-11.0]), np.array([0.0]))
    members = [is_member(v, 0, contents_of(symbols)) for v in (-10.5, -10.0, 0.0, 0.5)]
    assert members == [False, True, True, False]


def test_a_cell_that_is_null_alone_counts_on_neither_side() -> None:
    symbols = Symbols.ranges(Scale(-10, 10), np.array([-11.0, 5.0]), np.array([-10.5, 6.0]))
    first = np.array([0, 1, 3])  # row 0: item 0; row 1: items 0 and 1
    columns, codes = np.array([0, 0, 1], np.int32), np.array([1, 1, 0], np.uint8)
    rows = Rows(first, columns, codes, np.empty(0, np.uint16), NO_LEVELS)
    code, no_days = np.zeros(1, np.uint8), np.empty(0, np.uint16)
    truth = Truth(np.array([0, 1]), np.zeros(1, np.int32), code, np.array([0.0]), no_days)
    for theta, expected in ((0.5, False), (0.01, False)):
        for row in range(2):
            assert agrees(row, rows, 0, truth, contents_of(symbols), theta) == expected
    right = truth._replace(levels=np.array([5.5]))
    assert agrees(1, rows, 0, right, contents_of(symbols), 1.0)
