"""Nothing is written into a release that is there, however the place is spelled."""

from __future__ import annotations

from pathlib import Path

import pytest

from starshade.errors import OutputError
from starshade.ratings.places.atomic import atomic_file, atomic_folder
from tests.system.conftest import Made, refused


@pytest.fixture
def places(made: Made, tmp_path: Path) -> list[str]:
    """Ways to name a place inside a release."""
    (tmp_path / "link").symlink_to(made.folder)
    (tmp_path / "far").symlink_to(tmp_path / "link")
    name = made.folder.name
    return [
        f"{made.folder}/x",
        f"{made.folder}/../{name}/x",
        f"{tmp_path}/link/x",
        f"{tmp_path}/far/no/such/x",
    ]


COMMANDS = [
    ["anonymize", "nothing.csv", "--k", "4", "--out"],
    ["data", "convert", "nothing.csv", "--out"],
    ["data", "synth", "--out"],
    ["demo", "--out"],
    ["data", "describe", "nothing.csv", "--log-file"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_commands_refuse_before_the_work(command: list[str], places: list[str], made: Made) -> None:
    before = sorted(made.folder.iterdir())
    for place in places:
        if "/no/" not in place:
            said = refused(*command, place)
            assert "inside the release" in said
            assert command[-1] in said
    assert sorted(made.folder.iterdir()) == before


def test_a_log_file_that_is_a_link_into_a_release(made: Made, tmp_path: Path) -> None:
    (tmp_path / "log").symlink_to(made.folder / "log")
    said = refused("data", "describe", "nothing.csv", "--log-file", tmp_path / "log")
    assert "inside the release" in said
    assert not (made.folder / "log").exists()


def test_the_library_refuses_too(places: list[str]) -> None:
    for place in places:
        for write in (atomic_file, atomic_folder):
            with pytest.raises(OutputError, match="inside the release"), write(Path(place)):
                pass


def test_a_folder_with_a_release_json_of_another_kind_is_none(tmp_path: Path) -> None:
    (tmp_path / "release.json").write_text("{}")
    with atomic_folder(tmp_path / "out") as folder:
        (folder / "a").write_text("a")
    assert (tmp_path / "out" / "a").is_file()
