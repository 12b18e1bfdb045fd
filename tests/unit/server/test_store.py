import errno
import os
import shutil
import stat
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

from starshade.errors import ConfigError, OutputError
from starshade.server.jobs.store import Step, Store


@pytest.fixture
def store(tmp_path):
    opened = Store(tmp_path / "work")
    yield opened
    opened.close()


def test_what_was_added_is_there_after_closing(store):
    data = store.add_data("file", "<b>mine</b>", "/some/ratings.csv", {"wide": True})
    job = store.add_job("attack", data.id, {"attack": "label"})
    store.close()
    again = Store(store.work)
    assert again.all_data() == (data,)
    assert again.jobs() == (job,)
    assert (data.options, job.settings, job.state) == (
        {"wide": True},
        {"attack": "label"},
        "queued",
    )
    again.close()


def test_only_the_owner_may_look_into_the_folder(store):
    assert stat.S_IMODE(os.stat(store.work).st_mode) == 0o700


def test_jobs_wait_in_the_order_in_which_they_came(store):
    data = store.add_data("synthetic", "made up", "survey")
    first, second = (store.add_job("read", data.id) for _ in range(2))
    assert store.next_job() == first
    assert store.begin(first.id)
    assert not store.begin(first.id)  # it waits no longer
    assert store.next_job() == second
    assert [job.id for job in store.jobs()] == [second.id, first.id]
    assert store.jobs(data.id + 1) == ()


def test_a_job_is_finished_once(store):
    data = store.add_data("synthetic", "made up", "survey")
    job = store.add_job("attack", data.id)
    store.begin(job.id)
    assert store.finish(job.id, "cancelled")
    assert not store.finish(job.id, "done", result={"late": 1})
    ended = store.job(job.id)
    assert (ended.state, ended.result, ended.ended) == ("cancelled", None, True)
    assert ended.started is not None
    assert ended.finished >= ended.started >= ended.created


def test_a_reading_changes_facts_and_options_with_its_row(store):
    data = store.add_data("file", "mine", "/a.csv", {"wide": True})
    as_before = store.add_job("read", data.id)
    store.finish(as_before.id, "done", result={}, facts={"users": 3})
    assert (store.data(data.id).options, store.data(data.id).facts) == (
        {"wide": True},
        {"users": 3},
    )
    other = store.add_job("read", data.id, {"scale": "1:5:1"})
    assert store.data(data.id).options == {"wide": True}  # not before it was read so
    store.finish(other.id, "done", result={}, facts={"users": 4})
    assert (store.data(data.id).options, store.data(data.id).facts) == (
        {"scale": "1:5:1"},
        {"users": 4},
    )


def test_progress_is_shown_at_once_and_kept_at_the_end(store):
    data = store.add_data("synthetic", "made up", "survey")
    job = store.add_job("attack", data.id)
    store.begin(job.id)
    store.report(job.id, [Step("opening", 1, 1, 0.5, True), Step("attacking", 3, 12, 2.0)], ["hm"])
    opening, attacking = store.job(job.id).progress
    assert opening == Step("opening", 1, 1, 0.5, True)
    assert attacking.seconds >= 2.0
    assert attacking.seconds_left == pytest.approx(attacking.seconds * 3)
    store.finish(job.id, "failed", error="no", advice="yes")
    ended = store.job(job.id)
    assert [step.over for step in ended.progress] == [True, True]
    assert (ended.notes, ended.error, ended.advice) == (("hm",), "no", "yes")
    assert ended.progress[1].seconds_left is None


def test_ids_are_never_given_twice(store):
    first = store.add_data("file", "a", "/a")
    job = store.add_job("read", first.id)
    store.finish(job.id, "cancelled")
    store.remove_data(first.id)
    second = store.add_data("file", "b", "/b")
    assert second.id > first.id
    assert store.add_job("read", second.id).id > job.id
    with pytest.raises(ConfigError, match="does not exist"):
        store.job(job.id)


def test_removing_data_removes_what_was_made_of_it_and_nothing_else(store):
    keep, gone = (store.add_data("file", name, "/a") for name in "ab")
    kept = []
    for data in (keep, gone):
        job = store.add_job("release", data.id)
        store.finish(job.id, "done", result={})
        for folder in (store.places.data(data.id), store.places.release(job.id)):
            folder.mkdir(parents=True)
            (folder / "file").write_text("x")
            kept += [folder] if data is keep else []
    store.remove_data(gone.id)
    left = [path.parent for path in store.work.rglob("file")]
    assert sorted(left) == sorted(kept)
    assert [data.id for data in store.all_data()] == [keep.id]
    assert {job.data_id for job in store.jobs()} == {keep.id}


def test_data_that_are_worked_on_are_not_removed(store):
    data = store.add_data("file", "a", "/a")
    job = store.add_job("read", data.id)
    with pytest.raises(ConfigError, match="unfinished jobs"):
        store.remove_data(data.id)
    store.begin(job.id)
    with pytest.raises(ConfigError, match="unfinished jobs"):
        store.remove_data(data.id)
    assert store.job(job.id).state == "running"


def test_an_upload_takes_its_place_with_its_row(store):
    part = store.work / "uploads" / "part-x"
    part.write_text("1,2,3")
    data = store.add_upload("my ratings.csv", "my_ratings.csv", part)
    assert (data.kind, data.name, data.source) == ("upload", "my ratings.csv", "my_ratings.csv")
    assert (store.places.upload(data.id) / data.source).read_text() == "1,2,3"
    assert not part.exists()


