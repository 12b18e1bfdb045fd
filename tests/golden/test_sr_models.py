"""(k, ε) and (k, ε, l) on the tables of Sun & Sun (SR §3 to §6)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from starshade.privacy.k_eps import KEpsAnonymity, KEpsLAnonymity
from starshade.privacy.proximity.balls import prepare
from starshade.privacy.proximity.graph_result import ProximityGraph
from starshade.ratings.proximity.balls import ball_members
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from tests.golden.sr import SENSITIVE, TABLE_1, TABLE_2, TABLE_3
from tests.strategies import table

SIX = Scale(1, 6, 1)
searches = pytest.mark.parametrize("search", ["tree", "slicing", "pairwise"])


def balls(ratings: Ratings, eps: float, nulls: str) -> list[set[int]]:
    """Members of each ball, records counted from 1 as the paper does."""
    space = prepare(ratings, eps, SENSITIVE, nulls).space
    indptr, members = ball_members(space, np.arange(ratings.n_users))
    return [{int(m) + 1 for m in members[a:b]} for a, b in pairwise(indptr)]


@searches
@pytest.mark.parametrize(
    ("eps", "satisfied", "failing"), [(5, True, 0), (4, True, 0), (3, False, 1), (1, False, 1)]
)
def test_table_1(eps: float, satisfied: bool, failing: int, search: str) -> None:
    verdict = KEpsAnonymity(2, eps, SENSITIVE, search=search).check(TABLE_1)
    assert (verdict.satisfied, verdict.failing_records) == (satisfied, failing)
    assert [entry["row"] for entry in verdict.worst] == [0] * failing  # only t1


def test_groups_of_table_1() -> None:
    verdict = KEpsAnonymity(2, 5, SENSITIVE, full=True).check(TABLE_1)
    assert verdict.distinct_balls == 2
    assert verdict.sizes == ((2, 2), (3, 3))
    assert balls(TABLE_1, 5, "strict") == [{1, 2, 3}] * 3 + [{4, 5}] * 2


@pytest.mark.parametrize(
    ("eps", "nulls", "expected"),
    [
        (1, "strict", [{1}, {2, 3}, {2, 3}, {4, 5}, {4, 5}]),
        (1, "zero", [{1}, {2, 3}, {2, 3}, {4, 5}, {4, 5}]),
        (1, "ignore", [{1}, *[{2, 3, 4, 5}] * 4]),
        (5, "zero", [{1, 2, 3, 4}, {1, 2, 3}, {1, 2, 3, 4}, {1, 3, 4, 5}, {4, 5}]),
        (5, "ignore", [{1, 2, 3, 4, 5}] * 5),
        (4, "strict", [{1, 3}, {2, 3}, {1, 2, 3}, {4, 5}, {4, 5}]),
    ],
)
def test_null_rules(eps: float, nulls: str, expected: list[set[int]]) -> None:
    assert balls(TABLE_1, eps, nulls) == expected
    verdict = KEpsAnonymity(2, eps, SENSITIVE, nulls=nulls, full=True).check(TABLE_1)
    sizes = sorted(len(ball) for ball in expected)
    assert verdict.sizes == tuple((s, sizes.count(s)) for s in sorted(set(sizes)))
    assert verdict.distinct_balls == len({frozenset(ball) for ball in expected})


@searches
def test_spread_in_table_1(search: str) -> None:
    # at ε = 1: {t2, t3} 0, {t4, t5} 2, and t1 is alone
    verdict = KEpsLAnonymity(2, 1, 2, SENSITIVE, search=search).check(TABLE_1)
    assert (verdict.satisfied, verdict.failing_records) == (False, 3)
    assert (verdict.failing_by_size, verdict.failing_by_spread) == (1, (3,))
    assert verdict.worst == (
        {"row": 0, "size": 1, "item": 1, "sd": 0.0},
        {"row": 1, "size": 2, "item": 1, "sd": 0.0},
        {"row": 2, "size": 2, "item": 1, "sd": 0.0},
    )
    pair = TABLE_1.keep_users(np.array([3, 4]))
    assert KEpsLAnonymity(2, 1, 2, SENSITIVE, search=search).check(pair).satisfied


def test_spread_over_all_of_table_1() -> None:
    verdict = KEpsLAnonymity(5, 6, 2.2271, SENSITIVE).check(TABLE_1)  # all are proximate
    assert verdict.satisfied
    assert verdict.all_proximate
    short = KEpsLAnonymity(5, 6, 2.2272, SENSITIVE).check(TABLE_1)
    assert short.worst[0]["sd"] == pytest.approx(2.2271, abs=5e-5)
    assert short.failing_records == 5


@searches
def test_tables_2_and_3(search: str) -> None:
    assert KEpsAnonymity(2, 2, SENSITIVE, search=search).check(TABLE_2).satisfied
    assert KEpsLAnonymity(2, 2, 2, SENSITIVE, search=search).check(TABLE_2).satisfied
    assert KEpsLAnonymity(2, 2, 0.5, SENSITIVE, search=search).check(TABLE_3).satisfied
    low = KEpsLAnonymity(2, 2, 1, SENSITIVE, search=search).check(TABLE_3)
    assert not low.satisfied
    assert [(e["row"], e["sd"]) for e in low.worst] == [(6, 0.5), (7, 0.5)]
    three = KEpsAnonymity(3, 2, SENSITIVE, search=search).check(TABLE_3)
    assert not three.satisfied
    assert [e["row"] for e in three.worst] == [4, 5, 6, 7]


def test_balls_of_table_3_and_their_spreads() -> None:
    a = {1, 2, 3, 4}
    expected = [a, {1, 2, 3}, a, {1, 3, 4}, {5, 6}, {5, 6}, {7, 8}, {7, 8}]
    assert balls(TABLE_3, 2, "strict") == expected
    # just above the least spread that is left, one record more fails
    for l, failing in [(0.5, 0), (0.6, 2), (2.01, 4), (2.0548, 4), (2.06, 6), (2.1213, 6)]:  # noqa: E741
        verdict = KEpsLAnonymity(2, 2, l, SENSITIVE).check(TABLE_3)
        assert verdict.failing_records == failing, l
    assert KEpsLAnonymity(2, 2, 2.1214, SENSITIVE).check(TABLE_3).failing_records == 8


@pytest.mark.parametrize(
    ("ratings", "sd"),
    [
        ((6, None), 4.2426),
        ((6, None, None), 4.8990),
        ((1, 5, None), 2.3805),
        ((3, 3, None), 1.7321),
    ],
)
def test_spread_with_nulls(ratings: tuple[float | None, ...], sd: float) -> None:
    rows = [{0: 1.0} | ({} if r is None else {1: r}) for r in ratings]
    data = table(rows, SIX, n_items=2)
    verdict = KEpsLAnonymity(2, 0, 5, ["2"]).check(data)  # above Thm 1's bound: nulls, so checked
    assert verdict.failing_records == len(ratings)
    assert verdict.worst[0]["sd"] == pytest.approx(sd, abs=5e-5)
    assert KEpsLAnonymity(2, 0, sd - 1e-4, ["2"]).check(data).satisfied


def test_graphs_of_the_tables() -> None:
    """Fig. 2(a): Table 2 is 2-decomposable, which proves (2, 2); so is Table 1 at ε = 5."""
    graph = ProximityGraph(2, SENSITIVE).of(TABLE_2).decomposed(2)
    assert graph.component.tolist() == [0, 0, 0, 0, 1, 1]
    assert graph.degrees.tolist() == [3, 2, 3, 2, 1, 1]
    assert graph.edges == 6
    assert graph.decomposition is not None
    assert graph.decomposition.outcome == "found"
    third = ProximityGraph(2, SENSITIVE).of(TABLE_3).decomposed(2)
    assert third.component.tolist() == [0, 0, 0, 0, 1, 1, 2, 2]
    assert third.decomposition is not None
    assert third.decomposition.outcome == "found"
    assert third.decomposed(3).decomposition.outcome == "impossible"
    first = ProximityGraph(5, SENSITIVE).of(TABLE_1).decomposed(2)
    assert first.component_sizes.tolist() == [3, 2]
    assert first.decomposition.outcome == "found"
    # at ε = 4 the first three are a path t1-t3-t2: (2, 4) holds, and no pairs cover them
    path = ProximityGraph(4, SENSITIVE).of(TABLE_1).decomposed(2)
    assert path.degrees.tolist() == [1, 1, 2, 1, 1]
    assert path.decomposition.outcome == "not found"
