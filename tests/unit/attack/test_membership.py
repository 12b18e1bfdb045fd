"""Membership beside its definition."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade import budget
from starshade.anonymize.baselines import KMember
from starshade.anonymize.interval.interval import IntervalAnonymizer
from starshade.anonymize.k_likeness import KLikeness
from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.attack.knowledge import Knowledge
from starshade.attack.likelihood.informed import spread_of
from starshade.attack.risk_result import save_risk_list
from starshade.attack.shadows.facts import Told, of_use
from starshade.attack.shadows.halves import (
    Half,
    Halves,
    Method,
    catalogue_of,
    in_half,
    on_catalogue,
    seed_of,
)
from starshade.attack.shadows.lira import scored
from starshade.attack.shadows.membership import MembershipAttack, fit
from starshade.attack.shadows.play import Asked, play
from starshade.attack.shadows.resampled import Ranking, drawn_again, least_epsilon, mean_of
from starshade.attack.shadows.seen import Seen
from starshade.attack.targets import Request
from starshade.engine.journal import journal_in
from starshade.errors import ConfigError, StarshadeError
from starshade.ratings.scale import Scale
from starshade.ratings.select import top_items
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
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
    return Told(ratings, of_use(knowledge, "test"), seed)


def pair_of(name: str, ratings: Ratings) -> tuple[Any, ...]:
    """A release and one of fewer people, as an adversary and the twin see them."""
    rest = ratings.keep_users(np.arange(ratings.n_users - 2))
    releases = made(name, ratings, 1), made(name, rest, 1)
    reference = Seen.of(releases[1], rest)
    release = replace(Seen.of(releases[0], ratings), spread=reference.spread)
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
def test_fits_are_those_of_the_definition(
    ratings: Ratings, name: str, known: int | None, rated: bool
) -> None:
    try:
        release, reference, large, small = pair_of(name, ratings)
    except StarshadeError:
        return  # so few people: nothing can be made of them
    told = told_of(ratings, Knowledge(ratings=rated))
    users = np.flatnonzero(told.enough(known))
    facts = told.of(users, known)
    fits = fit(release, facts), fit(reference, facts)
    assert np.diff(facts.indptr).tolist() == [
        known or ratings.user_support[user] for user in users.tolist()
    ]
    for person in range(len(users)):
        of_person = facts_of(ratings, facts, person)
        for found, shadow in zip(fits, (large, small), strict=True):
            expected = shadow.fit(of_person) or 0.0
            assert found[person] == pytest.approx(expected, abs=1e-9), (name, person)


def test_who_cannot_be_compared_says_nothing() -> None:
    ratings = table([{0: 5.0}] * 2 + [{0: 1.0}] * 2 + [{1: 3.0}, {1: 4.0}], Scale(1, 5, 1))
    _, reference, large, small = pair_of("k-likeness, no rare items", ratings)
    facts = told_of(ratings, Knowledge()).of(np.array([0, 5]), None)
    assert (len(large.items), len(small.items)) == (2, 1)
    assert fit(reference, facts)[1] == 0.0


fits_of_people = st.integers(1, 7).flatmap(
    lambda people: st.lists(
        st.lists(
            st.tuples(
                st.sampled_from([-3.0, -1.5, -1.25, -1.0, -0.1]), st.sampled_from([1, 0, -1])
            ),
            min_size=people,
            max_size=people,
        ),
        min_size=2,
        max_size=7,
    )
)


@at_least(200)
@given(fits_of_people)
def test_lira_is_that_of_the_definition(entries: list[list[tuple[float, int]]]) -> None:
    fits, status = ([[each[i] for each in row] for row in entries] for i in (0, 1))
    found = scored(np.array(fits), np.array(status, dtype=np.int8))
    expected = naive.lira(fits, status)
    assert found.target.tolist() == [each[0] for each in expected]
    assert found.person.tolist() == [each[1] for each in expected]
    assert found.member.tolist() == [each[2] for each in expected]
    assert found.offline.tolist() == pytest.approx([each[3] for each in expected], rel=1e-6)
    if len(fits) == 2:
        assert found.online is None
    else:
        assert found.online is not None
        assert found.online.tolist() == pytest.approx([each[4] for each in expected], rel=1e-6)


def test_lira_by_hand() -> None:
    """One person: with them the fits are -1 and -2, without them -4 and -6, in the target -1."""
    fits, status = (
        np.array([[-1.0], [-1.0], [-2.0], [-4.0], [-6.0]]),
        np.array([[1], [1], [1], [0], [0]]),
    )
    found = scored(fits, status.astype(np.int8))
    # means -1.5 and -5; squares 0.5 and 2 by 2 degrees of freedom, and the median is the same
    sigma = math.sqrt(1.25)
    assert found.target[0] == 0
    assert found.offline[0] == pytest.approx(4 / sigma)
    assert found.online is not None
    assert found.online[0] == pytest.approx((16 - 0.25) / 2.5)


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
        st.tuples(st.integers(0, 4), st.booleans(), st.integers(0, 3)), min_size=2, max_size=30
    ),
    st.lists(st.floats(0.0, 1.0), min_size=1, max_size=3).map(sorted),
    st.lists(st.integers(0, 3), min_size=4, max_size=4),
)
def test_rankings_are_those_of_the_definition(
    entries: list[tuple[int, bool, int]], alarms: list[float], times: list[int]
) -> None:
    scores, member, persons = map(list, zip(*entries, strict=True))
    ranking = Ranking(np.array(scores, dtype=float), np.array(persons), np.array(member))
    for weights in ([1, 1, 1, 1], times):
        # who counts twice is there twice
        again = [e for e, person in enumerate(persons) for _ in range(weights[person])]
        of = [scores[e] for e in again], [member[e] for e in again]
        found = ranking.figures(np.array([weights], dtype=float), tuple(alarms))[0]
        if all(of[1]) or not any(of[1]):
            assert np.isnan(found).all()
            continue
        expected = [naive.auc(*of), *(naive.found_at(alarm, *of) for alarm in alarms)]
        assert found.tolist() == pytest.approx(expected, abs=1e-9)


@at_least(40)
@given(
    st.integers(0, 2**32),
    st.integers(5, 40),
    st.integers(5, 40),
    st.sampled_from([0.0, 1.0, 3.0, 9.0]),
    st.integers(1, 3),
)
def test_epsilon_is_that_of_the_definition(
    seed: int, members: int, outsiders: int, apart: float, n_targets: int
) -> None:
    rng = np.random.default_rng(seed)
    member = np.repeat([True, False], [members, outsiders])
    scores = np.round(rng.normal(0, 2, len(member)) + apart * member)
    persons = rng.integers(0, 30, len(member))
    targets = np.concatenate([np.arange(n) % n_targets for n in (members, outsiders)])
    if n_targets > 1:  # one is easier than the others
        scores[targets == 0] += 2
    found = least_epsilon(Ranking(scores, persons, member), targets)
    said = scores.tolist(), member.tolist(), persons.tolist(), targets.tolist()
    expected = naive.least_epsilon(*said)
    assert found == (None if expected is None else pytest.approx(expected, abs=1e-9))


@pytest.mark.parametrize(("missed", "trials"), [(0, 12), (3, 12), (12, 12), (0, 1)])
def test_the_ends_of_clopper_and_pearson(missed: int, trials: int) -> None:
    from scipy.stats import binomtest

    expected = binomtest(missed, trials).proportion_ci(0.95, "exact").high
    assert clopper_pearson(np.array([missed]), trials)[0] == pytest.approx(expected)


def test_nothing_is_shown_by_who_is_alike_and_all_by_who_is_not() -> None:
    member, person = np.repeat([True, False], 200), np.arange(400)
    targets = np.tile([0, 1], 200)
    apart = Ranking(np.where(member, 1.0, 0.0), person, member)
    # FN⁺ and FP⁺ of none in 200 are 1 − 0.025^(1/200)
    end = 1 - 0.025 ** (1 / 200)
    assert least_epsilon(apart, targets) == pytest.approx(math.log((1 - end) / end))
    # the same twenty people ten times are no more than twenty
    few = least_epsilon(replace(apart, person=np.tile(np.arange(20), 20)), targets)
    end = 1 - 0.025 ** (1 / 20)
    assert few == pytest.approx(math.log((1 - end) / end))
    alike = Ranking(np.zeros(400), person, member)
    assert least_epsilon(alike, targets) == 0
    assert least_epsilon(apart, np.zeros(400)) is None


def test_an_interval_draws_people_again() -> None:
    values = np.repeat([0.0, 1.0], 50)
    (drawn,) = drawn_again(mean_of(values, np.ones(100)), 100, 3)
    assert drawn == drawn_again(mean_of(values, np.ones(100)), 100, 3)[0]
    # the standard error of a share of a half among a hundred is 0.05
    assert drawn.value == 0.5
    assert 0.38 < drawn.low < 0.42
    assert 0.58 < drawn.high < 0.62
    same = drawn_again(mean_of(np.ones(50), np.ones(50)), 50, 3)[0].rate(50)
    assert same.high == 1.0
    assert 0.9 < same.low < 0.95  # Wilson's: none in 50


def population(n_users: int = 80) -> Ratings:
    return synthesize(n_users=n_users, n_items=8, n_ratings=5 * n_users, rng=4)


def test_halves_have_half_of_the_people_each_by_id() -> None:
    ratings = population(400)
    prints = ratings.users.fingerprints
    inside = np.array([in_half(prints, 5, number) for number in range(8)])
    assert (abs(inside.sum(axis=1) - 200) < 60).all()
    both = (inside[:, None] & inside[None]).sum(axis=2)
    assert (abs(both[~np.eye(8, dtype=bool)] - 100) < 60).all()
    later = ratings.keep_users(np.arange(100, 400))
    assert in_half(later.users.fingerprints, 5, 3).tolist() == inside[3, 100:].tolist()


def test_a_half_knows_nothing_of_the_others() -> None:
    ratings, method = population(60), KLikeness(k=3)
    for half in Halves(ratings, method, 5).made(range(3), None):
        inside = in_half(ratings.users.fingerprints, 5, half.number)
        part = ratings.keep_users(np.flatnonzero(inside))
        alone = method.anonymize(part, rng=seed_of(5, half.number))
        cells, expected = half.seen.view.cells, alone.cells()
        assert np.array_equal(cells.codes, expected.codes)
        assert np.array_equal(cells.sizes, expected.sizes)
        assert half.outsiders.tolist() == (~inside).tolist()
        assert not (half.members & ~inside).any()
        assert half.support.tolist() == part.item_support.tolist()


def test_one_spread_is_for_all() -> None:
    method = PredictiveAnonymizer(k=4, factors=1, sweeps=1)
    made = list(Halves(population(), method, 5).made(range(5), None))
    own = [spread_of(half.seen.view) for half in made]
    assert len({half.seen.spread for half in made}) == 1
    assert made[0].seen.spread == pytest.approx(math.sqrt(sum(s * s for s in own[:3]) / 3))
    # what is made after a stop has the spread of those before
    (last,) = Halves(population(), method, 5).made([4], made[0].seen.spread)
    assert last.seen.spread == made[0].seen.spread


def test_who_has_no_record_is_no_member() -> None:
    class Some:
        """Leaves out who comes last."""

        def anonymize(self, ratings: Ratings, rng: Any = None) -> Any:
            return KLikeness(k=2).anonymize(ratings.keep_users(np.arange(20)), rng=rng)

    ratings = population()
    (half,) = Halves(ratings, Some(), 5).made([0], None)
    inside = in_half(ratings.users.fingerprints, 5, 0)
    assert inside.sum() > 20
    assert half.members.sum() == 20
    assert (half.status == -1).sum() == inside.sum() - 20
    assert not half.outsiders[inside].any()


def test_the_catalogue_is_of_items_that_a_half_can_show() -> None:
    items = Vocabulary.of(["a", "b", "c", "d"])
    support = np.array([3, 5, 6, 40])

    def kept(method: Any) -> list[int]:
        return catalogue_of(method, items, support, 40).tolist()

    assert kept(KLikeness(k=3)) == [2, 3]
    assert kept(KLikeness(k=3, rare_items="keep")) == [0, 1, 2, 3]
    assert kept(KLikeness(k=2, rare_items="keep", item_support=3)) == [2, 3]
    assert kept(KLikeness(k=2, item_support="10%")) == [3]  # of 40 people
    assert kept(KLikeness(k=3, items=top_items(4))) == [0, 1, 2, 3]
    assert kept(None) == [0, 1, 2, 3]
    sensitive = IntervalAnonymizer(k=3, eps=1.0, l=0.1, sensitive=("a",))
    assert kept(sensitive) == [0, 2, 3]
    with pytest.raises(
        ConfigError, match="no item was rated by 42 people, twice the minimum of a half"
    ):
        kept(KLikeness(k=21))
    method = on_catalogue(KLikeness(k=3, items=top_items(4), item_support=9))
    assert (method.k, method.items, method.rare_items, method.item_support) == (
        3,
        None,
        "keep",
        None,
    )


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


def test_whoever_is_in_ratings_is_found() -> None:
    """An exact row in the release is always told (a control)."""
    ratings = synthesize(n_users=160, n_items=40, n_ratings=4400, rng=4)
    result = MembershipAttack().run(ratings, rng=1)
    assert result.auc is not None
    assert result.auc.rate > 0.999
    found = result.everything.at(0.01)
    assert found is not None
    assert found.tpr.rate > 0.99
    assert not found.rough
    tenth = result.everything.at(0.001)
    assert tenth is not None
    assert tenth.rough
    assert "rough" in str(tenth)


class Everybody:
    """Puts all people into one class, and shows of every item all ratings that there are."""

    def anonymize(self, ratings: Ratings, rng: Any = None) -> Any:
        scale = KLikeness(k=ratings.n_users, rare_items="keep", hierarchy="range")
        return scale.anonymize(ratings, rng=rng)


def test_a_release_that_is_not_of_the_people_tells_nothing_of_them() -> None:
    """A control: each half is released as one of other people altogether."""

    ratings = synthesize(n_users=300, n_items=30, n_ratings=4500, rng=4)
    others = synthesize(n_users=300, n_items=30, n_ratings=4500, rng=5)
    asked = Asked(told_of(ratings, Knowledge(known=8)), np.arange(300), 16, 300)
    game = MembershipAttack().begin(asked)
    answers = []
    for number in range(17):
        inside = in_half(ratings.users.fingerprints, 1, number)
        part = others.keep_users(np.flatnonzero(in_half(others.users.fingerprints, 2, number)))
        release = KLikeness(k=2, rare_items="keep").anonymize(part, rng=number)
        half = Half(number, inside, ~inside, Seen.of(release, part), part.item_support)
        answers.append({"status": half.status, **game.ask(half)})
    facts = {
        "attack": "membership", "records": 300, "seconds": 0.0, "config": {}, "digest": "",
        "shadows": 16, "catalogue": 30, "knowledge": {}, "seed": 1,
    }  # fmt: skip
    result = game.found(answers, facts)
    for at in result.by_known:
        assert at.auc is not None
        assert at.auc.rate == pytest.approx(0.5, abs=0.02)
        alarm = at.at(0.01)
        assert alarm is not None
        assert alarm.tpr.rate <= 0.02


def test_a_method_that_hides_who_is_in_it_is_told_from_one_that_does_not() -> None:
    ratings = population(200)
    release = KLikeness(k=2).anonymize(ratings, rng=0)
    hidden = MembershipAttack(method=Everybody()).run(release, original=ratings, rng=1)
    told = MembershipAttack(method=KLikeness(k=2)).run(release, original=ratings, rng=1)
    assert hidden.auc is not None
    assert told.auc is not None
    assert told.auc.low > 0.55
    assert told.auc.rate > hidden.auc.rate


def test_the_paired_design_agrees() -> None:
    """A cross-check: releases without one person alone tell the same people apart."""
    ratings, method = population(60), KLikeness(k=2, rare_items="keep")
    release = method.anonymize(ratings, rng=0)
    scores = []
    for user in range(0, 60, 4):
        rest = ratings.keep_users(np.delete(np.arange(60), user))
        without = method.anonymize(rest, rng=0)
        shadows = naive.shadow_of(release, ratings, None), naive.shadow_of(without, rest, None)
        facts = told_of(ratings, Knowledge()).of(np.array([user]), None)
        scores.append(naive.paired(*shadows, facts_of(ratings, facts, 0)))
    result = MembershipAttack(method=method).run(release, original=ratings, rng=1)
    assert np.mean(np.array(scores) > 0) > 0.5  # in it they fit better than without them
    assert result.auc is not None
    assert result.auc.low > 0.5


def test_a_seed_tells_it_all_at_any_number_of_threads() -> None:
    ratings, method = population(), PredictiveAnonymizer(k=4, factors=2, sweeps=2)
    release, attack = method.anonymize(ratings, rng=0), MembershipAttack(shadows=2, method=method)

    def found(seed: int) -> Any:
        return attack.run(release, original=ratings, rng=seed).by_known

    first = found(1)
    with budget.limits(threads=1):
        assert found(1) == first
    assert found(2) != first


def test_who_is_asked_about_can_be_a_sample() -> None:
    ratings = population()
    result = MembershipAttack().run(ratings, targets=30, rng=1)
    assert (result.targets, result.ineligible) == (30, 50)
    assert result.by_known[-1].members == result.by_known[-1].non_members == 30


def test_more_may_be_known_and_less() -> None:
    ratings = population()
    result = MembershipAttack(shadows=4).run(ratings, Knowledge(known=3), rng=1)
    assert [at.known for at in result.by_known] == [3, 4, 8, 20, None]
    nobody = next(at for at in result.by_known if at.known == 20)
    assert nobody.auc is None
    assert nobody.reason
    assert "–" in str(result.tables)
    rated = MembershipAttack(shadows=4).run(ratings, Knowledge(ratings=False), rng=1)
    assert rated.knowledge["ratings"] is False


def test_one_shadow_is_enough_for_a_figure() -> None:
    ratings = population(200)
    method = KLikeness(k=2)
    release = method.anonymize(ratings, rng=0)
    one = MembershipAttack(shadows=1, method=method).run(release, original=ratings, rng=1)
    many = MembershipAttack(shadows=12, method=method).run(release, original=ratings, rng=1)
    assert one.auc is not None
    assert many.auc is not None
    assert one.everything.by == "offline"
    assert one.everything.members < many.everything.members  # who is in no shadow alone
    assert many.auc.rate > one.auc.rate


def test_who_is_found_is_told_by_activity() -> None:
    ratings = population(200)
    result = MembershipAttack().run(ratings, rng=1)
    own = result.everything.own
    assert own is not None
    assert own.users.tolist() == list(range(200))
    assert own.ratings.tolist() == ratings.user_support.tolist()
    order = np.lexsort((own.users, own.ratings))
    quarter = own.found[order[:50]]
    assert own.groups["the least active quarter"] == (pytest.approx(quarter.mean()), 50)
    assert own.groups["the most active tenth"] == (pytest.approx(own.found[order[-20:]].mean()), 20)
    worst = max(part.mean() for part in np.split(own.found[order], 10))
    assert own.groups["the worst tenth by activity"][0] == pytest.approx(worst)
    assert "'own'" not in str(result.to_dict()["by_known"])


def test_all_people_are_equal() -> None:
    ratings = table([{0: 4.0, 1: 2.0}] * 40, Scale(1, 5, 1), n_items=2)
    method = KLikeness(k=2)
    release = method.anonymize(ratings, rng=0)
    result = MembershipAttack(shadows=4, method=method).run(release, original=ratings, rng=1)
    assert result.auc is not None
    assert (result.auc.rate, result.auc.low < 0.5 < result.auc.high) == (0.5, True)
    found = result.everything.at(0.1)
    assert found is not None
    assert found.tpr.rate == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (KLikeness(k=30), "no item was rated by 60 people"),
        (KLikeness(k=40, rare_items="keep"), "k = 40, records"),
        (KLikeness(k=2, rare_items="keep"), ""),
    ],
)
def test_releases_that_cannot_be_made(method: Method, message: str) -> None:
    ratings = population(55)
    release = KLikeness(k=2).anonymize(ratings, rng=0)
    attack = MembershipAttack(shadows=1, method=method)
    if not message:
        attack.run(release, original=ratings, rng=0)
        return
    with pytest.raises(ConfigError, match=r"shadow release .* cannot be made") as raised:
        attack.run(release, original=ratings, rng=0)
    assert message in raised.value.message


def test_a_method_makes_releases() -> None:
    with pytest.raises(ConfigError, match="method of type int: is not an anonymizer"):
        MembershipAttack(method=3)  # type: ignore[arg-type]
    for shadows in (0, 1001):
        with pytest.raises(ConfigError, match="shadows"):
            MembershipAttack(shadows=shadows)


def test_a_run_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    ratings, method = population(), PredictiveAnonymizer(k=4, factors=1, sweeps=1)
    release = method.anonymize(ratings, rng=0)
    attack = MembershipAttack(shadows=9, method=method)
    made: list[int] = []

    @dataclass(frozen=True)
    class Stopping(PredictiveAnonymizer):
        def anonymize(self, table: Ratings, rng: Any = None) -> Any:
            made.append(1)
            if len(made) == 8:
                raise KeyboardInterrupt
            return method.anonymize(table, rng=rng)

        def __repr__(self) -> str:
            return repr(method)

    whole = attack.run(release, original=ratings, rng=3)
    stopping = Stopping(k=4, factors=1, sweeps=1)
    request = Request(ratings, None, 3, None)

    def play_with(method: Any, resume: bool) -> Any:
        with journal_in(tmp_path, resume=resume) as journal:
            one = replace(attack, method=method)
            return play([one], release, Knowledge(), request, journal)

    with pytest.raises(KeyboardInterrupt):
        play_with(stopping, False)
    made.clear()
    made.extend([1] * 20)
    (found,) = play_with(stopping, True)
    assert len(made) == 20 + 3  # halves 7, 8 and 9
    assert found.by_known == whole.by_known


def test_the_list_of_who_is_found(tmp_path: Path) -> None:
    ratings = population(60)
    result = MembershipAttack(shadows=6).run(ratings, targets=30, rng=1)
    own = result.everything.own
    assert own is not None
    assert save_risk_list(result, ratings, tmp_path / "list.csv") == 30
    head, *lines = (tmp_path / "list.csv").read_text().splitlines()
    assert head == "user,membership,ratings"
    assert (tmp_path / "list.csv").stat().st_mode & 0o777 == 0o600
    found = dict(zip(own.users.tolist(), own.found.tolist(), strict=True))
    before = 2.0
    for line in lines:
        user, share, given_ratings = line.split(",")
        place = ratings.users.index(user)
        assert int(given_ratings) == ratings.user_support[place]
        value = float(share) if share else -1.0
        expected = found[place] if not math.isnan(found[place]) else -1.0
        assert value == pytest.approx(expected)
        assert value <= before
        before = value
    with pytest.raises(ConfigError, match="do not belong to the result"):
        save_risk_list(result, population(61), tmp_path / "other.csv")
