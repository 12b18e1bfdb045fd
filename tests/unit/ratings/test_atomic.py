import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from starshade.errors import InputError, OutputError
from starshade.ratings.places.atomic import atomic_file, atomic_folder, vacant

HANG = """
import sys, time
from pathlib import Path
from starshade.ratings.places.atomic import atomic_file, atomic_folder
with {kind}(Path(sys.argv[1])) as place:
    (place / "half" if place.is_dir() else place).write_text("half")
    print("inside", flush=True)
    time.sleep(60)
"""


def hang(kind, target):
    process = subprocess.Popen(
        [sys.executable, "-c", HANG.format(kind=kind), str(target)], stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"inside\n"
    process.stdout.close()
    return process


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


def test_a_folder_appears_whole_and_private(tmp_path):
    with atomic_folder(tmp_path / "out") as folder:
        (folder / "deep").mkdir()
        (folder / "deep" / "a").write_text("a")
        assert folder.stat().st_mode & 0o777 == 0o700
        assert not (tmp_path / "out").exists()
    assert (tmp_path / "out" / "deep" / "a").read_text() == "a"
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o700
    assert names(tmp_path) == ["out"]


def test_a_file_appears_whole_with_its_mode(tmp_path):
    with atomic_file(tmp_path / "out", mode=0o600) as file:
        assert file.stat().st_mode & 0o777 == 0o600
        file.write_text("a")
        assert not (tmp_path / "out").exists()
    assert (tmp_path / "out").read_text() == "a"
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o600
    assert names(tmp_path) == ["out"]


@pytest.mark.parametrize("atomic", [atomic_file, atomic_folder])
@pytest.mark.parametrize("kind", ["file", "folder", "dangling link"])
def test_an_existing_target_is_refused_and_kept(tmp_path, atomic, kind):
    target = tmp_path / "out"
    if kind == "file":
        target.write_text("old")
    elif kind == "folder":
        target.mkdir()
    else:
        target.symlink_to(tmp_path / "nowhere")
    with pytest.raises(OutputError, match="exists already"), atomic(target):
        pytest.fail("the body must not run")
    assert names(tmp_path) == ["out"]
    assert target.is_symlink() == (kind == "dangling link")


@pytest.mark.parametrize("atomic", [atomic_file, atomic_folder])
def test_a_target_that_appears_meanwhile_is_kept(tmp_path, atomic):
    with pytest.raises(OutputError, match="exists already"), atomic(tmp_path / "out"):
        (tmp_path / "out").write_text("faster")
    assert (tmp_path / "out").read_text() == "faster"
    assert names(tmp_path) == ["out"]


@pytest.mark.parametrize("atomic", [atomic_file, atomic_folder])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("no"), InputError("bad")])
def test_an_error_leaves_nothing_and_passes_on(tmp_path, atomic, error):
    with pytest.raises(type(error)) as caught, atomic(tmp_path / "out"):
        raise error
    assert caught.value is error
    assert names(tmp_path) == []


@pytest.mark.parametrize("atomic", [atomic_file, atomic_folder])
def test_a_full_disk_says_what_was_needed(tmp_path, atomic):
    refused = pytest.raises(OutputError, match="no space left, 7 MB needed")
    with refused, atomic(tmp_path / "out", needs=7_000_000):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert names(tmp_path) == []


def test_a_missing_parent_is_named(tmp_path):
    refused = pytest.raises(OutputError, match="nowhere does not exist")
    with refused, atomic_file(tmp_path / "nowhere" / "out"):
        pytest.fail("the body must not run")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_parent_is_named(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(OutputError, match="no permission"), atomic_folder(tmp_path / "out"):
        pytest.fail("the body must not run")
    tmp_path.chmod(0o700)


@pytest.mark.parametrize("kind", ["atomic_file", "atomic_folder"])
def test_a_killed_writer_leaves_a_sibling_that_the_next_one_sweeps(tmp_path, kind):
    process = hang(kind, tmp_path / "out")
    process.send_signal(signal.SIGKILL)
    process.wait()
    (leftover,) = names(tmp_path)
    assert leftover.startswith(".tmp-out-")
    with atomic_file(tmp_path / "out") as file:
        file.write_text("new")
    assert names(tmp_path) == ["out"]


def test_what_is_left_of_a_try_is_swept(tmp_path, monkeypatch):
    assert vacant(tmp_path / "out").path == tmp_path / "out"
    assert names(tmp_path) == []
    with monkeypatch.context() as patched:
        patched.setattr(Path, "rmdir", lambda _: None)  # a kill came before it
        vacant(tmp_path / "out")
    assert len(names(tmp_path)) == 1
    with atomic_folder(tmp_path / "out"):
        pass
    assert names(tmp_path) == ["out"]


@pytest.mark.parametrize("kind", ["atomic_file", "atomic_folder"])
def test_a_living_writer_is_not_swept(tmp_path, kind):
    process = hang(kind, tmp_path / "out")
    try:
        with pytest.raises(RuntimeError), atomic_folder(tmp_path / "out"):
            raise RuntimeError
        assert len(names(tmp_path)) == 1
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()
    assert names(tmp_path) == []  # Ctrl-C cleaned up


def test_other_names_are_not_swept(tmp_path):
    (tmp_path / ".tmp-out-more-0123456789abcdef").write_text("")
    (tmp_path / ".tmp-out-notes").write_text("")
    with atomic_file(tmp_path / "out"):
        time.sleep(0)
    assert names(tmp_path) == [".tmp-out-more-0123456789abcdef", ".tmp-out-notes", "out"]


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc")
def test_a_place_that_makes_nothing_is_an_error_not_a_wait() -> None:
    with pytest.raises(OutputError, match="cannot be written"), atomic_folder(Path("/proc/x")):
        pass


@pytest.mark.parametrize("atomic", [atomic_file, atomic_folder])
@pytest.mark.parametrize(
    "name",
    ["n" * 255, "é" * 127, "x" + "星" * 84, b"\xff".decode("utf-8", "surrogateescape") * 255],
)
def test_the_longest_names_that_a_file_may_have(tmp_path, atomic, name) -> None:
    with atomic(tmp_path / name):
        assert len(names(tmp_path)) == 1
    assert names(tmp_path) == [name]


def test_a_limit_on_file_sizes_is_no_full_disk(tmp_path) -> None:
    refused = pytest.raises(OutputError, match="exceeds the largest file size")
    with refused as caught, atomic_file(tmp_path / "out", needs=7_000_000):
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    assert "no space" not in str(caught.value)
    assert "ulimit -f" in str(caught.value)


def test_an_overlong_name_is_refused_before_the_long_work(tmp_path) -> None:
    for place in (tmp_path / ("n" * 300), "n/" * 3000):
        with pytest.raises(OutputError, match="too long"):
            vacant(place)
