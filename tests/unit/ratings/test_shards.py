"""A sharded store holds what one store would, whatever the shards, and says what is wrong."""

from __future__ import annotations

import datetime
import resource
import shutil
import signal
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from starshade import budget
from starshade.engine.local import Local
from starshade.errors import ConfigError, InputError, OutputError, StarshadeError
from starshade.ratings.read import read_ratings
from starshade.ratings.shards import runs
from starshade.ratings.shards.convert import convert_to_shards
from starshade.ratings.shards.kept import those_of
from starshade.ratings.shards.manifest import MANIFEST, is_sharded
from starshade.ratings.shards.settings import MOST
from starshade.ratings.shards.shards import gather, open_shards, table_bytes
from starshade.ratings.shards.write import edges_of, write_shards
from starshade.ratings.store import open_store
from starshade.ratings.vocabulary import Vocabulary
from tests.strategies import ratings_tables
from tests.unit.ratings.test_store import assert_same, small

USERS = ("1", "2", "10", "9999999999", "007", "x", "ä", "b", "\U0001f600")
DAYS = (None, datetime.date(1999, 1, 1), datetime.date(2000, 1, 1), datetime.date(2000, 2, 29))


@pytest.fixture(autouse=True)
def _small_runs(monkeypatch):
    """Let a handful of rows be more than memory holds."""
    monkeypatch.setattr(runs, "_FEWEST", 5)
    monkeypatch.setattr(runs, "_MOST", 5)


def frame_of(rows):
    user, item, rating, day = zip(*rows, strict=True)
    columns = {"user": user, "item": item, "rating": pa.array(rating, pa.float64())}
    table = pa.table({**columns, "date": pa.array(day, pa.date32())})
    return pa.concat_tables([table.slice(start, 3) for start in range(0, len(rows), 3)])


def tried(work):
    """What came of it, or what was said."""
    try:
        return work()
    except StarshadeError as error:
        return str(error)


ROWS = st.lists(
    st.tuples(
        st.sampled_from(USERS),
        st.sampled_from(["a", "3", "4"]),
        st.sampled_from([1.0, 2.0, 3.5, 5.0, float("nan"), 6.0]),
        st.sampled_from(DAYS),
    ),
    min_size=1,
    max_size=40,
)
GOOD = ROWS.map(lambda rows: [(u, i, r if r <= 5 else 4.0, d) for u, i, r, d in rows])


@settings(max_examples=12, deadline=None)
@given(
    st.one_of(ROWS, GOOD),
    st.sampled_from(["error", "first", "last", "latest", "mean", "sum", "max"]),
    st.sampled_from([None, "1:5", "1:5:0.5"]),
    st.sampled_from([1, 2, 7]),
)
def test_sorted_on_disk_is_as_built_in_memory(tmp_path_factory, rows, how, scale, shards):
    path = tmp_path_factory.mktemp("store") / "s"
    frame = frame_of(rows)
    options = {"on_duplicate": how, "scale": scale, "show_values": True}
    whole = tried(lambda: read_ratings(frame, **options))
    written = tried(lambda: convert_to_shards(frame, path, shards, **options))
    if isinstance(whole, str):
        assert written == whole
        assert not path.exists()
        return
    found = read_ratings(path)
    assert_same(found, whole)
    assert replace(found.report, source="", format="") == replace(
        whole.report, source="", format=""
    )
    assert (written.users, written.ratings) == (whole.n_users, whole.n_ratings)
    assert 1 <= written.shards <= shards
    assert sorted(entry.name for entry in path.iterdir() if entry.is_dir()) == [
        f"shard-{i:05}" for i in range(written.shards)
    ]


@settings(max_examples=8, deadline=None)
@given(ratings_tables(), st.sampled_from([1, 2, 7]))
def test_a_table_is_cut_and_gathered(tmp_path_factory, ratings, shards):
    path = tmp_path_factory.mktemp("store") / "s"
    write_shards(ratings, path, shards)
    opened = open_shards(path)
    assert_same(gather(opened), ratings)
    assert (opened.n_users, opened.n_items, opened.n_ratings) == (
        ratings.n_users,
        ratings.n_items,
        ratings.n_ratings,
    )
    users = [user for i in range(len(opened)) for user in opened.shard(i).users]
    assert users == list(ratings.users)
    assert all(opened.shard(i).n_users for i in range(len(opened)))


