"""Predicates of releases of halves, beside their definition."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.anonymize.baselines import KMember
from starshade.anonymize.k_likeness import KLikeness
from starshade.attack.knowledge import Knowledge
from starshade.attack.predicate.predicate import PredicateAttack, promise_of
from starshade.attack.shadows import predicates
from starshade.attack.shadows.halves import Method, in_half, on_catalogue, seed_of
from starshade.attack.shadows.linkability import LinkabilityAttack
from starshade.attack.shadows.play import play
from starshade.attack.shadows.predicates import PredicatesAttack, SingledOut
from starshade.attack.targets import Request
from starshade.errors import ConfigError, StarshadeError
from starshade.ratings.holdout import sample_numbers
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.stats import wilson
from tests.naive import predicate as naive
from tests.strategies import at_least, ratings_tables

METHODS: dict[str, Method] = {
    "k-likeness": KLikeness(k=2, rare_items="keep"),
    "ranges": KMember(k=2, rare_items="keep"),
}
KNOWS = Knowledge(known=1, dates=False)


def singled_out(ratings: Ratings, method: Method, shadows: int, seed: int = 3) -> SingledOut:
    release = method.anonymize(ratings, rng=0)
    attack = PredicatesAttack(promise_of(release), shadows=shadows, method=method)
    (found,) = play([attack], release, KNOWS, Request(ratings, None, seed, None))
    if isinstance(found, ConfigError):
        raise found
    assert isinstance(found, SingledOut)
    return found


def rows_of(ratings: Ratings, items: tuple[str, ...]) -> list[tuple]:
    rows = [dict.fromkeys(items) for _ in range(ratings.n_users)]
    user = np.repeat(np.arange(ratings.n_users), ratings.user_support)
    for u, i, rating in zip(user, ratings.columns, ratings.values(), strict=True):
        if (item := ratings.items[int(i)]) in items:
            rows[u][item] = float(rating)
    return [tuple(row.values()) for row in rows]


def by_definition(ratings: Ratings, method: Method, shadows: int, seed: int) -> list[tuple]:
    """Of each release that has predicates: the shares that one member, and one outsider, meets."""
    people = ratings.drop_empty_users()
    out = []
    for number in range(shadows + 1):
        inside = in_half(people.users.fingerprints, seed, number)
        half = people.keep_users(np.flatnonzero(inside))
        release = on_catalogue(method).anonymize(half, rng=seed_of(seed, number))
        tried = PredicateAttack().run(release, original=half).per_class
        items = tuple(release.classes.items)
        with_record = {str(user) for user in half.users}
        numbers = sample_numbers(people, np.arange(people.n_users), seed)
        others = sorted(np.flatnonzero(~inside), key=lambda user: numbers[user])
        beside = people.keep_users(np.sort(others[: len(with_record)]))
        if not beside.n_users:
            continue
        members, outsiders = rows_of(half, items), rows_of(beside, items)
        classes = [cells for cells, _ in naive.classes_of(release.cells())]
        met = []
        for c, item, rating in zip(tried.row, tried.item, tried.rating, strict=True):
            said = classes[c], int(item), None if math.isnan(rating) else float(rating)
            met.append(
                [
                    sum(naive.satisfies(row, *said) for row in each) == 1
                    for each in (members, outsiders)
                ]
            )
        out.append(tuple(np.mean(met, axis=0)))
    return out


@at_least(40)
@given(
    ratings_tables(min_users=11, max_users=16, max_items=4, with_days=False),
    st.sampled_from(sorted(METHODS)),
    st.integers(0, 3),
)
def test_releases_are_weighed_by_the_definition(ratings: Ratings, name: str, seed: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(predicates, "FEWEST", 1)
        try:
            found = singled_out(ratings, METHODS[name], 2, seed)
        except StarshadeError:
            return  # so few people: nothing can be made of them
    if ratings.scale.step is None:
        return  # the definition is written for values that can be listed
    shares = by_definition(ratings, METHODS[name], 2, seed)
    assert found.releases == len(shares)
    assert found.isolates == pytest.approx(np.mean([r for r, _ in shares]))
    assert found.outsiders == pytest.approx(np.mean([b for _, b in shares]))
    excess = [(r - b) / (1 - b) for r, b in shares if b < 1]
    assert found.excess.rate == pytest.approx(np.mean(excess))


def test_the_same_for_a_seed_and_an_interval() -> None:
    ratings = synthesize(n_users=90, n_items=8, n_ratings=540, rng=4)
    found = singled_out(ratings, KLikeness(k=3), 2)
    assert found == singled_out(ratings, KLikeness(k=3), 2)
    assert found.excess.low <= found.excess.rate <= found.excess.high <= 1
    assert found.excess.rate > 0


def test_few_conditions_are_not_measured() -> None:
    none, all_of_them = np.zeros(3), np.ones(3)
    with pytest.raises(ConfigError, match="29 predicates in 3 shadow releases; 30 are needed"):
        predicates.excess_of(none, none, 29, 1)
    with pytest.raises(ConfigError, match="satisfy all predicates"):
        predicates.excess_of(none, all_of_them, 90, 1)
    found = predicates.excess_of(none, none, 90, 1)
    assert (found.low, found.rate, found.high) == (-wilson(0, 90).high, 0.0, wilson(0, 90).high)
    found = predicates.excess_of(np.array([0.5, 0.5, 1.0]), np.array([0.0, 0.0, 1.0]), 90, 1)
    assert found.rate == 0.5


def test_one_that_cannot_be_asked_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    ratings, method = synthesize(n_users=60, n_items=6, n_ratings=240, rng=0), KLikeness(k=3)
    release = method.anonymize(ratings, rng=0)
    monkeypatch.setattr("starshade.attack.predicate.predicate._BYTES", 10**15)
    attacks = [
        PredicatesAttack("ndgh", shadows=1, method=method),
        LinkabilityAttack(known=1, shadows=1, method=method),
    ]
    predicates, linked = play(attacks, release, KNOWS, Request(ratings, None, 0, None))
    assert isinstance(predicates, ConfigError)
    assert predicates.message.startswith("predicate: ")
    assert "TB needed, " in predicates.message
    assert not isinstance(linked, ConfigError)
