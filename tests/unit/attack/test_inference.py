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
from starshade.attack.shadows.halves import likeliest
from starshade.attack.shadows.inference import (
    WAYS,
    InferenceAttack,
    Questions,
    answers,
    by_crowd,
    compared,
    marked,
    questions,
)
from starshade.attack.shadows.resampled import Resampled
from starshade.attack.shadows.seen import Facts, Seen, Wanted
from starshade.errors import ConfigError, StarshadeError
from starshade.ratings.scale import Scale
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from tests.naive import inference as naive
from tests.strategies import at_least, ratings_tables, table
from tests.unit.attack.test_membership import facts_of, methods, pair_of, told_of

STARS = Scale(1, 5, 1)
tables = ratings_tables(min_users=6, max_users=12, with_days=False)


def asked_of(ratings: Ratings, facts: Any, person: int, most: int = 20) -> Questions:
    user = int(facts.users[person])
    known = facts.items[facts.indptr[person] : facts.indptr[person + 1]]
    return questions(told_of(ratings, Knowledge()), user, known, most)


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
    asked = [asked_of(ratings, facts, person) for person in range(len(facts))]
    if not len(facts):
        return  # nobody rated as much
    odds = np.concatenate([np.exp(logs) for _, logs, _ in release.fits(facts)])
    best = np.concatenate([shares for _, shares in likeliest(release, facts)])
    both = answers(release, facts, asked, ratings.scale)
    for way, by in enumerate(WAYS):
        weights, found = (odds / odds.sum(axis=1, keepdims=True), best)[way], both[way]
        for person, each in enumerate(asked):
            expected = naive.posterior(shadow, facts_of(ratings, facts, person), by)
            assert weights[person] == pytest.approx(expected, abs=1e-9)
            marks = marks_of(ratings, shadow, expected, each)
            assert found[person][::2] == pytest.approx(marks, abs=1e-9, nan_ok=True)


def marks_of(
    ratings: Ratings, shadow: Any, weights: list[float], asked: Questions
) -> tuple[float, float]:
    """The share of pairs won, and the mean error."""
    pairs, errors = [], []
    for item, rating, other in zip(*asked, strict=True):
        key = ratings.items[int(item)]
        errors.append(abs(naive.value(shadow, weights, key) - rating))
        if other >= 0:
            sides = (naive.shown(shadow, weights, ratings.items[int(i)]) for i in (item, other))
            pairs.append(naive.won(*sides))
    mean = [sum(each) / len(each) if each else math.nan for each in (pairs, errors)]
    return mean[0], mean[1]


@at_least(50)
@given(tables, st.integers(1, 3), st.integers(1, 4))
def test_questions_are_about_the_rest(ratings: Ratings, known: int, most: int) -> None:
    told = told_of(ratings, Knowledge())
    facts = told.of(np.flatnonzero(told.enough(known)), known)
    for person in range(len(facts)):
        asked = asked_of(ratings, facts, person, most)
        every = asked_of(ratings, facts, person, 99)
        row = dict(facts_of(ratings, told.of(facts.users[person : person + 1], None), 0))
        of_person = {key for key, _ in facts_of(ratings, facts, person)}
        rest = {ratings.items[int(i)]: r for i, r, _ in zip(*every, strict=True)}
        assert rest == {key: r for key, r in row.items() if key not in of_person}
        assert len(asked.rated) == min(most, len(rest))
        assert set(asked.rated) <= set(every.rated)
        for item, other in zip(asked.rated, asked.unrated, strict=True):
            twin = naive.unrated_twin(ratings, int(facts.users[person]), int(item))
            assert other == (-1 if twin is None else twin)


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
    asked = [Questions(np.array([0, 1]), np.array([5.0, 1.0]), np.array([2, 3]))]
    ((rated, value, error),) = by_crowd(seen, np.array([3, 2, 1, 0]), asked, STARS)
    assert (rated, value) == (1.0, 0.5)  # means of 4 and 1
    assert error == 0.5


