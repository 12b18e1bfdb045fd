"""What a conversion that was interrupted says when it is started again."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from starshade.errors import OutputError
from starshade.ratings.places.place import Place
from starshade.ratings.read import read_ratings
from starshade.ratings.shards import convert, unfinished
from starshade.ratings.shards.convert import convert_to_shards
from starshade.ratings.shards.shards import open_shards
from starshade.ratings.shards.unfinished import unfinished_beside
from tests.unit.ratings.samples import listening
from tests.unit.ratings.test_store import assert_same

BEGINNING = "starting from the beginning: "


def notes_of(
    place: Path, *, resume: bool, interrupted: bool = False, source: Any = "ratings.csv"
) -> list[str]:
    """Convert a file, or be interrupted when all is sorted; return what was said."""
    listener, watching = listening()
    source = str(place.with_name(source)) if isinstance(source, str) else source
    asked = {"source": source, "shards": 2}
    with watching:  # type: ignore[attr-defined]
        try:
            with unfinished_beside(Place.of(place), asked, resume=resume) as kept:
                if interrupted:
                    (kept.folder / "sorted.json").write_text("{}")
                    raise KeyboardInterrupt
        except KeyboardInterrupt:
            pass
    return listener.notes


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "ratings.csv").write_text("user,item,rating\n1,1,1\n")
    return tmp_path / "store"


def test_it_resumes_what_is_left_of_an_interrupted_run(place: Path) -> None:
    (kept,) = notes_of(place, resume=False, interrupted=True)
    assert kept.startswith("the finished part is kept next to")
    assert notes_of(place, resume=True) == ["resuming an interrupted run"]


def test_where_nothing_is_left_it_starts_from_the_beginning(place: Path) -> None:
    assert notes_of(place, resume=True) == [BEGINNING + "no interrupted run was found"]
    assert notes_of(place, resume=False) == []


def test_where_the_store_is_there_nothing_begins(place: Path) -> None:
    place.mkdir()
    assert notes_of(place, resume=True) == []


def test_without_resume_what_is_left_is_removed(place: Path) -> None:
    notes_of(place, resume=False, interrupted=True)
    assert notes_of(place, resume=False) == []
    assert notes_of(place, resume=True) == [BEGINNING + "no interrupted run was found"]


@pytest.mark.parametrize("source", ["not there.csv", object()])
def test_a_source_that_cannot_be_known_again_is_read_from_the_start(
    place: Path, source: Any
) -> None:
    notes_of(place, resume=False, interrupted=True, source=source)
    assert notes_of(place, resume=True, source=source) == [
        BEGINNING + "the source is not a file, so it may have changed"
    ]


def test_remains_without_anything_finished_are_removed(place: Path) -> None:
    notes_of(place, resume=False, interrupted=True)
    (left,) = place.parent.glob(".runs-*")
    twin = left.with_name(left.name[:-1] + ("0" if left.name[-1] != "0" else "1"))
    shutil.copytree(left, twin)  # killed twice, both with something finished
    without_key = left.with_name(left.name[:-1] + ("2" if left.name[-1] != "2" else "3"))
    without_key.mkdir()  # killed before its key was written
    assert notes_of(place, resume=True) == ["resuming an interrupted run"]
    assert list(place.parent.glob(".runs-*")) == []


def test_a_run_that_was_interrupted_while_it_read_starts_from_the_beginning(place: Path) -> None:
    notes_of(place, resume=False, interrupted=True)
    (left,) = place.parent.glob(".runs-*")
    (left / "sorted.json").unlink()
    assert notes_of(place, resume=True) == [
        BEGINNING + "the interrupted run had not yet read all of its input"
    ]


def test_another_source_takes_nothing_over(place: Path) -> None:
    notes_of(place, resume=False, interrupted=True)
    place.with_name("other.csv").write_text("user,item,rating\n1,1,2\n")
    assert notes_of(place, resume=True, source="other.csv") == [
        BEGINNING + "the interrupted run had other input or other settings"
    ]
    assert len(list(place.parent.glob(".runs-*"))) == 1  # of the other source
    place.mkdir()
    assert notes_of(place, resume=True, source="other.csv") == []
    assert not list(place.parent.glob(".runs-*"))  # the place is taken: nothing goes on there


def csv_of(folder: Path, name: str = "ratings.csv") -> Path:
    rows = [f"{user},{item},{(user * item) % 5 + 1}" for user in range(20) for item in range(5)]
    (folder / name).write_text("\n".join(["user,item,rating", *rows]))
    return folder / name


def stop(monkeypatch: pytest.MonkeyPatch, module: Any, name: str) -> None:
    def stopped(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, name, stopped)


def left_of(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Convert, and be stopped when all shards are written; return what is left."""
    source = csv_of(place.parent)
    with monkeypatch.context() as patch:
        stop(patch, convert, "atomic_folder")
        with pytest.raises(KeyboardInterrupt):
            convert_to_shards(source, place, 2)
    (left,) = place.parent.glob(".runs-*")
    return left


