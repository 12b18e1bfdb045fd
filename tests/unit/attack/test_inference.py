"""Inference beside its definition."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade import budget
from starshade.anonymize.k_likeness import KLikeness
from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.attack.knowledge import Knowledge
from starshade.attack.shadows.inference import (
    WAYS,
    Inference,
    InferenceAttack,
    Questions,
    answers,
    by_crowd,
    by_residual,
    marked,
    questions,
)
from starshade.attack.shadows.linkability import likeliest
from starshade.attack.shadows.play import Asked
from starshade.attack.shadows.seen import Facts, Seen, Wanted
from starshade.errors import ConfigError, StarshadeError
from starshade.ratings.scale import Scale
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.stats import wilson
from tests.naive import inference as naive
from tests.strategies import at_least, ratings_tables, table
from tests.unit.attack.test_membership import facts_of, methods, pair_of, told_of

STARS = Scale(1, 5, 1)
tables = ratings_tables(min_users=6, max_users=12, with_days=False)


def put_to(ratings: Ratings, facts: Facts, most: int = 20) -> Questions:
    return questions(told_of(ratings, Knowledge()), facts, most)


def of_person(put: Questions, person: int) -> list[tuple[int, float, int]]:
    """The rated item, its rating and the unrated one, question by question."""
    here = put.person == person
    return list(
        zip(
            put.rated[here].tolist(),
            put.ratings[here].tolist(),
            put.unrated[here].tolist(),
            strict=True,
        )
    )


@at_least(60)
@given(tables, methods, st.sampled_from([1, 2]), st.booleans(), st.sampled_from([0, 1]))
def test_answers_are_those_of_the_definition(
    ratings: Ratings, name: str, known: int, rated: bool, without: int
) -> None:
    try:
        sides = pair_of(name, ratings)
    except StarshadeError:
        return  # so few people: nothing can be made of them
    release, shadow = sides[without], sides[2 + without]
    told = told_of(ratings, Knowledge(ratings=rated))
    facts = told.of(np.flatnonzero(told.enough(known)), known)
    put = put_to(ratings, facts)
    if not len(facts):
        return  # nobody rated as much
    odds = np.concatenate([np.exp(logs) for _, logs, _ in release.fits(facts)])
    best = np.concatenate([shares for _, shares in likeliest(release, facts)])
    both = answers(release, facts, put)
    for way, by in enumerate(WAYS[:2]):
        weights = (odds / odds.sum(axis=1, keepdims=True), best)[way]
        found = marked(put, *both[way], ratings.scale, len(facts))
        for person in range(len(facts)):
            expected = naive.posterior(shadow, facts_of(ratings, facts, person), by)
            assert weights[person] == pytest.approx(expected, abs=1e-9)
            marks = marks_of(ratings, shadow, expected, of_person(put, person))
            assert found[person, ::2] == pytest.approx(marks, abs=1e-9, nan_ok=True)


def marks_of(
    ratings: Ratings, shadow: Any, weights: list[float], asked: list[tuple[int, float, int]]
) -> tuple[float, float]:
    """The share of pairs won, and the mean error."""
    pairs, errors = [], []
    for item, rating, other in asked:
        errors.append(abs(naive.value(shadow, weights, ratings.items[item]) - rating))
        if other >= 0:
            sides = (naive.shown(shadow, weights, ratings.items[i]) for i in (item, other))
            pairs.append(naive.won(*sides))
    mean = [sum(each) / len(each) if each else math.nan for each in (pairs, errors)]
    return mean[0], mean[1]


@at_least(50)
@given(tables, st.integers(1, 3), st.integers(1, 4))
def test_questions_are_about_the_rest(ratings: Ratings, known: int, most: int) -> None:
    told = told_of(ratings, Knowledge())
    facts = told.of(np.flatnonzero(told.enough(known)), known)
    put, all_put = put_to(ratings, facts, most), put_to(ratings, facts, 99)
    assert (np.diff(put.person) >= 0).all()
    for person in range(len(facts)):
        asked, every = of_person(put, person), of_person(all_put, person)
        row = dict(facts_of(ratings, told.of(facts.users[person : person + 1], None), 0))
        are_known = {key for key, _ in facts_of(ratings, facts, person)}
        rest = {ratings.items[i]: r for i, r, _ in every}
        assert rest == {key: r for key, r in row.items() if key not in are_known}
        assert len(asked) == min(most, len(rest))
        assert set(asked) <= set(every)
        for item, _, other in asked:
            twin = naive.unrated_twin(ratings, int(facts.users[person]), item)
            assert other == (-1 if twin is None else twin)


@at_least(40)
@given(tables, st.sampled_from(["padded", "simple", "ratings"]), st.integers(1, 2))
def test_residuals_are_those_of_the_definition(ratings: Ratings, name: str, known: int) -> None:
    try:
        release, _, shadow, _ = pair_of(name, ratings)
    except StarshadeError:
        return  # so few people: nothing can be made of them
    told = told_of(ratings, Knowledge())
    facts = told.of(np.flatnonzero(told.enough(known)), known)
    put = put_to(ratings, facts)
    found = by_residual(release, facts, put, 0)
    keys = sorted(shadow.items, key=list(release.view.cells.items).index)
    filled = name != "ratings" and all(len(row) == len(keys) for row in shadow.rows)
    if not filled or not len(facts):
        assert found is None
        return
    profiles = np.array([[row[key][1][0] for key in keys] for row in shadow.rows])
    centred = profiles - profiles.mean(axis=0)
    u, s, v = np.linalg.svd(centred, full_matrices=False)
    away = np.abs(centred - (u[:, :4] * s[:4]) @ v[:4])
    assert found is not None
    for question, person in enumerate(put.person.tolist()):
        logs = [
            shadow.log(r, facts_of(ratings, facts, person)) + math.log(size)
            for r, size in enumerate(shadow.sizes)
        ]
        if len(logs) > 1 and np.ptp(np.sort(logs)[-2:]) < 1e-9:
            continue  # two profiles are as likely
        for item, of in zip((put.rated, put.unrated), found, strict=True):
            key = ratings.items[int(item[question])]
            if item[question] >= 0 and key in keys:
                expected = away[int(np.argmax(logs)), keys.index(key)]
                assert of[question] == pytest.approx(expected, abs=1e-6)


def test_small_chances_are_told_apart() -> None:
    likes, hates = dict.fromkeys(range(8), 5.0), dict.fromkeys(range(8), 1.0)
    others = [{9: 2.0}, {10: 2.0}, {10: 4.0}]
    ratings = table([{**likes, 8: 3.0}, *({**hates, **other} for other in others)], STARS)
    facts = Facts(np.zeros(1, np.int64), np.array([0, 8]), np.arange(8), np.full(8, 5.0))
    wanted = Wanted.by([np.array([8, 9, 10, -1])])
    chance, value = Seen.of(ratings, ratings).shown(facts, wanted)
    assert chance[0].tolist() == pytest.approx([1.0, 1e-40, 2e-40, 0.0], rel=1e-9)
    assert chance[1].tolist() == [1.0, 0.0, 0.0, 0.0]  # to who believes the likeliest alone
    assert value[:, :3].tolist() == [[3.0, 2.0, 3.0]] * 2


@pytest.mark.parametrize("some", [1, 3, 99])
@given(st.lists(st.sampled_from([math.nan, 0.5, 1.0, 4.0]), max_size=12))
def test_ratings_are_sorted_into_kinds(some: int, ratings: list[float]) -> None:
    items = np.zeros(len(ratings), np.int32)
    facts = Facts(np.zeros(1, np.int64), np.array([0, len(ratings)]), items, np.array(ratings))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("starshade.attack.shadows.seen._SOME", some)
        values, kind = facts.kinds
    assert np.array_equal(values[kind], ratings, equal_nan=True)
    assert np.array_equal(values, np.unique(ratings), equal_nan=True)


def test_people_weighed_in_blocks_get_the_same_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    ratings = table([{0: 5.0, 1: 1.0}, {0: 3.0, 2: 4.0}, {0: 4.0, 1: 1.0, 2: 2.0}], STARS)
    facts = Facts(np.arange(3), np.array([0, 1, 2, 4]), np.array([0, 2, 0, 1]), np.full(4, 4.0))
    wanted = Wanted.by([np.array([1, 2]), np.array([0]), np.array([2, -1])])
    seen = Seen.of(ratings, ratings)
    at_once = seen.shown(facts, wanted)
    monkeypatch.setattr("starshade.attack.shadows.seen._BLOCK", 1)
    assert len([*seen.fits(facts)]) == 3
    for found, expected in zip(seen.shown(facts, wanted), at_once, strict=True):
        assert np.array_equal(found, expected)


def test_by_the_crowd_nobody_is_known() -> None:
    ratings = table([{0: 5.0, 1: 1.0}, {0: 3.0}, {0: 4.0, 1: 1.0, 2: 2.0}], STARS, n_items=4)
    (seen,) = pair_of("ratings", table([*rows(ratings), {}, {}], STARS, n_items=4))[1:2]
    put = Questions(np.zeros(2, np.int64), np.array([0, 1]), np.array([5.0, 1.0]), np.array([2, 3]))
    ((rated, value, error),) = marked(put, *by_crowd(seen, np.array([3, 2, 1, 0]), put), STARS, 1)
    assert (rated, value) == (1.0, 0.5)  # means of 4 and 1
    assert error == 0.5


def rows(ratings: Ratings) -> list[dict[int, float]]:
    return [
        {i: v for i, v in enumerate(row) if not math.isnan(v)} for row in ratings.dense().tolist()
    ]


def test_marks() -> None:
    person, rated, unrated = np.array([0, 0, 0, 2]), np.array([0, 1, 2, 0]), np.array([3, 4, 3, -1])
    put = Questions(person, rated, np.array([5.0, 3.0, 1.0, 2.0]), unrated)
    chances = np.array([0.5, 0.0, 0.2, 1.0]), np.array([0.5, 0.1, 0.0, 0.0])
    value = np.array([4.5, 2.4, 1.0, 2.0])
    found = marked(put, *chances, value, STARS, 3)
    assert found[0, 0] == 0.5  # a tie, a miss and a hit
    assert found[0, 1] == pytest.approx(2 / 3)  # 4.5 rounds up
    assert found[0, 2] == pytest.approx((0.5 + 0.6 + 0) / 3)
    assert np.isnan(found[1]).all()  # of whom nothing is asked
    assert np.isnan(found[2, 0])  # there is no item that they did not rate
    assert found[2, 1:].tolist() == [1.0, 0.0]
    assert np.isnan(marked(put, *chances, value, Scale(-10, 10), 3)[:, 1]).all()


def test_differences_are_paired() -> None:
    """Each person's mean over the releases that they are in, less that over the others."""
    people = 40
    ratings = table([{0: 1.0, 1: 2.0}] * people, STARS, n_items=3)
    asked = Asked(told_of(ratings, Knowledge(known=1)), np.arange(people), 3, people)
    game = Inference(asked, 9, known=1)
    right = np.zeros((4, 3, people, 3))
    right[:, 0] = np.array([1.0, 0.5, 0.25, 0.75])[:, None, None]  # by release, of the first way
    status = np.array([[1] * people, [1] * people, [0] * people, [-1] * people])
    status[:, 0] = 1  # who is in all of them has nothing to be compared with
    answers = [{"status": s, "marks": m} for s, m in zip(status, right, strict=True)]
    facts = {
        "attack": "inference", "records": 40, "seconds": 0.0, "config": {}, "digest": "",
        "shadows": 3, "catalogue": 3, "knowledge": {}, "seed": 1,
    }  # fmt: skip
    found = game.found(answers, facts)
    assert found.targets == people - 1
    value = found.adversaries[0].value
    assert value is not None
    assert (value.with_person, value.without_person, value.gain) == (0.75, 0.25, 0.5)
    unseen = wilson(0, people - 1).high  # all gain alike
    assert (value.low, value.high) == (0.5 - unseen, 0.5 + unseen)
    few = [
        {"status": np.where(np.arange(people) < 29, s, -1), "marks": m}
        for s, m in zip(status, right, strict=True)
    ]
    with pytest.raises(
        ConfigError, match=r"28 people can be tested in releases with and .*; 30 are needed"
    ):
        game.found(few, facts)


