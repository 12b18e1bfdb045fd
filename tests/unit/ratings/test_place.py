"""A place is where the system says that it is, and stays there."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest

from starshade.errors import OutputError
from starshade.ratings.places.atomic import atomic_file, atomic_folder, vacant
from starshade.ratings.places.place import Place, resolve_folder


@pytest.fixture
def linked(tmp_path: Path) -> Path:
    """``link`` leads to ``far/deep``; up from there is ``far``."""
    (tmp_path / "far" / "deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "far" / "deep")
    (tmp_path / "file").touch()
    return tmp_path


@pytest.mark.parametrize(
    ("said", "where"),
    [
        ("x", "x"),
        ("./x", "x"),
        ("far/../x", "x"),
        ("link/x", "far/deep/x"),
        ("link/../x", "far/x"),
        ("link/../../x", "x"),
        ("link/..", "far"),
        (".", "."),
        ("link/.", "link"),
    ],
)
def test_a_place_is_where_the_system_finds_it(
    linked: Path, monkeypatch: pytest.MonkeyPatch, said: str, where: str
) -> None:
    monkeypatch.chdir(linked)
    for named in (said, linked / said):
        place = Place.of(named)
        assert os.path.normpath(place.path) == os.path.normpath(linked / where)
        assert str(place) == str(named)
        assert place.parent == Path(os.path.realpath(place.parent))


def entered(made: object) -> AbstractContextManager[object]:
    return made if isinstance(made, AbstractContextManager) else nullcontext()


@pytest.mark.parametrize("atomic", [atomic_file, atomic_folder, vacant])
@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("nope/../x", "does not exist"),
        ("nope/..", "does not exist"),
        ("nope/x", "does not exist"),
        ("far/nope/../../x", "does not exist"),
        ("file/../x", "Not a directory"),
        ("file/x", "Not a directory"),
    ],
)
def test_what_the_system_does_not_find_is_refused(linked: Path, atomic, said, reason) -> None:
    before = sorted(linked.rglob("*"))
    with pytest.raises(OutputError, match=reason), entered(atomic(linked / said)):
        pass
    assert sorted(linked.rglob("*")) == before


@pytest.mark.parametrize("atomic", [atomic_file, atomic_folder, vacant])
def test_a_name_that_is_empty_is_no_place(atomic) -> None:
    with pytest.raises(OutputError, match="an empty name"), entered(atomic("")):
        pass


def test_one_place_has_one_object(linked: Path) -> None:
    assert Place.of(linked / "link" / "x") == Place.of(linked / "far" / "deep" / "x")
    assert Place.of(linked / "link" / "x") != Place.of(linked / "x")
    place = Place.of(linked / "link" / "x")
    assert Place.of(place) is place
    assert place.beside("y").path == linked / "far" / "deep" / "y"
    assert str(place.beside("y")) == str(linked / "link" / "y")


@pytest.mark.parametrize("atomic", [atomic_file, atomic_folder])
def test_a_link_that_is_turned_meanwhile_changes_nothing(linked: Path, atomic) -> None:
    (linked / "other").mkdir()
    with atomic(Place.of(linked / "link" / "x")):
        (linked / "link").unlink()
        (linked / "link").symlink_to(linked / "other")
    assert [path.name for path in (linked / "far" / "deep").iterdir()] == ["x"]
    assert list((linked / "other").iterdir()) == []


@pytest.mark.parametrize(
    ("said", "where"),
    [
        ("new", "new"),
        ("new/deep", "new/deep"),
        ("link/../new", "far/new"),
        ("link", "far/deep"),
        ("link/new/deep", "far/deep/new/deep"),
    ],
)
def test_a_folder_that_may_be_made(linked: Path, monkeypatch, said: str, where: str) -> None:
    monkeypatch.chdir(linked)
    assert resolve_folder(said) == resolve_folder(linked / said) == linked / where


def test_no_folder_is_made_to_go_up_from(linked: Path) -> None:
    with pytest.raises(OutputError, match="nope does not exist"):
        resolve_folder(linked / "nope" / ".." / "work")
