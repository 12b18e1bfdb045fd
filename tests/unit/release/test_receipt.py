from __future__ import annotations

import gc
import json
import os
import re
import stat
import weakref
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.errors import ConfigError, OutputError, ReleaseError
from starshade.progress import watch
from starshade.ratings.scale import Scale
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.folder import digest
from starshade.release.folder.digest import digest_of, ratings_digest
from starshade.release.folder.read import read_release
from starshade.release.folder.receipt import read_receipt
from starshade.release.match import evidence as matching
from starshade.release.match.match import Match
from tests.strategies import ratings_tables, table
from tests.unit.release.damage import signed
from tests.unit.release.test_store import small

USERS = ["7", "10", "007", "b", "ü-user"]


@pytest.fixture
def saved(tmp_path):
    release = small(users=Vocabulary.of(USERS)).release(users_without_rating=3)
    release.save(tmp_path / "out", private=tmp_path / "receipt.json")
    return tmp_path, release


def test_what_the_owner_gets_back(saved):
    folder, release = saved
    private = read_release(folder / "out", private=folder / "receipt.json").private
    assert list(private.link.users) == USERS
    assert private.link.record.tolist() == release.private.link.record.tolist()
    assert private.seed == release.private.seed
    assert private.config == release.private.config
    assert private.digest == digest_of(release.private.original)
    assert private.original is None
    facts = json.loads((folder / "receipt.json").read_text())
    assert (facts["users_without_rating"], facts["rare_items_dropped"]) == (3, 0)
    assert facts["starshade"] == release.manifest.starshade


def test_only_the_owner_may_read_it(tmp_path):
    before = os.umask(0)
    try:
        small().release().save(tmp_path / "out", private=tmp_path / "receipt")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "receipt").stat().st_mode) == 0o600


def inside(tmp_path):
    """Ways to write a path that ends inside the release."""
    (tmp_path / "link").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "sub").mkdir()
    return [
        tmp_path / "out" / "receipt",
        tmp_path / "out",
        tmp_path / "out" / "deep" / "receipt",
        tmp_path / "sub" / ".." / "out" / "receipt",
        tmp_path / "link" / "out" / "receipt",
        tmp_path / "link" / "link" / "sub" / ".." / "out" / ".." / "out" / "receipt",
    ]


@pytest.mark.parametrize("way", range(6))
def test_never_inside_the_release(tmp_path, way):
    place = inside(tmp_path)[way]
    for out in (tmp_path / "out", tmp_path / "link" / "out", tmp_path / "sub" / ".." / "out"):
        with pytest.raises(OutputError, match="inside a release"):
            small().release().save(out, private=place)
    assert not (tmp_path / "out").exists()


def test_never_through_a_relative_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for place in ("out/receipt", "./out/receipt"):
        with pytest.raises(OutputError, match="inside a release"):
            small().release().save("out", private=place)
    (tmp_path / "alias").symlink_to("out")  # leads into the release once it is there
    with pytest.raises(OutputError, match="inside a release"):
        small().release().save("out", private="alias/receipt")


def test_never_inside_another_release(saved):
    folder, release = saved
    with pytest.raises(OutputError, match="inside a release"):
        release.save(folder / "again", private=folder / "out" / "receipt")
    assert not (folder / "again").exists()


def test_nothing_is_overwritten(saved):
    folder, release = saved
    (folder / "dangling").symlink_to(folder / "nowhere")
    for name in ("receipt.json", "dangling"):
        with pytest.raises(OutputError, match="exists already"):
            release.save(folder / "again", private=folder / name)
    with pytest.raises(OutputError, match="does not exist"):
        release.save(folder / "again", private=folder / "no" / "receipt")
    assert not (folder / "again").exists()


class Notes(list):
    """A reporter that keeps what it is told."""

    note = list.append

    def start(self, *_):
        return 0

    def advance(self, *_): ...

    def stop(self, *_): ...


def test_a_receipt_that_others_may_read_is_noted(saved):
    folder, _ = saved
    notes = Notes()
    with watch(notes):
        read_receipt(folder / "receipt.json")
        assert notes == []
        (folder / "receipt.json").chmod(0o640)
        read_receipt(folder / "receipt.json")
    assert len(notes) == 1
    assert "0640" in notes[0]


