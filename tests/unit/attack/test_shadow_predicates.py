"""Predicates weighed by who was left out, beside their definition."""

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
from starshade.attack.shadows.halves import HalvesAttack
from starshade.attack.shadows.play import play
from starshade.attack.shadows.predicates import PredicatesAttack, Weighed
from starshade.attack.shadows.shadows import Method, Shadows
from starshade.attack.targets import Request
from starshade.errors import ConfigError, StarshadeError
from starshade.ratings.scale import Scale
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.rng import stream_key
from tests.naive import predicate as naive
from tests.strategies import at_least, ratings_tables, table

METHODS: dict[str, Method] = {
    "k-likeness": KLikeness(k=2, rare_items="keep"),
    "ranges": KMember(k=2, rare_items="keep"),
}
KNOWS = Knowledge(known=1, dates=False)


def weighed(ratings: Ratings, method: Method, rounds: int, seed: int = 3) -> Weighed:
    release = method.anonymize(ratings, rng=0)
    attack = PredicatesAttack(promise_of(release), rounds, method)
    (found,) = play([attack], release, KNOWS, Request(ratings, None, seed, None))
    if isinstance(found, ConfigError):
        raise found
    assert isinstance(found, Weighed)
    return found


def rows_of(ratings: Ratings, items: tuple[str, ...]) -> list[tuple]:
    rows = [dict.fromkeys(items) for _ in range(ratings.n_users)]
    user = np.repeat(np.arange(ratings.n_users), ratings.user_support)
    for u, i, rating in zip(user, ratings.columns, ratings.values(), strict=True):
        if (item := ratings.items[int(i)]) in items:
            rows[u][item] = float(rating)
    return [tuple(row.values()) for row in rows]


def by_definition(ratings: Ratings, method: Method, rounds: int, seed: int) -> tuple:
    people = np.flatnonzero(ratings.user_support)
    fold = Shadows(ratings, people, method, seed).fold
    isolates, blind, left_out = [], [], 0
    for number in range(rounds):
        whole = ratings.keep_users(np.flatnonzero(fold != number))
        out = ratings.keep_users(np.flatnonzero(fold == number))
        release = method.anonymize(whole, rng=stream_key(seed, f"shadow releases {number}") >> 1)
        tried = PredicateAttack().run(release, original=whole).per_class
        items = tuple(release.classes.items)
        inside, outside = rows_of(whole, items), rows_of(out, items)
        classes = [cells for cells, _ in naive.classes_of(release.cells())]
        for c, item, rating in zip(tried.row, tried.item, tried.rating, strict=True):
            said = classes[c], int(item), None if math.isnan(rating) else float(rating)
            isolates.append(sum(naive.satisfies(row, *said) for row in inside) == 1)
            blind.append(naive.blind_beside(inside, outside, *said))
        left_out += out.n_users
    return np.mean(isolates), np.mean(blind), len(blind), left_out


@at_least(40)
@given(
    ratings_tables(min_users=11, max_users=16, max_items=4, with_days=False),
    st.sampled_from(sorted(METHODS)),
    st.integers(0, 3),
)
def test_rounds_are_weighed_by_the_definition(ratings: Ratings, name: str, seed: int) -> None:
    try:
        found = weighed(ratings, METHODS[name], 2, seed)
    except StarshadeError:
        return  # so few people: nothing can be made of them
    if ratings.scale.step is None:
        return  # the definition is written for values that can be listed
    isolates, blind, predicates, left_out = by_definition(ratings, METHODS[name], 2, seed)
    assert found.isolates.rate == pytest.approx(isolates)
    assert found.blind == pytest.approx(blind, abs=1e-9)
    assert (found.rounds, found.predicates, found.outsiders) == (2, predicates, left_out)


def test_who_is_left_out_makes_conditions_heavier() -> None:
    """Ratings of two items always agree: together they are less rare than independent items."""
    alike = table([{0: 1.0 + u % 5, 1: 1.0 + u % 5} for u in range(60)], Scale(1, 5, 1))
    method = KLikeness(k=2)
    found = weighed(alike, method, 3)
    alone = PredicateAttack().run(method.anonymize(alike, rng=0), original=alike, rng=0)
    assert found.outsiders == 18
    assert found.blind < alone.blind  # a fifth of all meet each: nearly never exactly one


def test_the_same_bytes_for_a_seed_and_an_interval() -> None:
    ratings = synthesize(n_users=90, n_items=8, n_ratings=540, rng=4)
    found = weighed(ratings, KLikeness(k=3), 2)
    assert found == weighed(ratings, KLikeness(k=3), 2)
    assert 0 <= found.isolates.low <= found.isolates.rate <= found.isolates.high <= 1


def test_one_that_cannot_be_asked_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    ratings, method = synthesize(n_users=60, n_items=6, n_ratings=240, rng=0), KLikeness(k=3)
    release = method.anonymize(ratings, rng=0)
    monkeypatch.setattr("starshade.attack.predicate.predicate._BYTES", 10**15)
    attacks = [PredicatesAttack("ndgh", 1, method), HalvesAttack(known=1, rounds=1, method=method)]
    predicates, halves = play(attacks, release, KNOWS, Request(ratings, None, 0, None))
    assert isinstance(predicates, ConfigError)
    assert "may be used" in predicates.message
    assert not isinstance(halves, ConfigError)