def rows(ratings: Ratings) -> list[dict[int, float]]:
    return [
        {i: v for i, v in enumerate(row) if not math.isnan(v)} for row in ratings.dense().tolist()
    ]


def test_marks() -> None:
    asked = Questions(np.array([0, 1, 2]), np.array([5.0, 3.0, 1.0]), np.array([3, 4, -1]))
    chances = np.array([0.5, 0.0, 0.2]), np.array([0.5, 0.1, 0.0])
    found = marked(asked, *chances, np.array([4.5, 2.4, 1.0]), STARS)
    assert found.rated == 0.25  # a tie, and a miss; of the last there was no other item
    assert found.value == pytest.approx(2 / 3)  # 4.5 rounds up
    assert found.error == pytest.approx((0.5 + 0.6 + 0) / 3)
    assert math.isnan(marked(asked, *chances, np.zeros(3), Scale(-10, 10)).value)
    nothing = Questions(np.empty(0, np.int64), np.empty(0), np.empty(0, np.int64))
    assert all(map(math.isnan, marked(nothing, *[np.empty(0)] * 3, STARS)))


def test_differences_are_paired() -> None:
    marks = np.array([[1.0, 0.5, 0.2], [0.5, 0.5, 0.3], [np.nan, np.nan, np.nan]])
    found = compared(marks, Resampled(np.arange(3), np.array([0, 0, 1]), 0))
    assert found is not None
    assert (found.release, found.reference, found.crowd) == (0.75, 0.5, 0.25)
    assert (found.difference, found.low, found.high) == (0.25, 0.0, 0.5)
    assert found.saved == (-0.25, -0.5, 0.0)
    assert compared(marks[2:], Resampled(np.arange(1), np.zeros(1, np.int64), 0)) is None


def population(n_users: int = 120) -> Ratings:
    return synthesize(n_users=n_users, n_items=12, n_ratings=7 * n_users, rng=4)


def test_a_release_tells_of_people_because_they_are_in_it() -> None:
    ratings, method = population(), KLikeness(k=2)
    release = method.anonymize(ratings, rng=0)
    attack = InferenceAttack(rounds=10, method=method)
    result = attack.run(release, Knowledge(known=4), original=ratings, rng=1)
    assert result.rated_gained is not None
    assert result.rated_gained.low > 0
    assert result.saved is not None
    assert result.saved.saved[1] > 0
    with budget.limits(threads=1):
        again = attack.run(release, Knowledge(known=4), original=ratings, rng=1)
    assert again.ways == result.ways


def test_one_class_of_all_tells_nothing_of_anybody() -> None:
    class Everybody:
        """Puts all people into one class."""

        def anonymize(self, ratings: Ratings, rng: Any = None) -> Any:
            return KLikeness(k=ratings.n_users, rare_items="keep").anonymize(ratings, rng=rng)

    ratings = population(200)
    release = KLikeness(k=2).anonymize(ratings, rng=0)
    attack = InferenceAttack(rounds=10, method=Everybody())
    result = attack.run(release, Knowledge(known=2), original=ratings, rng=1)
    for way in result.ways:
        for each in (way.rated, way.value, way.error):
            assert each is not None
            assert abs(each.difference) < 0.02


def test_averages_show_every_item() -> None:
    ratings = population()
    method = PredictiveAnonymizer(k=5, factors=2, sweeps=2, rare_items="keep")
    release = method.anonymize(ratings, rng=0)
    attack = InferenceAttack(rounds=2, method=method)
    result = attack.run(release, Knowledge(known=2), original=ratings, rng=1)
    for way in result.ways:
        assert way.rated is not None
        assert way.rated.release == way.rated.reference == 0.5


def test_nobody_can_be_asked_about() -> None:
    ratings = table([{0: float(1 + u % 5)} for u in range(30)], STARS, n_items=1)
    with pytest.raises(ConfigError, match="nobody has a rating beyond 1"):
        InferenceAttack(rounds=2).run(ratings, Knowledge(known=1), rng=0)