def test_the_receipt_of_another_release_is_refused(saved):
    folder, release = saved
    release.save(folder / "same")
    read_release(folder / "same", private=folder / "receipt.json")  # equal bytes are the same
    other = small().release(config={"k": 3})
    other.save(folder / "other")
    with pytest.raises(ReleaseError, match="belongs to another release"):
        read_release(folder / "other", private=folder / "receipt.json")
    with pytest.raises(ReleaseError, match=r"no release\.json"):
        read_receipt(folder / "receipt.json", folder)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"key_file": 5}, r"format 5; this version reads 3 and 4\n.*that wrote it"),
        ({"key_file": 1}, r"format 1; this version reads 3 and 4\n.*with the same options"),
        ({"key_file": 3}, "key_file does not belong to format 3"),
        ({"receipt": 4}, "receipt does not belong to format 4"),
        ({"receipt": 3}, "a key of a later format"),
        ({"seed": "1"}, "seed is missing or not of type int"),
        ({"seed": True}, "seed is missing or not of type int"),
        ({"ratings": None}, "ratings is missing or not of type str"),
        ({"users": None}, "users is missing or not of type list"),
        ({"more": 1}, "unknown keys"),
        ({"users": ["7", 10, "007", "b", "ü-user"]}, "entry 2 of users is not of type str"),
        ({"records": [0, 1, 2, 3, 4.0]}, "entry 5 of records is not of type int"),
        ({"records": [0, 1, 2, 3, 3]}, "one to one"),
        ({"records": [0, 1, 2, 3, 5]}, "one to one"),
        ({"records": [0, 1, 2, 3, 2**70]}, "one to one"),
        ({"records": [0, 1, 2, 3]}, "one to one"),
        ({"users": ["10", "7", "007", "b", "ü-user"]}, "one to one"),
        ({"users": ["7", "7", "007", "b", "ü-user"]}, "one to one"),
    ],
)
def test_a_damaged_receipt(saved, change, message):
    folder, _ = saved
    facts = json.loads((folder / "receipt.json").read_text())
    (folder / "receipt.json").write_text(signed(facts | change))
    with pytest.raises(ReleaseError) as caught:
        read_receipt(folder / "receipt.json")
    assert re.search(message, str(caught.value))
    assert not any(user in caught.value.message for user in ("ü-user", "007"))


@pytest.mark.parametrize("raw", [b"", b"[]", b"{}", b"\xff\xfe", b'{"receipt": {}}'])
def test_a_file_that_is_no_receipt(tmp_path, raw):
    (tmp_path / "file").write_bytes(raw)
    with pytest.raises(ReleaseError, match="not a private key file"):
        read_receipt(tmp_path / "file")
    with pytest.raises(ReleaseError, match="cannot be read"):
        read_receipt(tmp_path / "nowhere")
    with pytest.raises(ReleaseError, match="cannot be read"):
        read_receipt(tmp_path)


@given(ratings_tables(), st.data())
def test_the_digest_is_of_the_content(ratings, data):
    true = digest_of(ratings)
    assert digest_of(replace(ratings, codes=ratings.codes.astype(np.uint32), lineage="x")) == true
    moved = replace(ratings, users=Vocabulary(ratings.users.integers + 1))
    assert digest_of(moved) != true
    assert digest_of(replace(ratings, scale=Scale(-11, 11, 0.5))) != true
    if ratings.n_ratings:
        levels = ratings.levels.copy()
        levels[data.draw(st.sampled_from(sorted(set(ratings.codes.tolist()))))] += 0.25
        assert digest_of(replace(ratings, levels=levels)) != true
        if ratings.days is not None and (ratings.days != 65_535).any():
            assert digest_of(replace(ratings, first_day=ratings.first_day + 1)) != true


def test_the_digest_tells_attributes_and_rows_apart():
    base = table([{0: 1}, {0: 1, 1: 2}], Scale(1, 5, 1))
    people = [{"a": ["1", None]}, {"a": ["1", "-"]}, {"a": [None, "1"]}, {"b": ["1", None]}]
    digests = {digest_of(replace(base, attributes=pa.table(columns))) for columns in people}
    digests.add(digest_of(base))
    digests.add(digest_of(table([{0: 1, 1: 2}, {0: 1}], Scale(1, 5, 1))))
    assert len(digests) == 6