def test_an_upload_that_cannot_be_written_down_stays_where_it_is(store):
    missing = store.work / "uploads" / "gone.part"
    with pytest.raises(OutputError):
        store.add_upload("a", "a.csv", missing)
    assert store.all_data() == ()
    assert list((store.work / "uploads").iterdir()) == []


def test_two_studios_in_one_folder_are_refused(store):
    with pytest.raises(OutputError, match="another studio uses") as refused:
        Store(store.work)
    assert "--work" in refused.value.advice
    data = store.add_data("file", "a", "/a")  # the first one goes on
    assert store.all_data() == (data,)


def test_a_folder_with_other_files_is_refused_and_left_alone(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "7").mkdir()
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(OutputError, match="not this studio's"):
        Store(tmp_path)
    (tmp_path / "thesis.tex").unlink()
    with pytest.raises(OutputError, match="not this studio's") as refused:  # data/7 is not ours
        Store(tmp_path)
    assert "studio.sqlite, which lists them, is missing" in refused.value.advice
    assert (tmp_path / "data" / "7").is_dir()


def test_a_file_where_the_folder_should_be_is_refused(tmp_path):
    (tmp_path / "work").write_text("x")
    with pytest.raises(OutputError):
        Store(tmp_path / "work")


def test_a_folder_inside_a_release_is_refused(tmp_path):
    for name in ("release.json", "cells.parquet"):
        (tmp_path / name).write_text("{}")
    with pytest.raises(OutputError, match="inside the release"):
        Store(tmp_path / "work")
    assert not (tmp_path / "work").exists()


@pytest.mark.parametrize("anew", [False, True])
def test_no_work_is_taken_in_a_folder_that_was_removed(store, anew):
    data = store.add_data("file", "a", "/a")
    shutil.rmtree(store.work)
    if anew:
        store.work.mkdir()
        (store.work / "studio.sqlite").touch()
    for work in (
        store.ensure_there,
        lambda: store.add_data("file", "b", "/b"),
        lambda: store.add_job("read", data.id),
        lambda: store.remove_data(data.id),
    ):
        with pytest.raises(OutputError, match="removed or replaced"):
            work()
    store._database._idle.pop().close()
    with pytest.raises(OutputError, match="removed or replaced"):
        store.data(data.id)


def test_of_deleted_data_nothing_stays_on_the_disk(store):
    data = store.add_data("file", "NAME-OF-IT", "/a/SOURCE-OF-IT")
    job = store.add_job("attack", data.id, {"seed": 1})
    store.finish(job.id, "done", result={"text": "RESULT-OF-IT" * 1000})
    other = store.add_data("file", "other", "/b")
    store.remove_data(data.id)
    for file in store.work.glob("studio.sqlite*"):
        assert b"-OF-IT" not in file.read_bytes(), file.name
    assert store.all_data() == (other,)


def test_data_can_be_deleted_on_a_full_disk(store, monkeypatch):
    data = store.add_data("file", "a", "/a")
    store.places.data(data.id).mkdir()
    write = store._database.write

    @contextmanager
    def full():
        with write() as db:
            yield db
            if store.places.data(data.id).exists():
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(store._database, "write", full)
    store.remove_data(data.id)
    assert store.all_data() == ()


def test_reading_does_not_wait_for_a_write(store):
    data = store.add_data("file", "a", "/a")
    seen = []
    with store._database.write() as db:
        db.execute("UPDATE data SET name = 'b'")
        reader = threading.Thread(target=lambda: seen.append(store.data(data.id).name))
        reader.start()
        reader.join(5)
        assert not reader.is_alive()
    assert seen == ["a"]
    assert store.data(data.id).name == "b"
    assert store._database.rows("PRAGMA journal_mode")[0][0] == "wal"


def test_what_json_does_not_know_is_not_written(store):
    data = store.add_data("file", "a", "/a")
    job = store.add_job("attack", data.id)
    with pytest.raises(ValueError, match="JSON"):
        store.finish(job.id, "done", result={"rate": float("nan")})
    assert store.job(job.id).state == "queued"


def test_a_full_disk_is_said_in_words_and_loses_nothing(store):
    data = store.add_data("file", "a", "/a")
    (connection,) = store._database._idle
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(OutputError, match="no space left"):
        store.add_job("attack", data.id, {"long": "x" * 100_000})
    assert store.jobs() == ()
    connection.execute(f"PRAGMA max_page_count = {pages + 1000}")
    job = store.add_job("attack", data.id, {"long": "x" * 100_000})
    assert store.job(job.id).settings == {"long": "x" * 100_000}


def test_threads_that_come_and_go_leave_nothing_open(store):
    data = store.add_data("file", "a", "/a")
    for _ in range(20):
        thread = threading.Thread(target=store.data, args=(data.id,))
        thread.start()
        thread.join()
    assert len(store._database._idle) == 1


def test_many_threads_add_jobs_at_once(store):
    data = store.add_data("file", "a", "/a")

    def add():
        for _ in range(20):
            store.add_job("attack", data.id)
            store.jobs()

    threads = [threading.Thread(target=add) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(store.jobs()) == 160
    taken = []
    while job := store.next_job():
        assert store.begin(job.id)
        taken.append(job.id)
    assert taken == sorted(set(taken))
    assert len(taken) == 160


def test_paths_are_absolute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = Store(Path("work"))
    assert store.work == tmp_path / "work"
    store.close()
