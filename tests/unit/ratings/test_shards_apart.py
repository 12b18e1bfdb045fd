"""Files that are read apart, wherever, come to what they are when read in order."""

from __future__ import annotations

import pickle
import stat
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from starshade.engine.journal import Journal
from starshade.engine.local import Local
from starshade.errors import StarshadeError
from starshade.ratings.read import read_ratings
from starshade.ratings.readers.addresses.buckets import Bucket, Remote
from starshade.ratings.readers.columns import NullValues
from starshade.ratings.readers.formats.shapes import LongTable
from starshade.ratings.readers.formats.tables import ParquetSource
from starshade.ratings.readers.recognise.inputs import Input
from starshade.ratings.shards import runs
from starshade.ratings.shards.apart import runs_apart
from starshade.ratings.shards.convert import convert_to_shards
from starshade.ratings.shards.shards import open_shards
from tests.unit.ratings.test_store import assert_same


@dataclass(frozen=True)
class Elsewhere:
    """Does jobs as another machine would: with what can be handed over, the last shard first.

    `twice`: each again when all are done, as whoever was thought lost may. `done`: jobs and shards.
    """

    twice: bool = False
    done: list = None
    folder = None

    def run(self, job, shards, tables):
        answers = {}
        for number in [*reversed(range(len(shards)))] * (1 + self.twice):
            job, shards = pickle.loads(pickle.dumps((job, shards)))
            first = shards.first_users[number]
            answers[number] = job.work(shards.shard(number), first, job.settings, tables)
            if self.done is not None:
                self.done.append((job.name, number))
        yield from (answers[number] for number in range(len(shards)))


@pytest.fixture(autouse=True)
def _small_runs(monkeypatch):
    """Let a handful of rows be more than memory holds."""
    monkeypatch.setattr(runs, "_FEWEST", 5)
    monkeypatch.setattr(runs, "_MOST", 5)


def files_of(folder, rows, at_once):
    """Write rows into files of so many each."""
    names, files = ("user", "item", "rating", "date"), []
    for start in range(0, len(rows), at_once):
        columns = zip(*rows[start : start + at_once], strict=True)
        types = (pa.string(), pa.string(), pa.float64(), pa.string())
        arrays = [pa.array(each, kind) for each, kind in zip(columns, types, strict=True)]
        files.append(folder / f"part-{start:03}.parquet")
        pq.write_table(pa.table(arrays, names=names), files[-1])
    return files


def tried(work):
    """What came of it, or what was said."""
    try:
        return work()
    except StarshadeError as error:
        return f"{error} / {error.advice}"


def rows_of(users, ratings, dates):
    """Rows of such values."""
    values = (users, ["a", "3", "04", " c"], ratings, dates)
    return st.lists(st.tuples(*map(st.sampled_from, values)), min_size=1, max_size=30)


USERS = ["1", "2", "10", "007", "x", "ä", "b ", "\U0001f600"]
GOOD = rows_of(USERS, [1.0, 2.0, 3.5, 5.0], ["1999-01-01", "2000-02-29", "2024-03-01", None])
OFF = rows_of(USERS, [1.0, 2.0, 3.7, 6.0, 7.0], ["1999-01-01"])
ANY = rows_of(
    [*USERS, None, " "],
    [1.0, 2.0, 3.5, 5.0, 6.0, -0.0, float("nan"), float("inf"), None],
    ["1999-01-01", "20000229", "7", "never", "1500-01-01", "", None],
)


@settings(max_examples=25, deadline=None)
@given(
    st.one_of(GOOD, OFF, ANY),
    st.sampled_from([1, 3, 10]),
    st.sampled_from(["error", "first", "last", "mean"]),
    st.sampled_from([{}, {"scale": "1:5"}, {"scale": "1:5:0.5"}, {"null_values": ["2"]}]),
    st.booleans(),
    st.sampled_from([1, 2, 7]),
)
@example([("1", "a", 6.0, None), ("2", "a", 7.0, None)], 1, "error", {"scale": "1:5"}, False, 2)
def test_files_read_apart_are_as_read_in_order(
    tmp_path_factory, rows, at_once, how, more, twice, shards
):
    folder = tmp_path_factory.mktemp("files")
    files = files_of(folder, rows, at_once)
    options = {"on_duplicate": how, "show_values": True, **more}
    out = folder / "s"
    elsewhere = Elsewhere(twice)
    whole = tried(lambda: read_ratings(files, **options))
    written = tried(lambda: convert_to_shards(files, out, shards, engine=elsewhere, **options))
    if isinstance(whole, str):
        assert written == whole
        assert not out.exists()
    else:
        assert_same(read_ratings(out), whole)
        reports = (open_shards(out).report, whole.report)
        found, wanted = (replace(each, source="", format="") for each in reports)
        assert found == wanted
    assert sorted(folder.iterdir()) == sorted([*files, *[out] * out.exists()])


def test_each_file_and_each_shard_is_a_job(tmp_path):
    rows = [(f"u{n % 5}", f"i{n}", 4.0, "2000-01-01") for n in range(20)]
    users = pa.table({"user": [f"u{n}" for n in range(5)], "age": list(range(5))})
    done = []
    convert_to_shards(
        files_of(tmp_path, rows, 7), tmp_path / "s", 2, engine=Elsewhere(done=done), users=users
    )
    assert done == [
        *(("reading ratings", number) for number in (2, 1, 0)),
        *(("writing the partitions", number) for number in (1, 0)),
    ]
    found = open_shards(tmp_path / "s").attributes()
    assert found.column("age").to_pylist() == [0, 1, 2, 3, 4]


