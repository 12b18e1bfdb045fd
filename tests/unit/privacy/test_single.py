"""Released cells read as ratings."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from starshade.errors import ConfigError
from starshade.privacy.proximity.balls import single_ratings
from starshade.ratings.scale import Scale
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.cells import Cells, Symbols, cells_of
from tests.strategies import ratings_tables

STARS = Scale(1, 5, 1)


def column(symbols: Symbols, codes: list[int], sizes: list[int]) -> Cells:
    return Cells(
        items=Vocabulary(np.array([7])),
        sizes=np.array(sizes),
        indptr=np.arange(len(codes) + 1),
        columns=np.zeros(len(codes), dtype=np.int32),
        codes=np.array(codes, dtype=np.uint8),
        symbols=symbols,
    )


@given(ratings_tables())
def test_a_table_comes_back(ratings):
    back = single_ratings(cells_of(ratings))
    np.testing.assert_array_equal(back.dense(), ratings.dense())
    assert back.items == ratings.items
    assert back.scale == ratings.scale
    assert list(back.users) == [str(i) for i in range(ratings.n_users)]


def test_a_row_of_several_records_is_as_many_users():
    symbols = Symbols.exact(STARS, STARS.levels)
    back = single_ratings(column(symbols, [4, 0], [3, 1]))
    assert back.dense().ravel().tolist() == [5, 5, 5, 1]


def test_null_alone_is_null_written_out_or_not():
    symbols = Symbols.sets(STARS, [np.array([2.0]), np.array([])], np.array([False, True]))
    back = single_ratings(column(symbols, [0, 1], [1, 2]))
    assert np.isnan(back.dense().ravel()).tolist() == [False, True, True]


def test_a_range_of_one_point_and_the_same_value_are_one_level():
    scale = Scale(0, 10)
    both = Symbols(
        scale, np.array([0, 0, 1]), np.array([2.0]), np.array([False, False]),
        np.array([2.0, np.nan]), np.array([2.0, np.nan]),
    )  # fmt: skip
    back = single_ratings(column(both, [0, 1], [1, 1]))
    assert back.levels.tolist() == [2.0]
    assert back.values().tolist() == [2.0, 2.0]


@pytest.mark.parametrize(
    ("members", "null"), [([4.0, 5.0], False), ([4.0], True), ([4.0, 5.0], True)]
)
def test_several_members_are_refused_where_a_cell_has_them(members, null):
    symbols = Symbols.sets(STARS, [np.array([1.0]), np.array(members)], np.array([False, null]))
    assert single_ratings(column(symbols, [0, 0], [1, 1])).n_users == 2  # listed, not used
    with pytest.raises(ConfigError, match="several members"):
        single_ratings(column(symbols, [0, 1], [1, 1]))


def test_a_rating_off_the_scale_is_refused():
    symbols = Symbols.sets(STARS, [np.array([2.5])], np.array([False]))
    with pytest.raises(ConfigError, match="not on its scale"):
        single_ratings(column(symbols, [0], [1]))
