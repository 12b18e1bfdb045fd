"""The studio's engine with its real worker process: every kind of job, and ways to fail."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from starshade.release.folder.read import read_release
from starshade.server.jobs.engine import Engine
from starshade.server.jobs.store import DataRow, JobKind, JobRow, Store
from tests.policies import NO_LIMITS

_PATIENCE = 120.0
#: takes minutes, if it is let
_ENDLESS = {"like": "netflix", "n_users": 100_000, "n_ratings": 20_000_000, "seed": 1}


def wait_for(what: Callable[[], Any]) -> Any:
    """Return the first answer that is true."""
    until = time.monotonic() + _PATIENCE
    while not (found := what()):
        assert time.monotonic() < until, "it does not come"
        time.sleep(0.02)
    return found


@dataclass
class Studio:
    """A store and its engine."""

    store: Store
    engine: Engine

    def begin(self, kind: JobKind, data: DataRow, settings: dict[str, Any] | None = None) -> JobRow:
        """Add a job."""
        job = self.store.add_job(kind, data.id, settings)
        self.engine.wake()
        return job

    def do(self, kind: JobKind, data: DataRow, settings: dict[str, Any] | None = None) -> JobRow:
        """Have a job done; return it as it ended."""
        job = self.begin(kind, data, settings)
        return wait_for(lambda: (row := self.store.job(job.id)).ended and row)

    def endless(self) -> JobRow:
        """Return a job that runs, and says so, and will for long."""
        data = self.store.add_data("synthetic", "endless", "netflix", _ENDLESS)
        job = self.begin("read", data)
        found = wait_for(lambda: (row := self.store.job(job.id)).progress or (row.ended and row))
        assert not isinstance(found, JobRow), found
        return self.store.job(job.id)

    def made_up(self) -> DataRow:
        """Return made-up ratings of a few people, read."""
        options = {"like": "movielens-100k", "n_users": 150, "n_items": 60, "seed": 1}
        data = self.store.add_data("synthetic", "made up", "movielens-100k", options)
        assert self.do("read", data).error is None
        return self.store.data(data.id)


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    store = Store(tmp_path_factory.mktemp("studio") / "work")
    engine = Engine(store)
    engine.start()
    yield Studio(store, engine)
    engine.close()
    store.close()


@pytest.fixture(scope="module")
def data(studio: Studio, ratings_csv: Path) -> DataRow:
    row = studio.store.add_data("file", "ratings", str(ratings_csv))
    assert studio.do("read", row).error is None
    return studio.store.data(row.id)


def test_reading_says_what_was_taken_for_what(studio: Studio, data: DataRow) -> None:
    assert data.facts is not None
    assert (data.facts["users"], data.facts["items"]) == (120, 15)
    assert data.facts["mapping"]["user"] == "userId"
    (job,) = studio.store.jobs(data.id)
    assert (job.state, job.result) == ("done", data.facts)
    assert "userId" in job.notes[0]
    assert [step.label for step in job.progress][-1] == "storing the ratings"
    assert all(step.over for step in job.progress)


def test_reading_again_replaces_what_was_read(studio: Studio, ratings_csv: Path) -> None:
    row = studio.store.add_data("file", "twice", str(ratings_csv))
    first = studio.do("read", row)
    second = studio.do("read", row, {"scale": "1:10:1"})
    read = studio.store.data(row.id)
    assert read.facts is not None
    assert (read.facts["scale"]["max"], read.options) == (10, {"scale": "1:10:1"})
    wrong = studio.do("read", row, {"user_col": "nobody"})
    assert wrong.state == "failed"
    assert "nobody" in str(wrong.error)
    assert studio.store.data(row.id) == read
    kept = [path.name for path in studio.store.places.data(row.id).iterdir()]
    assert (first.state, kept) == ("done", [str(second.id)])


def test_an_upload_is_read_where_it_lies(studio: Studio, ratings_csv: Path) -> None:
    part = studio.store.work / "uploads" / "x.part"
    part.write_bytes(ratings_csv.read_bytes())
    row = studio.store.add_upload("mine.csv", "mine.csv", part)
    assert studio.do("read", row).state == "done"
    assert (studio.store.data(row.id).facts or {})["users"] == 120


def test_an_upload_that_is_no_ratings_file_is_refused_in_words(studio: Studio) -> None:
    part = studio.store.work / "uploads" / "x.part"
    part.write_bytes(b"%PDF-1.7\n" + os.urandom(5000))
    job = studio.do("read", studio.store.add_upload("cv.pdf", "cv.pdf", part))
    assert (job.state, job.result) == ("failed", None)
    assert job.error
    assert job.advice
    assert "internal" not in job.error


def test_an_attack(studio: Studio, data: DataRow) -> None:
    asked = {"attack": "label", "knowledge": {"known": 3}, "targets": 50, "seed": 1}
    job = studio.do("attack", data, asked)
    assert job.result is not None, job
    assert (job.result["attack"], job.result["targets"]) == ("label", 50)
    assert job.result["text"]
    again = studio.do("attack", data, asked)
    assert again.result is not None
    assert again.result["expected_top1"] == job.result["expected_top1"]


@pytest.mark.parametrize(
    ("kind", "settings", "error", "setting"),
    [
        ("attack", {"attack": "burglary"}, "unknown", None),
        ("attack", {"knowledge": {"known": 500}}, "no people to attack", "known"),
        (
            "attack",
            {"knowledge": {"known": "few"}},
            "Known.* = 'few': must be a whole number",
            "known",
        ),
        ("attack", {"colour": "red"}, "no setting 'colour'", None),
        ("compare", {"methods": ["k-likeness"], "k": [1]}, "Values of k", "k"),
        ("compare", {"items": "top:99"}, "15 items", "items"),
        ("release", {"config": {}}, "k is missing", "k"),
        ("release", {"config": {"k": 5000}}, "5,?000", "k"),
        ("release", {"config": {"k": 5000}, "known": [99]}, "per target” 99", "known"),  # at once
    ],
)
def test_what_cannot_be_done_is_kept_in_words(
    studio: Studio,
    data: DataRow,
    kind: JobKind,
    settings: dict[str, Any],
    error: str,
    setting: str | None,
) -> None:
    job = studio.do(kind, data, settings)
    at = None if setting is None else {"setting": setting}
    assert (job.state, job.result) == ("failed", at)
    assert job.error is not None
    assert re.search(error, job.error)
    assert not studio.store.places.release(job.id).exists()


def test_advice_is_in_the_words_of_the_form(studio: Studio, data: DataRow, tmp_path: Path) -> None:
    job = studio.do("attack", data, {"knowledge": {"known": 500}})
    fields = "“Known ratings per target”, or “Exclude the most rated items”"
    assert job.advice == f"Lower {fields}."
    odd = tmp_path / "odd.csv"
    odd.write_text("alpha,beta,gamma\n1,1,5\n1,2,4\n")
    job = studio.do("read", studio.store.add_data("file", "odd", str(odd)))
    assert job.advice == (
        "Name the user, item, rating column (“Column of the users”, “Column of the items”, "
        "“Column of the ratings”)."
    )


def test_data_that_were_not_read_are_not_attacked(studio: Studio) -> None:
    job = studio.do("attack", studio.store.add_data("file", "unread", "/nowhere"))
    assert (job.state, job.error) == ("failed", "these data are not read yet")


def test_a_comparison_has_rows_and_a_chart(studio: Studio, data: DataRow) -> None:
    asked = {"methods": ["k-likeness"], "k": [2, 4], "items": "top:8", "targets": 50, "seed": 1}
    job = studio.do("compare", data, asked)
    assert job.result is not None, job
    assert [(row["method"], row["k"]) for row in job.result["rows"]] == [
        ("k-likeness", 2),
        ("k-likeness", 4),
    ]
    assert any(row["frontier"] for row in job.result["rows"])
    assert "vega-lite" in job.result["chart"]["$schema"]


@pytest.fixture(scope="module")
def released(studio: Studio, data: DataRow) -> JobRow:
    pytest.importorskip("vl_convert", reason="pip install 'starshade[report]'")
    asked = {"method": "k-likeness", "config": {"k": 4}, "items": "top:8", "targets": 50, "seed": 1}
    thresholds = [f"{name}={value}" for name, value in NO_LIMITS.items()]
    job = studio.do("release", data, {**asked, "known": [2], "threshold": thresholds})
    assert job.result is not None, job
    return job


def test_a_release_comes_with_its_verdict(released: JobRow) -> None:
    assert released.result is not None
    assert (released.result["k"], released.result["seed"]) == (4, 1)
    assert released.result["method"]["name"] == "k-likeness"
    assert released.result["passed"]
    assert all(f["passed"] for f in released.result["findings"])
    headline = released.result["verdict"]["headline"]
    assert headline.startswith("PASS (7 checks without effective threshold): policy partner v1")


def test_a_release_that_does_not_pass_has_no_public_report(studio: Studio, data: DataRow) -> None:
    pytest.importorskip("vl_convert", reason="pip install 'starshade[report]'")
    asked = {"method": "k-likeness", "config": {"k": 4}, "items": "top:8", "targets": 20}
    job = studio.do("release", data, {**asked, "shadows": 0, "seed": 1})
    assert job.result is not None, job
    assert not job.result["passed"]
    assert job.result["verdict"]["headline"] == "FAIL: policy partner v1"
    names = {path.name for path in studio.store.places.release(job.id).iterdir()}
    assert "report.html" in names
    assert "report-public.html" not in names


def test_a_release_is_whole_with_receipt_reports_and_zip(
    studio: Studio, released: JobRow, tmp_path: Path
) -> None:
    folder = studio.store.places.release(released.id)
    assert sorted(path.name for path in folder.iterdir()) == [
        "at-risk.csv",
        "receipt.json",
        "release",
        "release.zip",
        "report-public.html",
        "report.html",
    ]
    assert read_release(folder / "release", private=folder / "receipt.json").private is not None
    with zipfile.ZipFile(folder / "release.zip") as archive:
        archive.extractall(tmp_path)
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    unpacked = {path.name: path.read_bytes() for path in (tmp_path / "release").iterdir()}
    assert unpacked == {path.name: path.read_bytes() for path in (folder / "release").iterdir()}
    read_release(tmp_path / "release")
    for edition in ("report.html", "report-public.html"):
        assert "<h1" in (folder / edition).read_text()


def test_what_pages_say_of_a_release_names_no_path(studio: Studio, released: JobRow) -> None:
    assert str(studio.store.work) not in json.dumps([released.result, released.notes])


def test_a_running_job_is_cancelled_at_once(studio: Studio, data: DataRow) -> None:
    running = studio.endless()
    waiting = studio.begin("attack", data, {"targets": 10})
    killed = studio.engine.worker_pid
    ended = studio.engine.cancel(running.id)  # it would never end by itself
    assert (ended.state, ended.error) == ("cancelled", None)
    after = wait_for(lambda: (row := studio.store.job(waiting.id)).ended and row)
    assert after.state == "done"  # the next one is not held up, by another worker
    assert studio.engine.worker_pid not in (killed, None)
    assert not list(studio.store.places.scratch.iterdir())
    assert studio.engine.cancel(running.id) == ended
    assert studio.engine.cancel(after.id) == after  # what is done stays done


def test_a_waiting_job_is_cancelled_without_harm_to_others(studio: Studio, data: DataRow) -> None:
    running = studio.endless()
    waiting = studio.begin("attack", data)
    assert studio.engine.cancel(waiting.id).state == "cancelled"
    assert studio.store.job(running.id).state == "running"
    assert studio.engine.cancel(running.id).state == "cancelled"
    assert studio.store.job(waiting.id).started is None


def test_a_worker_that_the_system_kills_is_explained_and_replaced(
    studio: Studio, data: DataRow
) -> None:
    running = studio.endless()
    assert studio.engine.worker_pid is not None
    os.kill(studio.engine.worker_pid, signal.SIGKILL)  # as the kernel does without memory
    ended = wait_for(lambda: (row := studio.store.job(running.id)).ended and row)
    assert ended.state == "failed"
    assert "memory" in str(ended.error)
    assert "top:100" in str(ended.advice)
    assert studio.do("attack", data, {"targets": 10}).state == "done"


def test_a_worker_that_breaks_down_is_our_bug(studio: Studio, data: DataRow) -> None:
    running = studio.endless()
    assert studio.engine.worker_pid is not None
    os.kill(studio.engine.worker_pid, signal.SIGSEGV)
    ended = wait_for(lambda: (row := studio.store.job(running.id)).ended and row)
    assert (ended.state, "signal 11" in str(ended.error)) == ("failed", True)
    assert "report" in str(ended.advice)


def test_the_worker_is_the_first_to_go_and_gives_way(studio: Studio) -> None:
    pid = wait_for(lambda: studio.engine.worker_pid)
    score = Path(f"/proc/{pid}/oom_score_adj")
    if not score.exists():
        pytest.skip("the system does not tell")
    wait_for(lambda: score.read_text().strip() == "800")
    assert os.getpriority(os.PRIO_PROCESS, pid) > os.getpriority(os.PRIO_PROCESS, 0)


def test_temporary_files_lie_in_the_work_folder_where_only_the_owner_looks(tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()
    code = """
