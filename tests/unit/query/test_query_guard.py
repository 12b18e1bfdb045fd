"""No two answers differ by fewer than k people; strict answers depend on block totals alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.errors import ConfigError, ReleaseError
from starshade.query.prepared import prepared
from starshade.query.query import Query, choose
from starshade.query.strict import blocks_of
from starshade.ratings.scale import Scale
from starshade.release.manifest import Claim
from starshade.release.table import Release
from tests.strategies import table
from tests.unit.query.cases import Published, conditions, published, release_of


@given(data=st.data(), made=published(max_users=20))
def test_two_record_sets_never_differ_by_fewer_than_k(data: st.DataObject, made: Published) -> None:
    scale, n_items = made.original.scale, made.original.n_items
    sets = []
    for _ in range(3):
        said = data.draw(conditions(scale, n_items))
        query = Query(f"SELECT COUNT(*) WHERE {said.sql}")
        chosen = choose(query.statement.condition, prepared(made.release))
        sets.append(chosen.possible)
        assert query.run(made.release).records == chosen.possible.sum()
        for records in (chosen.possible, chosen.certain):
            assert records.sum() == 0 or records.sum() >= made.k
    for one in sets:
        for other in sets:
            differing = int((one != other).sum())
            assert differing == 0 or differing >= made.k


@given(data=st.data(), made=published(max_users=20))
def test_strict_answers_depend_on_totals_of_blocks_alone(
    data: st.DataObject, made: Published
) -> None:
    said = data.draw(conditions(made.original.scale, made.original.n_items))
    assert made.release.attributes is not None
    ages = np.array(made.release.attributes["Age"].to_numpy(), dtype=np.float64)
    table_ = prepared(made.release)
    blocks = blocks_of(table_.column("Age"), made.release.classes.sizes, made.k)
    if blocks.withheld:
        assert 0 < (~np.isnan(ages)).sum() < made.k
        return
    assert ((blocks.counts == 0) | (blocks.counts >= made.k)).all()
    assert blocks.counts.sum() == (~np.isnan(ages)).sum()
    # other people, the same totals: deal the values of each block out anew, move two of them
    block_of_record = np.repeat(blocks.of_class, made.release.classes.sizes)
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    for block in range(len(blocks.counts)):
        own = np.flatnonzero((block_of_record == block) & ~np.isnan(ages))
        values = ages[rng.permutation(own)]
        if len(own) > 1:
            values[:2] += 0.5, -0.5
        ages[own] = values
    attributes = made.release.attributes.set_column(0, "Age", pa.array(ages, mask=np.isnan(ages)))
    other = replace(made.release, attributes=attributes)
    sql = f"SELECT COUNT(Age), SUM(Age), AVG(Age) WHERE {said.sql}"
    query = Query(sql, bounds={"Age": (-10, 20)})
    for found, expected in zip(query.run(other).results, query.run(made.release).results,
                               strict=True):  # fmt: skip
        for name in ("value", "low", "high", "records"):
            assert getattr(found, name) == pytest.approx(getattr(expected, name), abs=1e-9), name


def few_known(ages: list[float | None], classes: list[int], k: int) -> Release:
    """A release without any difference but the classes' ratings."""
    ratings = table([{0: 1 + c} for c in classes], Scale(1, 5, 1))
    ratings = ratings.annotate(attributes=pa.table({"Age": pa.array(ages, pa.float64())}))
    return release_of(ratings, np.array(classes), "ndgh", k)


def test_one_known_value_is_never_told() -> None:
    made = few_known([None, None, 41, 30, 31, 32, 33, 34, 35], [0] * 3 + [1] * 3 + [2] * 3, 3)
    asked = Query('SELECT AVG(Age), COUNT(Age), SUM(Age) WHERE "1" = 1', bounds={"Age": (0, 120)})
    mean, count, total = asked.run(made).results
    # the class of 41 and the first of the others are one block: four values in six records
    assert mean.value == pytest.approx((41 + 30 + 31 + 32) / 4)
    assert (mean.low, mean.high) == (0, 120)
    assert (count.low, count.high) == (1, 3)
    assert count.value == pytest.approx(3 * 4 / 6)
    assert total.value == pytest.approx(3 * 134 / 6)
    # paper mode, for the trusted, refuses what rests on one person
    plain = Query('SELECT AVG(Age) WHERE "1" = 1', mode="paper").run(made)
    assert plain.refused
    assert "fewer than k = 3" in str(plain.reason)
    everybody = Query("SELECT AVG(Age), COUNT(Age)", bounds={"Age": (0, 120)}).run(made)
    assert [r.low for r in everybody.results] == [r.high for r in everybody.results]
    assert everybody.value == pytest.approx((41 + 195) / 7)


def test_an_attribute_that_few_people_have_is_withheld() -> None:
    made = few_known([None, 41, None, None, 30, None], [0] * 3 + [1] * 3, 3)
    found = Query("SELECT SUM(Age), COUNT(Age)", bounds={"Age": (0, 120)}).run(made)
    assert all(r.refused and r.value is None for r in found.results)
    assert Query("SELECT COUNT(*)").run(made).value == 6
    nobody = few_known([None] * 6, [0] * 3 + [1] * 3, 3)
    found = Query("SELECT SUM(Age), COUNT(Age)", bounds={"Age": (0, 120)}).run(nobody)
    assert [(r.refused, r.value) for r in found.results] == [(False, None), (False, 0)]


