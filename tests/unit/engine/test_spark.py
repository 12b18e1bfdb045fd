"""Jobs handed over to workers, with a stand-in for Spark: what it sends, and what comes back."""

from __future__ import annotations

import errno
import os
import sys
from time import sleep
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from starshade import errors
from starshade.engine import executor
from starshade.engine.executor import hand_over, work_on
from starshade.engine.job import Job
from starshade.engine.journal import Journal, journal_in
from starshade.engine.local import Local
from starshade.engine.spark import Spark
from starshade.naming import speak
from starshade.progress import watch
from starshade.spark.store import _rows_into
from tests.unit.engine.test_local import Notes, Shards, times


class Frame:
    def __init__(self, numbers, work=None):
        self.numbers, self.work = numbers, work

    def mapInArrow(self, work, schema):  # noqa: N802 - as Spark has it
        assert schema == "told string"
        return Frame(self.numbers, work)

    def collect(self):
        batches = (pa.RecordBatch.from_pydict({"id": [number]}) for number in self.numbers)
        return [
            SimpleNamespace(told=told)
            for batch in self.work(batches)
            for told in batch.column(0).to_pylist()
        ]


class Session:
    """Does in this process what Spark has executors do; `fails`: what it says instead."""

    def __init__(self, fails=None):
        self.fails, self.asked, self.tags = fails, [], set()

    def range(self, start, end, step, parts):
        assert (start, step, parts) == (0, 1, end)
        if self.fails is not None:
            raise self.fails
        self.asked.append(end)
        return Frame(range(end))

    def addTag(self, tag):  # noqa: N802
        self.tags.add(tag)

    def removeTag(self, tag):  # noqa: N802
        self.tags.remove(tag)

    def interruptTag(self, tag):  # noqa: N802
        raise AssertionError


@pytest.fixture(autouse=True)
def pyspark(monkeypatch):
    context = SimpleNamespace(cpus=lambda: 1)
    task = SimpleNamespace(get=lambda: context)
    monkeypatch.setitem(sys.modules, "pyspark", SimpleNamespace(TaskContext=task))
    executor._read.cache_clear()


@pytest.fixture
def journal(tmp_path):
    with journal_in(tmp_path, resume=False) as found:
        yield found


def told(answers):
    return [{name: column.tolist() for name, column in answer.items()} for answer in answers]


JOB = Job("multiplying", times, {"by": 3})
PARTS = Shards(np.arange(4), np.arange(2), np.arange(0))
TABLES = {"add": np.array([7])}


def refused(shard, first, settings, tables):
    raise errors.OutputError("no", advice="yes", setting="out")


def unmet(shard, first, settings, tables):
    raise errors.UnmetError("of no use", advice="try another")


def full(shard, first, settings, tables):
    raise MemoryError


def fills(shard, first, settings, tables):
    raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))


def spell(setting, value):
    return f"<{setting}>"


def test_it_answers_as_local_does(journal):
    session = Session()
    found = told(Spark(session, journal).run(JOB, PARTS, TABLES))
    assert found == told(Local().run(JOB, PARTS, TABLES))
    assert session.asked == [3]
    assert not session.tags


def test_only_what_is_left_is_asked(journal):
    list(Local(journal).run(JOB, PARTS, TABLES))
    next(journal.folder.glob("*.npz")).unlink()
    session = Session()
    assert told(Spark(session, journal).run(JOB, PARTS, TABLES)) == told(
        Local().run(JOB, PARTS, TABLES)
    )
    assert session.asked == [1]
    again = Session()
    list(Spark(again, journal).run(JOB, PARTS, TABLES))
    assert again.asked == []


@pytest.mark.parametrize(
    ("work", "kind", "said"),
    [
        (refused, errors.OutputError, ("no", "yes", "out")),
        (unmet, errors.UnmetError, ("of no use", "try another", None)),
    ],
)
def test_an_error_there_is_that_error_here(journal, work, kind, said):
    with pytest.raises(kind) as caught:
        list(Spark(Session(), journal).run(Job("failing", work), PARTS, {}))
    assert type(caught.value) is kind
    assert tuple(vars(caught.value).values()) == said


def test_who_lacks_memory_is_told_what_to_set(journal):
    with pytest.raises(errors.EngineError, match=r"spark\.executor\.memoryOverhead"):
        list(Spark(Session(), journal).run(Job("full", full), PARTS, {}))


@pytest.mark.parametrize(
    ("said", "kind", "words"),
    [
        ("Job aborted: ExecutorLostFailure (executor 1 exited)", errors.EngineError, "executor"),
        ("Python worker exited unexpectedly (crashed)", errors.EngineError, "too little memory"),
        ("[PYTHON_VERSION_MISMATCH] 3.11 and 3.12", errors.EngineError, "another Python"),
        (
            "ModuleNotFoundError: No module named 'pyarrow'",
            errors.EngineError,
            "lack the module pyarrow",
        ),
        ("KeyError: 'x'", errors.InternalError, "KeyError"),
    ],
)
def test_what_spark_gives_up_is_said_in_words(journal, said, kind, words):
    with pytest.raises(kind, match=words):
        list(Spark(Session(RuntimeError(said)), journal).run(JOB, PARTS, TABLES))


