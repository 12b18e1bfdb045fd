"""The tracker attack against its slow twin, and what must hold of it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade import budget
from starshade.anonymize.k_likeness import KLikeness
from starshade.attack.tracker.result import Background, Condition, TrackerResult
from starshade.attack.tracker.tracker import TrackerAttack
from starshade.attack.view import look
from starshade.errors import ConfigError
from starshade.query.query import Query
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.release.cells import Cells, cells_of
from starshade.release.manifest import Claim
from tests.naive import tracker as naive
from tests.strategies import ratings_tables, table
from tests.unit.attack.samples import releases

FIVE = Scale(1, 5, 1)
NAMES = ("Age", "City")


@st.composite
def people(draw: st.DrawFn, n: int) -> pa.Table:
    """Attributes with repeats and nulls."""
    age = st.none() | st.sampled_from([25.0, 25.5, 31.0])
    city = st.none() | st.sampled_from(["York", "Bath", ""])
    ages = draw(st.lists(age, min_size=n, max_size=n))
    cities = draw(st.lists(city, min_size=n, max_size=n))
    return pa.table({"Age": pa.array(ages, pa.float64()), "City": pa.array(cities, pa.string())})


def asked_of(truth: Ratings) -> tuple[list[int], list[naive.Predicate]]:
    """Return items, most rated first, and what can be asked of each."""
    order = sorted(range(truth.n_items), key=lambda i: (-truth.item_support[i], i))
    return order, ["null", "rated", *truth.levels.tolist()]


def told_by_the_twin(cells: Cells, truth: Ratings, longest: int, floor: int = 1) -> naive.Told:
    return naive.attack(cells, *asked_of(truth), longest, floor)


def agrees(result: TrackerResult, told: naive.Told, row_of: list[int]) -> None:
    assert (result.queries, result.empty, result.refused) == (
        told.queries,
        told.empty,
        told.refused,
    )
    assert (result.fewest or 0) == told.fewest
    shortest = [min(map(len, told.singling[r])) for r in row_of if r in told.singling]
    assert result.by_length == tuple(shortest.count(n) for n in range(1, len(result.by_length) + 1))
    assert result.at_risk.rate == len(shortest) / len(row_of)


def rates(known: Background) -> tuple[float, float, float, float]:
    return known.breached.rate, known.wrong.rate, known.one_condition.rate, known.queries


def verified(
    told: naive.Told, row_of: list[int], known: pa.Table, rows: pa.Table, n: int
) -> tuple[float, ...]:
    """Ask the twin for the shares with the first n attributes known."""
    of_target = [tuple(row[name] for name in NAMES[:n]) for row in known.to_pylist()]
    of_row = {i: tuple(row[name] for name in NAMES[:n]) for i, row in enumerate(rows.to_pylist())}
    slow = naive.verify(told, row_of, of_target, of_row)
    shares = (slow.breached, slow.wrong, slow.one_condition)
    return (*(sum(share) / len(row_of) for share in shares), slow.queries)


@given(data=st.data(), longest=st.integers(1, 3))
def test_ratings_against_the_twin(data: st.DataObject, longest: int) -> None:
    ratings = data.draw(ratings_tables(max_users=8, max_items=3).filter(lambda r: r.n_ratings))
    attributes = data.draw(people(ratings.n_users))
    ratings = replace(ratings, attributes=attributes)
    result = TrackerAttack(conditions=longest, background=NAMES).run(ratings)
    told = told_by_the_twin(cells_of(ratings), ratings, longest)
    users = list(range(ratings.n_users))
    agrees(result, told, users)
    assert result.complete
    assert [known.attributes for known in result.backgrounds] == [("Age",), NAMES]
    for n, known in enumerate(result.backgrounds, 1):
        assert rates(known) == pytest.approx(verified(told, users, attributes, attributes, n))
    holds(result, cells_of(ratings))


def holds(result: TrackerResult, cells: Cells) -> None:
    """Every condition that is written down singles out the one it is written down for."""
    words: dict[str, naive.Predicate] = {"IS NULL": "null", "IS NOT NULL": "rated"}
    for target, condition in result.singled.items():
        rows = [
            row
            for row in range(cells.n_groups)
            if all(
                naive.may_satisfy(cells, row, item, words.get(p) or float(p.removeprefix("= ")))
                for item, p in condition
            )
        ]
        assert rows == [target]


@given(data=st.data(), longest=st.integers(1, 3), k=st.integers(1, 4))
def test_releases_against_the_twin(data: st.DataObject, longest: int, k: int) -> None:
    original, release = data.draw(releases(linked=True).filter(lambda pair: pair[0].n_ratings))
    original = replace(original, attributes=data.draw(people(original.n_users)))
    claims = (Claim(model="k-anonymity", parameters={"k": k}),)
    assert release.private is not None
    of_record = original.attributes.take(np.argsort(release.private.link.record))
    release = replace(
        release,
        manifest=release.manifest.model_copy(update={"claims": claims}),
        attributes=of_record,
    )
    result = TrackerAttack(conditions=longest, background=NAMES).run(release, original=original)
    view = look(release, original, None)
    told = told_by_the_twin(view.cells, view.truth(), longest, floor=k)
    linked = np.flatnonzero(view.row_of_user >= 0)
    row_of = view.row_of_user[linked].tolist()
    agrees(result, told, row_of)
    assert (result.targets, result.ineligible) == (len(linked), original.n_users - len(linked))
    first = np.cumsum(view.cells.sizes) - view.cells.sizes
    for n, known in enumerate(result.backgrounds, 1):
        expected = verified(
            told, row_of, original.attributes.take(linked), of_record.take(first), n
        )
        assert rates(known) == pytest.approx(expected)


@given(
    ratings=ratings_tables(min_users=4, max_users=12, max_items=4).filter(
        lambda r: r.drop_empty_users().n_users >= 4
    ),
    k=st.integers(2, 3),
)
def test_nobody_is_at_risk_among_k(ratings: Ratings, k: int) -> None:
    release = KLikeness(k=k, rare_items="keep").anonymize(ratings, rng=0)
    result = TrackerAttack(conditions=3).run(release, original=ratings)
    assert result.at_risk.rate == 0
    assert result.refused == 0
    assert result.fewest is not None
    assert result.fewest >= k
    assert not result.singled


def some() -> Ratings:
    rng = np.random.default_rng(0)
    rows = [
        {i: float(rng.integers(1, 6)) for i in range(6) if rng.random() < 0.6} for _ in range(40)
    ]
    attributes = pa.table(
        {"Age": rng.integers(20, 30, 40).astype(float), "City": [f"c{i % 3}" for i in range(40)]}
    )
    return replace(table(rows, FIVE, n_items=6), attributes=attributes)


def where(condition: Condition, ratings: Ratings) -> str:
    return " AND ".join(f'"{ratings.items[item]}" {predicate}' for item, predicate in condition)


def test_the_query_room_counts_one_and_tells_the_rest() -> None:
    ratings = some()
    ages = ratings.attributes.column("Age").to_pylist()
    singled = TrackerAttack().run(ratings).singled
    assert len(singled) > 20
    for user, condition in singled.items():
        told = Query(f"SELECT COUNT(*), AVG(Age) WHERE {where(condition, ratings)}").run(ratings)
        assert [each.value for each in told.results] == [1, ages[user]]


def test_the_guard_answers_as_the_attack_counts() -> None:
    ratings = some()
    release = KLikeness(k=4, attributes="exact").anonymize(ratings, rng=0)
    result = TrackerAttack(conditions=2).run(release, original=ratings)
    order, predicates = asked_of(ratings)
    conditions = list(naive.conditions(order, predicates, 2))
    words = {"null": "IS NULL", "rated": "IS NOT NULL"}
    rests_on, asked = [], 0
    for condition in conditions:
        told = [(item, words.get(str(p), f"= {p}")) for item, p in condition]
        answer = Query(f"SELECT COUNT(*) WHERE {where(tuple(told), ratings)}").run(release)
        assert not answer.refused
        rows = [
            row
            for row in range(release.classes.n_groups)
            if all(naive.may_satisfy(release.classes, row, i, p) for i, p in condition)
        ]
        assert answer.records == int(release.classes.sizes[rows].sum())
        rests_on += [answer.records] if answer.records else []
        asked += 1
    assert result.fewest == min(rests_on)
    assert result.queries <= asked


def test_queries_run_out() -> None:
    ratings = some()
    all_of_them = TrackerAttack().run(ratings)
    few = TrackerAttack(queries=500).run(ratings)
    assert all_of_them.complete
    assert not few.complete
    assert few.queries <= 500 < all_of_them.queries
    assert few.items < all_of_them.items == 6
    assert few.at_risk.rate <= all_of_them.at_risk.rate
    assert "stopped after 500 queries" in str(few)
    assert "stopped" not in str(all_of_them)


def test_without_a_link_the_records_are_the_targets() -> None:
    ratings = some()
    release = KLikeness(k=4, attributes="exact").anonymize(ratings, rng=0)
    alone = replace(release, private=None)
    result = TrackerAttack(background=NAMES).run(alone, original=ratings)
    assert (result.credit, result.targets) == ("compatible", release.n_records)
    assert result.at_risk.rate == 0
    assert result.not_queried == ()


def test_a_release_without_attributes_has_nothing_to_verify_by() -> None:
    ratings = some()
    release = KLikeness(k=4).anonymize(ratings, rng=0)
    result = TrackerAttack(background=NAMES).run(release, original=ratings)
    assert result.not_queried == NAMES
    assert [known.attributes for known in result.backgrounds] == [()]
    assert result.at_risk.rate == 0
    assert "Attributes missing from the interface: Age, City." in str(
        result
    )  # said of a release that singles nobody out, too


def test_the_case_of_a_background_does_not_matter() -> None:
    odd = TrackerAttack(background=tuple(name.upper() for name in NAMES)).run(some())
    assert odd.backgrounds == TrackerAttack(background=NAMES).run(some()).backgrounds
    with pytest.raises(ConfigError) as caught:
        TrackerAttack(background=(f"{NAMES[0]}s",)).run(some())
    assert f"Did you mean {NAMES[0]}? " in caught.value.advice


def test_more_background_finds_more() -> None:
    result = TrackerAttack(background=NAMES).run(some())
    first, second = result.backgrounds
    assert first.breached.rate <= second.breached.rate == result.breached.rate
    assert first.queries < second.queries
    assert json.loads(json.dumps(result.to_dict()))["backgrounds"][1]["attributes"] == list(NAMES)
    assert "Age and City" in str(result)
    assert "Age and City" in result._repr_html_()


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"conditions": 0}, "1 to 16"),
        ({"conditions": 17}, "1 to 16"),
        ({"background": "Age"}, "a list of texts"),
        ({"background": ["Age", "Age"]}, "more than once"),
        ({"queries": 0}, "1 or more"),
        ({"queries": 1.5}, "queries = 1.5: must be a whole number"),
        ({"conditions": 2.5}, "conditions = 2.5: must be a whole number"),
        ({"conditions": True}, "conditions = True: must be a whole number"),
        ({"conditions": "4"}, "conditions = '4': must be a whole number"),
        ({"background": 3}, "a list of texts"),
        ({"background": [3]}, "a list of texts"),
    ],
)
def test_settings_out_of_range(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        TrackerAttack(**settings)


def test_nothing_known_is_no_background() -> None:
    assert TrackerAttack(background=None) == TrackerAttack()


def test_what_cannot_be_asked_is_refused_in_words() -> None:
    with pytest.raises(ConfigError, match="unknown personal attribute 'Shoe size'") as told:
        TrackerAttack(background=["Shoe size"]).run(some())
    assert "Age, City" in told.value.advice
    with pytest.raises(ConfigError, match="no personal attributes"):
        TrackerAttack(background=["Age"]).run(replace(some(), attributes=None))
    with pytest.raises(ConfigError, match="counts all people"):
        TrackerAttack().run(some(), targets=3)


def test_memory_is_planned() -> None:
    with budget.limits(memory=1000), pytest.raises(ConfigError, match="may be used"):
        TrackerAttack().run(some())


def test_a_guard_refuses_what_rests_on_too_few() -> None:
    # records that differ: single ones would be found, were the interface not to refuse
    from starshade.anonymize.suppress import SuppressAnonymizer

    ratings = some()
    release = SuppressAnonymizer(k=2, eps=4, nulls="zero").anonymize(ratings, rng=0)
    result = TrackerAttack().run(release, original=ratings)
    assert result.refused > 0
    assert result.at_risk.rate == 0
    assert " refused" in str(result)