@given(st.lists(st.integers(0, 9), min_size=1, max_size=30), st.integers(1, 9))
def test_every_range_holds_somebody_and_none_is_larger_than_it_must(sizes, n):
    edges = edges_of(np.cumsum([0, *sizes]), n)
    assert edges == sorted(set(edges))
    assert (edges[0], edges[-1]) == (0, len(sizes))
    assert len(edges) <= n + 1
    for start, stop in pairwise(edges):
        assert sum(sizes[start:stop]) <= sum(sizes) / n + 2 * max(sizes)


def stored(path, shards=3):
    ratings = small(
        item_names=("x", "y", "z"),
        attributes=pa.table({"age": [1.0, None, 3.0]}),
        users=Vocabulary(np.array([7]), ["b", "c"]),
    )
    write_shards(ratings, path, shards)
    return ratings


def test_a_range_may_be_of_the_first_or_the_last_user_alone():
    assert edges_of([0, 5, 6, 7, 8], 2) == [0, 1, 4]  # half of 8 is nearest to 5
    assert edges_of([0, 1, 2, 3, 8], 2) == [0, 3, 4]
    assert edges_of([0, 1, 2], 9) == [0, 1, 2]
    assert edges_of([0], 3) == [0, 0]


def test_no_room_is_taken_for_shards_of_nobody(tmp_path):
    (tmp_path / "r.csv").write_text("user,item,rating\na,1,3\nb,1,4\nb,2,5\n")
    written = convert_to_shards(tmp_path / "r.csv", tmp_path / "s", MOST)
    assert written.shards == 2
    assert_same(read_ratings(tmp_path / "s"), read_ratings(tmp_path / "r.csv"))


@pytest.mark.parametrize("shards", [0, -1, True, "some", MOST + 1, 10**6, "9" * 5000, "²"])
def test_a_number_of_shards_that_helps_nobody_is_refused(tmp_path, shards):
    (tmp_path / "r.csv").write_text("user,item,rating\na,1,3\nb,1,4\nb,2,5\n")
    with pytest.raises(ConfigError, match=r"must be auto or a whole number from 1 to 10,000"):
        convert_to_shards(tmp_path / "r.csv", tmp_path / "s", shards)
    assert [path.name for path in tmp_path.iterdir()] == ["r.csv"]


def test_names_attributes_and_lineage_are_kept(tmp_path):
    ratings = stored(tmp_path / "s")
    found = read_ratings(tmp_path / "s")
    assert_same(found, ratings)
    assert found.lineage == ratings.lineage == open_shards(tmp_path / "s").lineage
    assert is_sharded(tmp_path / "s")
    for folder in (tmp_path / "s", tmp_path / "s" / "shard-00000"):
        assert folder.stat().st_mode & 0o777 == 0o700


def test_a_reader_of_text_may_start_again(tmp_path):
    lines = [f"{u},{i},{(u * i) % 5 + 1}" for u in range(9) for i in range(3)]
    text = "\n".join(["user,item,rating", *lines, "007,9,3"])  # an id that is text, at the end
    (tmp_path / "r.csv").write_text(text)
    whole = read_ratings(tmp_path / "r.csv")
    convert_to_shards(tmp_path / "r.csv", tmp_path / "s", 4)
    assert_same(read_ratings(tmp_path / "s"), whole)


def said(path):
    with pytest.raises(InputError) as caught:
        gather(open_shards(path))
    assert str(path) in caught.value.message
    assert caught.value.advice
    return caught.value.message


class Odd:
    """Every other user, by their number in the shard."""

    key = "odd"

    def __call__(self, shard):
        return np.arange(shard.n_users) % 2 == 1


@settings(max_examples=10, deadline=None)
@given(ratings_tables(min_users=1), st.integers(1, 4))
def test_some_users_are_a_table_of_their_own(tmp_path_factory, ratings, n):
    path = tmp_path_factory.mktemp("some") / "s"
    write_shards(ratings, path, n)
    store = open_shards(path)
    kept = those_of(store, Odd(), Local(), np.arange(ratings.n_items))
    chosen = []
    for number in range(len(store)):
        whole, part = store.shard(number), kept.shard(number)
        odd = whole.keep_users(np.arange(1, whole.n_users, 2)).drop_empty_users()
        assert_same(part, odd)
        stays = kept.who_stays(number)
        assert [whole.users[int(user)] for user in stays] == list(odd.users)
        assert kept.users[number] == odd.n_users
        assert kept.first_users[number] == sum(chosen)
        chosen.append(odd.n_users)
    assert (kept.n_users, kept.n_items) == (sum(chosen), ratings.n_items)
    assert kept.n_ratings == sum(kept.shard(number).n_ratings for number in range(len(store)))
    some = np.arange(0, ratings.n_items, 2)
    few = those_of(store, Odd(), Local(), some)
    assert few.n_ratings == sum(few.shard(number).n_ratings for number in range(len(store)))
    for number in range(len(store)):
        left = kept.shard(number).keep_items(some)
        assert_same(few.shard(number), left)
        assert few.users[number] == left.n_users
        whole = store.shard(number)
        stays = few.who_stays(number)
        assert [whole.users[int(user)] for user in stays] == list(left.users)
    assert not {*kept.keys} & {*store.keys}
    if ratings.n_items > 1:
        assert not {*kept.keys} & {*few.keys}