def test_the_loser_of_two_conversions_removes_its_own_and_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, real, listener_watching = csv_of(tmp_path), convert.atomic_folder, listening()
    listener, watching = listener_watching

    def late(place: Any) -> Any:
        (tmp_path / "s").mkdir()  # another is quicker
        return real(place)

    monkeypatch.setattr(convert, "atomic_folder", late)
    with watching, pytest.raises(OutputError, match="exists already"):  # type: ignore[attr-defined]
        convert_to_shards(source, tmp_path / "s", 2)
    assert [note for note in listener.notes if "another run finished" in note]
    assert not [note for note in listener.notes if "to resume" in note]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ratings.csv", "s"]


def test_what_a_kill_behind_the_rename_left_is_swept_by_the_next_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, real = csv_of(tmp_path), unfinished.remove
    monkeypatch.setattr(unfinished, "remove", lambda *_: None)
    convert_to_shards(source, tmp_path / "s", 2)
    assert list(tmp_path.glob(".runs-s-*"))
    monkeypatch.setattr(unfinished, "remove", real)
    open_shards(tmp_path / "s")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ratings.csv", "s"]


def test_a_conversion_that_is_refused_sweeps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left_of(tmp_path / "s", monkeypatch)
    (tmp_path / "s").mkdir()
    with pytest.raises(OutputError, match="exists already"):
        convert_to_shards(csv_of(tmp_path), tmp_path / "s", 2)
    assert not list(tmp_path.glob(".runs-*"))


@pytest.mark.parametrize("what", ["sorted.json", "runs", "shards", "store", "user"])
def test_what_was_changed_since_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    convert_to_shards(csv_of(tmp_path), tmp_path / "whole", 2)
    left = left_of(tmp_path / "s", monkeypatch)
    files = [path for path in sorted((left / what).rglob("*")) if path.is_file()]
    for file in [left / what] if what == "sorted.json" else files:
        content = file.read_bytes()
        file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    if what == "user":
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another"))
    convert_to_shards(tmp_path / "ratings.csv", tmp_path / "s", 2, resume=True)
    assert_same(read_ratings(tmp_path / "s"), read_ratings(tmp_path / "whole"))


@pytest.mark.parametrize("how", ["pipe", "endless", "huge", "folder"])
def test_a_key_that_is_none_is_not_waited_for(tmp_path: Path, how: str) -> None:
    planted = tmp_path / f".runs-s-{'0' * 16}"
    planted.mkdir()
    os.mkfifo(planted / "sorted.json")
    if how == "pipe":
        os.mkfifo(planted / "key")
    elif how == "endless":
        (planted / "key").symlink_to("/dev/zero")
    elif how == "huge":
        with (planted / "key").open("wb") as file:
            file.truncate(10 * 2**30)
    else:
        (planted / "key").mkdir()
    convert_to_shards(csv_of(tmp_path), tmp_path / "s", 2, resume=True)
    assert len(read_ratings(tmp_path / "s").users) == 20


def test_who_writes_the_same_place_is_told_at_the_start(tmp_path: Path) -> None:
    source, (listener, watching) = csv_of(tmp_path), listening()
    asked = {"source": str(source), "shards": 2}
    with (
        watching,  # type: ignore[attr-defined]
        unfinished_beside(Place.of(tmp_path / "s"), asked, resume=False),
        unfinished_beside(Place.of(tmp_path / "s"), asked, resume=False),
    ):
        pass
    assert [note for note in listener.notes if note.startswith("another run writes")]
