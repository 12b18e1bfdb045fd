"""Halves of somebody's facts beside their definition."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.anonymize.k_likeness import KLikeness
from starshade.attack.knowledge import Knowledge
from starshade.attack.shadows.halves import Halves, HalvesAttack, halved, joined
from starshade.attack.shadows.play import play
from starshade.attack.targets import Request
from starshade.errors import ConfigError, StarshadeError
from starshade.ratings.scale import Scale
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.rng import stream_key
from tests.naive import halves as naive
from tests.strategies import at_least, ratings_tables, table
from tests.unit.attack.test_membership import facts_of, methods, pair_of, told_of

tables = ratings_tables(min_users=6, max_users=12, with_days=False)


@at_least(60)
@given(tables, methods, st.sampled_from([1, 2]))
def test_who_is_joined_is_told_by_the_definition(ratings: Ratings, name: str, known: int) -> None:
    try:
        release, _, shadow, _ = pair_of(name, ratings)
    except StarshadeError:
        return  # so few people: nothing can be made of them
    told = told_of(ratings, Knowledge())
    facts = told.of(np.flatnonzero(told.enough(2 * known)), 2 * known)
    if not len(facts):
        return
    one, other = halved(told, facts.users, known)
    found = joined(release, one, other)
    for person in range(len(facts)):
        sides = (facts_of(ratings, half, person) for half in (one, other))
        assert found[person] == pytest.approx(naive.joined(shadow, *sides), abs=1e-9)


@at_least(60)
@given(tables, st.sampled_from([1, 2, 3]), st.integers(0, 9))
def test_facts_are_halved_by_the_definition(ratings: Ratings, known: int, seed: int) -> None:
    told = replace(told_of(ratings, Knowledge()), seed=seed)
    facts = told.of(np.flatnonzero(told.enough(2 * known)), 2 * known)
    if not len(facts):
        return
    halves, prints = halved(told, facts.users, known), ratings.items.fingerprints.tolist()
    for person, user in enumerate(facts.users):
        every = facts_of(ratings, facts, person)
        parts = [facts_of(ratings, half, person) for half in halves]
        assert sorted([*parts[0], *parts[1]]) == sorted(every)
        assert [len(part) for part in parts] == [known, known]
        items = facts.items[facts.indptr[person] : facts.indptr[person + 1]].tolist()
        key = stream_key(seed, "halves")
        owner = int(ratings.users.fingerprints[user])
        split = naive.halves(owner, items, prints, key)
        for half, expected in zip(halves, split, strict=True):
            assert set(half.items[half.indptr[person] : half.indptr[person + 1]]) == expected
        # who else is asked about does not matter
        alone = halved(told, facts.users[person : person + 1], known)
        assert [facts_of(ratings, half, 0) for half in alone] == parts


def test_by_hand() -> None:
    """Two rows: one fact says which, one fits both."""
    ratings = table([{0: 1.0, 1: 3.0}, {0: 5.0, 1: 3.0}, {}, {}], Scale(1, 5, 1), n_items=2)
    seen = pair_of("ratings", ratings)[1]
    told = told_of(ratings, Knowledge())
    both = told.of(np.array([0]), 2)
    says = np.array([False, True])[both.items]
    halves = [
        replace(both, indptr=np.array([0, 1]), items=both.items[mask], ratings=both.ratings[mask])
        for mask in (~says, says)
    ]
    assert joined(seen, halves[0], halves[0]).tolist() == [1.0]
    assert joined(seen, *halves).tolist() == [0.5]
    assert joined(seen, halves[1], halves[1]).tolist() == [0.5]


def found_of(ratings: Ratings, known: int, targets: int | None = None) -> Halves:
    method = KLikeness(k=3)
    release = method.anonymize(ratings, rng=0)
    attack = HalvesAttack(known=known, rounds=2, method=method)
    request = Request(ratings, targets, 1, None)
    (found,) = play([attack], release, Knowledge(known=2 * known, dates=False), request)
    if isinstance(found, ConfigError):
        raise found
    assert isinstance(found, Halves)
    return found


def test_members_stand_beside_outsiders() -> None:
    ratings = synthesize(n_users=120, n_items=12, n_ratings=840, rng=4)
    found = found_of(ratings, 2)
    assert found.known == 2
    for side in (found.members, found.outsiders):
        assert 0 <= side.low <= side.rate <= side.high <= 1
    assert found.members.rate > found.outsiders.rate
    assert found == found_of(ratings, 2)


def test_nobody_has_so_many() -> None:
    ratings = table([{0: 1.0 + u % 5, 1: 3.0} for u in range(40)], Scale(1, 5, 1), n_items=2)
    with pytest.raises(ConfigError, match="20 known"):
        found_of(ratings, 10)
