"""What each room holds today, as ceilings that only fall."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.house.circles import circles, every_import, modules
from tests.house.floors import SRC, room_of


class Size(NamedTuple):
    """What is counted of a room."""

    files: int
    lines: int  # a ceiling is rounded up: a bug fix of a few lines raises none
    in_circles: int = 0  # files that import each other, counting every import statement
    sharded: int = 0  # modules and folders named so: a second path beside that of one table
    shards: int = 0  # files that mention shards


#: the ceilings; files at the root of the package are one room. Raised once, for the report of five
#: answers: context of a release, page 1, template, PDF, risk list
CEILINGS = {
    "anonymize": Size(45, 7800, 9, 1, 9),
    "attack": Size(105, 18_600, 3, 1, 21),
    "audit": Size(125, 23_200, 2, 0, 9),
    "chart": Size(2, 500),
    "cli": Size(33, 6600, 0, 0, 10),
    "engine": Size(10, 1300, 0, 0, 9),
    "files": Size(5, 600),
    "kernels": Size(67, 13_100, 0, 0, 1),
    "privacy": Size(24, 4400, 0, 1, 6),
    "progress": Size(2, 400),
    "project": Size(14, 2600, 2),
    "query": Size(13, 2600),
    "ratings": Size(83, 15_300, 30, 1, 20),
    "recommend": Size(9, 1400, 0, 1, 2),
    "release": Size(50, 10_200, 18, 0, 6),
    "report": Size(15, 2100),
    "server": Size(42, 6600),
    "spark": Size(2, 300, 0, 0, 2),
    "starshade": Size(16, 2400, 0, 0, 2),
    "utility": Size(21, 4200, 0, 3, 4),
}
#: of these a ceiling equals the number: who lowers the number lowers the ceiling
EXACT = ("in_circles", "sharded", "shards")


def sizes(root: Path = SRC) -> dict[str, Size]:
    """Count the files, lines, circles and shards of every room."""
    known = modules(root)
    circling = {known[name] for circle in circles(root, every_import) for name in circle}
    files, lines, in_circles, sharded, shards = (Counter[str]() for _ in range(5))
    for file in known.values():
        room = _room(file, root)
        source = file.read_text(encoding="utf-8")
        files[room] += 1
        lines[room] += source.count("\n")
        in_circles[room] += file in circling
        shards[room] += "shard" in source.lower()
        sharded[room] += file.stem.startswith("sharded")
    for folder in {parent for file in known.values() for parent in file.parents}:
        if folder.name.startswith("sharded") and folder.is_relative_to(root):
            sharded[_room(folder, root)] += 1
    counted = (files, lines, in_circles, sharded, shards)
    return {room: Size(*(count[room] for count in counted)) for room in sorted(files)}


def _room(place: Path, root: Path) -> str:
    return room_of(place, root) if place.parent != root or place.is_dir() else root.name


def broken(found: dict[str, Size], ceilings: dict[str, Size]) -> list[str]:
    """Say of each room which ceiling it breaks, or which is to be lowered."""
    wrong = [f"{room}: is no room any more; drop its line" for room in ceilings.keys() - found]
    for room, size in found.items():
        if room not in ceilings:
            wrong.append(f"{room}: add a line for it: {size}")
            continue
        for name, number, ceiling in zip(Size._fields, size, ceilings[room], strict=True):
            if number > ceiling:
                wrong.append(f"{room}: {name} rose to {number} from at most {ceiling}")
            elif number < ceiling and name in EXACT:
                wrong.append(f"{room}: {name} fell to {number}; lower its ceiling from {ceiling}")
    return sorted(wrong)


def test_no_room_breaks_its_ceilings() -> None:
    wrong = broken(sizes(), CEILINGS)
    assert not wrong, "\n".join(wrong)


TOY = {
    "__init__.py": "",
    "a/one.py": "from starshade.a import two, other\n",
    "a/two.py": "def f():\n    from starshade.a.one import g\n",
    "a/__init__.py": "other = 1\n",
    "b/sharded/x.py": "if TYPE_CHECKING:  # shards\n    from starshade.b.y import Y\n",
    "b/y.py": "from starshade.b.sharded.x import X\n",
    "b/sharded_pairs.py": "",
}
TOY_SIZES = {
    "a": Size(3, 4, 2),
    "b": Size(3, 3, 2, 2, 2),
    "starshade": Size(1, 0),
}


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    for name, source in TOY.items():
        file = tmp_path / "starshade" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source)
    return tmp_path / "starshade"


def test_a_toy_is_counted(toy: Path) -> None:
    assert sizes(toy) == TOY_SIZES
    assert broken(sizes(toy), TOY_SIZES) == []


def test_an_import_beside_a_module_counts(toy: Path) -> None:
    # "from a import two, other": other stands in a/__init__.py
    (toy / "a" / "__init__.py").write_text("from starshade.a.one import other\n")
    assert sizes(toy)["a"].in_circles == 3


@pytest.mark.parametrize(
    ("name", "by", "message"),
    [
        ("files", 1, "b: files rose to 3 from at most 2"),
        ("files", -1, None),
        ("lines", 1, "b: lines rose to 3 from at most 2"),
        ("lines", -1, None),
        ("in_circles", 1, "b: in_circles rose to 2 from at most 1"),
        ("in_circles", -1, "b: in_circles fell to 2; lower its ceiling from 3"),
        ("sharded", 1, "b: sharded rose to 2 from at most 1"),
        ("sharded", -1, "b: sharded fell to 2; lower its ceiling from 3"),
        ("shards", 1, "b: shards rose to 2 from at most 1"),
        ("shards", -1, "b: shards fell to 2; lower its ceiling from 3"),
    ],
)
def test_a_broken_ceiling_is_named(toy: Path, name: str, by: int, message: str | None) -> None:
    ceiling = TOY_SIZES["b"]._replace(**{name: getattr(TOY_SIZES["b"], name) - by})
    wrong = broken(sizes(toy), TOY_SIZES | {"b": ceiling})
    assert wrong == ([message] if message else [])


def test_rooms_come_and_go_with_their_lines(toy: Path) -> None:
    ceilings = {room: size for room, size in TOY_SIZES.items() if room != "a"} | {"c": Size(1, 1)}
    wrong = broken(sizes(toy), ceilings)
    assert wrong == [
        f"a: add a line for it: {TOY_SIZES['a']}",
        "c: is no room any more; drop its line",
    ]
