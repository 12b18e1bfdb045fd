"""Several places get what was written for them, or none does, whatever happens in between."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from starshade.errors import OutputError
from starshade.ratings.places import atomic
from starshade.ratings.places.atomic import atomic_file, atomic_folder, together, vacant

PAIR = """
import os, signal, sys
from pathlib import Path
from starshade.ratings.places.atomic import atomic_file, atomic_folder, together, vacant
first, second = Path(sys.argv[1]), Path(sys.argv[2])
def write():
    with together():
        with atomic_folder(second) as folder:
            (folder / "a").write_text("a")
            with atomic_file(first, 0o600) as file:
                file.write_text("secret")
"""
KILLED = (
    PAIR
    + """
true, left = os.rename, int(sys.argv[3])
def rename(*names):
    global left
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    left -= 1
    true(*names)
os.rename = rename
write()
"""
)


def write(first: Path, second: Path) -> None:
    with together(), atomic_folder(second) as folder:
        (folder / "a").write_text("a")
        with atomic_file(first, 0o600) as file:
            file.write_text("secret")


def kill_before_rename(number: int, first: Path, second: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(first), str(second), str(number)])
    assert done.returncode == -signal.SIGKILL


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    """A file and a folder to be, in two folders."""
    (tmp_path / "own").mkdir()
    (tmp_path / "out").mkdir()
    return tmp_path / "own" / "receipt", tmp_path / "out" / "release"


def test_all_appear_at_the_end(pair) -> None:
    first, second = pair
    with together():
        with atomic_file(first) as file:
            file.write_text("a")
        assert not first.exists()
        with atomic_folder(second):
            pass
        assert not second.exists()
    assert first.read_text() == "a"
    assert names(first.parent) + names(second.parent) == ["receipt", "release"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(errno.ENOSPC, "full"), RuntimeError])
def test_an_error_after_one_was_finished_leaves_none(pair, error) -> None:
    def fail() -> None:
        with together():
            with atomic_file(pair[0]) as file:
                file.write_text("a")
            raise error

    with pytest.raises((KeyboardInterrupt, OSError, RuntimeError)):
        fail()
    assert names(pair[0].parent) == []


def test_what_is_taken_at_the_start_stays_and_nothing_comes_beside(pair) -> None:
    for taken, free in (pair, pair[::-1]):
        taken.write_text("mine")
        with pytest.raises(OutputError, match="exists already"):
            write(*pair)
        assert taken.read_text() == "mine"
        assert names(free.parent) == []
        taken.unlink()


def write_while(pair, meanwhile) -> None:
    with together():
        with atomic_file(pair[0]), atomic_folder(pair[1]):
            pass
        meanwhile()


def test_what_is_taken_meanwhile_stays_and_nothing_comes_beside(pair) -> None:
    for taken, free in (pair, pair[::-1]):
        with pytest.raises(OutputError, match="exists already"):
            write_while(pair, lambda place=taken: place.write_text("faster"))
        assert taken.read_text() == "faster"
        assert names(taken.parent) == [taken.name]
        assert names(free.parent) == []
        taken.unlink()


def failing(monkeypatch, name: str, call: int, error: BaseException) -> None:
    """Let the given call of a function of the operating system fail."""
    true, calls = getattr(os, name), iter(range(1000))

    def fail(*args, **more):
        if next(calls) == call:
            raise error
        return true(*args, **more)

    monkeypatch.setattr(os, name, fail)


def test_nothing_is_moved_beside_what_is_taken(pair, monkeypatch) -> None:
    def never(*_: object) -> None:
        pytest.fail("moved")

    monkeypatch.setattr(os, "rename", never)
    with pytest.raises(OutputError, match="exists already"):
        write_while(pair, lambda: pair[0].write_text("faster"))  # the last to be moved


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), OSError(errno.ENOSPC, "full"), OSError(errno.EIO, "broken")]
)
@pytest.mark.parametrize("name", ["rename", "fsync", "write", "lstat"])
def test_whatever_fails_at_whatever_call_leaves_none(pair, monkeypatch, name, error) -> None:
    failed = 0
    for call in range(1000):
        with monkeypatch.context() as patched:
            failing(patched, name, call, error)
            try:
                write(*pair)
                break
            except (KeyboardInterrupt, OutputError):
                failed += 1
        left = names(pair[0].parent) + names(pair[1].parent)
        # where tidying up itself is interrupted, the next one goes on
        assert name == "lstat" or left == []
        vacant(pair[0])
        vacant(pair[1])
        assert names(pair[0].parent) + names(pair[1].parent) == []
    assert failed >= 2
    assert names(pair[0].parent) + names(pair[1].parent) == ["receipt", "release"]


def test_killed_between_renames_the_same_again_begins_anew(pair) -> None:
    for number in range(2):
        kill_before_rename(number, *pair)
        assert pair[0].exists() == (number == 1)
        assert not pair[1].exists()
        write(*pair)
        assert names(pair[0].parent) + names(pair[1].parent) == ["receipt", "release"]
        pair[0].unlink()
        (pair[1] / "a").unlink()
        pair[1].rmdir()


@pytest.mark.parametrize("asked", [0, 1])
def test_the_next_writer_to_any_of_the_places_clears_all(pair, asked: int) -> None:
    kill_before_rename(1, *pair)
    vacant(pair[asked])
    assert names(pair[0].parent) + names(pair[1].parent) == []


def test_killed_at_any_event_the_same_again_ends_well(pair) -> None:
    code = (
        PAIR
        + """
