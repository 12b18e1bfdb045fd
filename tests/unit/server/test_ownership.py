"""Whose folder it is: what is not this studio's is refused, and left as it was."""

import os
import shutil
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from starshade.errors import OutputError
from starshade.server.jobs import database
from starshade.server.jobs.engine import sweep
from starshade.server.jobs.store import Store


def tree(folder):
    """Everything in a folder: names, modes, bytes."""
    found = {}
    for path in (folder, *folder.rglob("*")):
        status = path.lstat()
        found[str(path)] = (
            stat.S_IMODE(status.st_mode),
            path.read_bytes() if path.is_file() else None,
        )
    return found


def refused(folder):
    """Return why a folder was refused, having seen that nothing in it is changed."""
    before = tree(folder)
    with pytest.raises(OutputError) as error:
        Store(folder)
    assert tree(folder) == before
    assert "--work" in error.value.advice or "empty folder" in error.value.advice
    return error.value.message


@pytest.mark.parametrize(("said", "where"), [("link/../work", "far"), ("link/work", "far/deep")])
def test_the_folder_is_where_the_system_finds_it(tmp_path, monkeypatch, said, where):
    (tmp_path / "far" / "deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "far" / "deep")
    monkeypatch.chdir(tmp_path)
    with closing(Store(Path(said))) as store:
        assert store.work == tmp_path / where / "work"
        assert (tmp_path / where / "work" / "studio.sqlite").is_file()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["far", "link"]


def test_no_folder_is_made_to_go_up_from(tmp_path):
    with pytest.raises(OutputError, match="nope does not exist"):
        Store(tmp_path / "nope" / ".." / "work")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def folder(tmp_path):
    """A folder of a person, with names as a studio gives them."""
    place = tmp_path / "f"
    for name in ("data/7", "uploads/photos", "releases/3"):
        (place / name).mkdir(parents=True)
        (place / name / "mine").write_text("x")
    place.chmod(0o755)
    return place


@pytest.fixture
def used(tmp_path):
    """A folder that a studio worked in."""
    store = Store(tmp_path / "w")
    data = store.add_data("file", "a", "/a")
    job = store.add_job("release", data.id)
    store.finish(job.id, "done", result={})
    store.places.release(job.id).mkdir()
    (store.places.release(job.id) / "release.zip").write_text("x")
    store.close()
    return store.work


@pytest.mark.parametrize("tables", ["songs (title)", "data (id)", "job (id)"])
@pytest.mark.parametrize("version", [0, 1, 2])
def test_a_database_of_another_program_is_refused(folder, tables, version):
    db = sqlite3.connect(folder / "studio.sqlite")
    db.executescript(f"CREATE TABLE {tables}; PRAGMA user_version = {version};")
    db.close()
    assert "another program" in refused(folder)


def test_a_folder_of_an_earlier_studio_is_refused(folder):
    db = sqlite3.connect(folder / "studio.sqlite")
    db.executescript(
        "PRAGMA journal_mode = WAL; CREATE TABLE data (id); CREATE TABLE job (id);"
        "PRAGMA user_version = 1;"
    )
    db.close()
    (folder / "lock").write_text("")
    assert "an earlier version of starshade" in refused(folder)


def test_a_database_of_a_later_version_is_refused(used):
    db = sqlite3.connect(used / "studio.sqlite")
    db.executescript("PRAGMA journal_mode = DELETE; PRAGMA user_version = 99;")
    db.close()
    assert "later version" in refused(used)


@pytest.mark.parametrize("content", [b"no database" * 1000, b"SQLite format 3\0", b"x"])
def test_a_damaged_database_is_refused(folder, content):
    (folder / "studio.sqlite").write_bytes(content)
    assert "is damaged" in refused(folder)


def test_a_database_that_is_damaged_further_in_is_refused(used):
    file = used / "studio.sqlite"
    header = file.read_bytes()[:100]
    file.write_bytes(header + b"\xff" * (file.stat().st_size - 100))
    assert "is damaged" in refused(used)


def test_a_database_that_may_only_be_read_is_refused_at_once(used, monkeypatch):
    connect = sqlite3.connect  # which falls back to reading where the mode forbids more

    def reading(place, **options):
        return connect(place.replace("mode=rw", "mode=ro"), **options)

    monkeypatch.setattr(database.sqlite3, "connect", reading)
    with pytest.raises(OutputError, match="no permission"):
        Store(used)


def test_a_folder_instead_of_the_database_is_said(folder):
    (folder / "studio.sqlite").mkdir()
    assert "studio.sqlite: is not a file" in refused(folder)


@pytest.mark.parametrize("empty", [True, False])
def test_files_without_a_database_are_refused(used, empty):
    (used / "studio.sqlite").unlink()
    if empty:
        (used / "studio.sqlite").touch()
    assert "not this studio's" in refused(used)


def test_a_database_of_another_studio_is_refused(used, tmp_path):
    other = Store(tmp_path / "other")
    other.close()
    shutil.copy(other.work / "studio.sqlite", used / "studio.sqlite")
    assert "another studio than the files" in refused(used)


def test_a_folder_that_does_not_say_whose_it_is_is_refused(used):
    said = (used / "studio.id").read_text()
    (used / "studio.id").write_text("")
    assert "is empty" in refused(used)
    (used / "studio.id").unlink()
    assert "studio.id: is missing" in refused(used)
    (used / "studio.id").write_text(said)  # as advised
    Store(used).close()


def test_an_older_copy_of_the_database_is_refused(used):
    copy = (used / "studio.sqlite").read_bytes()
    store = Store(used)
    store.places.release(store.add_job("release", 1).id).mkdir()
    store.close()
    (used / "studio.sqlite").write_bytes(copy)
    assert "older than releases/2" in refused(used)


def test_a_copy_of_the_whole_folder_is_a_studio(used, tmp_path):
    shutil.copytree(used, tmp_path / "copy")
    store = Store(tmp_path / "copy")
    sweep(store)
    assert [data.name for data in store.all_data()] == ["a"]
    assert (store.work / "releases" / "1" / "release.zip").exists()
    store.close()


def test_what_a_kill_leaves_of_the_first_moments_is_taken_up(tmp_path):
    work = tmp_path / "w"
    work.mkdir()
    (work / "studio.id").write_text("half")
    (work / "studio.sqlite.part").write_bytes(b"half")
    store = Store(work)
    assert not (work / "studio.sqlite.part").exists()
    store.close()
    Store(work).close()


def test_only_the_owner_may_read_the_database_and_what_lies_beside_it(tmp_path):
    before = os.umask(0)
    try:
        store = Store(tmp_path / "w")
        store.add_data("file", "a", "/a")
        files = {
            path.name: stat.S_IMODE(path.stat().st_mode) for path in store.work.glob("studio.*")
        }
    finally:
        os.umask(before)
    store.close()
    assert files == dict.fromkeys(
        ["studio.id", "studio.sqlite", "studio.sqlite-shm", "studio.sqlite-wal"], 0o600
    )
