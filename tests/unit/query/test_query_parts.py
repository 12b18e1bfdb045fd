"""Shares on real scales, plans over many classes, half-known attributes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.errors import ConfigError
from starshade.query.evaluate import evaluate
from starshade.query.plan import make_plan
from starshade.query.prepared import prepared
from starshade.query.query import Query
from starshade.query.regions import NEVER, PERHAPS, SURELY, Regions
from starshade.query.statement import Comparison, Name
from starshade.ratings.scale import Scale
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.symbols import Symbols
from starshade.release.table import Release
from tests.strategies import table
from tests.unit.query.cases import release_of

REAL = Scale(-10, 10)  # null's level is -11
A = Name("a", quoted=False)


def judged(test: Comparison, low: float, high: float) -> tuple[float, int]:
    symbols = Symbols.ranges(REAL, np.array([low]), np.array([high]))
    regions = Regions.of([test])
    share, status = regions.locate(symbols).judge(regions.true_in(test))
    return float(share[0]), int(status[0])


@pytest.mark.parametrize(
    ("test", "low", "high", "share", "status"),
    [
        (Comparison(A, "<", (3,), negated=True), 1, 5, 0.5, PERHAPS),  # a >= 3
        (Comparison(A, "between", (2, 3)), 1, 5, 0.25, PERHAPS),
        (Comparison(A, "in", (3,)), 1, 5, 0, PERHAPS),  # a point has no length, but can be meant
        (Comparison(A, "in", (3,), negated=True), 1, 5, 1, PERHAPS),
        (Comparison(A, "in", (3,)), 3, 3, 1, SURELY),
        (Comparison(A, "<=", (5,)), 1, 5, 1, SURELY),
        (Comparison(A, "<", (5,)), 1, 5, 1, PERHAPS),
        (Comparison(A, "<", (1,)), 1, 5, 0, NEVER),
        (Comparison(A, "<=", (1,)), 1, 5, 0, PERHAPS),
        (Comparison(A, "null"), 1, 5, 0, NEVER),
        (Comparison(A, "null"), -11, -1, 0.1, PERHAPS),  # the part below the scale is null
        (Comparison(A, "null", negated=True), -11, -1, 0.9, PERHAPS),
        (Comparison(A, "<=", (0,)), -11, 9, 0.5, PERHAPS),  # -10 to 0 of 20
        (Comparison(A, "<", (0,), negated=True), -11, 9, 0.45, PERHAPS),
        (Comparison(A, "in", (4,)), 4 - 1e-10, 4 + 1e-10, 1, SURELY),  # nearer than 1e-9 is one
    ],
)
def test_ranges_by_length(
    test: Comparison, low: float, high: float, share: float, status: int
) -> None:
    found = judged(test, low, high)
    assert found[0] == pytest.approx(share, abs=1e-12)
    assert found[1] == status


number = st.integers(-44, 40).map(lambda v: v / 4)


@given(
    low=number,
    width=st.integers(1, 40).map(lambda v: v / 4),
    constants=st.tuples(number, number),
    operator=st.sampled_from(["in", "<", "<=", "between", "null"]),
    negated=st.booleans(),
)
def test_ranges_as_many_points(
    low: float, width: float, constants: tuple[float, float], operator: str, negated: bool
) -> None:
    low, high = max(low, -11.0), min(low + width, 10.0)
    n = {"null": 0, "<": 1, "<=": 1}.get(operator, 2)
    test = Comparison(A, operator, constants[:n], negated)  # type: ignore[arg-type]
    points = low + (np.arange(4000) + 0.5) * (high - low) / 4000
    null = points < REAL.minimum
    if operator == "null":
        true = null != negated
    else:
        first, last = constants
        plain = {
            "in": np.isin(points, constants),
            "<": points < first,
            "<=": points <= first,
            "between": (points >= first) & (points <= last),
        }[operator]
        true = (plain != negated) & ~null
    share, status = judged(test, low, high)
    assert share == pytest.approx(true.mean(), abs=1e-3)
    assert status > NEVER or not true.any()
    assert status < SURELY or true.all()


def test_constants_nearer_than_a_rating_are_one() -> None:
    tests = [
        Comparison(A, "in", (4.0,)),
        Comparison(A, "<=", (4.0 + 5e-10,)),
        Comparison(A, "<", (4.1,)),
    ]
    regions = Regions.of(tests)
    assert regions.constants == (4.0, 4.1)
    levels = Symbols.exact(Scale(1, 5, 1), np.array([3.0, 4.0, 5.0]))
    assert regions.locate(levels).judge(regions.true_in(tests[0]))[1].tolist() == [0, 2, 0, 0]
    assert regions.locate(levels).judge(regions.true_in(tests[1]))[1].tolist() == [2, 2, 0, 0]


def test_classes_are_worked_through_in_blocks() -> None:
    rng = np.random.default_rng(0)
    n = 70_001  # more than two blocks
    rows = rng.integers(0, 6, (n, 3))
    sparse = [{i: float(v) for i, v in enumerate(row) if v} for row in rows.tolist()]
    made = table(sparse, Scale(1, 5, 1), n_items=3)
    sql = 'SELECT COUNT(*) WHERE ("1" = 5 AND "2" = 1) OR ("1" = 1 AND "3" = 2) OR "1" IS NULL'
    a, b, c = rows.T
    expected = ((a == 5) & (b == 1)) | ((a == 1) & (c == 2)) | (a == 0)
    assert Query(sql).run(made).value == expected.sum()
    statement = Query(sql).statement
    ready = prepared(made)
    plan = make_plan(statement.condition, ready.names)
    share, status = evaluate(plan, n, ready.cells.symbols, ready.codes)
    assert (share == expected).all()
    assert (status == np.where(expected, SURELY, NEVER)).all()


def test_more_items_than_columns_are_kept_unpacked() -> None:
    rows: list[dict[int, float]] = [dict.fromkeys(range(100), 5), dict.fromkeys(range(50), 4)]
    made = table(rows, Scale(1, 5, 1), n_items=100)
    for _ in range(2):
        for item in range(1, 101):
            found = Query(f'SELECT COUNT(*) WHERE "{item}" >= 4').run(made)
            assert found.value == 1 + (item <= 50)
    assert len(prepared(made)._codes) <= 64


def half_known() -> Release:
    """Two classes of two; ages 20 to 30, and 40 to 60 or none."""
    ratings = table([{0: 1}, {0: 1}, {0: 2}, {0: 2}], Scale(1, 5, 1))
    ratings = replace(ratings, items=Vocabulary.of(["1"]))
    made = release_of(ratings, np.array([0, 0, 1, 1]), "ndgh", 2)
    young = {"low": 20.0, "high": 30.0, "null": False}
    old = {"low": 40.0, "high": 60.0, "null": True}
    ends = pa.struct([("low", pa.float64()), ("high", pa.float64()), ("null", pa.bool_())])
    ages = pa.array([young, young, old, old], ends)
    jobs = pa.array([["a"], ["a"], [None, "b"], [None, "b"]], pa.list_(pa.string()))
    return replace(made, attributes=pa.table({"Age": ages, "job": jobs}))


@pytest.mark.parametrize("mode", ["strict", "paper"])
def test_generalized_attributes_are_answered_from_their_ends(mode: str) -> None:
    aggregates = "COUNT(Age), SUM(Age), AVG(Age), COUNT(job)"

    def ask(condition: str) -> list[tuple[object, object, object]]:
        query = Query(f"SELECT {aggregates} {condition}", mode=mode)  # type: ignore[arg-type]
        return [(r.value, r.low, r.high) for r in query.run(half_known()).results]

    assert ask('WHERE "1" = 1') == [(2, 2, 2), (50, 40, 60), (25, 20, 30), (2, 2, 2)]
    # the older ones may all have no age
    assert ask("") == [(4, 2, 4), (150, 40, 180), (37.5, 20, 45), (4, 2, 4)]
    assert ask('WHERE "1" = 2') == [(2, 0, 2), (100, 40, 120), (50, 40, 60), (2, 0, 2)]


def test_extremes_of_generalized_attributes() -> None:
    query = Query('SELECT MIN(Age), MAX(Age) WHERE "1" <= 2', mode="paper")
    least, most = query.run(half_known()).results
    assert (least.value, least.low, least.high) == (25, 20, 30)
    assert (most.value, most.low, most.high) == (50, 20, 60)
    assert Query("SELECT MIN(Age)").run(half_known()).refused
    with pytest.raises(ConfigError, match="sets of values"):
        Query("SELECT MIN(job)", mode="paper").run(half_known())
