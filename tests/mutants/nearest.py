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
        room, *words = path.relative_to(SRC).with_suffix("").parts

        def rank(name: str) -> tuple[int, int, str]:
            here = {word.rstrip("s") for word in self._tests[name].stem.split("_")}
            shared = sum({w.rstrip("s") for w in word.split("_")} <= here for word in words)
            wide = not self._tests[name].is_relative_to("tests/unit")  # these take longer
            return distance[name] + wide - shared, distance[name], name

        reached = sorted((name for name in self._tests if name in distance), key=rank)
        own = {Path("tests/unit") / room, Path("tests/golden"), Path("tests/contract")}
        reached = [n for n in reached if own & {*self._tests[n].parents} or distance[n] == 1]
        files = [str(self._tests[name]) for name in reached]
        return files[:NEAREST], files[NEAREST:]


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
