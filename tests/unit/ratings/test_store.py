import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from starshade.errors import InputError, OutputError
from starshade.ratings.places.checked import load
from starshade.ratings.scale import Scale
from starshade.ratings.store import is_store, open_store, write_store
from starshade.ratings.table import Ratings, ReadReport
from starshade.ratings.vocabulary import Vocabulary
from tests.strategies import ratings_tables, table

HALF = Scale(0.5, 5, 0.5)


def small(**beside):
    ratings = table([{0: 4.0, 2: 0.5}, {}, {1: 5.0, 2: 3.5}], HALF, days=[{0: 3}, {}, {1: 0}])
    return replace(ratings, **beside)


def assert_same(a, b):
    assert (a.scale, a.first_day, a.item_names) == (b.scale, b.first_day, b.item_names)
    assert (a.users, a.items) == (b.users, b.items)
    for x, y in [(a, b), (a.by_item, b.by_item)]:
        for name in ("indptr", "columns", "users", "codes", "days"):
            left, right = getattr(x, name, None), getattr(y, name, None)
            if isinstance(left, np.ndarray):
                assert left.dtype == right.dtype
                assert np.array_equal(left, right)
    assert (a.days is None) == (b.days is None)
    assert np.array_equal(a.levels, b.levels)
    assert (a.attributes is None) == (b.attributes is None)
    if a.attributes is not None:
        assert a.attributes.equals(b.attributes)


@settings(max_examples=15)  # each is flushed to the disk
@given(ratings_tables())
def test_what_is_written_is_read(tmp_path_factory, ratings):
    path = tmp_path_factory.mktemp("store") / "s"
    write_store(ratings, path)
    assert is_store(path)
    assert_same(open_store(path), ratings)


def test_everything_beside_the_cells_is_kept(tmp_path):
    report = ReadReport(
        source="/somewhere/u.data",
        format="csv",
        mapping={"user": "uid"},
        scale_inferred=True,
        merged_duplicates=3,
        notes=("a note",),
    )
    ratings = small(
        users=Vocabulary(np.array([7]), ["007", "ü\n,x"]),
        items=Vocabulary(np.array([], np.int64), ["", "a", "\U0001f600"]),
        attributes=pa.table({"age": [1.5, None, 3.0], "city": ["x", None, ""]}),
        item_names=("Heat", "Heat", "Amélie"),
        first_day=-400,
        report=report,
    )
    write_store(ratings, tmp_path / "s")
    found = open_store(tmp_path / "s")
    assert_same(found, ratings)
    assert list(found.users) == ["7", "007", "ü\n,x"]
    assert found.report == replace(report, source=str(tmp_path / "s"), format="store")


def test_the_columns_are_mapped_and_by_item_is_not_computed(tmp_path, monkeypatch):
    write_store(small(), tmp_path / "s")
    monkeypatch.setattr("starshade.ratings.table.transpose", None)
    ratings = open_store(tmp_path / "s")
    for array in (ratings.columns, ratings.codes, ratings.by_item.users):
        assert isinstance(array.base, np.memmap)
    ratings.codes[0] = 1  # in memory only
    assert open_store(tmp_path / "s").codes[0] != 1


def test_a_lineage_is_given_once(tmp_path):
    ratings = small()
    write_store(ratings, tmp_path / "a")
    lineage = ratings.lineage
    assert lineage is not None
    assert re.fullmatch("[0-9a-f]{32}", lineage)
    write_store(ratings, tmp_path / "b")
    write_store(open_store(tmp_path / "a").keep_items(np.array([2])), tmp_path / "c")
    assert {open_store(tmp_path / name).lineage for name in "abc"} == {lineage}
    write_store(small(), tmp_path / "d")
    assert open_store(tmp_path / "d").lineage != lineage


def test_only_its_owner_may_read_it(tmp_path):
    write_store(small(), tmp_path / "s")
    assert (tmp_path / "s").stat().st_mode & 0o777 == 0o700


def test_save_is_the_public_door(tmp_path):
    small().save(str(tmp_path / "s"))
    assert_same(open_store(tmp_path / "s"), small())


# ------------------------------------------------------------------ damage


def stored(path):
    write_store(
        small(
            item_names=("x", "y", "z"),
            attributes=pa.table({"age": [1.0, 2.0, 3.0]}),
            users=Vocabulary(np.array([7]), ["b", "c"]),
        ),
        path,
    )
    return sorted(entry.name for entry in path.iterdir())


def test_any_file_that_is_cut_or_gone_is_named(tmp_path):
    for k, name in enumerate(stored(tmp_path / "s")):
        for keep in (None, 0, 0.5, 0.999):
            path = shutil.copytree(tmp_path / "s", tmp_path / f"{k}-{keep}")
            content = (path / name).read_bytes()
            (path / name).unlink()
            if keep is not None:
                (path / name).write_bytes(content[: int(len(content) * keep)])
            with pytest.raises(InputError) as caught:
                open_store(path)
            assert str(path) in caught.value.message


@pytest.fixture(scope="module")
def one_store(tmp_path_factory):
    path = tmp_path_factory.mktemp("store") / "s"
    stored(path)
    return path


@given(st.integers(0, 99), st.floats(0, 1, exclude_max=True), st.integers(1, 255))
def test_any_byte_that_changes_is_noticed(one_store, which, place, flip):
    names = sorted(os.listdir(one_store))
    file = one_store / names[which % len(names)]
    before = file.read_bytes()
    content = bytearray(before)
    content[int(place * len(content))] ^= flip
    file.write_bytes(content)
    try:
        ratings = open_store(one_store)
    except InputError:
        return
    finally:
        file.write_bytes(before)
    # JSON may be written in more than one way, with the same meaning
    assert file.name == "store.json"
    assert json.loads(content) == json.loads(before)
    assert ratings.n_ratings == 4