import os, sys, tempfile
from pathlib import Path
from starshade.server.tasks.worker import _settle_in
_settle_in(Path(sys.argv[1]))
folder, (_, file) = tempfile.mkdtemp(), tempfile.mkstemp()
print(folder, file, os.environ["TMPDIR"], oct(os.umask(0)))
"""
    command = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    *places, umask = done.stdout.split()
    assert all(Path(place).is_relative_to(tmp_path / "scratch") for place in places)
    assert umask == "0o77"


def test_closing_interrupts_and_the_next_start_goes_on(tmp_path: Path) -> None:
    store = Store(tmp_path / "work")
    first = Studio(store, Engine(store))
    first.engine.start()
    running = first.endless()
    waiting = first.begin("read", first.store.add_data("synthetic", "s", "survey", {"n_users": 50}))
    first.engine.close()
    assert store.job(running.id).state == "interrupted"
    assert "Run it again" in str(store.job(running.id).advice)
    assert store.job(waiting.id).state == "queued"
    store.close()

    store = Store(tmp_path / "work")
    engine = Engine(store)
    engine.start()
    wait_for(lambda: store.job(waiting.id).ended)
    assert store.job(waiting.id).state == "done"
    assert store.job(running.id).state == "interrupted"
    engine.close()
    store.close()


def test_the_server_process_never_loads_the_kernels(tmp_path: Path) -> None:
    code = """
import sys
import starshade.server.jobs.engine, starshade.server.jobs.store
heavy = {"numba", "numpy", "duckdb", "pyarrow", "scipy", "pydantic"} & sys.modules.keys()
sys.exit(f"loaded: {heavy}" if heavy else 0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
