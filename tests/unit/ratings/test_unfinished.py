"""What a conversion that was interrupted says when it is started again."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from starshade.ratings.places.place import Place
from starshade.ratings.shards.unfinished import unfinished_beside
from tests.unit.ratings.samples import listening


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
    assert kept.startswith("what is finished is kept beside")
    assert notes_of(place, resume=True) == ["going on with what was finished"]


def test_where_nothing_is_left_it_begins_anew(place: Path) -> None:
    assert notes_of(place, resume=True) == ["beginning anew"]
    assert notes_of(place, resume=False) == []


def test_where_the_store_is_there_nothing_begins(place: Path) -> None:
    place.mkdir()
    assert notes_of(place, resume=True) == []


def test_without_resume_what_is_left_is_removed(place: Path) -> None:
    notes_of(place, resume=False, interrupted=True)
    assert notes_of(place, resume=False) == []
    assert notes_of(place, resume=True) == ["beginning anew"]


@pytest.mark.parametrize("source", ["not there.csv", object()])
def test_a_source_that_cannot_be_known_again_is_read_from_the_start(
    place: Path, source: Any
) -> None:
    notes_of(place, resume=False, interrupted=True, source=source)
    assert notes_of(place, resume=True, source=source) == ["beginning anew"]


def test_remains_without_anything_finished_are_removed(place: Path) -> None:
    notes_of(place, resume=False, interrupted=True)
    (left,) = place.parent.glob(".runs-*")
    twin = left.with_name(left.name[:-1] + ("0" if left.name[-1] != "0" else "1"))
    shutil.copytree(left, twin)  # killed twice, both with something finished
    without_key = left.with_name(left.name[:-1] + ("2" if left.name[-1] != "2" else "3"))
    without_key.mkdir()  # killed before its key was written
    assert notes_of(place, resume=True) == ["going on with what was finished"]
    assert list(place.parent.glob(".runs-*")) == []


def test_another_source_takes_nothing_over(place: Path) -> None:
    notes_of(place, resume=False, interrupted=True)
    place.with_name("other.csv").write_text("user,item,rating\n1,1,2\n")
    assert notes_of(place, resume=True, source="other.csv") == ["beginning anew"]
    assert len(list(place.parent.glob(".runs-*"))) == 1  # of the other source
