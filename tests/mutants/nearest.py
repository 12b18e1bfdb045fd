"""Find the test files that are nearest to a module: by imports, and by name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

SRC = Path("src/starshade")
NEAREST = 4  # test files that are run first


class Nearness:
    """Which test files are how near to a module: by imports, and by name."""

    def __init__(self, root: Path) -> None:
        files = {_module(path, root): path for path in _sources(root)}
        self._tests = {name: path.relative_to(root) for name, path in files.items()
                       if path.name.startswith("test_")}  # fmt: skip
        self._importers: dict[str, set[str]] = {}
        for name, path in files.items():
            for node in ast.walk(ast.parse(path.read_bytes())):
                for imported in _named(node):
                    if imported in files:
                        self._importers.setdefault(imported, set()).add(name)

    def tiers(self, path: Path) -> tuple[list[str], list[str]]:
        """Return the nearest test files, and the others of the room, nearest first."""
        distance, edge = {_module(path, Path()): 0}, [_module(path, Path())]
        for module in edge:
            for importer in self._importers.get(module, set()) - distance.keys():
                distance[importer] = distance[module] + 1
                edge.append(importer)
        room, *wings = path.relative_to(SRC).with_suffix("").parts

        def shared(name: str) -> int:
            """Count the names of the path that a test file carries."""
            here = _words(self._tests[name].stem)
            return sum(_words(wing) <= here for wing in wings)

        def rank(name: str) -> tuple[int, int, str]:
            wide = not self._tests[name].is_relative_to("tests/unit")  # these take longer
            return distance[name] + 2 * wide - shared(name), distance[name], name

        own = {Path("tests/unit") / room, Path("tests/golden"), Path("tests/contract")}
        for name, file in self._tests.items():
            if file.is_relative_to("tests/system"):  # they import little of what they test
                if shared(name) or room in _words(file.stem):
                    distance.setdefault(name, 5)
                else:
                    distance.pop(name, None)
            elif distance.get(name, 1) > 1 and not own & {*file.parents}:
                distance.pop(name)
        files = [str(self._tests[n]) for n in sorted(self._tests.keys() & distance, key=rank)]
        return files[:NEAREST], files[NEAREST:]


def _words(name: str) -> set[str]:
    return {word.rstrip("s") for word in name.split("_")}


def _sources(root: Path) -> list[Path]:
    return sorted([*(root / SRC).rglob("*.py"), *(root / "tests").rglob("*.py")])


def _module(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(part for part in parts if part not in ("src", "__init__"))


def _named(node: ast.AST) -> Iterator[str]:
    """Yield what an import names; a registry names modules in texts."""
    match node:
        case ast.Import(names=names):
            yield from (each.name for each in names)
        case ast.ImportFrom(module=str(module), names=names):
            yield module
            yield from (f"{module}.{each.name}" for each in names)
        case ast.Constant(value=str(value)):
            yield value