import shutil
watched = ("open", "os.mkdir", "os.rename", "os.remove", "os.listdir", "fcntl.flock")
killed = 0
for instant in range(1000):
    child = os.fork()
    if child == 0:
        seen = 0
        def hook(event, arguments):
            global seen
            if event in watched:
                if seen == instant:
                    os.kill(os.getpid(), signal.SIGKILL)
                seen += 1
        sys.addaudithook(hook)
        write()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    killed += status != 0
    whole = first.exists() and second.exists()
    assert whole or not second.exists()
    if whole:  # as good as if it had told: another one is refused, and nothing is lost
        try:
            write()
            sys.exit("overwritten")
        except Exception as error:
            assert "exists already" in str(error), error
        assert first.read_text() == "secret" and (second / "a").read_text() == "a"
    else:
        write()
    left = os.listdir(first.parent) + os.listdir(second.parent)
    assert sorted(n for n in left if n[0] != ".") == ["receipt", "release"], left
    assert whole or len(left) == 2, left
    first.unlink()
    shutil.rmtree(second)
    if status == 0:
        break
    for place in (first, second):
        vacant(place)
    assert not os.listdir(first.parent) + os.listdir(second.parent)
print(killed)
"""
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, pair)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done
    assert int(done.stdout) > 20


def moved(pair) -> Path:
    """Return what was moved before the kill."""
    kill_before_rename(1, *pair)
    assert pair[0].read_text() == "secret"
    return pair[0]


@pytest.mark.parametrize("how", ["written to", "replaced", "a link"])
def test_what_the_journal_does_not_know_again_stays(pair, how: str) -> None:
    place = moved(pair)
    if how == "written to":
        place.write_text("mine")
    elif how == "replaced":
        content = place.read_bytes()
        found = place.stat()
        place.rename(place.with_name("kept"))
        place.write_bytes(content)
        place.chmod(found.st_mode)
        os.utime(place, ns=(found.st_atime_ns, found.st_mtime_ns))
    else:
        place.rename(place.with_name("kept"))
        place.symlink_to("kept")
    with pytest.raises(OutputError, match="exists already"):
        write(*pair)
    assert os.path.lexists(place)
    assert (how == "written to") or (place.with_name("kept").read_text() == "secret")
    assert names(pair[1].parent) == []


def test_a_finished_move_is_never_undone(pair, monkeypatch) -> None:
    with monkeypatch.context() as patched:  # a kill came before they went
        patched.setattr(atomic, "end", lambda journals: None)
        write(*pair)
    assert len(names(pair[0].parent)) == len(names(pair[1].parent)) == 2
    for place in pair:
        with pytest.raises(OutputError, match="exists already"):
            vacant(place)
    assert names(pair[0].parent) + names(pair[1].parent) == ["receipt", "release"]
    assert pair[0].read_text() == "secret"


def test_a_move_that_a_person_finished_is_not_undone(pair) -> None:
    place = moved(pair)
    (temporary,) = pair[1].parent.glob(".tmp-*")
    temporary.rename(pair[1])
    with pytest.raises(OutputError, match="exists already"):
        vacant(place)
    assert place.read_text() == "secret"
    assert (pair[1] / "a").read_text() == "a"


def test_a_journal_says_nothing_private(pair) -> None:
    moved(pair)
    (path,) = pair[1].parent.glob(".moves-*")
    assert path.stat().st_mode & 0o777 == 0o600
    told = json.loads(path.read_text())
    assert set(told) == {"moves", "journals"}
    assert "secret" not in path.read_text()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to somebody else")
def test_a_journal_of_somebody_else_is_not_believed(pair) -> None:
    place = moved(pair)
    for folder in (pair[0].parent, pair[1].parent):
        for path in folder.glob(".moves-*"):
            os.chown(path, 12345, 12345)
    with pytest.raises(OutputError, match="exists already"):
        write(*pair)
    assert place.read_text() == "secret"


def test_a_half_written_journal_undoes_nothing(pair) -> None:
    pair[0].write_text("mine")
    torn = pair[0].parent / f"{atomic.hidden('moves', 'receipt')}{'0' * 16}"
    torn.write_text('{"moves": [[')
    with pytest.raises(OutputError, match="exists already"):
        vacant(pair[0])
    assert pair[0].read_text() == "mine"
    assert not torn.exists()


def test_a_living_writer_is_not_undone(pair) -> None:
    code = (
        PAIR
        + """
