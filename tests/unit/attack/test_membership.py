"""Membership beside its definition."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade import budget
from starshade.anonymize.baselines import KMember
from starshade.anonymize.k_likeness import KLikeness
from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.attack.knowledge import Knowledge
from starshade.attack.likelihood.informed import spread_of
from starshade.attack.shadows.facts import Told, of_use
from starshade.attack.shadows.folds import FOLDS
from starshade.attack.shadows.membership import (
    MembershipAttack,
    Scores,
    membership_scores,
    summed_up,
)
from starshade.attack.shadows.resampled import Ranking, Resampled, least_epsilon
from starshade.attack.shadows.seen import Seen
from starshade.attack.shadows.shadows import Method, Shadows
from starshade.errors import ConfigError, StarshadeError
from starshade.ratings.scale import Scale
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.stats import clopper_pearson
from tests.naive import membership as naive
from tests.strategies import at_least, ratings_tables, table

METHODS: dict[str, Method | None] = {
    "ratings": None,
    "k-likeness": KLikeness(k=2, rare_items="keep"),
    "k-likeness, no rare items": KLikeness(k=2),
    "ranges": KMember(k=2, rare_items="keep"),
    "padded": PredictiveAnonymizer(k=2, profile="padded", factors=1, sweeps=1, rare_items="keep"),
    "simple": PredictiveAnonymizer(k=2, profile="simple", factors=1, sweeps=1, rare_items="keep"),
}
methods = st.sampled_from(sorted(METHODS))
tables = ratings_tables(min_users=6, max_users=14, with_days=False)


def made(name: str, ratings: Ratings, seed: int) -> Any:
    method = METHODS[name]
    return ratings if method is None else method.anonymize(ratings, rng=seed)


def told_of(ratings: Ratings, knowledge: Knowledge, seed: int = 0) -> Told:
    places = np.arange(ratings.n_items, dtype=np.int32)
    return Told(ratings, places, of_use(knowledge, "test"), seed)


def pair_of(name: str, ratings: Ratings) -> tuple[Any, ...]:
    """A release and one of fewer people, as an adversary and the twin see them."""
    rest = ratings.keep_users(np.arange(ratings.n_users - 2))
    releases = made(name, ratings, 1), made(name, rest, 1)
    reference = Seen.of(releases[1], rest)
    release = Seen.of(releases[0], ratings, reference.spread)
    shadows = [
        naive.shadow_of(each, table, reference.spread)
        for each, table in zip(releases, (ratings, rest), strict=True)
    ]
    return release, reference, *shadows


def facts_of(ratings: Ratings, facts: Any, person: int) -> list[naive.Fact]:
    here = slice(facts.indptr[person], facts.indptr[person + 1])
    return [
        (ratings.items[int(i)], None if math.isnan(r) else float(r))
        for i, r in zip(facts.items[here], facts.ratings[here], strict=True)
    ]


@at_least(60)
@given(tables, methods, st.sampled_from([1, 2, None]), st.booleans())
def test_scores_are_those_of_the_definition(
    ratings: Ratings, name: str, known: int | None, rated: bool
) -> None:
    try:
        release, reference, large, small = pair_of(name, ratings)
    except StarshadeError:
        return  # so few people: nothing can be made of them
    told = told_of(ratings, Knowledge(ratings=rated))
    users = np.flatnonzero(told.enough(known))
    facts = told.of(users, known)
    found = membership_scores(release, reference, facts)
    assert np.diff(facts.indptr).tolist() == [
        known or ratings.user_support[user] for user in users.tolist()
    ]
    for person in range(len(users)):
        expected = naive.score(large, small, facts_of(ratings, facts, person))
        assert found[person] == pytest.approx(expected, abs=1e-9), (name, person)


def test_who_cannot_be_compared_with_both_says_nothing() -> None:
    ratings = table([{0: 5.0}] * 2 + [{0: 1.0}] * 2 + [{1: 3.0}, {1: 4.0}], Scale(1, 5, 1))
    release, reference, large, small = pair_of("k-likeness, no rare items", ratings)
    facts = told_of(ratings, Knowledge()).of(np.array([0, 5]), None)
    assert (len(large.items), len(small.items)) == (2, 1)
    assert membership_scores(release, reference, facts)[1] == 0.0


def test_all_is_known_of_people_in_whatever_order() -> None:
    ratings = Ratings.from_arrays(["2", "a", "b", "10"], ["x"] * 4, [1, 2, 3, 4], scale="1:5:1")
    facts = told_of(ratings, Knowledge()).of(np.array([3, 0, 2, 1]), None)
    assert list(ratings.users) == ["2", "10", "a", "b"]
    assert facts.ratings.tolist() == [3, 1, 2, 4]


def test_an_item_that_no_row_shows_has_the_mean_of_all() -> None:
    ratings = table([{0: 5.0, 1: 1.0}, {0: 3.0}], Scale(1, 5, 1), n_items=3)
    assert Seen.of(ratings, ratings).item_means.tolist() == [4.0, 1.0, 3.0, 3.0]


@at_least(100)
@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.booleans(), st.integers(0, 2)), min_size=2, max_size=30
    ),
    st.floats(0.0, 1.0),
)
def test_rankings_are_those_of_the_definition(
    entries: list[tuple[int, bool, int]], alarms: float
) -> None:
    scores, member, _ = map(list, zip(*entries, strict=True))
    if all(member) or not any(member):
        return
    ranking = Ranking(np.array(scores, dtype=float), np.array(member))
    once = np.ones((1, len(scores)))
    assert ranking.auc(once)[0] == pytest.approx(naive.auc(scores, member))
    expected = naive.found_at(alarms, scores, member)
    assert ranking.found(alarms)(once)[0] == pytest.approx(expected, abs=1e-9)
    # who counts twice is there twice
    weights = np.array([[1 + s % 2 for s in scores]], dtype=float)
    twice = [each for each in range(len(scores)) for _ in range(1 + scores[each] % 2)]
    again = [scores[e] for e in twice], [member[e] for e in twice]
    assert ranking.auc(weights)[0] == pytest.approx(naive.auc(*again))
    expected = naive.found_at(alarms, *again)
    assert ranking.found(alarms)(weights)[0] == pytest.approx(expected, abs=1e-9)


@at_least(40)
@given(
    st.integers(0, 2**32),
    st.integers(5, 60),
    st.integers(5, 60),
    st.sampled_from([0.0, 1.0, 3.0, 9.0]),
    st.integers(1, 3),
)
def test_epsilon_is_that_of_the_definition(
    seed: int, members: int, outsiders: int, apart: float, n_rounds: int
) -> None:
    rng = np.random.default_rng(seed)
    member = np.repeat([True, False], [members, outsiders])
    scores = np.round(rng.normal(0, 2, len(member)) + apart * member)
    rounds = np.concatenate([np.arange(n) % n_rounds for n in (members, outsiders)])
    if n_rounds > 1:  # one is easier than the others
        scores[rounds == 0] += 2
    found = least_epsilon(Ranking(scores, member), rounds)
    expected = naive.least_epsilon(scores.tolist(), member.tolist(), rounds.tolist())
    assert found == (None if expected is None else pytest.approx(expected, abs=1e-9))


@pytest.mark.parametrize(("missed", "trials"), [(0, 12), (3, 12), (12, 12), (0, 1)])
def test_the_ends_of_clopper_and_pearson(missed: int, trials: int) -> None:
    from scipy.stats import binomtest

    expected = binomtest(missed, trials).proportion_ci(0.95, "exact").high
    assert clopper_pearson(np.array([missed]), trials)[0] == pytest.approx(expected)


def test_nothing_is_shown_by_two_people_and_all_by_many() -> None:
    member = np.repeat([True, False], 200)
    rounds = np.tile([0, 1], 200)
    apart = Ranking(np.where(member, 1.0, 0.0), member)
    # FN⁺ and FP⁺ of none in 200 are 1 − 0.025^(1/200)
    end = 1 - 0.025 ** (1 / 200)
    assert least_epsilon(apart, rounds) == pytest.approx(math.log((1 - end) / end))
    alike = Ranking(np.zeros(400), member)
    assert least_epsilon(alike, rounds) == 0
    assert least_epsilon(apart, np.zeros(400)) is None


def test_an_interval_resamples_people_and_rounds() -> None:
    person, rounds = np.tile(np.arange(50), 2), np.repeat([0, 1], 50)
    mean = np.repeat([0.0, 1.0], 50)
    resampled = Resampled(person, rounds, 3)

    def of_rounds(weights: np.ndarray) -> np.ndarray:
        return np.asarray((weights * mean).sum(1) / weights.sum(1))

    # all that varies is which round was drawn: with a chance of 1/4 one of them alone
    assert resampled.interval(of_rounds, 50) == resampled.interval(of_rounds, 50)
    rate = resampled.interval(of_rounds, 50)
    assert (rate.rate, rate.low, rate.high) == (0.5, 0.0, 1.0)
    same = resampled.interval(lambda weights: np.ones(len(weights)), 50)
    assert same.high == 1.0
    assert 0.9 < same.low < 0.95  # Wilson's: none in 50
    drawn = np.concatenate(list(resampled.weights()))
    assert drawn.shape == (1000, 100)
    assert set((drawn[:, :50].sum(1) + drawn[:, 50:].sum(1)).tolist()) == {100.0}


def population(n_users: int = 80) -> Ratings:
    return synthesize(n_users=n_users, n_items=8, n_ratings=5 * n_users, rng=4)


def test_after_ten_rounds_everybody_was_in_it_and_not() -> None:
    ratings = population(43)
    people = np.arange(43)
    rounds = list(Shadows(ratings, people, KLikeness(k=3), 5).rounds(FOLDS))
    assert Counter(u for one in rounds for u in one.members.tolist()) == Counter(range(43))
    assert Counter(u for one in rounds for u in one.outsiders.tolist()) == Counter(range(43))
    fold = Shadows(ratings, people, None, 5).fold
    for number, one in enumerate(rounds):
        assert one.number == number
        assert set(fold[one.outsiders]) == {number}
        assert set(fold[one.members]) == {(number + 1) % FOLDS}
        rest = ratings.keep_users(np.flatnonzero((fold != number) & (fold != (number + 1) % FOLDS)))
        assert one.support.tolist() == rest.item_support.tolist()
        inside = set(one.release.view.original.users)
        without = set(one.reference.view.original.users)
        members = {ratings.users[int(u)] for u in one.members}
        assert members == inside - without
        assert not inside & {ratings.users[int(u)] for u in one.outsiders}


def test_one_spread_is_for_both() -> None:
    method = PredictiveAnonymizer(k=4, factors=1, sweeps=1)
    (one,) = Shadows(population(), np.arange(80), method, 5).rounds(1)
    assert one.release.spread == one.reference.spread
    assert one.reference.spread == spread_of(one.reference.view)


def test_who_has_no_record_is_no_member() -> None:
    class Some:
        """Leaves out who comes last."""

        def anonymize(self, ratings: Ratings, rng: Any = None) -> Any:
            return KLikeness(k=2).anonymize(ratings.keep_users(np.arange(20)), rng=rng)

    ratings = population()
    (one,) = Shadows(ratings, np.arange(80), Some(), 5).rounds(1)
    kept = {ratings.users.index(key) for key in one.release.view.original.users}
    assert len(kept) == 72
    there = one.release.view.row_of_user >= 0
    users = [
        key for key, is_in in zip(one.release.view.original.users, there, strict=True) if is_in
    ]
    assert 0 < len(one.members) < 8
    assert {ratings.users[int(u)] for u in one.members} <= set(users)


def test_what_may_not_be_known_is_not() -> None:
    ratings = population()
    told = told_of(ratings, Knowledge(except_items=("1", "2", "3"), outside_top=2))
    users = np.flatnonzero(told.enough(None))
    may = np.flatnonzero(told.knowledge.eligible_items(ratings))
    assert len(may) < 6
    for known in (1, None):
        assert set(told.of(users, known).items) <= set(may)
    facts = told.of(users, None)
    rated = np.isin(ratings.keep_users(users).columns, may)
    assert len(facts.items) == rated.sum()


def test_folds_are_by_id_not_by_place() -> None:
    ratings = population(40)
    later = ratings.keep_users(np.arange(10, 40))
    fold = Shadows(ratings, np.arange(10, 40), None, 5).fold
    assert fold[:10].tolist() == [-1] * 10
    assert Shadows(later, np.arange(30), None, 5).fold.tolist() == fold[10:].tolist()


def test_whoever_is_in_ratings_is_found() -> None:
    ratings = synthesize(n_users=80, n_items=40, n_ratings=2200, rng=4)
    result = MembershipAttack(rounds=3).run(ratings, rng=1)
    assert result.auc is not None
    assert result.auc.rate > 0.95
    assert result.by_known[-1].known is None
    assert [alarm.found for alarm in result.by_known[-1].found] == [None] * 3
    assert "too few" in str(result)


def test_a_method_that_hides_who_is_in_it_is_told_from_one_that_does_not() -> None:
    class Nobody:
        """Makes the same release of everybody."""

        def __init__(self, ratings: Ratings) -> None:
            self.release = KLikeness(k=60).anonymize(ratings, rng=0)

        def anonymize(self, ratings: Ratings, rng: Any = None) -> Any:
            return KLikeness(k=ratings.n_users, rare_items="keep").anonymize(ratings, rng=rng)

    ratings = population(200)
    release = KLikeness(k=2).anonymize(ratings, rng=0)
    one_class = MembershipAttack(rounds=10, method=Nobody(ratings))
    hidden = one_class.run(release, original=ratings, rng=1)
    told = MembershipAttack(rounds=10, method=KLikeness(k=2)).run(release, original=ratings, rng=1)
    assert hidden.auc is not None
    assert told.auc is not None
    assert hidden.auc.low <= 0.5 <= hidden.auc.high
    assert told.auc.low > 0.55
    assert told.auc.rate > hidden.auc.rate
    assert {alarm.alarms: alarm.found is None for alarm in told.by_known[-1].found} == {
        0.01: True,
        0.05: False,
        0.1: False,
    }


def test_a_seed_tells_it_all_at_any_number_of_threads() -> None:
    ratings, method = population(), PredictiveAnonymizer(k=4, factors=2, sweeps=2)
    release, attack = method.anonymize(ratings, rng=0), MembershipAttack(rounds=2, method=method)

    def found(seed: int) -> Any:
        return attack.run(release, original=ratings, rng=seed).by_known

    first = found(1)
    with budget.limits(threads=1):
        assert found(1) == first
    assert found(2) != first


def test_who_is_asked_about_can_be_a_sample() -> None:
    ratings = population()
    result = MembershipAttack(rounds=10).run(ratings, targets=30, rng=1)
    assert (result.targets, result.ineligible) == (30, 50)
    assert result.by_known[-1].members == result.by_known[-1].outsiders == 30


def test_more_may_be_known_and_less() -> None:
    ratings = population()
    result = MembershipAttack(rounds=2).run(ratings, Knowledge(known=3), rng=1)
    assert [at.known for at in result.by_known] == [3, 4, 8, 20, None]
    nobody = next(at for at in result.by_known if at.known == 20)
    assert nobody.auc is None
    assert nobody.reason
    assert "–" in str(result.tables)
    rated = MembershipAttack(rounds=2).run(ratings, Knowledge(ratings=False), rng=1)
    assert rated.knowledge["ratings"] is False


@pytest.mark.parametrize(
    ("method", "message"),
    [(KLikeness(k=50), "k = 50, records"), (KLikeness(k=2, rare_items="keep"), "")],
)
def test_releases_that_cannot_be_made(method: Method, message: str) -> None:
    ratings = population(55)
    release = KLikeness(k=2).anonymize(ratings, rng=0)
    attack = MembershipAttack(rounds=1, method=method)
    if not message:
        attack.run(release, original=ratings, rng=0)
        return
    with pytest.raises(ConfigError, match="without some of the people cannot be made") as raised:
        attack.run(release, original=ratings, rng=0)
    assert message in raised.value.message


def test_a_method_makes_releases() -> None:
    with pytest.raises(ConfigError, match="makes no releases"):
        MembershipAttack(method=3)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="rounds"):
        MembershipAttack(rounds=11)


def test_each_round_has_its_own_auc() -> None:
    """By hand: of four pairs three are in order; of two, one is in order and one is a tie."""
    rounds = [
        ([3.0, 1.0, 2.0, 0.0], [True, True, False, False]),
        ([5.0, 5.0, 4.0], [True, False, False]),
        ([1.0, 2.0], [True, True]),
        ([1.0, 2.0], [False, False]),
    ]
    scores = [
        Scores(number, np.arange(len(score)), np.array(member), np.array(score))
        for number, (score, member) in enumerate(rounds)
    ]
    found = summed_up(4, scores, 0)
    assert found.by_round == (3 / 4, 3 / 4, None, None)
    # users 0 and 1 were members in some round, users 0 to 3 were not in another
    assert (found.members, found.outsiders) == (2, 4)
