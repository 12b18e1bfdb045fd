"""A sharded store is added to, cut anew, and its writing goes on where it was killed."""

from __future__ import annotations

import datetime
import itertools
from dataclasses import replace
from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from starshade.errors import ConfigError, InputError, OutputError
from starshade.ratings.read import read_ratings
from starshade.ratings.shards import convert, sort
from starshade.ratings.shards.convert import convert_to_shards
from starshade.ratings.shards.shards import open_shards
from starshade.ratings.store import write_store
from tests.unit.ratings.test_shards import (
    GOOD,
    USERS,
    _small_runs,  # noqa: F401 - used by every test
    frame_of,
    stored,
    tried,
)
from tests.unit.ratings.test_store import assert_same


def content(path):
    """All bytes of a store, except random lineage and what depends on it."""
    found = {}
    for file in sorted(path.rglob("*")):
        if file.is_file() and file.suffix != ".json":
            found[str(file.relative_to(path))] = file.read_bytes()
    return found


@settings(max_examples=10, deadline=None)
@given(GOOD, GOOD, st.sampled_from(["error", "first", "last", "mean"]), st.sampled_from([1, 3]))
def test_what_is_added_is_as_if_read_together(tmp_path_factory, rows, more, how, shards):
    folder = tmp_path_factory.mktemp("store")
    options = {"on_duplicate": how, "scale": "1:5:0.5"}
    tried(lambda: convert_to_shards(frame_of(rows), folder / "old", 2, **options))
    if not (folder / "old").exists():
        return
    written = tried(
        lambda: convert_to_shards(
            frame_of(more), folder / "new", shards, append=folder / "old", **options
        )
    )
    kept = read_ratings(folder / "old")
    old = [(u, i, r, d) for u, i, r, d in rows_of(kept)]
    whole = tried(lambda: read_ratings(frame_of([*old, *more]), **options))
    if isinstance(whole, str):
        assert str(written).splitlines()[0] == whole.splitlines()[0]  # rows stand elsewhere
        assert not (folder / "new").exists()
        return
    assert_same(read_ratings(folder / "new"), whole)
    assert open_shards(folder / "new").lineage != kept.lineage
    assert_same(read_ratings(folder / "old"), kept)


def rows_of(ratings):
    for user, at in enumerate(pairwise(ratings.indptr)):
        for cell in range(*at):
            day = None
            if ratings.days is not None and ratings.days[cell] != 65535:
                number = int(ratings.first_day) + int(ratings.days[cell])
                day = datetime.date(1970, 1, 1) + datetime.timedelta(number)
            yield (
                ratings.users[user],
                ratings.items[int(ratings.columns[cell])],
                float(ratings.levels[ratings.codes[cell]]),
                day,
            )


def test_a_sharded_store_is_cut_anew(tmp_path):
    ratings = stored(tmp_path / "s")
    for shards in (1, 2):
        convert_to_shards(tmp_path / "s", tmp_path / f"to-{shards}", shards)
        found = read_ratings(tmp_path / f"to-{shards}")
        assert_same(found, ratings)
        assert found.lineage == ratings.lineage
        assert len(open_shards(tmp_path / f"to-{shards}")) == shards


def test_one_store_is_added_to_another(tmp_path):
    stored(tmp_path / "s")
    with pytest.raises(ConfigError, match="only some of the users have personal attributes"):
        convert_to_shards(tmp_path / "s", tmp_path / "both", append=tmp_path / "s")
    one = pa.table({"user": ["a", "7"], "item": ["p", "q"], "rating": [1.0, 2.0]})
    two = pa.table({"user": ["a", "b"], "item": ["q", "r"], "rating": [3.0, 4.0]})
    names = {"q": "Q", "r": "R"}
    convert_to_shards(one, tmp_path / "one", scale="1:5:1", item_names={"p": "P"})
    convert_to_shards(two, tmp_path / "two", scale="1:5:1", item_names=names)
    convert_to_shards(tmp_path / "two", tmp_path / "both", append=tmp_path / "one")
    both = read_ratings(tmp_path / "both")
    assert list(both.users) == ["7", "a", "b"]
    assert both.item_names == ("P", "Q", "R")
    assert sorted(rows_of(both)) == [
        ("7", "q", 2.0, None), ("a", "p", 1.0, None), ("a", "q", 3.0, None), ("b", "r", 4.0, None),
    ]  # fmt: skip


def test_shards_that_repeat_a_store_follow_the_rule(tmp_path):
    one = pa.table({"user": ["a", "b"], "item": ["p", "p"], "rating": [1.0, 2.0]})
    two = pa.table({"user": ["a"], "item": ["p"], "rating": [3.0]})
    convert_to_shards(one, tmp_path / "one", 2, scale="1:5:1")
    convert_to_shards(two, tmp_path / "two", scale="1:5:1")
    for how, rating in (("first", 1.0), ("last", 3.0), ("mean", 2.0)):
        options = {"append": tmp_path / "one", "on_duplicate": how}
        convert_to_shards(tmp_path / "two", tmp_path / how, **options)
        assert next(rows_of(read_ratings(tmp_path / how))) == ("a", "p", rating, None)
    with pytest.raises(InputError, match="repeat a user and an item"):
        convert_to_shards(tmp_path / "two", tmp_path / "error", append=tmp_path / "one")