def test_dates_that_begin_otherwise_in_another_file_are_told_in_order(tmp_path):
    rows = [("a", "1", 4.0, None), ("b", "1", 3.0, "2000-01-01"), ("c", "1", 3.0, "20000101")]
    files = files_of(tmp_path, rows, 1)
    with pytest.raises(StarshadeError, match=r"part-002\.parquet, row 1: date '20000101'"):
        convert_to_shards(files, tmp_path / "s", engine=Elsewhere())


def test_what_is_finished_is_kept_by_an_engine(tmp_path):
    files = files_of(tmp_path, [("a", "1", 4.0, None), ("b", "1", 3.0, None)], 1)
    (tmp_path / "journal").mkdir()
    journal = Journal(tmp_path / "journal")
    convert_to_shards(files, tmp_path / "s", engine=Local(journal))
    answers = [journal.find(file.stem) for file in journal.folder.glob("*.npz")]
    assert sorted(map(sorted, answers)) == [["digest", "folder"], ["digest", "folder"], ["said"]]


class Dying(Local):
    """Dies before it hands over the last shard that is written."""

    def run(self, job, shards, tables):
        answers = super().run(job, shards, tables)
        for _ in range(len(shards) - (job.name == "writing the partitions")):
            yield next(answers)
        if job.name == "writing the partitions":
            raise KeyboardInterrupt


@pytest.mark.parametrize("how", ["error", "mean"])
def test_what_was_read_apart_is_gone_on_with(tmp_path, how):
    rows = [(f"u{n % 5}", f"i{n}", 1.0 + n % 5, "2000-01-01") for n in range(20)]
    rows += [("u4", "i4", 2.0, None)] * (how == "mean")
    files, options = files_of(tmp_path, rows, 7), {"on_duplicate": how}
    with pytest.raises(KeyboardInterrupt):
        convert_to_shards(files, tmp_path / "s", 3, engine=Dying(), **options)
    resumed = {"engine": Elsewhere(), "resume": True}
    convert_to_shards(files, tmp_path / "s", 3, **resumed, **options)
    assert_same(read_ratings(tmp_path / "s"), read_ratings(files, **options))
    assert sorted(tmp_path.iterdir()) == sorted([*files, tmp_path / "s"])


def test_a_row_that_repeats_is_named_after_a_kill_too(tmp_path):
    rows = [(f"u{n % 5}", f"i{n}", 4.0, None) for n in range(20)] + [("u4", "i4", 2.0, None)]
    files = files_of(tmp_path, rows, 7)
    with pytest.raises(KeyboardInterrupt):
        convert_to_shards(files, tmp_path / "s", 3, engine=Dying())
    with pytest.raises(StarshadeError, match=r"part-014\.parquet, row 7: .*, at .*part-000"):
        convert_to_shards(files, tmp_path / "s", 3, engine=Elsewhere(), resume=True)


@pytest.mark.parametrize("n", [1, 2])
def test_files_without_a_row_are_told(tmp_path, n):
    files = [tmp_path / f"{number}.parquet" for number in range(n)]
    for file in files:
        pq.write_table(pa.table({"user": [1], "item": [1], "rating": [1.0]}).slice(1), file)
    with pytest.raises(StarshadeError, match="it contains no ratings"):
        convert_to_shards(files, tmp_path / "s", engine=Elsewhere())
    assert sorted(tmp_path.iterdir()) == files


def test_nobody_is_told_the_keys_to_files_that_are_fetched(tmp_path):
    (file,) = files_of(tmp_path, [("a", "1", 4.0, None)], 1)
    table = LongTable(ParquetSource([Input(file, "f")]), {"user": "user"}, NullValues())
    assert len(table.parts()) == 1
    fetched = Remote(Bucket("s3://key:secret@bucket/f.parquet"), "bucket/f.parquet", "f", (1, None))
    table.source.files = (Input(file, "f", fetched),)
    assert table.parts() == []


def read_apart(folder, *counts):
    """Read files of so many rows each apart; every row is of another user."""
    folder.mkdir()
    numbers, files = iter(range(sum(counts))), []
    for place, count in enumerate(counts):
        users = [f"u{next(numbers)}" for _ in range(count)]
        columns = {"user": pa.array(users, pa.string()), "item": ["a"] * count}
        files.append(folder / f"{place}.parquet")
        pq.write_table(pa.table(columns | {"rating": [4.0] * count}), files[-1])
    source = ParquetSource([Input(file, file.name) for file in files])
    roles = {name: name for name in ("user", "item", "rating")}
    return runs_apart(LongTable(source, roles, NullValues()), None, folder / "runs", Local())


def test_files_without_a_row_among_others_are_read_apart_too(tmp_path):
    assert len(read_apart(tmp_path / "one", 3, 0, 2).runs) == 2
    assert stat.S_IMODE((tmp_path / "one" / "runs").stat().st_mode) == 0o700
    assert read_apart(tmp_path / "none", 0, 0) is None
    assert not (tmp_path / "none" / "runs").exists()


def test_the_rows_of_all_runs_are_counted(tmp_path):
    assert read_apart(tmp_path / "several", 7, 1, 4).n_rows == 12


def test_users_are_cut_into_ranges_of_as_many_rows(tmp_path):
    runs = read_apart(tmp_path / "two", 5, 3)
    assert len(runs.runs) == 2
    assert runs.cuts(4).sum(axis=1).tolist() == [0, 2, 4, 6, 8]
    assert runs.cuts(100).sum(axis=1).tolist() == [*range(9)]
