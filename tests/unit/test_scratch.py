"""Temporary folders: for one process alone, and swept when it is gone."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from starshade import scratch
from starshade.errors import OutputError
from starshade.scratch import (
    filling,
    keep_scratch,
    put_down,
    scratch_bytes,
    scratch_folder,
    sweep_scratch,
)

HANG = """
import sys, time
from starshade.scratch import keep_scratch, scratch_folder
with scratch_folder() as folder:
    (folder / "deep").mkdir()
    (folder / "deep" / "rows").write_text("plain")
    (keep_scratch("kernels") / "code").write_text("x")
    print("inside", flush=True)
    time.sleep(60)
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A temporary folder of this test alone."""
    folder = tmp_path / "tmp"
    folder.mkdir(mode=0o700)
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def killed(temporary: Path, number: int = signal.SIGKILL, meanwhile: Callable[[], object] = list):
    """End a process that has both kinds of folders, and do something before."""
    with subprocess.Popen(
        [sys.executable, "-c", HANG],
        stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(temporary)},
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"inside\n"
        meanwhile()
        process.send_signal(number)


def test_a_folder_for_its_owner_alone_that_goes(temporary: Path) -> None:
    with scratch_folder() as folder:
        assert folder.parent == temporary
        assert folder.name.startswith("starshade-scratch-")
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "rows").write_text("plain")
    assert names(temporary) == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_an_error_leaves_nothing(temporary: Path, error) -> None:
    def fail() -> None:
        with scratch_folder() as folder:
            (folder / "rows").write_text("plain")
            raise error

    with pytest.raises(error):
        fail()
    assert names(temporary) == []


def test_what_a_killed_process_leaves_is_swept(temporary: Path) -> None:
    killed(temporary)
    kinds = [name[:-16] for name in names(temporary)]
    assert kinds == ["starshade-kernels-", "starshade-scratch-"]
    sweep_scratch()
    assert names(temporary) == []
    killed(temporary)
    with scratch_folder() as folder:
        assert names(temporary) == [folder.name]


def test_what_a_living_process_has_is_not_swept(temporary: Path) -> None:
    def sweeping() -> None:
        before = sorted(temporary.rglob("*"))
        assert len(before) == 5
        sweep_scratch()
        assert sorted(temporary.rglob("*")) == before

    killed(temporary, signal.SIGTERM, sweeping)


def test_what_this_process_keeps_is_not_swept(temporary: Path) -> None:
    kept = keep_scratch("kernels")
    with scratch_folder() as folder:
        sweep_scratch()
        assert names(temporary) == [kept.name, folder.name]


def hostile(temporary: Path, mine: Path, kind: str) -> Path:
    """Plant something under a name of ours."""
    planted = temporary / f"starshade-scratch-{'0' * 16}"
    if kind == "a link to a folder":
        planted.symlink_to(mine)
    elif kind == "a link to a file":
        planted.symlink_to(mine / "precious")
    elif kind == "a pipe":
        os.mkfifo(planted)
    elif kind == "somebody else's":
        planted.mkdir()
        (planted / "theirs").touch()
        os.chown(planted, 12345, 12345)
    else:
        planted = temporary / kind
        planted.mkdir()
    return planted


@pytest.mark.parametrize(
    "kind",
    [
        "a link to a folder",
        "a link to a file",
        "a pipe",
        pytest.param(
            "somebody else's",
            marks=pytest.mark.skipif(os.geteuid() != 0, reason="only root can give it away"),
        ),
        "starshade-scratch-",
        "starshade-scratch-notes",
        "starshade-scratch-0123456789ABCDEF",
        "starshade-scratch-0123456789abcdef0",
        "starshade-0123456789abcdef",
        "scratch-0123456789abcdef",
    ],
)
def test_what_is_not_ours_is_left_alone(tmp_path: Path, temporary: Path, kind: str) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "precious").write_text("precious")
    planted = hostile(temporary, mine, kind)
    with scratch_folder():
        pass
    assert os.path.lexists(planted)
    assert (mine / "precious").read_text() == "precious"
    assert kind != "somebody else's" or names(planted) == ["theirs"]


def test_nothing_behind_a_link_within_is_touched(tmp_path: Path, temporary: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "precious").write_text("precious")
    left = temporary / f"starshade-scratch-{'0' * 16}"
    left.mkdir()
    (left / "link").symlink_to(mine)
    sweep_scratch()
    assert names(temporary) == []
    assert (mine / "precious").read_text() == "precious"


def test_a_folder_exchanged_for_a_link_during_the_sweep(
    tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "precious").write_text("precious")
    left = temporary / f"starshade-scratch-{'0' * 16}"
    left.mkdir()
    true = scratch.remove

    def exchanged(path: Path, handle: int) -> None:
        path.rename(temporary / "aside")
        path.symlink_to(mine)
        true(path, handle)

    monkeypatch.setattr(scratch, "remove", exchanged)
    sweep_scratch()
    assert (mine / "precious").read_text() == "precious"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_temporary_folder_is_named(temporary: Path, monkeypatch, number: int) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    with pytest.raises(OutputError, match="the temporary folder has no space left") as caught:
        full_of(temporary, full)
    assert str(temporary) in str(caught.value)
    assert "MB free" in str(caught.value)
    assert "TMPDIR" in str(caught.value)
    monkeypatch.setattr(scratch, "make_folder", full)
    with pytest.raises(OutputError, match="the temporary folder has no space left"):
        keep_scratch("scratch")


def full_of(temporary: Path, full: Callable[[], None]) -> None:
    with filling(temporary):
        full()


def test_no_temporary_folder_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> str:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")

    monkeypatch.setattr("tempfile.gettempdir", none)
    sweep_scratch()
    with pytest.raises(OutputError, match="no temporary folder"), scratch_folder():
        pass


def test_large_bytes_lie_in_a_file_without_a_name(temporary: Path, monkeypatch) -> None:
    monkeypatch.setattr(scratch, "_IN_MEMORY", 99)
    room = scratch_bytes(10, 10)
    assert not list(temporary.iterdir())
    room[:] = 7
    put_down()
    assert (room == 7).all()
    assert room.base is not None
    assert scratch_bytes(9, 11).base is None  # a little stays in memory


def test_a_disk_too_full_for_large_bytes_is_named(temporary: Path, monkeypatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(scratch, "_IN_MEMORY", 0)
    monkeypatch.setattr(os, "posix_fallocate", refuse)
    with pytest.raises(OutputError, match="no space left"):
        scratch_bytes(3, 3)
    assert not list(temporary.iterdir())


def test_files_go_before_the_folders_that_they_stand_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, handle = scratch.own(tmp_path, "left-", scratch.make_folder)
    for name in ("a", "z"):
        (folder / name).mkdir()
        (folder / f"{name}.npz").touch()
    (folder / f"b{scratch.LAST}").touch()

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("shutil.rmtree", killed)
    with pytest.raises(KeyboardInterrupt):
        scratch.remove(folder, handle)
    os.close(handle)
    left = sorted(file.name.removesuffix(scratch.PART) for file in folder.iterdir())
    assert left == ["a", f"b{scratch.LAST}", "z"]
    assert len(list(folder.glob(f"*{scratch.PART}"))) == 1