def test_strict_refuses_extremes_and_undeclared_bounds() -> None:
    made = few_known([20, 30, 40, 50], [0, 0, 1, 1], 2)
    for end in ("MIN", "MAX"):
        found = Query(f"SELECT {end}(Age)").run(made)
        assert found.refused
        assert "single person" in str(found)
        assert found.to_dict()["value"] is None
        assert not Query(f"SELECT {end}(Age)", mode="paper").run(made).refused
    found = Query('SELECT AVG(Age) WHERE "1" = 1').run(made)
    assert found.refused
    assert 'bounds={"Age": (LOW, HIGH)}' in str(found)
    assert Query('SELECT AVG(Age) WHERE "1" = 1', bounds={"Age": (0, 99)}).run(made).value == 25
    with pytest.raises(ConfigError, match="outside") as told:
        Query("SELECT AVG(Age)", bounds={"Age": (0, 45)}).run(made)
    assert "50" not in str(told.value)
    with pytest.raises(ConfigError, match="no personal attribute"):
        Query("SELECT AVG(Age)", bounds={"Agee": (0, 45)}).run(made)


@pytest.mark.filterwarnings("error")
def test_the_widest_bounds_that_are_allowed_hold() -> None:
    made = few_known([20, 30, 40, 50], [0, 0, 1, 1], 2)
    sql = 'SELECT SUM(Age), AVG(Age) WHERE NOT "1" = 2'
    for found in Query(sql, bounds={"Age": (-1e15, 1e15)}).run(made).results:
        assert found.low <= found.value <= found.high  # type: ignore[operator]


@pytest.mark.parametrize(
    "bounds",
    [(3, 1), (0,), "ab", (0, float("inf")), None, 3, (1, 2, 3), (-1e308, 1e308), (0, 1.1e15)],
)
def test_bounds_that_are_none(bounds: Any) -> None:
    with pytest.raises(ConfigError, match="bounds of 'Age'"):
        Query("SELECT AVG(Age)", bounds={"Age": bounds})
    with pytest.raises(ConfigError, match=r"between -1e\+15 and 1e\+15"):
        Query("SELECT AVG(Age)", bounds={"Age": bounds})
    with pytest.raises(ConfigError, match="mode"):
        Query("SELECT COUNT(*)", mode="trusting")  # type: ignore[arg-type]


def test_releases_that_guard_nothing() -> None:
    made = few_known([20, 30, 40, 50], [0, 0, 1, 1], 2)
    query = Query("SELECT COUNT(*)")
    without = replace(made, manifest=made.manifest.model_copy(update={"claims": ()}))
    with pytest.raises(ConfigError, match="claims no k-anonymity"):
        query.run(without)
    balls = (Claim(model="k-eps", parameters={"k": 2, "eps": 1.0}),)
    with pytest.raises(ConfigError, match="claims no k-anonymity"):
        query.run(replace(made, manifest=made.manifest.model_copy(update={"claims": balls})))
    with pytest.raises(ConfigError, match="layout 'record'"):
        query.run(replace(made, manifest=made.manifest.model_copy(update={"layout": "record"})))
    more = (Claim(model="k-anonymity", parameters={"k": 3}),)
    with pytest.raises(ReleaseError, match="class of 2 records"):
        query.run(replace(made, manifest=made.manifest.model_copy(update={"claims": more})))
    with pytest.raises(ConfigError, match="give a release"):
        query.run("out/")  # type: ignore[arg-type]


@pytest.mark.parametrize("bounds", [[1, 2], "Age", 3, [("Age", (0, 120))]])
def test_bounds_of_nothing(bounds: Any) -> None:
    with pytest.raises(ConfigError, match="must be a mapping"):
        Query("SELECT AVG(Age)", bounds=bounds)
    assert Query("SELECT AVG(Age)", bounds=None) == Query("SELECT AVG(Age)")


@pytest.mark.parametrize("mode", ["strict", "paper"])
@pytest.mark.parametrize("what", ["COUNT(*)", "COUNT(job)", "SUM(Age)", "MAX(Age)"])
def test_bounds_are_judged_alike_whatever_is_asked(what: str, mode: Any) -> None:
    made = few_known([20, 30, 40, 50], [0, 0, 1, 1], 2)
    assert made.attributes is not None
    people = made.attributes.append_column("job", pa.array(["a"] * 4))
    made = replace(made, attributes=people)
    for bounds, words in (
        ({"Agee": (0, 99)}, "no personal attribute Agee"),
        ({"job": (0, 99)}, "job: it is text"),
        ({"Age": (0, 99), "age": (0, 98)}, "declared twice"),
    ):
        with pytest.raises(ConfigError, match=words):
            Query(f"SELECT {what}", mode, bounds).run(made)
    assert Query(f"SELECT {what}", mode, {"age": (0, 99)}).run(made)


def test_paper_mode_can_tell_a_single_value_and_strict_does_not() -> None:
    """What docs/promise.md says of the two modes."""
    known: list[float | None] = [None, None, None, None, 77, 31, 32, 33, 34, 35]
    made = few_known(known, [0] * 5 + [1] * 5, 5)
    sums = [f'SELECT SUM(Age) WHERE "1" IN ({listed})' for listed in ("1, 2", "2")]
    both, one = (Query(sql, mode="paper").run(made).value for sql in sums)
    assert both - one == 77  # type: ignore[operator]
    bounds = {"Age": (0, 120)}
    both, one = (Query(sql, bounds=bounds).run(made).value for sql in sums)
    assert both - one == pytest.approx((77 + 165) / 2)  # type: ignore[operator]
