"""A release made again from its receipt, and what is asked of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from starshade.anonymize.k_likeness import KLikeness
from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.anonymize.registry import ENTRIES
from starshade.attack.knowledge import Knowledge
from starshade.attack.registry import ENTRIES as ATTACKS
from starshade.attack.shadows.inference_result import InferenceResult
from starshade.attack.shadows.linkability import Linked
from starshade.attack.shadows.membership_result import MembershipResult
from starshade.attack.shadows.predicates import SingledOut
from starshade.audit.shadows import measure_by_shadows, method_of
from starshade.errors import ConfigError
from starshade.ratings.select import listed_items, top_items
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.registry import Entry, find
from starshade.release.folder.read import read_release
from starshade.release.table import Release
from tests.contract.make import make

SHADOWS = [find(ATTACKS, name, "attack") for name in ("membership", "inference")]


def population() -> Ratings:
    return synthesize(n_users=60, n_items=8, n_ratings=360, rng=2)


def same(one: Release, other: Release) -> bool:
    digests = []
    for release in (one, other):
        cells = release.cells()
        digests.append([cells.indptr, cells.columns, cells.codes, cells.sizes])
    return one.manifest == other.manifest and all(map(np.array_equal, *digests))


def stored(release: Release, place: Path) -> Release:
    release.save(place / "out", private=place / "receipt")
    return read_release(place / "out", private=place / "receipt")


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
@pytest.mark.parametrize("items", [None, top_items(5), listed_items(["1", "3", "4"])])
def test_every_method_is_found_again(entry: Entry, items, tmp_path: Path) -> None:
    ratings, usual = population(), make(entry)
    nulls = {"nulls": "ignore", "eps": 2.0} if hasattr(usual, "nulls") else {}
    method = replace(usual, items=items, **nulls)
    release = method.anonymize(ratings, rng=3)
    for known in (release, stored(release, tmp_path)):
        again = method_of(known, ratings)
        assert type(again) is type(method)
        assert same(replace(again, items=items).anonymize(ratings, rng=3), release)
        assert again.anonymize(ratings, rng=3).classes.items == release.classes.items


def test_files_are_read_from_the_receipt(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("[null,2] [3,5]\n[null,5]\n")
    release = KLikeness(k=3, hierarchy=path).anonymize(population(), rng=1)
    path.unlink()
    again = method_of(stored(release, tmp_path), population())
    assert same(again.anonymize(population(), rng=1), release)


def test_the_most_rated_items_stay_the_same() -> None:
    ratings = population()
    method = method_of(KLikeness(k=2, items=top_items(3)).anonymize(ratings, rng=0), ratings)
    few = ratings.keep_users(np.arange(6))
    most = {ratings.items[int(i)] for i in ratings.most_rated(3)}
    assert set(replace(method, rare_items="keep").anonymize(few, rng=0).classes.items) == most


def test_without_a_receipt_nothing_is_measured(tmp_path: Path) -> None:
    ratings = population()
    release = KLikeness(k=3).anonymize(ratings, rng=1)
    release.save(tmp_path / "out")
    alone = read_release(tmp_path / "out")
    with pytest.raises(ConfigError, match="private key file, which was not given"):
        method_of(alone, ratings)
    found = measure_by_shadows(alone, ratings, seed=0)
    assert isinstance(found.membership, str)
    assert "private key file" in found.membership
    assert isinstance(found.singling_out, str)


def test_what_a_release_tells_because_of_who_is_in_it(tmp_path: Path) -> None:
    ratings = population()
    release = stored(KLikeness(k=3).anonymize(ratings, rng=1), tmp_path)
    found = measure_by_shadows(release, ratings, shadows=4, known=(2,), seed=5)
    assert isinstance(found.membership, MembershipResult)
    assert isinstance(found.inference[2], InferenceResult)
    assert isinstance(found.linkability[2], Linked)
    assert found.linkability[2].known == 1
    assert isinstance(found.singling_out, SingledOut)
    assert found.singling_out.releases == 5
    # the same as each attack by itself
    own: list[dict] = [{"known": (2,)}, {"known": 2}]
    results = (found.membership, found.inference[2])
    for entry, result, more in zip(SHADOWS, results, own, strict=True):
        attack = entry.load()(shadows=4, method=method_of(release, ratings), **more)
        alone = attack.run(
            release, Knowledge(known=2, dates=False), original=ratings, targets=1000, rng=5
        )
        volatile = {"seconds": 0.0}
        assert {**alone.to_dict(), **volatile} == {**result.to_dict(), **volatile}


def test_a_release_that_cannot_be_made_of_half_of_the_people() -> None:
    tries = {
        "k = 40, records = ": KLikeness(k=40, rare_items="keep"),
        "no item was rated by 80 people, twice the minimum of a half": KLikeness(k=40),
    }
    for reason, method in tries.items():
        ratings = population()
        found = measure_by_shadows(method.anonymize(ratings, rng=1), ratings, seed=0)
        assert isinstance(found.membership, str)
        assert f"cannot be made: {reason}" in found.membership
        assert isinstance(found.singling_out, str)


def test_who_is_in_it_is_told_where_nothing_else_can_be_asked() -> None:
    ratings = population()
    release = KLikeness(k=3).anonymize(ratings, rng=1)
    found = measure_by_shadows(release, ratings, shadows=1, known=(8,), seed=0)
    assert isinstance(found.membership, MembershipResult)
    assert isinstance(found.inference[8], str)
    assert "no person has more than 8 ratings" in found.inference[8]


def test_a_scale_without_steps_that_was_found_in_the_data() -> None:
    """The ends of a half lie elsewhere, and so does its step."""
    people = population()
    draw = np.random.default_rng(0)
    ratings = Ratings.from_arrays(
        np.repeat(np.arange(people.n_users), np.diff(people.indptr)),
        people.columns.astype(np.int64),
        draw.random(people.n_ratings),
    )
    assert ratings.report.scale_inferred
    release = PredictiveAnonymizer(k=3).anonymize(ratings, rng=1)
    found = measure_by_shadows(release, ratings, shadows=2, known=(2,), seed=0)
    assert isinstance(found.membership, MembershipResult)


def test_twenty_people_and_a_person_with_one_rating() -> None:
    ratings = population().keep_users(np.arange(20))
    one = ratings.keep_items(np.arange(1))
    for few in (ratings, one):
        release = KLikeness(k=2).anonymize(few, rng=1)
        found = measure_by_shadows(release, few, known=(2,), seed=0)
        assert isinstance(found.membership, MembershipResult)
        alarm = found.membership.everything.at(0.01)
        assert alarm is not None
        assert alarm.rough
        assert isinstance(found.inference[2], str)
        assert (
            "30 are needed" in found.inference[2]
            or "no person has more than 2 ratings" in found.inference[2]
        )


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_every_method_is_asked(entry: Entry) -> None:
    ratings, usual = population(), make(entry)
    loose = {"nulls": "ignore", "eps": 2.0} if hasattr(usual, "nulls") else {}
    release = replace(usual, **loose).anonymize(ratings, rng=3)
    found = measure_by_shadows(release, ratings, shadows=2, known=(2,), seed=0)
    assert isinstance(found.membership, MembershipResult)
    assert isinstance(found.inference[2], InferenceResult)
    assert found.membership.auc is not None
    assert found.membership.records == release.n_records
    assert isinstance(found.singling_out, SingledOut)


def test_a_receipt_that_does_not_say_enough() -> None:
    ratings = population()
    release = KLikeness(k=3).anonymize(ratings, rng=1)
    assert release.private is not None
    config = {"method": "k-likeness", "items": "top:many"}
    broken = replace(release, private=replace(release.private, config=config))
    with pytest.raises(ConfigError, match="lacks settings of the method k-likeness"):
        method_of(broken, ratings)