def test_damage_is_described(tmp_path):
    stored(tmp_path / "s")
    file = tmp_path / "s" / "levels.npy"
    content = file.read_bytes()
    file.write_bytes(content[:-1])
    with pytest.raises(InputError, match="207 bytes instead of 208"):
        open_store(tmp_path / "s")
    file.write_bytes(content[:-1] + b"\1")
    with pytest.raises(InputError, match="checksum"):
        open_store(tmp_path / "s")


def test_a_manifest_that_was_edited_is_refused(tmp_path):
    stored(tmp_path / "s")
    manifest = tmp_path / "s" / "store.json"
    manifest.write_text(manifest.read_text().replace('"first_day": 0', '"first_day": 1'))
    with pytest.raises(InputError, match="the store is damaged"):
        open_store(tmp_path / "s")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not a starshade store, or a damaged one"),
        ("[]", "not a starshade store, or a damaged one"),
        ("{}", "not a starshade store, or a damaged one"),
        ('{"kind": "release", "format": 1, "crc32": 0}', "damaged"),
        ('{"kind": "starshade ratings", "format": 2, "crc32": 0}', "format 2"),
        ('{"kind": "starshade ratings", "format": 1, "crc32": 0}', "damaged"),
    ],
)
def test_a_foreign_manifest_is_refused(tmp_path, text, said):
    stored(tmp_path / "s")
    (tmp_path / "s" / "store.json").write_text(text)
    with pytest.raises(InputError, match=said):
        open_store(tmp_path / "s")


def test_what_is_no_folder_is_no_store(tmp_path):
    (tmp_path / "file").write_text("x")
    for path in (tmp_path / "file", tmp_path, tmp_path / "nowhere"):
        assert not is_store(path)
        with pytest.raises(InputError, match="cannot be read as a store"):
            open_store(path)


# ------------------------------------------------------------------ trouble while writing


def test_an_existing_folder_is_refused_and_kept(tmp_path):
    write_store(small(), tmp_path / "s")
    before = open_store(tmp_path / "s").lineage
    ratings = small()
    with pytest.raises(OutputError, match="exists already"):
        write_store(ratings, tmp_path / "s")
    assert open_store(tmp_path / "s").lineage == before
    assert ratings.lineage is None


def test_a_full_disk_leaves_nothing(tmp_path):
    big = Ratings.from_arrays(np.arange(100_000), np.zeros(100_000, int), np.ones(100_000))
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, limit[1]))
    try:
        with pytest.raises(
            OutputError, match=r"exceeds the largest file size allowed here, \d MB needed"
        ):
            write_store(big, tmp_path / "s")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, handler)
    assert list(tmp_path.iterdir()) == []
    write_store(big, tmp_path / "s")
    assert_same(open_store(tmp_path / "s"), big)


WRITER = """
import sys
from pathlib import Path
import numpy as np
from starshade.ratings.store import write_store
from starshade.ratings.table import Ratings
n = 300_000
ratings = Ratings.from_arrays(np.arange(n), np.arange(n) % 7, np.arange(n) % 5 + 1.0)
print("ready", flush=True)
sys.stdin.readline()
write_store(ratings, Path(sys.argv[1]))
print("done", flush=True)
"""


def test_a_kill_at_any_moment_leaves_all_or_nothing(tmp_path):
    outcomes = set()
    for delay in (0.002, 0.02, None):
        target = tmp_path / "s"
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(target)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"ready\n"
        assert writer.stdin is not None
        writer.stdin.write(b"\n")
        writer.stdin.flush()
        if delay is None:
            assert writer.stdout.readline() == b"done\n"
        else:
            signal.sigtimedwait([], delay)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        writer.stdin.close()
        writer.stdout.close()
        names = os.listdir(tmp_path)
        assert all(name == "s" or name.startswith(".tmp-s-") for name in names)
        if target.exists():
            assert open_store(target).n_ratings == 300_000
            outcomes.add("whole")
            target.rename(tmp_path / f".tmp-s-kept-{delay}")
        else:
            outcomes.add("none")
    assert outcomes == {"none", "whole"}


@pytest.mark.parametrize("name", ["store.json", "by_user.codes.npy", "attributes.parquet"])
@pytest.mark.parametrize("what", ["/dev/zero", "/dev/urandom", "pipe", "huge"])
def test_a_device_or_another_size_in_the_place_of_a_file_is_refused_at_once(tmp_path, name, what):
    stored(tmp_path / "s")
    file = tmp_path / "s" / name
    file.unlink()
    os.mkfifo(tmp_path / "pipe")
    with open(tmp_path / "huge", "wb") as huge:
        huge.truncate(10 * 2**30)
    file.symlink_to(tmp_path / what)
    with pytest.raises(InputError, match=r"not a regular file|10,737,418,240 bytes"):
        open_store(tmp_path / "s")


def test_a_link_to_the_column_itself_is_read(tmp_path):
    stored(tmp_path / "s")
    file = tmp_path / "s" / "by_user.codes.npy"
    file.rename(tmp_path / "elsewhere.npy")
    file.symlink_to(tmp_path / "elsewhere.npy")
    assert open_store(tmp_path / "s").n_ratings == 4


def test_a_pipe_in_the_place_of_a_column_that_no_manifest_names_is_refused(tmp_path):
    os.mkfifo(tmp_path / "column.npy")
    with pytest.raises(InputError, match="it is a pipe"):
        load(tmp_path, "column")
