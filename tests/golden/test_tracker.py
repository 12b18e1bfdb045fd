"""The tracker attack of KL §1.1, on the paper's own Table 1."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest

from starshade.attack.tracker.tracker import TrackerAttack
from starshade.ratings.table import Ratings
from starshade.release.cells import cells_of
from tests.golden import kl
from tests.naive import tracker as naive

#: Warcross, Joy Ride, Egomaniac, Pachinko, Geekerella
WARCROSS, JOY_RIDE, EGOMANIAC, PACHINKO, GEEKERELLA = range(5)
AGE = [25, 23, 27, 31, 35, 25, 32, 29, 24, 29]
MARRIED = [True, True, False, True, False, False, True, True, False, True]
CITY = ["New York", "Los Angeles", "New York", "San Antonio", "New York"]
CITY += ["Los Angeles", "Los Angeles", "Los Angeles", "Columbus", "Columbus"]


@pytest.fixture
def table_1() -> Ratings:
    marital = ["Married" if m else "Single" for m in MARRIED]
    age = pa.array(AGE, pa.float64())
    attributes = pa.table({"Age": age, "Marital status": marital, "City": CITY})
    return replace(kl.ratings(), attributes=attributes)


def rated(*items: int) -> naive.Condition:
    return tuple((item, "rated") for item in items)


def test_queries_2_and_3_single_out_tuples_1_and_7(table_1: Ratings) -> None:
    told = naive.attack(cells_of(table_1), range(5), ["null", "rated", 1, 2, 3, 4, 5], 4)
    assert rated(WARCROSS, EGOMANIAC, PACHINKO, GEEKERELLA) in told.singling[0]
    assert rated(WARCROSS, JOY_RIDE, EGOMANIAC, GEEKERELLA) in told.singling[6]


def test_who_is_at_risk(table_1: Ratings) -> None:
    # tuples 4 and 5 have the same ratings, and so have 8, 9 and 10; the others differ from all
    result = TrackerAttack().run(table_1)
    assert sorted(result.singled) == [0, 1, 2, 5, 6]
    assert result.at_risk.rate == 0.5
    assert result.complete
    matrix = kl.matrix()
    for user, condition in result.singled.items():
        # by hand: with so many cells of theirs, and no fewer, nobody else agrees
        others = np.delete(matrix, user, axis=0)
        lone = [
            n
            for n in range(1, 5)
            for items in combinations(range(5), n)
            if not (others[:, items] == matrix[user, list(items)]).all(axis=1).any()
        ]
        assert len(condition) == lone[0]


def test_the_paper_s_target_is_breached(table_1: Ratings) -> None:
    # "the 25-year-old married person who lives in New York": age alone is also tuple 6's
    result = TrackerAttack(background=("Age", "Marital status", "City")).run(table_1)
    assert [known.breached.rate for known in result.backgrounds] == [0.3, 0.5, 0.5]
    assert [known.wrong.rate for known in result.backgrounds] == [0, 0, 0]
    # the age of all five at risk is asked; then the marital status of those it fits: for tuples
    # 1 and 6 of two, for 2, 3 and 7 of one; then the city of one
    assert [known.queries for known in result.backgrounds] == [5, 5 + 0.7, 5.7 + 0.5]


def test_the_city_alone_misleads(table_1: Ratings) -> None:
    # of those at risk, 1 and 3 live in New York, 2, 6 and 7 in Los Angeles
    result = TrackerAttack(background=("City",)).run(table_1)
    assert result.breached.rate == 0
    # 4, alone in San Antonio, and 9 and 10 in Columbus are not at risk: nobody there fits
    assert result.backgrounds[0].wrong.rate == 0
    married = TrackerAttack(background=("City", "Marital status")).run(table_1).backgrounds[-1]
    # New York: 1 married, 3 single; Los Angeles: 2 and 7 married, 6 single
    assert married.breached.rate == 0.3
    # 5, single in New York, would be taken for 3; 8, married in Los Angeles, fits two
    assert married.wrong.rate == 0.1
