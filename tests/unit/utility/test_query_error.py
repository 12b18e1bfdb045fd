"""Query errors against their slow twin, and against the query room's own answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from starshade.anonymize.k_likeness import KLikeness
from starshade.errors import ConfigError
from starshade.kernels.averages import Asked, averages_all, averages_any
from starshade.query.query import Query
from starshade.ratings.read import read_ratings
from starshade.ratings.scale import Scale
from starshade.ratings.select import top_items
from starshade.ratings.table import Ratings
from starshade.release.cells import Cells, cells_of
from starshade.release.table import Release
from starshade.utility.query_error import (
    QueryError,
    _board,
    _column,
    drawn_any,
    fitting_all,
    windows,
)
from starshade.utility.query_error_result import QueryErrorResult, Step
from tests.naive import query_error as naive
from tests.naive.k_anonymity import contents
from tests.strategies import ratings_tables, table

FIVE, HALF, FLAG = Scale(1, 5, 1), Scale(0.5, 2, 0.5), Scale(0, 1, 1)
FIGURES = [f"query_error_{kind}{of}" for kind in ("and", "or", "range") for of in ("", "_of_truth")]


def records(cells: Cells, values: list[float | None]) -> list[naive.Record]:
    """One entry per record, classes repeated."""
    rows = [[frozenset(said) for said in told] for told in contents(cells)]
    of_record = np.repeat(np.arange(len(rows)), cells.sizes).tolist()
    return [(rows[row], value) for row, value in zip(of_record, values, strict=True)]


def mean(errors: list[float]) -> float | None:
    return sum(errors) / len(errors) if errors else None


def close(value: float | None) -> Any:
    return None if value is None else pytest.approx(value, rel=1e-9, abs=1e-9)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Ratings, Release]:
    ratings = draw(
        ratings_tables(
            scales=(FIVE, HALF, FLAG), min_users=4, max_users=10, max_items=3, with_days=False
        ).filter(lambda r: r.drop_empty_users().n_users >= 4)
    )
    age = st.none() | st.sampled_from([0.0, 25.0, 31.5, 60.0])
    ages = draw(st.lists(age, min_size=ratings.n_users, max_size=ratings.n_users))
    ratings = replace(ratings, attributes=pa.table({"Age": pa.array(ages, pa.float64())}))
    method = KLikeness(
        k=draw(st.integers(2, 3)),
        hierarchy=draw(st.sampled_from(["ndgh", "dgh", "range"])),
        rare_items="keep",
        attributes="exact",
    )
    return ratings, method.anonymize(ratings, rng=0)


@given(pair=pairs())
@settings(max_examples=25)
def test_against_the_twin(pair: tuple[Ratings, Release]) -> None:
    ratings, release = pair
    assert release.attributes is not None
    result = QueryError(draws=10_000).measure(release, ratings)
    part = ratings.keep_items(ratings.items.indices(release.classes.items))
    told = records(release.cells(), release.attributes.column("Age").to_pylist())
    true = records(cells_of(part), part.attributes.column("Age").to_pylist())
    levels, n = ratings.scale.levels.tolist(), part.n_items
    width = (ratings.scale.maximum - ratings.scale.null_level) / 5
    steps = {(step.kind, step.size): step for step in result.steps}
    assert set(steps) == {(kind, s) for kind in ("and", "or") for s in range(1, n + 1)} | {
        ("range", w) for w in range(6)
    }
    for (kind, size), step in steps.items():
        conditions = (
            naive.ranges(n, levels, size * width)
            if kind == "range"
            else naive.exact(n, size, levels)
        )
        joined = naive.some if kind == "or" else naive.every
        compared, of_x, of_x0 = naive.errors(told, true, conditions, joined)
        assert step.conditions == compared
        assert [step.error, step.error_of_truth] == [close(mean(of_x)), close(mean(of_x0))]


def some(n: int = 60, seed: int = 0) -> Ratings:
    rng = np.random.default_rng(seed)
    rows = [
        {i: float(rng.integers(1, 6)) for i in range(6) if rng.random() < 0.7} for _ in range(n)
    ]
    attributes = pa.table({"job": ["x"] * n, "AGE": rng.integers(18, 70, n).astype(float)})
    return replace(table(rows, FIVE, n_items=6), attributes=attributes).drop_empty_users()


def released(ratings: Ratings, **settings: Any) -> Release:
    return KLikeness(k=3, rare_items="keep", attributes="exact", **settings).anonymize(
        ratings, rng=0
    )


@pytest.mark.parametrize("hierarchy", ["ndgh", "dgh"])
@pytest.mark.parametrize(
    ("word", "averages"), [("AND", averages_all), ("OR", averages_any)], ids=["AND", "OR"]
)
def test_a_sample_is_what_the_query_room_answers(
    hierarchy: str, word: str, averages: Callable[..., Any]
) -> None:
    ratings = some()
    release = released(ratings, hierarchy=hierarchy)
    items, levels = np.arange(6), FIVE.levels
    told = _board(release.cells(), items, levels, _column(release.attributes, "AGE", release))
    true = _board(cells_of(ratings), items, levels, _column(ratings.attributes, "AGE", None))
    rng = np.random.default_rng(1)
    for size in (1, 2, 4):
        for _ in range(10):
            chosen = np.sort(rng.choice(6, size, replace=False)).astype(np.int32)
            sets = rng.integers(0, 5, size).astype(np.int32)
            where = f" {word} ".join(
                f'"{release.classes.items[int(i)]}" = {s + 1}'
                for i, s in zip(chosen, sets, strict=True)
            )
            query = Query(f"SELECT AVG(AGE) WHERE {where}", mode="paper")
            asked = Asked(chosen[None], sets[None])
            for board, data in ((told, release), (true, ratings)):
                answer, value = query.run(data), averages(board, asked)[0]
                assert not answer.refused
                if answer.value is None:
                    assert np.isnan(value)
                else:
                    assert value == pytest.approx(answer.value)


def test_ranges_are_what_the_query_room_answers() -> None:
    ratings = some()
    release = released(ratings)
    step = next(
        s for s in QueryError().measure(release, ratings).steps if (s.kind, s.size) == ("range", 2)
    )
    off = []
    for key in release.classes.items:
        for low in (1, 2, 3):
            query = Query(
                f'SELECT AVG(AGE) WHERE "{key}" BETWEEN {low} AND {low + 2}', mode="paper"
            )
            x, x0 = query.run(release).value, query.run(ratings).value
            assert isinstance(x, float)
            assert isinstance(x0, float)
            off.append(abs(x - x0) / x * 100)
    assert step.conditions == len(off)
    assert step.error == pytest.approx(np.mean(off))


def test_and_draws_each_fitting_combination_with_the_same_chance() -> None:
    rows = [{0: 1.0, 1: 1.0}] * 50 + [{0: 2.0, 1: 3.0}, {0: 4.0, 1: 5.0}, {0: 5.0}]
    ratings = replace(
        table(rows, FIVE), attributes=pa.table({"Age": np.arange(len(rows), dtype=float)})
    )
    true = _board(
        cells_of(ratings), np.arange(2), FIVE.levels, _column(ratings.attributes, "Age", None)
    )
    drawn = [
        tuple(fitting_all(true, (0, 1), 5, 1, np.random.default_rng(s))[0].tolist())
        for s in range(300)
    ]
    found = {pair: drawn.count(pair) for pair in sorted(set(drawn))}
    assert set(found) == {(0, 0), (1, 2), (3, 4)}
    assert min(found.values()) > 70
    everything = fitting_all(true, (0, 1), 5, 10, np.random.default_rng(0))
    assert everything.tolist() == [[0, 0], [1, 2], [3, 4]]


def test_or_takes_every_combination_where_these_are_few() -> None:
    rng = np.random.default_rng(0)
    assert drawn_any(2, 5, 25, rng).tolist() == [[a, b] for a in range(5) for b in range(5)]
    few = drawn_any(2, 5, 24, rng)
    assert few.shape == (24, 2)
    assert set(few.ravel().tolist()) == set(range(5))


def test_widths() -> None:
    assert [len(each) for each in windows(FIVE)] == [5, 4, 3, 2, 1, 1]
    assert [each.sum(axis=1)[0] for each in windows(FIVE)] == [1, 2, 3, 4, 5, 5]
    stars = windows(Scale(0.5, 5, 0.5))
    assert [len(each) for each in stars] == [10, 8, 6, 4, 2, 1]
    assert stars[1][0].tolist() == [True] * 3 + [False] * 7


def test_fewer_draws_ask_less_and_the_seed_decides_what() -> None:
    ratings = some()
    release = released(ratings)
    results = [QueryError(draws=5, seed=s).measure(release, ratings) for s in (1, 1, 2)]
    assert results[0] == results[1]
    assert results[0].figures != results[2].figures
    more = QueryError(draws=50, seed=1).measure(release, ratings)
    a, b = (r.figures["query_error_conditions"] for r in (results[0], more))
    assert a is not None
    assert b is not None
    assert a < b


def test_large_tables_are_asked_less(monkeypatch: pytest.MonkeyPatch) -> None:
    from starshade.utility import query_error

    ratings = some()
    release = released(ratings)
    before = QueryError(draws=50).measure(release, ratings)
    monkeypatch.setattr(query_error, "_WORK", 2**6 * 2 * 80 * 10)
    after = QueryError(draws=50).measure(release, ratings)
    assert max(s.conditions for s in after.steps) < max(s.conditions for s in before.steps)


def test_an_ungeneralized_answer_has_no_error() -> None:
    rows = [{0: 1.0 + u // 3 % 5, 1: 5.0 - u // 3 % 5} for u in range(30)]
    ratings = replace(table(rows, FIVE), attributes=pa.table({"Age": np.arange(20.0, 50.0)}))
    result = QueryError().measure(released(ratings), ratings)
    assert [result.figures[name] for name in FIGURES] == pytest.approx([0] * 6, abs=1e-9)


def without(result: QueryErrorResult) -> None:
    assert [*result.to_dict()] == [*FIGURES, "query_error_conditions"]
    assert set(result.to_dict().values()) == {None}
    assert not result.steps
    assert "does not apply" in str(result)


def test_where_it_does_not_apply() -> None:
    ratings = some()
    without(QueryError().measure(KLikeness(k=3).anonymize(ratings, rng=0), ratings))
    words = replace(ratings, attributes=ratings.attributes.select(["job"]))
    without(QueryError().measure(released(words), words))
    without(QueryError().measure(released(ratings), replace(ratings, attributes=None)))


def test_the_attribute_is_age_or_what_was_asked_for() -> None:
    ratings = some()
    income = pa.array(np.arange(ratings.n_users, dtype=float))
    both = replace(ratings, attributes=ratings.attributes.add_column(0, "income", income))
    release = released(both)
    assert QueryError().measure(release, both).attribute == "AGE"
    assert QueryError(attribute="income").measure(release, both).attribute == "income"
    with pytest.raises(ConfigError, match="not among the numeric") as told:
        QueryError(attribute="job").measure(release, both)
    assert "income, AGE" in told.value.advice


@pytest.mark.parametrize("settings", [{"draws": 0}, {"items": 0}, {"items": 11}, {"seed": -1}])
def test_settings_out_of_range(settings: dict[str, int]) -> None:
    with pytest.raises(ConfigError):
        QueryError(**settings)


def test_errors_of_zero_are_left_out() -> None:
    x, x0 = np.array([0.0, 4.0, np.nan, 3.0]), np.array([2.0, 5.0, 1.0, 0.0])
    step = Step.of("and", 1, x, x0)
    assert (step.conditions, step.passed_over) == (3, 1)
    assert step.error == pytest.approx((25 + 100) / 2)
    assert step.error_of_truth == pytest.approx((100 + 20) / 2)
    nothing = Step.of("and", 1, np.array([np.nan]), np.array([1.0]))
    assert (nothing.error, nothing.error_of_truth) == (None, None)


@pytest.mark.real
def test_movielens(ml100k_dir: Path) -> None:
    ratings = top_items(10).apply(
        read_ratings(ml100k_dir / "u.data", users=str(ml100k_dir / "u.user"))
    )
    coarse, fine = (
        QueryError(draws=10)
        .measure(KLikeness(k=k, attributes="exact").anonymize(ratings, rng=0), ratings)
        .figures
        for k in (20, 2)
    )
    for name in FIGURES:
        a, b = fine[name], coarse[name]
        assert a is not None
        assert b is not None
        assert 0 < a < b
