"""A whole list of public ratings at once, beside every list that there could be."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade import budget
from starshade.anonymize.k_likeness import KLikeness
from starshade.attack.auxiliary import compared as compared_module
from starshade.attack.auxiliary import fitting
from starshade.attack.auxiliary.assignment import place
from starshade.attack.auxiliary.auxiliary import AuxiliaryAttack
from starshade.attack.auxiliary.compared import Compared, Errors, Shown, plain_errors
from starshade.attack.auxiliary.fitting import fit
from starshade.attack.knowledge import Known
from starshade.attack.view import look_unjudged
from starshade.errors import ConfigError
from starshade.kernels.attack.postings import NO_DAY
from starshade.ratings.auxiliary.auxiliary import Auxiliary, read_auxiliary
from starshade.ratings.scale import Scale
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.cells import Symbols
from tests.naive import one_to_one as naive
from tests.strategies import at_least, ratings_tables, table
from tests.unit.attack.samples import release

FEW = table(
    [{0: 5, 1: 3}, {0: 4, 2: 2}, {0: 5, 1: 3, 2: 2}, {2: 1}, {3: 4}, {3: 4}], Scale(1, 5, 1)
)


@st.composite
def facts_about(draw: st.DrawFn, ratings: Ratings) -> list[naive.Fact]:
    scale = ratings.scale
    rating = st.one_of(
        st.just(math.nan),
        st.sampled_from(scale.levels.tolist())
        if scale.step is not None
        else st.floats(scale.minimum, scale.maximum),
    )
    day = st.one_of(st.none(), st.integers(0, 80))
    items = draw(st.lists(st.integers(0, ratings.n_items - 1), unique=True, max_size=4))
    return [(item, draw(rating), draw(day)) for item in items]


def known_of(facts: list[naive.Fact]) -> Known:
    return Known(
        np.zeros(1, np.int64),
        np.array([[f[0] for f in facts]], np.int32).reshape(1, -1),
        np.array([[f[1] for f in facts]], np.float64).reshape(1, -1),
        np.array([[NO_DAY if f[2] is None else f[2] for f in facts]], np.int32).reshape(1, -1),
    )


def some_errors() -> st.SearchStrategy[Errors]:
    share = st.floats(0.01, 1.0)
    return st.builds(
        lambda found, near, there: Errors(np.array(found) / sum(found), near, there),
        st.lists(share, min_size=6, max_size=6),
        st.floats(0.05, 0.95),
        st.floats(0.05, 0.95),
    )


@at_least(60)
@given(st.data(), ratings_tables(), some_errors())
def test_facts_are_as_likely_as_the_definition_says(
    draw: Any, ratings: Ratings, errors: Errors
) -> None:
    if not ratings.n_items or not ratings.n_users:
        return
    facts = draw.draw(facts_about(ratings))
    found = Shown(look_unjudged(ratings)).compare(known_of(facts))
    if not facts:
        assert len(found.rows) == 0
        assert found.rest == pytest.approx(math.log(ratings.n_users))
        return
    assert found.rows.tolist() == list(range(ratings.n_users))
    expected = [
        naive.log_of(ratings, row, facts, errors.found.tolist(), errors.near)
        for row in range(ratings.n_users)
    ]
    assert found.logs(errors) == pytest.approx(expected)
    assert found.rest == -np.inf


def test_on_a_class_a_fact_is_as_likely_as_on_average_over_its_members() -> None:
    # two records with {3, 4} and {null, 5}, one with {5} alone; they rated 1.5 and 1 of two items
    nowhere = np.full(3, np.nan)
    symbols = Symbols(
        Scale(1, 5, 1),
        np.array([0, 2, 3, 4]),
        np.array([3.0, 4.0, 5.0, 5.0]),
        np.array([False, True, False]),
        nowhere,
        nowhere,
    )
    data = release([{0: 0, 1: 1}, {0: 2}], [2, 1], symbols, Vocabulary(np.arange(2)))
    facts: list[naive.Fact] = [(0, 4.0, None), (1, 5.0, None)]
    found = Shown(look_unjudged(data)).compare(known_of(facts))
    assert found.sizes.tolist() == [2, 1]
    # of four ratings one is a 4 and two are a 5; a stranger knows the items with 3.5/6 and 2.5/6
    first, second = 1 / 4 * 3.5 / 6, 2 / 4 * 2.5 / 6
    four = np.array([[1 / 2, 1 / 4, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0]]) / [[1.5], [1]] / first
    assert found.parts[0] == pytest.approx(four)
    five = np.array([[1 / 2 / 1.5, 0, 0, 0, 0, 1 / 2 * (2 / 4) / 0.5], [0, 0, 0, 0, 0, 2 / 4]])
    assert found.parts[1] == pytest.approx(five / second)


@at_least(30)
@given(st.data(), ratings_tables())
def test_what_is_not_listed_is_summed_up(draw: Any, ratings: Ratings) -> None:
    if not ratings.n_items or not ratings.n_users:
        return
    facts = draw.draw(facts_about(ratings))
    if not facts:
        return
    errors, shown = plain_errors(ratings.n_users), Shown(look_unjudged(ratings))
    every = shown.compare(known_of(facts)).logs(errors)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compared_module, "LISTED", 2)
        few = shown.compare(known_of(facts))
    logs = few.logs(errors)
    assert len(few.rows) == min(2, ratings.n_users)
    assert sorted(logs)[0] >= np.sort(every)[-2:][0] - 1e-9
    assert np.logaddexp.reduce([*logs, few.rest]) == pytest.approx(np.logaddexp.reduce(every))


@at_least(30)
@given(st.data(), ratings_tables())
def test_the_fit_is_the_twins_and_never_gets_less_likely(draw: Any, ratings: Ratings) -> None:
    if not ratings.n_items or not ratings.n_users:
        return
    names = draw.draw(st.lists(facts_about(ratings), min_size=1, max_size=3))
    names = [facts for facts in names if facts]
    shown = Shown(look_unjudged(ratings))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fitting, "_STEPS", 4)
        patch.setattr(fitting, "_ENOUGH", -1.0)
        fitted = fit([shown.compare(known_of(facts)) for facts in names], ratings.n_users)
    assert (np.diff(fitted.trace) >= -1e-9).all()
    found, near, there = list(naive.FIXED), 0.9, 0.5
    for log in fitted.trace:
        found, near, there, likelihood = naive.step(ratings, names, found, near, there)
        assert log == pytest.approx(likelihood)
    assert len(fitted.trace) == 4
    assert fitted.errors.found == pytest.approx(np.array(found))
    assert (fitted.errors.near, fitted.errors.there) == pytest.approx((near, there))


@st.composite
def wishes(draw: st.DrawFn) -> tuple[list[dict[int, float]], dict[int, int]]:
    """What each row is worth to each name, and how many records it has."""
    n_rows = draw(st.integers(1, 4))
    sizes = {row: draw(st.integers(1, 2)) for row in range(n_rows)}
    value = st.sampled_from([-2.0, 0.5, 1.0, 2.0, 3.5])
    names = draw(st.integers(1, 4))
    return [{row: draw(value) for row in range(n_rows)} for _ in range(names)], sizes


@at_least(200)
@given(wishes())
def test_the_list_is_the_best_of_all(drawn: Any) -> None:
    gains, sizes = drawn
    errors = Errors(np.full(6, 1 / 6), 0.5, 0.5)
    records = sum(sizes.values())
    rows, many = np.array(list(sizes)), np.array(list(sizes.values()))
    names = [
        Compared(
            rows,
            many,
            np.repeat(records * np.exp(list(g.values()))[None, :, None], 6, 2),
            np.full((1, len(rows)), -1, np.int8),
            -np.inf,
        )
        for g in gains
    ]
    found = place(names, errors, records)
    top, by_place = naive.best(gains, sizes)
    placed = [each.row for each in found]
    assert naive.worth(gains, placed) == pytest.approx(top, abs=1e-6)
    for row, size in sizes.items():
        assert placed.count(row) <= size
    for name, each in enumerate(found):
        if each.row < 0:
            continue
        other = np.delete(by_place[name], each.row).max()
        assert each.lead == pytest.approx(top - other, abs=1e-5)
        left = {r: s - placed.count(r) + (r == each.row) for r, s in sizes.items()}
        mass = {r: n * math.exp(gains[name][r]) for r, n in left.items()}
        assert each.chance == pytest.approx(mass[each.row] / (1 + sum(mass.values())), rel=1e-5)


def public(*rows: tuple[str, str, float]) -> Auxiliary:
    import pyarrow as pa

    names, items, stars = zip(*rows, strict=True)
    return read_auxiliary(pa.table({"name": names, "item": items, "stars": stars}))


def test_two_names_never_get_one_record() -> None:
    both = public(("ann", "1", 5.0), ("ann", "2", 3.0), ("bob", "1", 5.0), ("bob", "2", 3.0))
    found = AuxiliaryAttack(one_to_one=True, weights="plain").run(FEW, both).one_to_one
    assert found is not None
    ann, bob = found.per_name
    assert {ann.record, bob.record} == {0, 2}
    assert (ann.no_answer, bob.no_answer, found.answered) == ("tie", "tie", 0)
    assert found.steps == 0


def test_nothing_known_and_nobody_is_said() -> None:
    odd = public(("ann", "1", 5.0), ("cy", "no such", 5.0))
    found = AuxiliaryAttack(one_to_one=True).run(FEW, odd).one_to_one
    assert found is not None
    assert found.per_name[1].no_answer == "nothing-known"
    assert found.per_name[1].records == 0


def test_a_list_is_found_where_names_alone_are_not() -> None:
    data = synthesize("movielens-100k", n_users=200, n_items=150, n_ratings=4000, rng=3)
    rng, rows, values = np.random.default_rng(0), [], data.values()
    for user in range(60):
        cells = np.arange(data.indptr[user], data.indptr[user + 1])
        told = {int(data.columns[c]): float(values[c]) for c in rng.permutation(cells)[:6]}
        for item in rng.integers(0, data.n_items, 2).tolist():  # perhaps not rated there
            told.setdefault(item, 3.0)
        rows += [(f"n{user}", data.items[item], rating) for item, rating in told.items()]
    result = AuxiliaryAttack(one_to_one=True).run(data, public(*rows))
    found = result.one_to_one
    assert found is not None
    right = [each.name for each in found.per_name if each.name == f"n{each.record}"]
    alone = [a.name for a in result.per_name if a.answer and a.name == f"n{a.answer.record}"]
    assert len(right) > len(alone)
    assert "One-to-one matching assigns a record to 60 of 60 names" in str(result)
    assert len(result.tables) == 2
    assert result.to_dict()["one_to_one"]["answered"] == found.answered


def test_classes_take_as_many_names_as_they_have_records() -> None:
    made = KLikeness(k=2).anonymize(FEW, rng=0)
    three = public(*((name, "4", 4.0) for name in ("ann", "bob", "cy")))
    try:
        found = AuxiliaryAttack(one_to_one=True, weights="plain").run(made, three).one_to_one
    except ConfigError:
        return
    assert found is not None
    placed = [each.class_ for each in found.per_name if each.class_ is not None]
    assert max(map(placed.count, placed), default=0) <= 3
    assert all(each.record is None for each in found.per_name if each.records > 1)


def test_too_little_memory_is_said_before_anything_is_done() -> None:
    with budget.limits(memory=100), pytest.raises(ConfigError, match="memory"):
        AuxiliaryAttack(one_to_one=True).run(FEW, public(("ann", "1", 5.0)))


def test_a_list_that_is_too_long_at_once_is_refused() -> None:
    shown, errors = Shown(look_unjudged(FEW)), plain_errors(FEW.n_users)
    names = [shown.compare(known_of([(0, 5.0, None), (1, 3.0, None)])) for _ in range(3)]
    assert len(place(names, errors, FEW.n_users)) == 3
    with budget.limits(memory=2000), pytest.raises(ConfigError, match="3 names may want"):
        place(names, errors, FEW.n_users)