def test_only_a_store_of_shards_is_added_to_and_stays_as_it_is(tmp_path):
    one = pa.table({"user": ["a"], "item": ["p"], "rating": [1.0]})
    write_store(read_ratings(one), tmp_path / "whole")
    with pytest.raises(InputError, match="whole: is not a partitioned store"):
        convert_to_shards(one, tmp_path / "new", append=tmp_path / "whole")
    message = "nowhere: does not exist; ratings can be added to a partitioned store only"
    with pytest.raises(InputError, match=message):
        convert_to_shards(one, tmp_path / "new", append=tmp_path / "nowhere")
    convert_to_shards(one, tmp_path / "s")
    with pytest.raises(OutputError, match="new: is inside the store that is added to"):
        convert_to_shards(one, tmp_path / "s" / "new", append=tmp_path / "s")
    (tmp_path / "s" / "shard-00009").mkdir()
    with pytest.raises(InputError, match="shard-00009: does not belong to this store"):
        open_shards(tmp_path / "s")


def test_attributes_are_laid_beside_shards_that_are_sorted_on_disk(tmp_path):
    frame = frame_of([(u, "a", 3.0, None) for u in USERS])
    people = pa.table({"user": USERS[::-1], "age": [float(i) for i in range(len(USERS))]})
    whole = read_ratings(frame, users=people, scale="1:5:1")
    convert_to_shards(frame, tmp_path / "s", 3, users=people, scale="1:5:1")
    assert len(open_shards(tmp_path / "s")) == 3
    assert_same(read_ratings(tmp_path / "s"), whole)


class Stopped(BaseException):
    """A kill, as far as Python can see one."""


def stopped_at(monkeypatch, module, name, count):
    """Let a function die at its n-th call."""
    real, calls = getattr(module, name), itertools.count(1)

    def dying(*args, **kwargs):
        if next(calls) == count:
            raise Stopped
        return real(*args, **kwargs)

    monkeypatch.setattr(module, name, dying)


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("how", ["error", "mean"])
def test_a_conversion_goes_on_where_it_was_killed(tmp_path, monkeypatch, count, how):
    lines = [f"{u},{i},{(u * i) % 5 + 1}" for u in range(9) for i in range(3)]
    if how == "mean":
        lines += [f"{u},1,{u % 2 + 1}" for u in range(9)]  # halves: what codes mean changes
    (tmp_path / "r.csv").write_text("\n".join(["user,item,rating", *lines]))
    options = {"on_duplicate": how}
    convert_to_shards(tmp_path / "r.csv", tmp_path / "whole", 4, **options)
    with monkeypatch.context() as patch:
        stopped_at(patch, sort, "add_shard", count)
        with pytest.raises(Stopped):
            convert_to_shards(tmp_path / "r.csv", tmp_path / "s", 4, **options)
    assert not (tmp_path / "s").exists()
    (left,) = tmp_path.glob(".runs-s-*")
    (left / "unplaced-0").mkdir()  # as by whoever has no time to clear up
    with monkeypatch.context() as patch:
        patch.setattr(convert, "take_in", None)  # nothing is read again
        stopped_at(patch, sort, "finish", 1)
        with pytest.raises(Stopped):
            convert_to_shards(tmp_path / "r.csv", tmp_path / "s", 4, resume=True, **options)
    (left,) = tmp_path.glob(".runs-s-*")
    assert not list(left.glob("unplaced-*"))
    with monkeypatch.context() as patch:
        patch.setattr(convert, "take_in", None)
        convert_to_shards(tmp_path / "r.csv", tmp_path / "s", 4, resume=True, **options)
    assert content(tmp_path / "s") == content(tmp_path / "whole")
    assert open_shards(tmp_path / "s").report == replace(
        open_shards(tmp_path / "whole").report, source=str(tmp_path / "s")
    )
    assert {path.name for path in tmp_path.iterdir()} == {"r.csv", "s", "whole"}


def test_another_conversion_takes_nothing_over(tmp_path, monkeypatch):
    (tmp_path / "r.csv").write_text("user,item,rating\na,1,3\nb,1,4\nb,2,5\n")
    with monkeypatch.context() as patch:
        stopped_at(patch, sort, "add_shard", 2)
        with pytest.raises(Stopped):
            convert_to_shards(tmp_path / "r.csv", tmp_path / "s", 2)
    (tmp_path / "r.csv").write_text("user,item,rating\na,1,3\nb,1,4\nb,2,1\n")
    convert_to_shards(tmp_path / "r.csv", tmp_path / "s", 2, resume=True)
    assert_same(read_ratings(tmp_path / "s"), read_ratings(tmp_path / "r.csv"))


def test_rows_that_are_wrong_are_named_after_a_kill_too(tmp_path, monkeypatch):
    lines = [*(f"{u},1,3" for u in "abcdefg"), "g,1,4"]
    (tmp_path / "r.csv").write_text("\n".join(["user,item,rating", *lines]))
    with pytest.raises(InputError) as at_once:
        convert_to_shards(tmp_path / "r.csv", tmp_path / "s", 3)
    with monkeypatch.context() as patch:
        stopped_at(patch, sort, "add_shard", 2)
        with pytest.raises(Stopped):
            convert_to_shards(tmp_path / "r.csv", tmp_path / "s", 3)
    with pytest.raises(InputError) as resumed:
        convert_to_shards(tmp_path / "r.csv", tmp_path / "s", 3, resume=True)
    assert str(resumed.value) == str(at_once.value)
    assert {path.name for path in tmp_path.iterdir()} == {"r.csv"}
