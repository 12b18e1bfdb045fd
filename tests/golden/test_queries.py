"""Answers on the tables of Riyana & Natwichai 2018, with the queries of their section 1.1."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from starshade.anonymize.k_likeness import KLikeness
from starshade.query.query import Query
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.table import Release
from tests.golden import kl
from tests.unit.query.cases import release_of

FIRST = "Warcross IS NOT NULL AND Egomaniac IS NOT NULL AND Pachinko IS NOT NULL AND Geekerella"
SECOND = 'Warcross IS NOT NULL AND "Joy Ride" IS NOT NULL AND Egomaniac IS NOT NULL AND Geekerella'

#: the eight queries and what they give on the original
QUERIES = [
    ('SELECT AVERAGE(Age) FROM "Table 1" WHERE Egomaniac = 5', 33),
    (f'SELECT COUNT(*) FROM "Table 1" WHERE {FIRST} IS NOT NULL', 1),
    (f'SELECT COUNT(*) FROM "Table 1" WHERE {SECOND} IS NOT NULL', 1),
    (f'SELECT AVERAGE(Age) FROM "Table 1" WHERE {FIRST} IS NOT NULL', 25),
    (f'SELECT AVERAGE(Age) FROM "Table 1" WHERE {SECOND} IS NOT NULL', 32),
    (f'SELECT MAX("Marital status") FROM "Table 1" WHERE {FIRST} IS NOT NULL', "Married"),
    (f'SELECT MAX(City) FROM "Table 1" WHERE {FIRST} IS NOT NULL', "New York"),
    (f'SELECT AVERAGE(Salary) FROM "Table 1" WHERE {FIRST} IS NOT NULL', 42000),
]


def original() -> Ratings:
    """Table 1 whole: artifacts by name, personal attributes."""
    named = ("Warcross", "Joy Ride", "Egomaniac", "Pachinko", "Geekerella")
    keys = Vocabulary.of(str(i) for i in range(1, 6))
    return replace(kl.ratings(), items=keys, item_names=named, attributes=kl.people())


@pytest.fixture(scope="module")
def table_2() -> Release:
    return release_of(original(), kl.CLASSES, "dgh-b", 3)


@pytest.fixture(scope="module")
def table_3() -> Release:
    return release_of(original(), kl.CLASSES, "ndgh", 3)


@pytest.mark.parametrize(("sql", "truth"), QUERIES)
def test_the_eight_queries_on_the_original(sql: str, truth: Any) -> None:
    found = Query(sql).run(original())
    assert (found.value, found.low, found.high) == (truth, truth, truth)
    assert found.records == (2 if "= 5" in sql else 1)


@pytest.mark.parametrize("hierarchy", ["ndgh", "range", "dgh", "dgh-a", "dgh-c"])
@pytest.mark.parametrize("k", range(2, 11))
def test_the_eight_queries_single_nobody_out_of_a_release(k: int, hierarchy: str) -> None:
    made = KLikeness(k=k, hierarchy=hierarchy, attributes="exact", rare_items="keep").anonymize(
        original(), rng=k
    )
    bounds = {"Age": (0.0, 120.0), "Salary": (0.0, 1e6)}
    for sql, _ in QUERIES:
        paper = Query(sql, mode="paper").run(made)
        assert not paper.refused
        assert paper.records is not None
        assert paper.records == 0 or paper.records >= k
        strict = Query(sql, bounds=bounds).run(made)
        if "MAX" in sql:
            assert strict.refused
            assert strict.value is None
        elif "= 5" not in sql and strict.low is not None:  # one person on the original
            assert strict.low < strict.high, "nothing about one person is certain"


@pytest.mark.parametrize(
    ("condition", "expected", "certain", "possible"),
    [
        ("Warcross <= 2", 5.6667, 3, 7),
        ("NOT Warcross >= 4", 6.6667, 3, 10),
        ("Geekerella = 3", 1, 0, 3),
        ("Pachinko IS NULL", 5.3333, 3, 10),
        ("Pachinko IS NOT NULL", 4.6667, 0, 7),
    ],
)
@pytest.mark.parametrize("mode", ["strict", "paper"])
def test_counts_over_table_2(
    table_2: Release, mode: Any, condition: str, expected: float, certain: int, possible: int
) -> None:
    found = Query(f"SELECT COUNT(*) WHERE {condition}", mode=mode).run(table_2)
    assert found.value == pytest.approx(expected, abs=5e-5)
    assert (found.low, found.high, found.records) == (certain, possible, possible)


def test_a_count_over_table_3(table_3: Release) -> None:
    found = Query("SELECT COUNT(*) WHERE Pachinko IS NULL").run(table_3)
    assert found.value == pytest.approx(5.8333, abs=5e-5)
    assert (found.low, found.high) == (3, 10)


def test_the_mean_age_and_its_error(table_2: Release, table_3: Release) -> None:
    truth = 33
    for made, mean, of_truth, of_answer in (
        (table_3, 30.75, 6.8182, 7.3171),
        (table_2, 28.2857, 14.2857, 16.6667),
    ):
        found = Query(QUERIES[0][0], mode="paper").run(made)
        assert isinstance(found.value, float)
        assert found.value == pytest.approx(mean, abs=5e-5)
        error = abs(found.value - truth) * 100
        assert error / truth == pytest.approx(of_truth, abs=5e-5)
        assert error / found.value == pytest.approx(of_answer, abs=5e-5)
    found = Query(QUERIES[0][0], mode="paper").run(table_3)
    assert (found.low, found.high) == (25, 35)


def test_bounds_by_hand(table_3: Release) -> None:
    """Classes {1,2,3}, {4..7}, {8,9,10}; ages 25 23 27 | 31 35 25 32 | 29 24 29."""
    # Warcross = 2 is certain in the last class and impossible elsewhere
    found = Query("SELECT SUM(Age), MIN(Age), MAX(City) WHERE Warcross = 2", mode="paper")
    total, least, city = found.run(table_3).results
    assert (total.value, total.low, total.high) == (82, 82, 82)
    assert (least.value, least.low, least.high) == (24, 24, 24)
    assert (city.low, city.high) == ("Los Angeles", "Los Angeles")
    # Warcross <= 2: certain there, possible with 1/2 in {4..7}
    both = Query("SELECT SUM(Age), AVG(Age), MIN(Age), MAX(Age) WHERE Warcross <= 2", mode="paper")
    total, mean, least, most = both.run(table_3).results
    assert (total.value, total.low, total.high) == (82 + 61.5, 82, 82 + 123)
    assert mean.value == pytest.approx(143.5 / 5)
    assert mean.low == pytest.approx((82 + 25) / 4)
    assert mean.high == pytest.approx((82 + 35 + 32 + 31) / 6)
    assert (least.value, least.low, least.high) == (24, 24, 24)
    assert (most.value, most.low, most.high) == (35, 29, 35)
    # strict, ages 0 to 120: of the four with 123 years together, three at 0 and one at 123 is
    # the nearest to 0 that the sum allows, were a fraction of a person allowed: 4 - 123/120
    strict = Query("SELECT SUM(Age), AVG(Age) WHERE Warcross <= 2", bounds={"Age": (0, 120)})
    total, mean = strict.run(table_3).results
    assert (total.value, total.low, total.high) == (143.5, 82, 205)
    assert mean.low == pytest.approx(82 / (3 + 4 - 123 / 120))
    assert mean.high == pytest.approx((82 + 123) / (3 + 123 / 120))
