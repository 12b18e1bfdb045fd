"""Deletion on Sun & Sun's Tables 1 and 3."""

from __future__ import annotations

from starshade.anonymize.suppress import SuppressAnonymizer
from starshade.ratings.scale import Scale
from tests.strategies import table

ONE = [
    {0: 6.0, 1: 1.0, 3: 6.0},
    {0: 1.0, 1: 6.0, 3: 1.0},
    {0: 2.0, 1: 5.0, 3: 1.0},
    {0: 1.0, 2: 5.0, 3: 1.0},
    {0: 2.0, 2: 6.0, 3: 5.0},
]
THREE = [
    {0: 3.0, 1: 6.0, 3: 6.0},
    {0: 2.0, 1: 5.0, 3: 1.0},
    {0: 4.0, 1: 7.0, 3: 4.0},
    {0: 5.0, 1: 6.0, 3: 1.0},
    {0: 1.0, 2: 5.0, 3: 1.0},
    {0: 2.0, 2: 6.0, 3: 5.0},
    {0: 6.0, 2: 6.0, 3: 3.0},
    {0: 5.0, 2: 5.0, 3: 2.0},
]


def test_table_1_loses_t1() -> None:
    found = SuppressAnonymizer(2, 1, sensitive=["4"]).suppress(table(ONE, Scale(0, 6, 1)))
    assert list(found.ratings.users) == ["2", "3", "4", "5"]
    assert found.least


def test_table_3_loses_t7_and_t8() -> None:
    for seed in range(5):
        make = SuppressAnonymizer(2, 2, 1.0, ["4"])
        found = make.suppress(table(THREE, Scale(0, 7, 1)), seed)
        assert list(found.ratings.users) == ["1", "2", "3", "4", "5", "6"]


def test_table_3_meets_the_lower_spread_as_it_is() -> None:
    found = SuppressAnonymizer(2, 2, 0.5, ["4"]).suppress(table(THREE, Scale(0, 7, 1)))
    assert found.users_deleted == 0
    assert found.least
