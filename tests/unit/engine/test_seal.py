"""What is found in a folder that others could have written is believed only where it is sealed."""

from __future__ import annotations

import gc
import os
import pickle
import stat
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from starshade import errors
from starshade.engine import executor, seal
from starshade.engine.executor import hand_over, work_on
from starshade.engine.files import Desks, left_in
from starshade.engine.job import Job
from starshade.engine.journal import Journal, journal_in
from starshade.engine.local import Local
from starshade.kernels import warm
from starshade.ratings.places.done import Done
from tests.house.floors import SRC
from tests.unit.engine.test_local import JOB, TABLES, Shards, Stopped, many, pairs, some


@pytest.fixture(autouse=True)
def state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path_factory.mktemp("state")
    monkeypatch.setenv("XDG_STATE_HOME", str(place))
    return place


class Bomb:
    """Runs code where it is unpickled."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.place),)


def left(tmp_path: Path, stop: int = 3) -> Path:
    """Return the journal of a run that stopped."""
    with pytest.raises(Stopped):
        some(tmp_path, resume=False, stop=stop)
    (journal,) = tmp_path.glob(".journal-*")
    return journal


def test_the_key_is_made_once_and_lies_where_nobody_else_may_look(state: Path) -> None:
    key = seal.user_key()
    assert key is not None
    assert len(key) == 32
    assert seal.user_key() == key
    assert [path.name for path in (state / "starshade").iterdir()] == ["resume.key"]
    assert stat.S_IMODE((state / "starshade").stat().st_mode) == 0o700
    assert stat.S_IMODE((state / "starshade" / "resume.key").stat().st_mode) == 0o600


@pytest.mark.parametrize("how", ["readable", "short", "a link"])
def test_a_key_that_others_may_know_is_replaced(state: Path, how: str) -> None:
    key, file = seal.user_key(), state / "starshade" / "resume.key"
    if how == "readable":
        file.chmod(0o644)
    elif how == "short":
        file.write_bytes(b"a")
    else:
        file.rename(state / "other")
        file.symlink_to(state / "other")
    again = seal.user_key()
    assert again is not None
    assert again != key
    assert seal.user_key() == again


def test_without_a_place_for_the_key_nothing_is_known_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    assert seal.user_key() is None
    (tmp_path / "store").mkdir()
    left(tmp_path / "store")
    assert some(tmp_path / "store", resume=True)[1] == [0, 1, 2, 3, 4]


def test_answers_of_another_user_are_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("theirs")))
    left(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("mine")))
    whole, opened = some(tmp_path, resume=True)
    assert opened == [0, 1, 2, 3, 4]
    assert whole == some(tmp_path, resume=False)[0]


def test_an_answer_of_which_any_byte_was_changed_is_made_again(tmp_path: Path) -> None:
    journal = left(tmp_path)
    answers = sorted(journal.glob("*.npz"))
    whole = answers[0].read_bytes()
    key = seal.key_for(tmp_path)
    assert seal.is_sealed(answers[0], key)
    assert seal.read_sealed(answers[0], key) == whole[seal.SEAL :]
    for at in range(len(whole)):
        answers[0].write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert not seal.is_sealed(answers[0], key)
        assert seal.read_sealed(answers[0], key) is None
    answers[1].write_bytes(whole)  # of another shard
    found, opened = some(tmp_path, resume=True)
    assert len(opened) == 4
    assert found == some(tmp_path, resume=False)[0]


@pytest.mark.parametrize("change", ["a byte", "another column", "a link", "gone"])
def test_columns_that_a_job_left_and_that_were_changed_are_made_again(
    tmp_path: Path, change: str
) -> None:
    job, shards = Job("pairing", pairs, threaded=True), Shards([1, 2], [3, 4])

    def found(*, resume: bool, stop: int = 99) -> list[list[int]]:
        with journal_in(tmp_path, resume=resume) as journal:
            assert journal.folder is not None
            desks = Desks.of(job, shards, {}, journal.folder)
            for number, _ in enumerate(Local(journal).run(job, desks, {})):
                if number == stop:
                    raise Stopped
            return [left_in(desks.folders[0], name).tolist() for name in "ab"]

    with pytest.raises(Stopped):
        found(resume=False, stop=0)
    (columns,) = (path.parent for path in tmp_path.glob(".journal-*/*/a.npy"))
    if change == "a byte":
        content = (columns / "a.npy").read_bytes()
        (columns / "a.npy").write_bytes(content[:-8] + b"\x07" + content[-7:])
    elif change == "another column":
        (columns / "c.npy").write_bytes(b"")
    elif change == "a link":
        (columns / "a.npy").rename(tmp_path / "a.npy")
        (columns / "a.npy").symlink_to(tmp_path / "a.npy")
    else:
        (columns / "b.npy").unlink()
    assert found(resume=True) == [[1, 2], [1, 2]]


def test_nothing_that_lies_in_a_journal_runs_code(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    content = pickle.dumps(Bomb(ran))
    planted = tmp_path / f".journal-{'0' * 16}"
    planted.mkdir()
    files = {name: seal.pickled(part)[1] for name, part in (("shards", many()), ("job", JOB))}
    for digest in files.values():
        (planted / f"{digest}.pickle").write_bytes(content)
    with journal_in(tmp_path, resume=True) as journal:
        assert journal.folder is not None
        assert list(journal.folder.iterdir()) == []
        parts = many(), JOB, TABLES, (repr, ", ")
        for name, part in zip(executor.HANDED_OVER, parts, strict=True):
            digest = seal.pickled(part)[1]
            (journal.folder / f"{digest}.pickle").write_bytes(content)
            files[name] = hand_over(journal, part)
        asked = {"folder": str(journal.folder), "key": journal.key, "begun": "b", **files}
        asked |= {"version": executor.__version__, "memory": None, "threads": None}
        executor._read.cache_clear()
        assert work_on(0, asked) == {}
        (journal.folder / f"{files['job']}.pickle").write_bytes(content)
        executor._read.cache_clear()
        assert "changed by another" in work_on(1, asked)["message"]
    executor._read.cache_clear()
    assert not ran.exists()


def test_only_what_is_known_byte_by_byte_is_unpickled_anywhere() -> None:
    where = [path for path in SRC.rglob("*.py") if "pickle.load" in path.read_text("utf-8")]
    assert where == [SRC / "engine" / "seal.py"]


def test_what_a_stranger_says_was_done_is_not_believed(tmp_path: Path) -> None:
    done = Done(Journal(tmp_path, b"k"), "asked")
    (tmp_path / "asked.done").write_bytes(b'{"places": [], "told": {"passed": true}}')
    assert done.found() is None
    assert not done.is_left_in(tmp_path)
    done.leave([], {"passed": True})
    assert done.found() == {"passed": True}
    assert done.is_left_in(tmp_path)
    assert Done(Journal(tmp_path, b"l"), "asked").found() is None


def test_wrong_input_leaves_no_journal_in_its_store(tmp_path: Path) -> None:
    def damaged(*_: Any) -> Any:
        raise errors.InputError("the store is damaged")

    with suppress(errors.InputError), journal_in(tmp_path, resume=False) as journal:
        journal.keep("a", {"x": np.array([1])})
        list(Local(journal).run(Job("a", damaged), many(), TABLES))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_deep_folders_of_a_stranger_stop_nothing(tmp_path: Path) -> None:
    planted = tmp_path / f".journal-{'0' * 16}"
    planted.mkdir()
    here = os.open(tmp_path, os.O_RDONLY)
    try:
        os.chdir(planted)
        for _ in range(1500):
            os.mkdir("d")
            os.chdir("d")
    finally:
        os.fchdir(here)
        os.close(here)
        os.chdir(SRC)
    assert some(tmp_path, resume=True)[1] == [0, 1, 2, 3, 4]
    gc.collect()
    subprocess.run(["rm", "-rf", *tmp_path.iterdir()], check=True)


@pytest.mark.parametrize("state", ["", "relative", ".", "~nobody/x"])
def test_without_a_home_there_is_no_key(
    state: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", state)
    monkeypatch.setattr(Path, "expanduser", _no_home)
    assert seal.user_key() is None
    assert list(tmp_path.iterdir()) == []


def _no_home(_: Path) -> Path:
    raise RuntimeError("Could not determine home directory.")


def test_without_a_home_kernels_are_kept_elsewhere(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(Path, "expanduser", _no_home)
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    assert warm.cache_place(tmp_path) == tmp_path / "__pycache__"


@pytest.mark.parametrize("name", ["NUMBA_NUM_THREADS", "SOURCE_DATE_EPOCH"])
@pytest.mark.parametrize("value", ["-1", "x", "9" * 30, ""])
def test_variables_that_numba_cannot_be_loaded_with_are_refused(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(errors.ConfigError, match=f"^{name}="):
        warm.refuse_variables()
    monkeypatch.setenv(name, "1")
    warm.refuse_variables()
