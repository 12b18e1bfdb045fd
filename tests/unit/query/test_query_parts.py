"""Shares on real scales, plans over many classes, half-known attributes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.errors import ConfigError, ReleaseError
from starshade.query.plan import evaluate, make_plan
from starshade.query.prepared import prepared
from starshade.query.query import Query
from starshade.query.regions import NEVER, PERHAPS, SURELY, Regions
from starshade.query.statement import Comparison, Name
from starshade.ratings.scale import Scale
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.cells import Symbols
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
    generalized = {"attributes": "generalized", "quasi_identifiers": ("Age", "job")}
    return replace(
        made,
        attributes=pa.table({"Age": ages, "job": jobs}),
        manifest=made.manifest.model_copy(update=generalized),
    )


@pytest.mark.parametrize("mode", ["strict", "paper"])
def test_generalized_attributes_are_answered_from_their_ends(mode: str) -> None:
    aggregates = "COUNT(Age), SUM(Age), AVG(Age), COUNT(job)"

    def ask(condition: str) -> list[tuple[object, object, object]]:
        query = Query(f"SELECT {aggregates} {condition}", mode=mode)  # type: ignore[arg-type]
        return [(r.value, r.low, r.high) for r in query.run(half_known()).results]

    assert ask('WHERE "1" = 1') == [(2, 2, 2), (50, 40, 60), (25, 20, 30), (2, 2, 2)]
    # each of the older ones has an age or none, either being as likely
    assert ask("") == [(3, 2, 4), (100, 40, 180), (100 / 3, 20, 45), (3, 2, 4)]
    assert ask('WHERE "1" = 2') == [(1, 0, 2), (50, 40, 120), (50, 40, 60), (1, 0, 2)]


def test_null_is_one_member_of_a_set() -> None:
    made = half_known()
    jobs = pa.array([["a"], ["a"], [None, "b", "c"], [None, "b", "c"]], pa.list_(pa.string()))
    assert made.attributes is not None
    release = replace(made, attributes=made.attributes.set_column(1, "job", jobs))
    found = Query("SELECT COUNT(job)").run(release)
    assert (found.value, found.low, found.high) == (pytest.approx(2 + 2 * 2 / 3), 2, 4)
    assert "resting on at most 4 records" in str(found)


def test_strict_answers_do_not_rest_on_records_without_a_value() -> None:
    ages = [30.0, 40.0, None, None]
    made = half_known()
    exact = made.manifest.model_copy(update={"attributes": "exact", "quasi_identifiers": ()})
    table_ = pa.table({"Age": pa.array(ages, pa.float64())})
    release = replace(made, attributes=table_, manifest=exact)
    asked = Query("SELECT COUNT(Age), SUM(Age), AVG(Age)", bounds={"Age": (0, 90)}).run(release)
    assert [each.records for each in asked.results] == [2, 2, 2]
    nobody = Query('SELECT AVG(Age) WHERE "1" = 2', bounds={"Age": (0, 90)}).run(release)
    assert (nobody.value, nobody.records) == (None, 0)


@pytest.mark.parametrize("mode", ["strict", "paper"])
def test_open_ranges_are_closed_by_declared_bounds(mode: str) -> None:
    ages = [span(-np.inf, 30), span(-np.inf, 30), span(30, np.inf)]
    release = with_ages(pa.array(ages, ENDS), shared=True)

    def ask(aggregate: str, **bounds: tuple[float, float]) -> Any:
        query = Query(f"SELECT {aggregate}", mode=mode, bounds=bounds)  # type: ignore[arg-type]
        return query.run(release)

    assert ask("COUNT(Age)").value == 3
    for aggregate in ("SUM(Age)", "AVG(Age)", "MAX(Age)"):
        refused = ask(aggregate)
        assert refused.refused
    assert 'bounds={"Age": (LOW, HIGH)}' in ask("SUM(Age)").reason
    told = ask("SUM(Age)", Age=(10, 90))
    assert (told.value, told.low, told.high) == (20 + 20 + 60, 10 + 10 + 30, 30 + 30 + 90)
    with pytest.raises(ConfigError, match="some ranges begin or end outside 40:90"):
        ask("SUM(Age)", Age=(40, 90))


def test_extremes_of_generalized_attributes() -> None:
    query = Query('SELECT MIN(Age), MAX(Age) WHERE "1" <= 2', mode="paper")
    least, most = query.run(half_known()).results
    assert (least.value, least.low, least.high) == (25, 20, 30)
    assert (most.value, most.low, most.high) == (50, 20, 60)
    assert Query("SELECT MIN(Age)").run(half_known()).refused
    # nobody is sure to have an age
    least, most = (
        Query('SELECT MIN(Age), MAX(Age) WHERE "1" = 2', mode="paper").run(half_known()).results
    )
    assert (least.value, least.low, least.high) == (50, 40, None)
    assert (most.value, most.low, most.high) == (50, None, 60)
    assert "it is 40 or more, or null" in str(least)
    assert "it is 60 or less, or null" in str(most)
    with pytest.raises(ConfigError, match="sets of values"):
        Query("SELECT MIN(job)", mode="paper").run(half_known())


def with_ages(ages: pa.Array, *, shared: bool = False) -> Release:
    """One class of three, with ages as a folder could hold them."""
    ratings = table([{0: 1}] * 3, Scale(1, 5, 1), n_items=1)
    ratings = ratings.annotate(attributes=pa.table({"Age": pa.array([1.0, 2, 3])}))
    made = release_of(ratings, np.zeros(3, np.int64), "ndgh", 3)
    generalized = {"attributes": "generalized", "quasi_identifiers": ("Age",)} if shared else {}
    manifest = made.manifest.model_copy(update=generalized)
    return replace(made, attributes=pa.table({"Age": ages}), manifest=manifest)


ENDS = pa.struct([("low", pa.float64()), ("high", pa.float64()), ("null", pa.bool_())])


def span(low: float | None, high: float | None) -> dict[str, object]:
    return {"low": low, "high": high, "null": False}


@pytest.mark.parametrize("function", ["COUNT", "SUM"])
@pytest.mark.parametrize("mode", ["strict", "paper"])
@pytest.mark.parametrize(
    ("ages", "shared", "words"),
    [
        (pa.array([[1.0]] * 3), False, "numbers or text"),
        (pa.array([span(1, 2)] * 3, ENDS), False, "numbers or text"),
        (pa.array([True] * 3), False, "numbers or text"),
        (pa.array([1.0, np.inf, 3]), False, "not finite"),
        (pa.array([1.0, np.nan, 3]), False, "not finite"),
        (pa.array([1.0, 2, 3]), True, "lists of text"),
        (pa.array([[1.0]] * 3), True, "lists of text"),
        (pa.array([{"low": "a", "high": "b", "null": False}] * 3), True, "lists of text"),
        (pa.array([span(81, np.nan)] * 3, ENDS), True, "not finite"),
        (pa.array([span(-np.inf, -np.inf)] * 3, ENDS), True, "not finite"),
        (pa.array([span(81, None)] * 3, ENDS), True, "two ends"),
        (pa.array([span(3, 2)] * 3, ENDS), True, "two ends"),
        (pa.array([None] * 3, ENDS), True, "two ends"),
    ],
)
def test_attributes_that_no_release_has(
    ages: pa.Array, shared: bool, words: str, mode: str, function: str
) -> None:
    query = Query(f"SELECT {function}(Age)", mode=mode)  # type: ignore[arg-type]
    with pytest.raises(ReleaseError, match=words):
        query.run(with_ages(ages, shared=shared))


def test_ranges_of_nulls_alone_are_ranges() -> None:
    nobody = pa.array([{"low": None, "high": None, "null": True}] * 3, ENDS)
    assert Query("SELECT COUNT(Age)").run(with_ages(nobody, shared=True)).value == 0


@pytest.mark.parametrize(
    ("ages", "words"),
    [
        (pa.array([1.0, np.inf, 3]), "infinite values or values too large"),
        (pa.array([1e300, 1e300, -1e300]), "infinite values or values too large"),
        (pa.array([1, 2**53 + 1, 3]), r"beyond 2\^53"),
        (pa.array([1, 2**64 - 1, 3], pa.uint64()), r"beyond 2\^53"),
    ],
)
def test_numbers_that_cannot_be_added_up_are_refused(ages: pa.Array, words: str) -> None:
    original = table([{0: 1}] * 3, Scale(1, 5, 1), n_items=1)
    original = original.annotate(attributes=pa.table({"Age": ages}))
    assert Query("SELECT COUNT(*)").run(original).value == 3
    with pytest.raises(ConfigError, match=words):
        Query("SELECT SUM(Age)").run(original)
    if ages.type == pa.float64() and np.isfinite(ages).all():
        with pytest.raises(ConfigError, match=words):
            Query("SELECT SUM(Age)", mode="paper").run(with_ages(ages))


@pytest.mark.filterwarnings("error")
def test_a_nan_of_an_original_is_null() -> None:
    original = table([{0: 1}] * 3, Scale(1, 5, 1), n_items=1)
    original = original.annotate(attributes=pa.table({"Age": pa.array([1.0, np.nan, 3])}))
    found = Query("SELECT SUM(Age), AVG(Age), COUNT(Age)").run(original).results
    assert [(r.value, r.low, r.high) for r in found] == [(4, 4, 4), (2, 2, 2), (2, 2, 2)]