def test_the_digest_of_a_table_is_computed_once(monkeypatch):
    first = table([{0: 1}, {0: 1, 1: 2}], Scale(1, 5, 1))
    other = replace(first, lineage="x")
    counted = []
    compute = digest._digest
    monkeypatch.setattr(digest, "_digest", lambda *of: counted.append(1) or compute(*of))
    digests = {digest_of(ratings) for ratings in (first, other, first, other, first)}
    assert len(counted) == 2
    assert len(digests) == 1
    alive = weakref.ref(other)
    del other
    gc.collect()
    assert alive() is None  # no table is kept for its digest


def test_the_ratings_are_known_again_however_they_are_read(saved):
    folder, release = saved
    told = read_receipt(folder / "receipt.json").ratings
    truth = release.private.original
    assert told == ratings_digest(truth)
    others = [
        replace(truth, codes=truth.codes.astype(np.uint32), lineage="x"),
        replace(truth, scale=Scale(-11, 11, 0.5)),
        replace(truth, days=np.zeros(truth.n_ratings, np.uint16), first_day=3),
        replace(truth, attributes=pa.table({"age": ["1"] * truth.n_users})),
        replace(truth, levels=truth.levels + 1e-10),
        replace(truth, levels=np.append(-7.0, truth.levels), codes=truth.codes + np.uint8(1)),
    ]
    assert [ratings_digest(other) for other in others] == [told] * len(others)


@given(ratings_tables(), st.data())
def test_the_digest_of_the_ratings_is_of_each(ratings, data):
    if not ratings.n_ratings:
        return
    true, codes = ratings_digest(ratings), ratings.codes.astype(np.uint32)
    cell = data.draw(st.integers(0, ratings.n_ratings - 1))
    levels = np.append(ratings.levels, ratings.levels[codes[cell]] + 0.25)
    codes[cell] = len(levels) - 1
    assert ratings_digest(replace(ratings, codes=codes, levels=levels)) != true
    users = Vocabulary(np.arange(ratings.n_users) + 10_000)
    assert ratings_digest(replace(ratings, users=users)) != true
    items = Vocabulary(np.arange(ratings.n_items) + 10_000)
    assert ratings_digest(replace(ratings, items=items)) != true


def test_other_ratings_are_refused_and_the_same_looked_up_once(saved, monkeypatch):
    folder, release = saved
    back = read_release(folder / "out", private=folder / "receipt.json")
    truth = replace(release.private.original)
    other = replace(truth, levels=truth.levels[::-1].copy())
    counted = []
    compute = matching.ratings_digest
    monkeypatch.setattr(
        matching, "ratings_digest", lambda table: counted.append(1) or compute(table)
    )
    for _ in range(3):
        _ = Match(back, truth).row_of_user
    assert len(counted) == 1
    with pytest.raises(ConfigError, match="made of other ratings"):
        _ = Match(back, other).row_of_user


def test_some_items_are_known_by_the_whole(saved):
    folder, release = saved
    back = read_release(folder / "out", private=folder / "receipt.json")
    whole = replace(release.private.original)
    some = whole.keep_items(np.array([0]))
    with pytest.raises(ConfigError, match="released items are not in these ratings"):
        _ = Match(back, some).row_of_user
    Match(back, whole).refuse_other_ratings(some)
    assert len(Match(back, some).row_of_user) == some.n_users


def test_what_a_receipt_and_its_release_both_say_must_agree(saved):
    folder, _ = saved
    others = {"rare_items_dropped": 28, "users_without_rating": 0, "users_deleted": 1}
    others |= {"imputed_cells": 0.5, "single_rater_cells": 0.5, "method": "m"}
    others |= {"starshade": "0", "lineage": "0", "groups": 6}
    for name, value in others.items():
        facts = json.loads((folder / "receipt.json").read_text())
        (folder / "forged.json").write_text(signed(facts | {name: value}))
        with pytest.raises(ReleaseError, match=rf"the key file differ in {name}; one of"):
            read_release(folder / "out", private=folder / "forged.json")
