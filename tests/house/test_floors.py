from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.house.circles import circles
from tests.house.floors import ENTRANCES, FLOORS, SRC, imports, violations, ways_round

MOST_FILES = 16
PICTURED = (SRC.parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")


def test_every_import_goes_down() -> None:
    found = violations()
    assert not found, "\n".join(found)


def test_the_reader_sees_the_house() -> None:
    # an empty answer of the test above means something only if imports are found at all
    seen = {entry.room for entry in imports(SRC / "release" / "build.py", SRC)}
    assert {"kernels", "ratings", "release"} <= seen


@pytest.mark.parametrize(
    ("room", "source"),
    [
        ("ratings", "from starshade.release.cells import Cells"),
        ("ratings", "import starshade.release.cells"),
        ("ratings", "def f():\n    from starshade.audit import verdict"),
        ("ratings", "from ..release import cells"),
        ("ratings", "from starshade import release"),
        ("ratings", "from starshade import Ratings"),
        ("ratings", "import starshade"),
        ("attack", "from starshade.privacy.k_anonymity import KAnonymity"),
        (
            "attack",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import starshade.utility.dm",
        ),
        ("attack", 'import_module("starshade.anonymize.k_likeness")'),
        ("kernels", "from starshade.rng import Rng"),
        ("audit", "from starshade.cli.running.run import main"),
        ("cli", "from starshade.server.jobs.store import Store"),
        ("server", "from starshade.cli.running.run import main"),
        ("report", "from starshade.server.serve import open_studio"),
    ],
)
def test_a_step_up_or_sideways_is_caught(tmp_path: Path, room: str, source: str) -> None:
    (tmp_path / room).mkdir()
    file = tmp_path / room / "bad.py"
    file.write_text(source)
    (found,) = violations(tmp_path)
    assert found.startswith(f"{file}:{source.count(chr(10)) + 1}: {room} ")


@pytest.mark.parametrize(
    ("room", "source"),
    [
        ("ratings", "from starshade.errors import ConfigError"),
        ("ratings", "from . import scale"),
        ("ratings", "import numpy"),
        ("audit", "from starshade.attack.scoreboard_rh.scoreboard_rh import ScoreboardRH"),
        ("attack", 'message = "starshade is a house"'),
        ("cli", "from starshade.server.serve import open_studio"),
    ],
)
def test_a_step_down_is_not(tmp_path: Path, room: str, source: str) -> None:
    (tmp_path / room).mkdir()
    (tmp_path / room / "good.py").write_text(source)
    assert violations(tmp_path) == []


def test_a_room_on_no_floor_is_caught(tmp_path: Path) -> None:
    (tmp_path / "attic.py").write_text("")
    assert len(violations(tmp_path)) == 1


def test_a_wing_with_a_door_is_entered_by_it() -> None:
    found = ways_round()
    assert not found, "\n".join(found)
    for door in ENTRANCES.values():  # an empty answer means something only where there is one
        assert SRC.joinpath(*door.split(".")[1:]).with_suffix(".py").is_file()


@pytest.mark.parametrize(
    ("room", "source", "caught"),
    [
        ("attack", "from starshade.release.match.evidence import not_made_of", True),
        ("release", "from starshade.release.match.evidence import Changes", True),
        ("release", "from .match import changes", True),
        ("audit", "def f():\n    import starshade.release.match.evidence", True),
        ("cli", 'import_module("starshade.release.match.evidence")', True),
        ("attack", "from starshade.release.match.match import Origin", False),
        ("attack", "from starshade.release.match import match", False),
        ("release/match", "from starshade.release.match.evidence import Changes", False),
    ],
)
def test_a_way_round_a_door_is_caught(tmp_path: Path, room: str, source: str, caught: bool) -> None:
    (tmp_path / room).mkdir(parents=True)
    (tmp_path / room / "file.py").write_text(source)
    assert len(ways_round(tmp_path)) == caught


def test_no_files_go_round_in_a_circle() -> None:
    found = circles()
    assert not found, "\n".join(" <-> ".join(circle) for circle in found)


@pytest.mark.parametrize(
    ("first", "second", "circle"),
    [
        ("from starshade.b import y", "from starshade.a import x", True),
        ("from starshade.b import y", "def f():\n    from starshade import a", True),
        ("import starshade.b", "def f():\n    import starshade.a", True),
        ("from starshade.b import y", "class C:\n    def save(self):\n        import os", False),
        ("from starshade.b import y", "if TYPE_CHECKING:\n    import starshade.a", False),
        (
            "from starshade.b import y",
            'class C:\n    def save(self):\n        """Write."""\n'
            "        from starshade.a import x\n        x(self)",
            False,
        ),
        (
            "from starshade.b import y",
            'class C:\n    def save(self):\n        """Write."""\n'
            "        from starshade.a import x\n        y = x(self)\n        y.go()",
            True,
        ),
        (
            "from starshade.b import y",
            'class C:\n    def work(self):\n        """Write."""\n'
            "        from starshade.a import x\n        x(self)",
            True,
        ),
    ],
)
def test_a_circle_is_caught(tmp_path: Path, first: str, second: str, circle: bool) -> None:
    (tmp_path / "starshade").mkdir()
    for name, source in (("a", first), ("b", second), ("__init__", "")):
        (tmp_path / "starshade" / f"{name}.py").write_text(source)
    assert circles(tmp_path / "starshade") == ([["starshade.a", "starshade.b"]] if circle else [])


def test_a_folder_holds_a_few_files() -> None:
    folders = [SRC, *(each for each in SRC.rglob("*") if each.is_dir())]
    held = {folder: len(list(folder.glob("*.py"))) for folder in folders}
    wide = [f"{folder.relative_to(SRC)}: {n}" for folder, n in held.items() if n > MOST_FILES]
    assert not wide, "what belongs together gets a folder of its own; " + ", ".join(wide)


def test_the_picture_has_every_room_on_its_floor() -> None:
    (picture,) = re.findall(r"^```text\n(.*?)^```", PICTURED, re.M | re.S)
    drawn = [set(re.split(r" · ", line.strip().split("  ")[0])) for line in picture.splitlines()]
    rooms = [{room for room in floor if (SRC / room).is_dir()} for floor in reversed(FLOORS)]
    assert drawn == [floor for floor in rooms if floor]


def test_every_place_on_the_way_of_a_rating_is_there() -> None:
    table = PICTURED.partition("## Data flow")[2].partition("##")[0]
    places = [
        place
        for row in re.findall(r"^\| \w+ \| (.*?) \|", table, re.M)
        for place in re.findall(r"`([a-z_/]+(?:/|\.py))`", row)
    ]
    assert len(places) > 12
    beside = {"order.py": "anonymize", "grouping.py": "anonymize"}
    assert [p for p in places if not (SRC / beside.get(p, "") / p).exists()] == []
