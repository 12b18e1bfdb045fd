"""The private key file says of what a release was made; shadow releases are made of the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from starshade.anonymize.k_likeness import KLikeness
from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.anonymize.sharded.anonymize import anonymized_shards
from starshade.attack.knowledge import Knowledge
from starshade.attack.shadows.halves import Continued
from starshade.attack.shadows.inference_result import InferenceResult
from starshade.attack.shadows.linkability import Linked
from starshade.attack.shadows.membership import MembershipAttack
from starshade.attack.shadows.membership_result import MembershipResult
from starshade.attack.shadows.predicates import SingledOut
from starshade.attack.sharded.attack import attack_shards
from starshade.audit.original.table import OneTable
from starshade.audit.shadows import made_again_whole, measure_by_shadows, method_of
from starshade.audit.verdict import Audit
from starshade.errors import ConfigError, ReleaseError
from starshade.ratings.read import read_ratings
from starshade.ratings.shards.shards import Shards, open_shards
from starshade.ratings.shards.write import write_shards
from starshade.ratings.synth.synth import synthesize
from starshade.release.folder.forget import forget
from starshade.release.folder.read import read_release
from starshade.release.match.match import LinkedShards
from starshade.release.table import Release
from tests.unit.release.damage import signed

RATINGS = synthesize(n_users=60, n_items=12, n_ratings=500, rng=3)
METHOD = PredictiveAnonymizer(k=4, factors=1, sweeps=1)


@pytest.fixture
def store(tmp_path: Path) -> Callable[[int], Shards]:
    """The same ratings as so many partitions."""

    def of(n: int) -> Shards:
        path = tmp_path / f"store-{n}"
        if not path.exists():
            write_shards(RATINGS, path, n)
        return open_shards(path)

    return of


@pytest.fixture
def made(tmp_path: Path, store: Callable[[int], Shards]) -> Callable[[Any], Release]:
    """A release of one table (None) or of so many partitions, read with its key file."""

    def of(n: int | None) -> Release:
        folder, key = tmp_path / f"release-{n}", tmp_path / f"key-{n}.json"
        if not folder.exists():
            if n is None:
                METHOD.anonymize(RATINGS, rng=1).save(folder, private=key)
            else:
                with anonymized_shards(METHOD, store(n), rng=1) as release:
                    release.save(folder, private=key)
        return read_release(folder, private=key)

    return of


def say_partitions(path: Path, ends: list[Any] | None) -> None:
    """Change what a key file says of partitions; None: nothing, as one of an earlier version."""
    facts = json.loads(path.read_text()) | {"partitions": ends}
    if ends is None:
        del facts["partitions"]
    path.write_text(signed(facts))


def test_the_key_file_records_how_a_release_was_made(made: Any, store: Any) -> None:
    assert made(None).private.partitions == (60,)
    shards = store(3)
    ends = tuple(accumulate(shards.shard(number).n_users for number in range(3)))
    assert len(ends) == 3
    assert made(3).private.partitions == ends
    assert made(1).private.partitions == (60,)


def test_people_who_were_left_out_are_not_counted(tmp_path: Path) -> None:
    """The ends are places among the users of the key file, whoever else the store has."""
    rows = [(f"u{u:02}", item, 1 + u % 5) for u in range(30) for item in "abc"]
    rows = [row for row in rows if row[0] not in ("u03", "u04", "u20")]
    rows += [("u03", "x", 1), ("u04", "y", 2), ("u20", "z", 3)]  # items that are rare
    write_shards(read_ratings(rows), tmp_path / "s", 2)
    first = open_shards(tmp_path / "s").shard(0).n_users
    with anonymized_shards(METHOD, open_shards(tmp_path / "s"), rng=1) as release:
        release.save(tmp_path / "out", private=tmp_path / "key.json")
    facts = json.loads((tmp_path / "key.json").read_text())
    assert len(facts["users"]) == 27
    assert facts["partitions"] == [first - 2, 27]


@pytest.mark.parametrize(
    ("of", "on", "reason"),
    [
        (None, None, ""),
        (None, 1, ""),  # one partition is one table, byte for byte
        (1, None, ""),
        (3, 3, ""),
        (None, 3, "was made of one table; shadow releases of 3 partitions"),
        (3, None, "was made of 3 partitions; shadow releases of one table are"),
        (3, 1, "was made of 3 partitions; shadow releases of one table are"),
        (3, 2, "was made of 3 partitions; shadow releases of 2 partitions are"),
    ],
)
def test_shadow_releases_are_made_of_the_same(
    made: Any, store: Any, of: int | None, on: int | None, reason: str
) -> None:
    original = RATINGS if on is None else store(on)
    found = measure_by_shadows(made(of), original, shadows=3, known=(2,), seed=1)
    if not reason:
        assert isinstance(found.membership, MembershipResult)
        assert isinstance(found.inference[2], InferenceResult)
        return
    assert isinstance(found.membership, str)
    assert reason in found.membership
    assert str(found.advice).startswith(("Audit the ", "Make the release"))
    assert isinstance(found.singling_out, str)


@pytest.mark.parametrize(("of", "by_shard"), [(None, False), (1, False), (3, True)])
def test_one_table_of_a_store_has_its_shadow_releases(
    made: Any, store: Any, of: int | None, by_shard: bool
) -> None:
    """As a report reads it: they are made of the store where the release was."""
    table, shards = read_ratings(store(3).path), store(of or 3)
    assert OneTable(table, made(of)).source is table
    assert OneTable(table, made(of), store=shards).source is (shards if by_shard else table)


def test_another_cut_into_as_many_partitions(made: Any, store: Any) -> None:
    release = made(3)
    assert release.private.partitions != (1, 2, 60)
    elsewhere = replace(release, private=replace(release.private, partitions=(1, 2, 60)))
    found = measure_by_shadows(elsewhere, store(3), shadows=3, known=(2,), seed=1)
    assert "3 partitions, cut elsewhere, are not comparable" in str(found.membership)


def test_an_older_key_file_still_loads_and_nothing_is_measured(made: Any, tmp_path: Path) -> None:
    made(None)
    folder, key = tmp_path / "release-None", tmp_path / "key-None.json"
    say_partitions(key, None)
    assert read_release(folder, private=key).private.partitions is None
    found = Audit(targets=10, shadows=1).run(RATINGS, folder, private=key, rng=1)
    measured = {each.name: each for each in found.checks}
    for name in ("membership", "inference", "linkability"):
        assert measured[name].status == "not measured"
        assert (
            "private key file, written by an earlier version, does not state" in measured[name].text
        )
    assert measured["re-identification"].rate is not None  # the rest is as it was


@pytest.mark.parametrize("ends", [[], [59], [61], [-1, 60], [40, 20, 60], [True, 60], ["60"]])
def test_ends_that_do_not_belong_to_the_users_are_damage(
    made: Any, tmp_path: Path, ends: list[Any]
) -> None:
    made(None)
    say_partitions(tmp_path / "key-None.json", ends)
    with pytest.raises(ReleaseError, match="the partitions do not fit"):
        read_release(tmp_path / "release-None", private=tmp_path / "key-None.json")


def test_erased_people_are_taken_out_of_the_partitions(made: Any, tmp_path: Path) -> None:
    first, second, _ = made(3).private.partitions
    users = list(made(3).private.link.users)
    gone = [users[0], users[first - 1], users[first], users[-1]]
    forget(gone, [tmp_path / "key-3.json"])
    assert made(3).private.partitions == (first - 2, second - 3, 56)


def test_the_attacks_themselves_refuse_another_making(made: Any, store: Any) -> None:
    attack = MembershipAttack(shadows=1, method=METHOD)
    with pytest.raises(ConfigError, match="was made of 3 partitions"):
        attack.run(made(3), Knowledge(known=2, dates=False), original=RATINGS, rng=1)
    linked = LinkedShards(store(3), made(None))
    with pytest.raises(ConfigError, match="was made of one table"):
        attack_shards(attack, linked, Knowledge(known=2, dates=False), rng=1)


def test_a_method_that_takes_one_table_is_measured_on_any_store(tmp_path: Path, store: Any) -> None:
    """It is given the store as one table, when the release is made and when it is audited."""
    whole = read_ratings(store(3).path)
    KLikeness(k=4).anonymize(whole, rng=1).save(tmp_path / "out", private=tmp_path / "key.json")
    release = read_release(tmp_path / "out", private=tmp_path / "key.json")
    assert release.private is not None
    assert release.private.partitions == (60,)
    found = measure_by_shadows(release, whole, shadows=3, known=(2,), seed=1)
    assert isinstance(found.membership, MembershipResult)


def test_where_making_takes_one_table_the_advice_is_to_audit_that(
    tmp_path: Path, store: Any
) -> None:
    method = replace(METHOD, profile="simple", min_raters=2)
    method.anonymize(RATINGS, rng=1).save(tmp_path / "out", private=tmp_path / "key.json")
    release = read_release(tmp_path / "out", private=tmp_path / "key.json")
    found = measure_by_shadows(release, store(1), shadows=3, known=(2,), seed=1)
    assert found.advice == "Audit the file from which the store was made."
    assert "min_raters 2: not supported for partitioned stores" in str(found.singling_out)
    found = measure_by_shadows(release, RATINGS, shadows=4, known=(2,), seed=1)
    assert isinstance(found.singling_out, SingledOut)


def nights(folder: Path, method: Any, *people: range) -> Release:
    """Release people, continue with others and so on; returns the last release as it was saved."""
    release = None
    for night, there in enumerate(people):
        part = RATINGS.keep_users(np.array(there))
        place = folder / f"night-{night}", folder / f"night-{night}.json"
        method.anonymize(part, rng=night, after=release).save(place[0], private=place[1])
        release = read_release(place[0], private=place[1])
    assert release is not None
    return release


@pytest.mark.parametrize("method", [KLikeness(k=3), METHOD], ids=lambda each: each.name)
@pytest.mark.parametrize("newcomers", [0, 1, 15])
def test_a_release_that_continues_an_earlier_one_is_measured(
    method: Any, newcomers: int, tmp_path: Path
) -> None:
    """Also with newcomers so few that they wait, and with the same people as before."""
    release = nights(tmp_path, method, range(60 - newcomers), range(60))
    found = measure_by_shadows(release, RATINGS, shadows=4, known=(2,), seed=1)
    assert isinstance(found.membership, MembershipResult)
    assert isinstance(found.inference[2], InferenceResult)
    assert isinstance(found.linkability[2], Linked)
    assert isinstance(found.singling_out, SingledOut)


def test_all_checks_of_a_release_that_continues_another_are_measured(tmp_path: Path) -> None:
    ratings = synthesize(n_users=150, n_items=25, n_ratings=3000, rng=4)
    method = replace(METHOD, k=5)
    before, folder, key = tmp_path / "before", tmp_path / "release", tmp_path / "key"
    first = method.anonymize(ratings.keep_users(np.arange(140)), rng=1)
    first.save(before, private=tmp_path / "first")
    last = read_release(before, private=tmp_path / "first")
    method.anonymize(ratings, rng=2, after=last).save(folder, private=key)
    earlier = {"earlier": [before], "earlier_private": [tmp_path / "first"]}
    found = Audit(targets=150).run(ratings, folder, private=key, rng=1, **earlier)
    rates = {each.name: each.rate for each in found.checks}
    for name in ("singling-out", "linkability", "membership", "inference"):
        assert rates[name] is not None
    assert {each.status for each in found.checks} == {"pass", "no threshold"}
    assert found.verdict == "PASS"


def test_who_was_in_an_earlier_release(tmp_path: Path) -> None:
    """Of three nights: those of the first two, also who has left or waits in vain."""
    users = RATINGS.users
    release = nights(tmp_path, KLikeness(k=3), range(40), range(2, 50), range(4, 60))
    method = method_of(release, RATINGS)
    assert isinstance(method, Continued)
    assert method.earlier == users.take(np.arange(50))
    forget([users[45], users[0]], [tmp_path / "night-2.json"])
    again = method_of(
        read_release(tmp_path / "night-2", private=tmp_path / "night-2.json"), RATINGS
    )
    assert isinstance(again, Continued)
    assert set(again.earlier) == set(method.earlier) - {users[45], users[0]}


def test_a_key_file_that_does_not_say_who_was_in_the_earlier_release(tmp_path: Path) -> None:
    nights(tmp_path, KLikeness(k=3), range(50), range(60))
    key = tmp_path / "night-1.json"
    facts = json.loads(key.read_text())
    assert facts["chain"].pop("earlier") > 0
    key.write_text(signed(facts))
    release = read_release(tmp_path / "night-1", private=key)
    found = measure_by_shadows(release, RATINGS, shadows=1, known=(2,), seed=1)
    assert isinstance(found.membership, str)
    assert "from an older version, does not list the people of that one" in found.membership
    assert isinstance(found.singling_out, str)
    assert "next release" in str(found.advice)


def test_a_store_of_a_release_that_continues_another_is_read_as_one_table(
    tmp_path: Path, store: Any
) -> None:
    release = nights(tmp_path, METHOD, range(50), range(60))
    assert all(made_again_whole(release, store(number)) for number in (1, 3))


def test_a_store_of_a_release_of_one_table_is_read_as_one(store: Any) -> None:
    release = METHOD.anonymize(RATINGS, rng=1)
    assert [made_again_whole(release, store(number)) for number in (1, 3)] == ["", "partitions"]