import time
from starshade.ratings.places import atomic
true = atomic._rename
def rename(temporary, place):
    if place.path == second:
        print("between", flush=True)
        time.sleep(60)
    true(temporary, place)
atomic._rename = rename
write()
"""
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, *map(str, pair)], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"between\n"
        with pytest.raises(OutputError, match="exists already"):
            vacant(pair[0])
        assert vacant(pair[1])
        assert pair[0].read_text() == "secret"
        process.send_signal(signal.SIGINT)
        process.wait()
    assert names(pair[0].parent) + names(pair[1].parent) == []


def test_one_inside_another_is_one(pair) -> None:
    with together():
        with together(), atomic_file(pair[0]):
            pass
        assert not pair[0].exists()
    assert pair[0].exists()
    assert atomic._waiting.get() is None


@pytest.mark.parametrize("kind", ["journal", "move", "gone"])
def test_a_journal_from_a_stranger_moves_and_removes_nothing_else(pair, kind: str) -> None:
    first, second = pair
    mine = first.parent / "mine"
    mine.write_text("precious")
    mark = atomic.mark_of(str(mine))
    moves = {
        "journal": [[str(first.parent / "nowhere"), str(first), ""]],
        "move": [[str(mine), str(first.parent / "away"), mark]],
        "gone": [[str(first.parent / "nowhere"), str(mine), mark]],
    }[kind]
    planted = second.parent / f"{atomic.hidden('moves', second.name)}{'0' * 16}"
    planted.write_text(json.dumps({"moves": moves, "journals": [str(mine)]}))
    write(first, second)
    assert mine.read_text() == "precious"
    assert names(first.parent) == ["mine", "receipt"]
    assert names(second.parent) == ["release"]


@pytest.mark.parametrize("folder", ["/tmp/\0", "/tmp/\ud800", "/etc/passwd", f"/{'a' * 300}"])
def test_a_journal_that_names_no_place_is_removed(pair, folder: str) -> None:
    (first, second), place = pair, f"{folder}/release"
    planted = second.parent / f"{atomic.hidden('moves', second.name)}{'0' * 16}"
    temporary = place.replace("release", f".tmp-release-{'0' * 16}")
    planted.write_text(json.dumps({"moves": [[temporary, place, "a"]], "journals": []}))
    write(first, second)
    assert names(second.parent) == ["release"]


def test_a_journal_that_is_a_folder_or_leads_to_all_files_is_removed(pair) -> None:
    first, second = pair
    token = "0" * 16
    (second.parent / f"{atomic.hidden('moves', second.name)}{token}").mkdir()
    link = second.parent / f"{atomic.hidden('tmp', second.name)}{token}"
    link.symlink_to("/")
    moves = [[str(link), str(second), "a"]]
    planted = second.parent / f"{atomic.hidden('moves', second.name)}{'1' * 16}"
    planted.write_text(json.dumps({"moves": moves, "journals": []}))
    write(first, second)
    assert [name for name in names(second.parent) if "moves" in name] == []
