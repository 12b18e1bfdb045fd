"""Releases of halves that continue an earlier one, beside what continuing is by its definition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from starshade.anonymize.baselines import KMember, Mondrian, MondrianRelaxed
from starshade.anonymize.k_exchange import KExchange
from starshade.anonymize.k_likeness import KLikeness
from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.attack.shadows.halves import (
    Continued,
    Half,
    Halves,
    catalogue_of,
    in_half,
    on_catalogue,
    seed_of,
)
from starshade.errors import ConfigError
from starshade.ratings.select import listed_items
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.rng import stream_key
from tests.naive.again import released_again

K, SEED = 3, 5
RATINGS = synthesize(n_users=50, n_items=8, n_ratings=300, rng=2)
PROFILES = ("pooled", "model", "padded", "simple")
METHODS: list[Any] = [
    *(cls(K) for cls in (KExchange, KLikeness, KMember, Mondrian, MondrianRelaxed)),
    *(PredictiveAnonymizer(K, profile=profile, factors=1, sweeps=1) for profile in PROFILES),
]


def continued(method: Any, newcomers: int) -> Continued:
    """The last people are new."""
    return Continued(method, RATINGS.users.take(np.arange(RATINGS.n_users - newcomers)))


def halves(method: Any, n: int = 2) -> Iterator[Half]:
    return Halves(RATINGS, on_catalogue(method), SEED).made(range(n), spread=1.0)


def of_half(number: int) -> Ratings:
    chosen = in_half(RATINGS.users.fingerprints, SEED, number)
    return RATINGS.keep_users(np.flatnonzero(chosen))


def first_groups(method: Continued, number: int) -> dict[str, int]:
    """The classes of the earlier release of a half, made by hand."""
    there = of_half(number)
    known = set(method.earlier)
    own = there.keep_users(np.array([i for i, u in enumerate(there.users) if u in known]))
    seed = stream_key(seed_of(SEED, number), "earlier release") >> 1
    made = on_catalogue(method.method).anonymize(own, rng=seed)
    rows = made.class_of_record[made.private.link.record]
    return dict(zip(made.private.link.users, rows.tolist(), strict=True))


@pytest.mark.parametrize("newcomers", [0, 5])
@pytest.mark.parametrize("method", METHODS, ids=lambda each: getattr(each, "profile", each.name))
def test_a_half_is_released_twice_and_keeps_its_groups(method: Any, newcomers: int) -> None:
    """By the definition of a release that continues another; of five newcomers some halves have
    too few, who wait.
    """
    made = continued(method, newcomers)
    for half in halves(made):
        groups = first_groups(made, half.number)
        there = set(of_half(half.number).users)
        expected = released_again(groups, set(groups.values()), there, K, "dummies")
        assert not expected.invented
        assert groups.keys() == there & set(made.earlier)
        status = dict(zip(RATINGS.users, half.status.tolist(), strict=True))
        for user in RATINGS.users:
            released = 1 if user not in expected.withheld else -1
            assert status[user] == (released if user in there else 0)
        row = dict(zip(of_half(half.number).users, half.seen.view.row_of_user, strict=True))
        together = [pair for pair in combinations(groups, 2) if groups[pair[0]] == groups[pair[1]]]
        assert together
        assert all(row[one] == row[other] for one, other in together)


def test_some_halves_have_too_few_newcomers_and_some_enough() -> None:
    """What the test above rests on."""
    new = set(list(RATINGS.users)[-5:])
    counts = [len(new & set(of_half(number).users)) for number in range(2)]
    assert min(counts) < K <= max(counts)


def test_newcomers_form_groups_of_their_own() -> None:
    made = continued(KLikeness(K), 20)
    for half in halves(made):
        rows = half.seen.view.row_of_user
        known = made.earlier.indices(of_half(half.number).users) >= 0
        assert not set(rows[known].tolist()) & set(rows[~known].tolist())


def test_the_catalogue_is_that_of_the_method_without_its_list_of_items() -> None:
    """A continued release names the items of the one before, whatever chose them there."""
    of = RATINGS.items, RATINGS.item_support, RATINGS.n_users
    assert min(of[1]) < 2 * 19 <= max(of[1])
    method = KLikeness(19, items=listed_items(list(RATINGS.items)))
    assert len(catalogue_of(method, *of)) == RATINGS.n_items
    found = catalogue_of(Continued(method, RATINGS.users), *of)
    assert found.tolist() == catalogue_of(replace(method, items=None), *of).tolist()
    assert found.tolist() == np.flatnonzero(of[1] >= 38).tolist()


def test_items_that_the_earlier_release_drops_are_gone_in_the_next() -> None:
    few = RATINGS.keep_users(np.arange(20))
    items = listed_items(list(RATINGS.items))
    release = Continued(KLikeness(17, items=items), few.users).anonymize(RATINGS, rng=1)
    expected = [item for item, n in zip(few.items, few.item_support, strict=True) if n >= 17]
    assert 0 < len(expected) < len(few.items)
    assert list(release.classes.items) == expected


def test_nobody_of_the_earlier_release() -> None:
    with pytest.raises(ConfigError, match="none of these people is in the earlier release"):
        continued(KLikeness(K), RATINGS.n_users).anonymize(RATINGS, rng=1)


def test_the_name_of_a_method_tells_who_was_there_and_no_id() -> None:
    one, other = (
        Continued(KLikeness(K), users)
        for users in (RATINGS.users, RATINGS.users.take(np.arange(49)))
    )
    assert repr(one) != repr(other)
    assert repr(one) == repr(replace(one))
    assert repr(one).startswith("Continued(KLikeness(k=3")