def population(n_users: int = 120) -> Ratings:
    return synthesize(n_users=n_users, n_items=12, n_ratings=7 * n_users, rng=4)


def test_a_release_tells_of_people_because_they_are_in_it() -> None:
    ratings, method = population(), KLikeness(k=2)
    release = method.anonymize(ratings, rng=0)
    attack = InferenceAttack(method=method)
    result = attack.run(release, Knowledge(known=4), original=ratings, rng=1)
    assert result.rated_gained is not None
    assert result.rated_gained.low > 0
    assert result.saved is not None
    assert result.saved.saved[1] > 0
    with budget.limits(threads=1):
        again = attack.run(release, Knowledge(known=4), original=ratings, rng=1)
    assert again.adversaries == result.adversaries


def test_one_class_of_all_tells_nothing_of_anybody() -> None:
    class Everybody:
        """Puts all people into one class."""

        def anonymize(self, ratings: Ratings, rng: Any = None) -> Any:
            return KLikeness(k=ratings.n_users, rare_items="keep").anonymize(ratings, rng=rng)

    ratings = population(200)
    release = KLikeness(k=2).anonymize(ratings, rng=0)
    attack = InferenceAttack(method=Everybody())
    result = attack.run(release, Knowledge(known=2), original=ratings, rng=1)
    for way in result.adversaries:
        for each in (way.rated, way.value, way.error):
            assert each is not None
            assert abs(each.gain) < 0.02


def test_averages_show_every_item() -> None:
    ratings = population()
    method = PredictiveAnonymizer(k=5, factors=2, sweeps=2, rare_items="keep")
    release = method.anonymize(ratings, rng=0)
    attack = InferenceAttack(shadows=2, method=method)
    result = attack.run(release, Knowledge(known=2), original=ratings, rng=1)
    assert [way.by for way in result.adversaries] == ["all", "best", "residual"]
    for way in result.adversaries[:2]:
        assert way.rated is not None
        assert way.rated.with_person == way.rated.without_person == 0.5
    assert result.adversaries[2].rated is not None
    assert result.adversaries[2].value is result.adversaries[2].error is None


def test_nobody_can_be_asked_about() -> None:
    ratings = table([{0: float(1 + u % 5)} for u in range(30)], STARS, n_items=1)
    with pytest.raises(ConfigError, match=r"no person has more than 1 rating\n"):
        InferenceAttack(shadows=2).run(ratings, Knowledge(known=1), rng=0)