def test_another_version_and_none_are_told(journal, monkeypatch):
    monkeypatch.setattr(executor, "__version__", "0.0.1")
    with pytest.raises(
        errors.EngineError, match=r"executors have starshade 0\.0\.1; this machine has"
    ):
        list(Spark(Session(), journal).run(JOB, PARTS, TABLES))
    monkeypatch.setitem(sys.modules, "starshade.engine.executor", None)
    with pytest.raises(errors.EngineError, match="executors have no starshade"):
        list(Spark(Session(), journal).run(JOB, PARTS, TABLES))


def test_who_cannot_load_it_says_why(journal, monkeypatch):
    monkeypatch.setitem(sys.modules, "starshade.engine.executor", object())
    with pytest.raises(errors.EngineError, match="cannot load starshade: ImportError"):
        list(Spark(Session(), journal).run(JOB, PARTS, TABLES))


def test_a_folder_that_executors_do_not_see_is_named(journal, monkeypatch):
    real = os.access
    monkeypatch.setattr(
        os, "access", lambda path, how: "journal" not in str(path) and real(path, how)
    )
    with pytest.raises(errors.EngineError, match="cannot read and write this folder"):
        list(Spark(Session(), journal).run(JOB, PARTS, TABLES))


@pytest.mark.parametrize("busy", [True, False])
def test_nobody_who_begins_is_told(journal, monkeypatch, tmp_path, busy):
    """Told once, and only where no executor is at work."""
    monkeypatch.setattr("starshade.engine.spark.PATIENCE", 0)
    monkeypatch.setattr("starshade.engine.spark._POLL", 0.01)
    watcher = Notes()

    class Slow(Session):
        def range(self, *args):
            if busy:
                (begun,) = (f"{tag}.part" for tag in self.tags)
                (journal.folder / begun).touch()
            sleep(0.3)
            return super().range(*args)

    with watch(watcher):
        assert told(Spark(Slow(), journal).run(JOB, PARTS, TABLES)) == told(
            Local().run(JOB, PARTS, TABLES)
        )
    assert len([note for note in watcher.said if "no executor has started" in note]) == (not busy)


def test_nowhere_to_leave_answers_is_refused():
    with pytest.raises(errors.ConfigError, match="the store cannot be written to"):
        Spark(Session(), Journal(None))


def test_answers_that_are_not_seen_here_are_told(journal, monkeypatch):
    monkeypatch.setattr(Journal, "keep", lambda *_: None)  # into a folder of the same name
    monkeypatch.setattr("starshade.engine.spark._POLL", 0)
    with pytest.raises(errors.EngineError, match="find their own files"):
        list(Spark(Session(), journal).run(JOB, PARTS, TABLES))


def test_a_full_disk_there_is_told_in_this_doors_words(journal, monkeypatch):
    def no_room(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    files = {
        name: hand_over(journal, part)
        for name, part in zip(
            executor.HANDED_OVER, (PARTS, JOB, TABLES, (spell, ", ")), strict=True
        )
    }
    asked = {"folder": str(journal.folder), "key": journal.key, "begun": "b", **files}
    asked["version"] = executor.__version__
    monkeypatch.setattr(os, "fsync", no_room)
    with speak(lambda setting, value: "not asked"):
        found = work_on(0, {**asked, "memory": None, "threads": None})
    assert found["error"] == "OutputError"
    assert "<resume>" in found["advice"]
    assert not list(journal.folder.glob("*.npz"))


def test_a_disk_that_fills_while_an_executor_writes_is_told(journal, tmp_path):
    with pytest.raises(
        errors.OutputError, match=f"^{tmp_path}: no space left for the results of executors"
    ):
        list(Spark(Session(), journal).run(Job("a", fills), PARTS, TABLES))


def test_rows_are_left_nowhere_but_in_the_folder(tmp_path, monkeypatch):
    context = SimpleNamespace(partitionId=lambda: 3)
    monkeypatch.setattr(sys.modules["pyspark"].TaskContext, "get", lambda: context)
    batch = pa.RecordBatch.from_pydict({"user": ["a", "b"]})
    (unseen,) = _rows_into(str(tmp_path / "gone"))([batch])
    assert unseen.to_pydict() == {"file": [""], "rows": [-1]}
    assert not list(tmp_path.iterdir())
    (told,) = _rows_into(str(tmp_path))([batch, batch])
    (file,) = tmp_path.iterdir()
    assert told.to_pydict() == {"file": [file.name], "rows": [4]}
    assert pq.read_table(file).column("user").to_pylist() == ["a", "b", "a", "b"]
