"""Read every import of a source tree and compare it with the floors of the house."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SRC = Path(__file__).parents[2] / "src" / "starshade"

#: from the ground up; a room imports only from floors below its own
FLOORS: tuple[frozenset[str], ...] = (
    frozenset({"_version", "errors", "naming", "progress"}),  # the ground: everybody stands on it
    frozenset({"files", "markup", "plain", "renamed", "scratch", "setting"}),
    frozenset({"arguments", "chart", "figure", "kernels", "registry", "rng"}),
    frozenset({"budget", "stats"}),  # it loads Numba as the kernels need it
    frozenset({"engine"}),  # it knows no ratings: shards are what a protocol says
    frozenset({"ratings"}),
    frozenset({"release", "spark"}),
    frozenset({"query", "recommend"}),
    frozenset({"anonymize", "attack", "privacy", "utility"}),
    frozenset({"audit"}),
    frozenset({"report"}),
    frozenset({"project"}),
    frozenset({"cli", "server"}),
    frozenset({"__init__", "__main__"}),  # the door to the street: the lazy public names
)
#: the one way from a room to its neighbour: a command opens the studio
DOORS = frozenset({("cli", "starshade.server.serve")})
#: wings that are entered by one file alone
ENTRANCES = {"starshade.release.match": "starshade.release.match.match"}
_FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
_MODULE_PATH = re.compile(r"starshade(?!\.toml$)(\.[A-Za-z_]\w*)+")


@dataclass(frozen=True)
class Import:
    """One import: where it stands, which room it enters, and what it says."""

    file: Path
    line: int
    room: str
    path: str


def room_of(file: Path, root: Path) -> str:
    """Name the room that a file belongs to."""
    first = file.relative_to(root).parts[0]
    return first.removesuffix(".py")


def imports(file: Path, root: Path) -> Iterator[Import]:
    """Find every import of the house's own modules: also in functions, under TYPE_CHECKING,
    and as a dotted path in a string, as lazy tables hold them.
    """
    package = ["starshade", *file.relative_to(root).parts[:-1]]
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        paths: list[str] = []
        if isinstance(node, ast.Import):
            paths = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                start = package[: len(package) - node.level + 1]
                base = ".".join([*start, base] if base else start)
            # "from starshade import x" enters the room x
            paths = [f"{base}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            paths = [node.value] if _MODULE_PATH.fullmatch(node.value) else []
        for path in paths:
            parts = path.split(".")
            if parts[0] == "starshade":
                room = parts[1] if len(parts) > 1 else "__init__"
                line = getattr(node, "lineno", 0)
                yield Import(file, line, room if room in _FLOOR_OF else "__init__", path)


def violations(root: Path = SRC) -> list[str]:
    """Say with file and line which imports go up or sideways."""
    found = []
    for file in sorted(root.rglob("*.py")):
        room = room_of(file, root)
        if room not in _FLOOR_OF:
            found.append(f"{file}:1: {room} stands on no floor; add it to {__file__}")
            continue
        found += [
            f"{file}:{entry.line}: {room} (floor {_FLOOR_OF[room]}) imports "
            f"{entry.room} (floor {_FLOOR_OF[entry.room]})"
            for entry in imports(file, root)
            if entry.room != room
            and _FLOOR_OF[entry.room] >= _FLOOR_OF[room]
            and (room, entry.path.rpartition(".")[0]) not in DOORS
        ]
    return found


def ways_round(root: Path = SRC) -> list[str]:
    """Say with file and line which imports enter a wing other than by its door."""
    return [
        f"{file}:{entry.line}: {entry.path} is behind {door}"
        for file in sorted(root.rglob("*.py"))
        for wing, door in ENTRANCES.items()
        if not file.is_relative_to(root.joinpath(*wing.split(".")[1:]))
        for entry in imports(file, root)
        if f"{entry.path}.".startswith(f"{wing}.") and not f"{entry.path}.".startswith(f"{door}.")
    ]
