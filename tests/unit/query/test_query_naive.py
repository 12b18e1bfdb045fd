from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.query.query import Query
from starshade.query.result import QueryResult
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.release.table import Release
from tests.naive import query as naive
from tests.strategies import table
from tests.unit.query.cases import (
    STEPPED,
    Published,
    conditions,
    members,
    plain_rows,
    published,
    release_of,
)

WITH_REAL = (*STEPPED, Scale(-10, 10), Scale(0, 1))
AGGREGATES = [
    ("COUNT", None),
    ("COUNT", "Age"),
    ("SUM", "Age"),
    ("AVG", "Age"),
    ("MIN", "Age"),
    ("MAX", "Age"),
    ("MIN", "City of birth"),
    ("MAX", "City of birth"),
    ("COUNT", "City of birth"),
]
SELECT = "SELECT " + ", ".join(
    f"{function}(*)" if attribute is None else f'{function}("{attribute}")'
    for function, attribute in AGGREGATES
)


def ask(
    data: Ratings | Release, condition: str, mode: Literal["strict", "paper"], **more: Any
) -> tuple[QueryResult, ...]:
    """Ask for everything at once."""
    return Query(f"{SELECT} FROM t WHERE {condition}", mode=mode, **more).run(data).results


def close(found: Any, expected: Any) -> bool:
    if found is None or expected is None or isinstance(expected, str):
        return bool(found == expected)
    return math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-9)


@given(data=st.data(), made=published(max_users=8))
def test_paper_mode_is_the_enumeration_of_possible_worlds(
    data: st.DataObject, made: Published
) -> None:
    said = data.draw(conditions(made.original.scale, made.original.n_items))
    shares = [naive.share(row, said.formula) for row in members(made.release)]
    assert made.release.attributes is not None
    answers = ask(made.release, said.sql, "paper")
    for (function, attribute), found in zip(AGGREGATES, answers, strict=True):
        values = None if attribute is None else made.release.attributes[attribute].to_pylist()
        expected = naive.answer(function, shares, values)
        if 0 < expected.records < made.k:
            assert found.refused
            assert (found.value, found.low, found.high, found.records) == (None,) * 4
            continue
        assert not found.refused
        assert found.records == expected.records
        for name in ("value", "low", "high"):
            assert close(getattr(found, name), getattr(expected, name)), (said.sql, name, found)


@given(data=st.data(), made=published(scales=WITH_REAL, max_users=12))
def test_the_original_gets_the_plain_truth(data: st.DataObject, made: Published) -> None:
    said = data.draw(conditions(made.original.scale, made.original.n_items))
    assert made.original.attributes is not None
    rows = [[[value] for value in row] for row in plain_rows(made.original)]
    shares = [naive.share(row, said.formula) for row in rows]
    answers = ask(made.original, said.sql, "strict")
    for (function, attribute), found in zip(AGGREGATES, answers, strict=True):
        values = None if attribute is None else made.original.attributes[attribute].to_pylist()
        expected = naive.answer(function, shares, values)
        assert not found.refused
        assert found.records == expected.records
        for name in ("value", "low", "high"):
            assert close(getattr(found, name), expected.value), (said.sql, name, found)


@given(data=st.data(), made=published(scales=WITH_REAL, max_users=14))
def test_bounds_contain_the_truth(data: st.DataObject, made: Published) -> None:
    said = data.draw(conditions(made.original.scale, made.original.n_items))
    bounds = {"Age": data.draw(st.sampled_from([(-3, 9), (-3.5, 20), (-100, 100)]))}
    truths = ask(made.original, said.sql, "paper")
    for mode in ("strict", "paper"):
        answers = ask(made.release, said.sql, mode, bounds=bounds)
        for truth, found in zip(truths, answers, strict=True):
            assert_contains(found, truth.value)


@pytest.mark.parametrize(
    ("condition", "truth"),
    [("a IS NOT NULL", 1), ("a IS NULL", 1), ("a < 0.5", 1), ("a = 0", 1), ("a > 0", 0)],
)
def test_a_rating_at_the_minimum_beside_null_can_be_meant(condition: str, truth: int) -> None:
    rows: list[dict[int, float]] = [{0: 0, 1: 0.5}, {1: 0.5}]
    original = table(rows, Scale(0, 1)).annotate(item_names=("a", "b"))
    made = release_of(original, np.array([0, 0]), "range", 2)
    query = Query(f"SELECT COUNT(*) WHERE {condition}")
    assert query.run(original).value == truth
    found = query.run(made)
    assert found.low is not None
    assert found.high is not None
    assert found.low <= truth <= found.high
    assert (found.low, found.high) == ((0, 2) if truth else (0, 0))


def assert_contains(found: QueryResult, truth: Any) -> None:
    """The truth lies between the bounds; a null truth or a refused answer says nothing."""
    if found.refused or truth is None:
        return
    if found.aggregate[:3] not in ("MIN", "MAX"):
        assert found.low is not None
        assert found.high is not None
    slack = 0 if isinstance(truth, str) else 1e-9 * max(1.0, abs(truth))
    if found.low is not None:
        assert found.low <= (truth if isinstance(truth, str) else truth + slack), (found, truth)
    if found.high is not None:
        assert found.high >= (truth if isinstance(truth, str) else truth - slack), (found, truth)


def test_the_comparer_sees_a_bound_that_is_broken() -> None:
    good = QueryResult(1.0, 0.5, 2.0, 3, aggregate="AVG(Age)")
    assert_contains(good, 0.5)
    for truth in (0.499, 2.001):
        with pytest.raises(AssertionError):
            assert_contains(good, truth)
    with pytest.raises(AssertionError):
        assert_contains(QueryResult(1.0, None, 2.0, 3, aggregate="AVG(Age)"), 1.0)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("NOT (a >= 4)", [False, True, False]),
        ("a <> 4", [False, True, False]),
        ("a IS NULL", [False, False, True]),
        ("NOT (a IS NULL OR a = 2)", [True, False, False]),
        ("a >= 4 OR a < 4", [True, True, False]),
        ("NOT (a < 4 AND a IS NULL)", [True, True, False]),
    ],
)
def test_null_satisfies_is_null_alone(sql: str, expected: list[bool]) -> None:
    rows: list[dict[int, float]] = [{0: 4}, {0: 2}, {}]
    for row, holds in zip(rows, expected, strict=True):
        one = table([row], Scale(1, 5, 1), n_items=1).annotate(item_names=("a",))
        assert Query(f"SELECT COUNT(*) WHERE {sql}").run(one).value == holds
