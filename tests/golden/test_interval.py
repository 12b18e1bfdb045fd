"""Sun & Sun's worked examples of §6, through the public method (SR Tables 2, 4, 5)."""

from __future__ import annotations

import pytest

from starshade.anonymize.interval.interval import IntervalAnonymizer
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from tests.naive import interval as naive
from tests.naive.records import released_rows, rows_of
from tests.strategies import table

SIX, SEVEN, EIGHT = Scale(1, 6, 1), Scale(1, 7, 1), Scale(1, 8, 1)


def columns(*columns: list[int], scale: Scale) -> Ratings:
    rows = [{item: float(v) for item, v in enumerate(row)} for row in zip(*columns, strict=True)]
    return table(rows, scale)


def whole(ratings: Ratings, eps: float, seed: int = 0) -> list[list[float | None]]:
    """What the records became, user by user."""
    return released_rows(IntervalAnonymizer(2, eps, partition="whole").anonymize(ratings, rng=seed))


def column(ratings: Ratings, eps: float, item: int = 0, seed: int = 0) -> list[float | None]:
    return [row[item] for row in whole(ratings, eps, seed)]


T4 = [3, 4, 5, 6, 7, 7, 8, 8]


@pytest.mark.parametrize(("start", "cost"), [(3, 11), (4, 7), (5, 5), (6, 6)])
def test_table_4_every_interval(start: int, cost: int) -> None:
    assert naive.moved([float(v) for v in T4], start, 2) == cost


def test_table_4_the_vector_chosen() -> None:
    assert column(columns(T4, scale=EIGHT), 2) == [5, 5, 5, 6, 7, 7, 7, 7]


@pytest.mark.parametrize(
    ("ratings", "costs"),
    [
        ([6, 3, 4, 2], [4, 3, 4, 6]),
        ([1, 6, 5, 5], [10, 8, 6, 4, 4]),
        ([3, 2, 4, 5], [3, 2, 3]),
        ([6, 5, 7, 6], [1, 1]),
    ],
)
def test_table_5_and_hg1_every_interval(ratings: list[int], costs: list[int]) -> None:
    values = [float(v) for v in ratings]
    tried = naive.starts(values, 1, 1)
    assert tried == [min(ratings) + i for i in range(len(costs))]
    assert [naive.moved(values, a, 1) for a in tried] == costs


def test_table_5_issue_1_and_the_tie_of_issue_2() -> None:
    ratings = columns([6, 3, 4, 2], [1, 6, 5, 5], scale=SIX)
    chosen = set()
    for seed in range(30):
        rows = whole(ratings, 1, seed)
        assert [row[0] for row in rows] == [4, 3, 4, 3]
        chosen.add(tuple(row[1] for row in rows))
    assert chosen == {(4, 5, 5, 5), (5, 6, 5, 5)}


def test_hg1_of_table_2() -> None:
    ratings = columns([3, 2, 4, 5], [6, 5, 7, 6], scale=SEVEN)
    chosen = set()
    for seed in range(30):
        rows = whole(ratings, 1, seed)
        assert [row[0] for row in rows] == [3, 3, 4, 4]
        chosen.add(tuple(row[1] for row in rows))
    assert chosen == {(6, 5, 6, 6), (6, 6, 7, 6)}


def test_table_2_moves_hg1_alone() -> None:
    """Issue 4 is sensitive; {t5, t6} is proximate as it is."""
    rows = [
        {0: 3, 1: 6, 3: 6},
        {0: 2, 1: 5, 3: 1},
        {0: 4, 1: 7, 3: 4},
        {0: 5, 1: 6, 3: 1},
        {0: 1, 2: 5, 3: 1},
        {0: 2, 2: 6, 3: 5},
    ]
    ratings = table([{i: float(v) for i, v in row.items()} for row in rows], SEVEN)
    for partition, cost in (("whole", 3), ("cluster", 0)):  # {t1, t2}, {t3, t4} are near as are
        method = IntervalAnonymizer(2, 1, sensitive=["4"], partition=partition)
        found = released_rows(method.anonymize(ratings, rng=0))
        assert naive.distortion(rows_of(ratings), found, 7) == cost
        assert found[4:] == rows_of(ratings)[4:]


def test_the_distortion_of_the_papers_tuples() -> None:
    before = [[5, 6, None], [2, 5, None], [4, 7, None], [5, 6, None]]
    after = [[5, 5, None], [3, 5, None], [3, 7, None], [5, 7, None]]
    assert naive.distortion(before, after, 7) == 4
