"""Two sets of facts of one person, beside the definition."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.anonymize.k_likeness import KLikeness
from starshade.attack.knowledge import Knowledge
from starshade.attack.shadows import linkability
from starshade.attack.shadows.linkability import (
    Linkability,
    LinkabilityAttack,
    Linked,
    joined,
    parted,
)
from starshade.attack.shadows.play import Asked, play
from starshade.attack.targets import Request
from starshade.errors import ConfigError, StarshadeError
from starshade.ratings.scale import Scale
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.rng import stream_key
from starshade.stats import wilson
from tests.naive import linkability as naive
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
    one, other = parted(told, facts.users, known)
    found = joined(release, one, other)
    for person in range(len(facts)):
        sides = (facts_of(ratings, half, person) for half in (one, other))
        assert found[person] == pytest.approx(naive.joined(shadow, *sides), abs=1e-9)


@at_least(60)
@given(tables, st.sampled_from([1, 2, 3]), st.integers(0, 9))
def test_facts_are_parted_by_the_definition(ratings: Ratings, known: int, seed: int) -> None:
    told = replace(told_of(ratings, Knowledge()), seed=seed)
    facts = told.of(np.flatnonzero(told.enough(2 * known)), 2 * known)
    if not len(facts):
        return
    halves, prints = parted(told, facts.users, known), ratings.items.fingerprints.tolist()
    for person, user in enumerate(facts.users):
        every = facts_of(ratings, facts, person)
        parts = [facts_of(ratings, half, person) for half in halves]
        assert sorted([*parts[0], *parts[1]]) == sorted(every)
        assert [len(part) for part in parts] == [known, known]
        items = facts.items[facts.indptr[person] : facts.indptr[person + 1]].tolist()
        key = stream_key(seed, "two sets of facts")
        owner = int(ratings.users.fingerprints[user])
        split = naive.parted(owner, items, prints, key)
        for half, expected in zip(halves, split, strict=True):
            assert set(half.items[half.indptr[person] : half.indptr[person + 1]]) == expected
        # who else is asked about does not matter
        alone = parted(told, facts.users[person : person + 1], known)
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


@at_least(60)
@given(
    st.lists(
        st.lists(
            st.tuples(st.sampled_from([1, 0, -1]), st.sampled_from([0.0, 0.25, 0.5])),
            min_size=4,
            max_size=4,
        ),
        min_size=2,
        max_size=5,
    )
)
def test_the_excess_is_that_of_the_definition(entries: list[list[tuple[int, float]]]) -> None:
    status, credit = ([[each[i] for each in row] for row in entries] for i in (0, 1))
    ratings = table([{0: 1.0, 1: 2.0}] * 4, Scale(1, 5, 1))
    game = Linkability(Asked(told_of(ratings, Knowledge()), np.arange(4), len(status) - 1, 4), 1)
    answers = [
        {"status": np.array(s), "credit": np.array(c)} for s, c in zip(status, credit, strict=True)
    ]
    if not {1, 0} <= {s for row in status for s in row}:
        with pytest.raises(ConfigError, match="too few people"):
            game.found(answers, {"seed": 1})
        return
    with pytest.raises(ConfigError, match=r"^4 people have \d ratings that can be known; 30 are"):
        game.found(answers, {"seed": 1})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linkability, "FEWEST", 1)
        found = game.found(answers, {"seed": 1})
    expected = naive.excess(status, credit)
    assert (found.members.rate, found.outsiders.rate) == pytest.approx(expected[:2])
    assert found.excess.rate == pytest.approx(expected[2])
    assert found.excess.low <= found.excess.rate <= found.excess.high


def found_of(ratings: Ratings, known: int, targets: int | None = None) -> Linked:
    method = KLikeness(k=3)
    release = method.anonymize(ratings, rng=0)
    attack = LinkabilityAttack(known=known, shadows=4, method=method)
    request = Request(ratings, targets, 1, None)
    (found,) = play([attack], release, Knowledge(known=2 * known, dates=False), request)
    if isinstance(found, ConfigError):
        raise found
    assert isinstance(found, Linked)
    return found


def test_nothing_beyond_outsiders_has_an_interval() -> None:
    ratings = table([{0: 1.0, 1: 2.0}] * 40, Scale(1, 5, 1))
    game = Linkability(Asked(told_of(ratings, Knowledge()), np.arange(40), 1, 40), 1)
    status = np.tile(np.arange(40) % 2, (2, 1))
    answers = [{"status": each, "credit": np.zeros(40)} for each in status]
    found = game.found(answers, {"seed": 1})
    assert found.excess.rate == 0
    unseen = wilson(0, 40).high
    assert (found.excess.low, found.excess.high) == (-unseen, unseen)


def test_members_stand_beside_outsiders() -> None:
    ratings = synthesize(n_users=120, n_items=12, n_ratings=840, rng=4)
    found = found_of(ratings, 2)
    assert found.known == 2
    for side in (found.members, found.outsiders):
        assert 0 <= side.low <= side.rate <= side.high <= 1
    assert found.excess.low > 0
    assert found == found_of(ratings, 2)


def test_nobody_has_so_many() -> None:
    ratings = table([{0: 1.0 + u % 5, 1: 3.0} for u in range(40)], Scale(1, 5, 1), n_items=2)
    with pytest.raises(ConfigError, match="20 ratings"):
        found_of(ratings, 10)