def test_a_shard_that_is_missing_is_named(tmp_path):
    stored(tmp_path / "s")
    (tmp_path / "s" / "shard-00001").rename(tmp_path / "elsewhere")
    assert "shard-00001: this partition is missing" in said(tmp_path / "s")


def test_a_shard_of_another_store_is_named(tmp_path):
    stored(tmp_path / "s")
    stored(tmp_path / "t")
    shutil.rmtree(tmp_path / "s" / "shard-00001")
    shutil.copytree(tmp_path / "t" / "shard-00001", tmp_path / "s" / "shard-00001")
    assert "shard-00001: this partition belongs to another store" in said(tmp_path / "s")


def test_a_shard_that_is_there_twice_is_named(tmp_path):
    stored(tmp_path / "s")
    shutil.rmtree(tmp_path / "s" / "shard-00001")
    shutil.copytree(tmp_path / "s" / "shard-00002", tmp_path / "s" / "shard-00001")
    assert "shard-00001: this partition is a copy of shard-00002" in said(tmp_path / "s")


def test_any_file_of_any_shard_that_changes_is_noticed(tmp_path):
    stored(tmp_path / "s")
    for file in sorted((tmp_path / "s").rglob("*")):
        if file.is_file():
            before = file.read_bytes()
            file.write_bytes(before[:-1] + bytes([before[-1] ^ 1]))
            assert said(tmp_path / "s")
            file.write_bytes(before)
    assert_same(gather(open_shards(tmp_path / "s")), read_ratings(tmp_path / "s"))


def test_a_shard_that_changes_while_work_goes_on_is_noticed(tmp_path):
    stored(tmp_path / "s")
    opened = open_shards(tmp_path / "s")
    opened.shard(1)
    file = tmp_path / "s" / "shard-00001" / "by_user.codes.npy"
    file.write_bytes(file.read_bytes()[:-1] + b"\1")
    with pytest.raises(InputError, match="checksum does not match"):
        opened.shard(1)
    stored(tmp_path / "t")
    other = (tmp_path / "t" / "shard-00002" / "store.json").read_bytes()
    (tmp_path / "s" / "shard-00002" / "store.json").write_bytes(other)
    with pytest.raises(InputError, match="shard-00002: this partition belongs to another store"):
        opened.shard(2)


def test_a_manifest_of_another_format_says_so(tmp_path):
    stored(tmp_path / "s")
    file = tmp_path / "s" / MANIFEST
    file.write_text(file.read_text().replace('"format": 1', '"format": 2'))
    assert "a store of format 2; this version of starshade reads 1" in said(tmp_path / "s")


def test_a_shard_alone_is_no_store(tmp_path):
    stored(tmp_path / "s")
    with pytest.raises(InputError, match="is one partition of a larger store"):
        open_store(tmp_path / "s" / "shard-00000")


def test_more_than_memory_holds_is_not_gathered(tmp_path):
    stored(tmp_path / "s")
    with budget.limits(memory=100), pytest.raises(ConfigError, match="as one table; 100 bytes"):
        read_ratings(tmp_path / "s")


def test_what_memory_just_holds_is_gathered(tmp_path):
    stored(tmp_path / "s")
    shards = open_shards(tmp_path / "s")
    with budget.limits(memory=table_bytes(shards)):
        assert gather(shards).n_ratings == shards.n_ratings


def test_a_place_that_is_taken_is_refused_and_kept(tmp_path):
    stored(tmp_path / "s")
    before = (tmp_path / "s" / MANIFEST).read_bytes()
    with pytest.raises(OutputError, match="exists already"):
        stored(tmp_path / "s")
    assert (tmp_path / "s" / MANIFEST).read_bytes() == before


def test_a_full_disk_leaves_nothing(tmp_path):
    n = 100_000
    frame = pa.table({"user": np.arange(n), "item": np.zeros(n, int), "rating": np.ones(n)})
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limit[1]))
    try:
        with pytest.raises(OutputError, match="exceeds the largest file size allowed here"):
            convert_to_shards(frame, tmp_path / "s", 2)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, handler)
    assert list(tmp_path.iterdir()) == []
