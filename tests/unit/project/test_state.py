"""How a release leaves a project's folder, and what of its limits is refused before."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from starshade.errors import ConfigError, OutputError
from starshade.project.file import FOLDER, Project
from starshade.project.refuse import refuse_thresholds
from starshade.project.state import Published, State, kept, move
from starshade.project.work import _last_of

FILES = {"release.json": "{}", "deeper/cells.parquet": "cells"}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "work" / "release"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def another_disk(monkeypatch: pytest.MonkeyPatch, source: Path) -> list[tuple[str, str]]:
    """Let no rename leave the project's folder; returns the renames that were tried."""
    real, tried = os.rename, []

    def rename(self: Path, target: Path) -> Path:
        tried.append((self.name, target.name))
        if self.is_relative_to(source.parent) != target.is_relative_to(source.parent):
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        real(self, target)
        return target

    monkeypatch.setattr(Path, "rename", rename)
    return tried


def contents(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_text() for path in files}


def test_a_release_is_published_by_a_rename(tmp_path: Path, source: Path) -> None:
    place, node = tmp_path / "out" / "new" / "release-1", source.stat().st_ino
    move(source, place)
    assert contents(place) == FILES
    assert place.stat().st_ino == node
    assert not source.exists()


def test_a_release_is_published_to_another_disk(
    tmp_path: Path, source: Path, another_disk: list[tuple[str, str]]
) -> None:
    place = tmp_path / "out" / "release-1"
    move(source, place)
    assert contents(place) == FILES
    assert [path.name for path in place.parent.iterdir()] == ["release-1"]
    assert not source.exists()
    # under its own name it is there as a whole, or not at all
    assert another_disk == [("release", "release-1"), (".release-1.part", "release-1")]


def test_a_copy_that_was_interrupted_is_made_again(
    tmp_path: Path, source: Path, another_disk: list[tuple[str, str]]
) -> None:
    place = tmp_path / "out" / "release-1"
    left = place.with_name(".release-1.part")
    left.mkdir(parents=True)
    (left / "release.json").write_text("half of")
    (left / "more").write_text("of another release")
    move(source, place)
    assert contents(tmp_path / "out") == {f"release-1/{name}": t for name, t in FILES.items()}


def test_a_disk_that_is_full_leaves_the_release_where_it_was(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(Path, "rename", full)
    with pytest.raises(OutputError, match="no space left"):
        move(source, tmp_path / "out" / "release-1")
    assert contents(source) == FILES
    assert list((tmp_path / "out").iterdir()) == []


def test_a_release_that_may_be_lost_with_the_power_is_not_called_published(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: int) -> None:
        raise OSError(errno.EIO, "broken")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(OutputError, match="cannot be written"):
        move(source, tmp_path / "out" / "release-1")


def test_what_a_project_keeps_is_for_its_owner_alone(tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir(mode=0o755)
    for _ in range(2):
        with kept(tmp_path) as keep:
            for folder in (keep.folder, keep.receipts, keep.reports, keep.work):
                assert stat.S_IMODE(folder.stat().st_mode) == 0o700
            with pytest.raises(OutputError, match="another run is in progress"), kept(tmp_path):
                pass


def test_a_project_keeps_nothing_behind_a_link_or_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / FOLDER).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OutputError, match="is a link"), kept(tmp_path):
        pass
    (tmp_path / FOLDER).unlink()
    (tmp_path / FOLDER).write_text("")
    with pytest.raises(OutputError, match="is not a folder"), kept(tmp_path):
        pass


OUT = State(published=(Published("release-1", "published/release-1", "0"),))


@pytest.mark.parametrize(
    ("publish", "state", "refused"),
    [
        ({}, State(), True),
        ({"earlier": ()}, State(), True),
        ({"earlier": ("before",)}, State(), False),
        ({}, OUT, False),
        ({"earlier": ("before",)}, OUT, False),
    ],
)
def test_a_limit_on_several_releases_needs_an_earlier_one(
    publish: dict[str, Any], state: State, refused: bool
) -> None:
    project = Project({}, {}, {"threshold": ("composition=0.1",)}, publish)
    if refused:
        with pytest.raises(ConfigError, match="composition needs an earlier release"):
            refuse_thresholds(project, state)
    else:
        refuse_thresholds(project, state)
    refuse_thresholds(Project({}, {}, {"threshold": ("class-size=11",)}, publish), state)


@pytest.mark.parametrize("n", [1, 3])
def test_the_first_release_continues_the_last_earlier_one(tmp_path: Path, n: int) -> None:
    names = [f"r{i}" for i in range(n)]
    publish = {"earlier": tuple(names), "earlier_private": tuple(f"{name}.json" for name in names)}
    with kept(tmp_path) as keep:
        assert _last_of(keep, State(), Project({}, {}, {}, publish)) == (
            names[-1],
            f"{names[-1]}.json",
        )
        assert _last_of(keep, State(), Project({}, {}, {}, {})) is None
        published = "published/release-1", str(keep.receipt("release-1"))
        assert _last_of(keep, OUT, Project({}, {}, {}, publish)) == published
