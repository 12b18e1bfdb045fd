"""Predicates against their slow twin, on tables made by hand, and what is refused."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from starshade import budget
from starshade.anonymize.baselines import KMember, Mondrian
from starshade.anonymize.interval.interval import IntervalAnonymizer
from starshade.anonymize.k_likeness import KLikeness
from starshade.attack.predicate.choice import distinct, levels_of
from starshade.attack.predicate.isolation import People, blind
from starshade.attack.predicate.predicate import PredicateAttack
from starshade.attack.predicate.result import PredicateResult
from starshade.attack.view import look
from starshade.errors import ConfigError
from starshade.kernels.attack.predicate import Kinds, Named, weigh
from starshade.kernels.attack.satisfying import Predicates
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.release.build import Provenance, generalized_release
from starshade.release.cells import Cells, Symbols, cells_of
from starshade.release.table import Release
from tests.naive import predicate as naive
from tests.strategies import ratings_tables, table
from tests.unit.attack.profiles import averaged

STARS, HALF, REAL = Scale(1, 5, 1), Scale(0.5, 5, 0.5), Scale(-10, 10)
METHODS = {
    "ndgh": KLikeness(k=2, rare_items="keep", hierarchy="ndgh"),
    "range": Mondrian(k=2, rare_items="keep", hierarchy="range"),
    "members": KMember(k=2, rare_items="keep", hierarchy="range"),
    "dgh": KLikeness(k=2, rare_items="keep", hierarchy="dgh"),
}
SOME = ratings_tables(min_users=2, max_users=7, max_items=3, scales=(STARS, HALF), with_days=False)
REALS = ratings_tables(min_users=2, max_users=7, max_items=3, scales=(REAL,), with_days=False)


def released(method: Any, ratings: Ratings) -> Release:
    assume((ratings.user_support > 0).sum() >= 2)
    release = method.anonymize(ratings, rng=0)
    assert isinstance(release, Release)
    return release


def rows(ratings: Ratings) -> list[tuple]:
    dense = ratings.dense().tolist()
    return [tuple(None if v != v else v for v in row) for row in dense]


def value(rating: float) -> float | None:
    return None if np.isnan(rating) else float(rating)


def compare(data: Ratings | Release, ratings: Ratings, promise: str) -> PredicateResult:
    """Hold the attack, predicate by predicate, against the twin."""
    original = None if isinstance(data, Ratings) else ratings
    found = PredicateAttack().run(data, original=original, rng=0)
    view = look(data, original, None)
    cells = distinct(view.cells)
    slow, people = naive.classes_of(view.cells), rows(view.truth())
    assert [n for _, n in slow] == cells.sizes.tolist()
    named = [None, *levels_of(cells.symbols, promise).ratings.tolist()]
    real = cells.symbols.scale.step is None
    expected = naive.expectations(slow, named, promise, real=real)
    tried = found.per_class
    for c in range(len(slow)):
        item, rating = int(tried.item[c]), value(tried.rating[c])
        scores = naive.scores(c, slow, expected)
        if scores:
            assert tried.chance[c] == pytest.approx(max(scores.values()), rel=1e-6, abs=1e-9)
            assert scores[item, rating] == pytest.approx(max(scores.values()), rel=1e-6, abs=1e-9)
        else:
            assert item == -1
        told = slow[c][0], item, rating
        satisfying = sum(naive.satisfies(row, *told) for row in people)
        assert tried.satisfying[c] == satisfying
        assert tried.weight[c] == pytest.approx(naive.weight(people, *told), abs=1e-12)
    isolated = np.mean(tried.satisfying == 1)
    assert found.singling_out.rate == pytest.approx(isolated)
    n = ratings.n_users
    assert found.baseline == pytest.approx(
        np.mean([n * w * (1 - w) ** (n - 1) for w in tried.weight.tolist()])
    )
    return found


@pytest.mark.parametrize("method", METHODS)
@given(ratings=SOME)
def test_predicates_are_the_twins(method: str, ratings: Ratings) -> None:
    promise = {"ndgh": "ndgh", "dgh": "dgh"}.get(method, "range")
    compare(released(METHODS[method], ratings), ratings, promise)


@given(REALS)
def test_sets_on_a_real_scale_are_the_twins(ratings: Ratings) -> None:
    compare(released(METHODS["ndgh"], ratings), ratings, "ndgh")


@given(SOME)
def test_ratings_are_the_twins(ratings: Ratings) -> None:
    assume(ratings.n_ratings > 0)
    found = compare(ratings, ratings, "ndgh")
    equal = [rows(ratings).count(row) == 1 for row in dict.fromkeys(rows(ratings))]
    assert found.singling_out.rate == pytest.approx(np.mean(equal))


@given(ratings=st.one_of(SOME, REALS), method=st.sampled_from(sorted(METHODS)))
def test_forced_counts_are_those_of_the_original(ratings: Ratings, method: str) -> None:
    """Whoever takes forced cells at their word is right in every class."""
    release = released(METHODS[method], ratings)
    forced = PredicateAttack().run(release, original=ratings, rng=0).forced
    assert forced is not None
    view = look(release, ratings, None)
    people, items = rows(view.truth()), range(view.cells.n_items)
    members = [np.flatnonzero(view.row_of_user == c) for c in range(view.cells.n_groups)]
    one = nobody = once = 0
    for who in members:
        for i in items:
            held = [people[u][i] for u in who]
            one += len(set(held)) == 1 and held[0] is not None
            nobody += set(held) == {None}
            once += len(set(held)) == len(held)
    assert forced.cells == len(members) * view.cells.n_items
    assert forced.no_member == nobody
    assert forced.one_value == one
    assert forced.each_once <= once
    if method == "ndgh":  # a set says all that is held, and nothing else
        assert forced.each_once == once


def by_hand(k: int = 2) -> tuple[Ratings, Release]:
    """Two classes of two: {1, 2} on one item and 5 on the other; 4 and {null, 3}."""
    ratings = table([{0: 1, 1: 5}, {0: 2, 1: 5}, {0: 4}, {0: 4, 1: 3}], STARS)
    return ratings, KLikeness(k=k, rare_items="keep").anonymize(ratings, rng=0)


def test_by_hand() -> None:
    ratings, release = by_hand()
    found = PredicateAttack().run(release, original=ratings, rng=0)
    assert (found.classes, found.classes_tested, found.people) == (2, 2, 4)
    assert found.singling_out.rate == 1
    assert found.expected == 1
    # fits {1, 2} and 5, and rated 1: a quarter times a half; fits 4 and {null, 3}, and null
    assert sorted(found.per_class.weight) == [pytest.approx(1 / 8)] * 2
    assert found.baseline == pytest.approx(4 / 8 * (7 / 8) ** 3)
    assert found.low_weight[0].singling_out is None
    assert found.low_weight[0].predicates == 0
    assert found.forced is not None
    counts = found.forced.one_value, found.forced.no_member, found.forced.each_once
    assert counts == (2, 0, 2)
    assert found.forced.people.rate == 1
    assert "100.0%" in str(found)
    assert json.loads(json.dumps(found.to_dict()))["low_weight"][0] == {
        "most": 0.1,
        "predicates": 0,
        "singling_out": None,
        "baseline": None,
    }


def test_somebody_left_out_satisfies_it_too() -> None:
    """A second person like the one that is singled out, in the original and not in the release."""
    ratings, _ = by_hand()
    more = table([{0: 1, 1: 5}, {0: 2, 1: 5}, {0: 4}, {0: 4, 1: 3}, {0: 1, 1: 5}], STARS)
    release = KLikeness(k=2, rare_items="keep").anonymize(ratings, rng=0)
    alone = PredicateAttack().run(release, original=ratings, rng=0)
    among = PredicateAttack().run(release, original=more, rng=0)
    assert alone.per_class.satisfying.tolist() == [1, 1]
    assert sorted(among.per_class.satisfying.tolist()) == [1, 2]
    assert among.ineligible == 1


def test_outsiders_weigh() -> None:
    ratings, release = by_hand()
    alike = Ratings.from_arrays(list("xxyy"), [1, 2, 1, 2], [1, 5, 2, 5], scale="1:5:1")
    alone = PredicateAttack().run(release, original=ratings, rng=0)
    beside = PredicateAttack().run(release, original=ratings, rng=0, outsiders=alike)
    assert (alone.non_members, beside.non_members) == (None, 2)
    assert sorted(beside.per_class.weight) == [pytest.approx(1 / 8), pytest.approx(1 / 2)]
    assert beside.singling_out == alone.singling_out
    assert "no non-members were given" in str(alone)
    assert "the share among 2 non-members" in str(beside)
    with pytest.raises(ConfigError, match="4 of them are members"):
        PredicateAttack().run(release, original=ratings, outsiders=ratings)


def test_a_value_held_once_for_certain_and_at_random() -> None:
    """Three members hold both of two values: two ways of three each, one holder in one of them."""
    named = Named(*(np.array(a) for a in ([0, 2], [0, 1], [True, True], [0], [-1])))
    kind = Kinds(*(np.array([v]) for v in (0, 0, 3)))
    prior, bins, unit = np.array([[0.5, 0.5]]), np.array([0, 1]), np.ones(2)
    even = weigh(kind, named, prior, bins, unit)
    assert even.once == pytest.approx([1 / 2, 1 / 2])
    assert even.share == pytest.approx([1 / 2, 1 / 2])
    # 1: .2; one or two of three: 3·.2·.64 to 3·.04·.8
    skew = weigh(kind, named, np.array([[0.8, 0.2]]), bins, unit)
    assert skew.once == pytest.approx([0.2, 0.8])
    assert skew.share == pytest.approx([1 - (0.8 + 0.2 * 2) / 3, (0.8 + 0.2 * 2) / 3])


def test_nobody_fits_elsewhere_who_did_not_rate_what_must_be_rated() -> None:
    """Whether 5 is held elsewhere does not matter: nobody there rated the second item."""
    ratings = table([{0: 5, 1: 3}, {0: 4, 1: 3}, {0: 5}, {0: 4}], STARS)
    found = PredicateAttack().run(
        KLikeness(k=2, rare_items="keep").anonymize(ratings, rng=0), original=ratings
    )
    assert found.per_class.chance == pytest.approx([1.0, 1.0])
    assert found.singling_out.rate == 1


def test_what_nobody_does_weighs_nothing() -> None:
    """Everybody rated the second item, and a record that was moved shows none."""
    people = People(table([{0: 1, 1: 3}, {0: 2, 1: 3}], STARS))
    moved = cells_of(table([{0: 1}], STARS, n_items=2))
    predicates = Predicates(np.array([0]), np.array([0], np.int32), np.array([1.0]))
    satisfying, holders = people.satisfying(predicates, moved)
    assert (satisfying.tolist(), holders.tolist()) == ([0], [1])
    assert people.chance(predicates, holders, moved).tolist() == [0.0]


def test_a_large_class_is_weighed_value_by_value() -> None:
    """Of more than 64 members only the value itself is known to be held."""
    named = Named(*(np.array(a) for a in ([0, 2], [0, 1], [True, True], [0], [-1])))
    kind = Kinds(*(np.array([v]) for v in (0, 0, 65)))
    prior, bins = np.array([[0.99, 0.01]]), np.array([0, 1])
    found = weigh(kind, named, prior, bins, np.ones(2))
    some = 1 - 0.99**65
    assert found.once[1] == pytest.approx(65 * 0.01 * 0.99**64 / some)
    assert found.share[1] == pytest.approx(0.01 / some)
    # near what all of it comes to, just below
    whole = weigh(Kinds(*(np.array([v]) for v in (0, 0, 64))), named, prior, bins, np.ones(2))
    assert whole.once[1] == pytest.approx(found.once[1], abs=0.01)


def test_ends_of_a_range_on_a_real_scale() -> None:
    ratings = table([{0: -3.5}, {0: 1.25}, {0: 7.0}, {0: 9.5}, {0: 9.0}, {0: 9.75}], REAL)
    release = Mondrian(k=3, hierarchy="range").anonymize(ratings, rng=0)
    found = PredicateAttack().run(release, original=ratings, rng=0)
    ends = {-3.5, 7.0, 9.0, 9.75}
    assert set(found.per_class.rating.tolist()) <= ends
    assert found.singling_out.rate == 1


def test_moved_ratings_promise_nothing() -> None:
    ratings = table([{0: 1, 1: 5}, {0: 2, 1: 5}, {0: 1, 1: 4}, {0: 2, 1: 4}] * 2, STARS)
    release = IntervalAnonymizer(2, 0, nulls="ignore", rare_items="keep").anonymize(ratings, rng=0)
    found = PredicateAttack().run(release, original=ratings, rng=0)
    assert found.forced is None
    assert "need not be true" in str(found)
    assert found.singling_out.rate == 0


def test_each_of_two_classes_that_differ_in_quasi_identifiers_keeps_its_promise() -> None:
    """Two people here and two there each rated 1 and 2: of four nothing would be forced."""
    ratings = table([{0: 1}, {0: 2}, {0: 1}, {0: 2}], STARS)
    towns = ["here", "here", "there", "there"]
    pair = KLikeness(k=2).anonymize(ratings.keep_users(np.array([0, 1])), rng=0).classes
    assert isinstance(pair, Cells)
    release = generalized_release(
        ratings.annotate(attributes=pa.table({"town": towns})),
        np.array([0, 0, 1, 1]),
        pair.keep_rows(np.array([0, 0])),
        Provenance(method="k-likeness", seed=0, config={"hierarchy": "ndgh"}),
        attributes="generalized",
        generalized=pa.table({"town": [[town] for town in towns]}),
        quasi_identifiers=["town"],
    )
    assert release.classes.sizes.tolist() == [2, 2]
    found = PredicateAttack().run(release, original=ratings, rng=0)
    assert found.classes == 1
    assert found.forced is not None
    assert (found.forced.cells, found.forced.each_once) == (2, 2)


def test_classes_are_drawn() -> None:
    rng = np.random.default_rng(0)
    rows_ = [{i: float(rng.integers(1, 6)) for i in range(4)} for _ in range(30)]
    ratings = table(rows_, STARS)
    release = KLikeness(k=2).anonymize(ratings, rng=0)
    every = PredicateAttack().run(release, original=ratings, rng=0).per_class
    some = [PredicateAttack(classes=5).run(release, original=ratings, rng=s) for s in (0, 0, 1)]
    assert some[0].classes_tested == 5
    assert np.array_equal(some[0].per_class.row, some[1].per_class.row)
    assert not np.array_equal(some[0].per_class.row, some[2].per_class.row)
    for field in ("item", "rating", "satisfying", "weight", "chance"):
        assert np.array_equal(
            getattr(some[0].per_class, field),
            getattr(every, field)[some[0].per_class.row],
            equal_nan=True,
        )
    with budget.limits(threads=1):
        again = PredicateAttack(classes=5).run(release, original=ratings, rng=0).to_dict()
    volatile = {"seconds", "postings_per_second"}
    told = some[0].to_dict()
    assert all(again[key] == told[key] for key in told.keys() - volatile)


def test_blind_predicates() -> None:
    assert blind(np.array([1 / 10]), 10) == pytest.approx(0.9**9)
    draws = np.random.default_rng(0).binomial(10, 0.1, 100_000) == 1
    assert blind(np.array([0.1]), 10)[0] == pytest.approx(draws.mean(), abs=0.01)


def test_what_is_refused() -> None:
    ratings, release = by_hand()
    with pytest.raises(ConfigError, match="from which no predicate"):
        PredicateAttack().run(
            averaged(ratings, np.array([0, 0, 1, 1]), "simple", step=0.5), original=ratings
        )
    with pytest.raises(ConfigError, match="not for single users"):
        PredicateAttack().run(release, original=ratings, targets=3)
    with pytest.raises(ConfigError, match="needs the original"):
        PredicateAttack().run(release)
    with pytest.raises(ConfigError, match="classes"):
        PredicateAttack(classes=0)
    with budget.limits(memory=1), pytest.raises(ConfigError, match="needed, 1 byte allowed"):
        PredicateAttack().run(release, original=ratings)
    nobody = ratings.keep_users(np.array([], dtype=np.int64))
    with pytest.raises(ConfigError, match="outsiders: empty"):
        PredicateAttack().run(release, original=ratings, outsiders=nobody)


def levels_by_hand(symbols: Symbols, promise: str) -> list[tuple[list[int], list[bool], list[int]]]:
    """Of each symbol the levels that it names, which are held, and those inside its range."""
    named = levels_of(symbols, promise).named
    return [
        (
            named.levels[start:stop].tolist(),
            named.held[start:stop].tolist(),
            list(range(int(named.first[s]), int(named.last[s]) + 1)),
        )
        for s, (start, stop) in enumerate(pairwise(named.offsets))
    ]


@pytest.mark.parametrize("promise", ["range", "ndgh", "members"])
def test_a_range_names_its_ends_and_no_rating_inside(promise: str) -> None:
    """By hand; the ratings that are named are -5, 0, 2 and 7, from level 1 on."""
    low, high = [-5.0, 0.0, 2.0, -12.0, -12.0], [7.0, 2.0, 2.0, 0.0, -12.0]
    symbols = Symbols.ranges(REAL, np.array(low), np.array(high))
    ends = promise != "members"
    assert levels_of(symbols, promise).ratings.tolist() == [-5, 0, 2, 7]
    assert levels_by_hand(symbols, promise) == [
        ([1, 4], [ends, ends], [2, 3]),
        ([2, 3], [ends, ends], []),
        ([3], [True], []),
        ([0, 2], [ends, ends], [1]),  # from null to 0
        ([0], [True], []),  # null alone
    ]


@pytest.mark.parametrize("promise", ["range", "ndgh", "members"])
def test_of_a_set_of_two_both_are_held(promise: str) -> None:
    sets, every = [[2.0], [], [4.0], [1.0, 5.0], [1.0, 3.0, 4.0]], promise == "ndgh"
    null = np.array([False, True, True, False, False])
    symbols = Symbols.sets(STARS, [np.array(each) for each in sets], null)
    ends = promise != "members"
    assert levels_by_hand(symbols, promise) == [
        ([2], [True], []),
        ([0], [True], []),
        ([0, 4], [True, True], []),
        ([1, 5], [True, True], []),
        ([1, 3, 4], [ends, every, ends], []),
    ]
