"""Find circles of files: those that cannot be read, tried or changed without each other."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from tests.house.floors import SRC

#: methods of a value that hand over to a function above it, in one line
FORWARDED = frozenset(
    {"from_arrays", "from_scipy", "save", "plot", "_repr_html_", "_rows", "anonymize_shards"}
)


def modules(root: Path = SRC) -> dict[str, Path]:
    """Return the files of a package by their dotted names."""
    found = {}
    for file in root.rglob("*.py"):
        parts = [root.name, *file.relative_to(root).with_suffix("").parts]
        found[".".join(parts).removesuffix(".__init__")] = file
    return found


def needed(file: Path, known: Mapping[str, Path]) -> set[str]:
    """Return the modules that a file imports when it runs: in functions too, for types not."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for_types = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(ast.Module(node.body, []))
    }
    handed_over = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name in FORWARDED and _hands_over(node)
        for inner in ast.walk(node)
    }
    return {
        name
        for node in ast.walk(tree)
        if node not in for_types and node not in handed_over
        for name in _named(node, known)
    }


def every_import(file: Path, known: Mapping[str, Path]) -> set[str]:
    """Return the modules that a file imports anywhere: for types, and to hand over, too."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {
        name for node in ast.walk(tree) for each in _single(node) for name in _named(each, known)
    }


def _single(node: ast.AST) -> Iterator[ast.AST]:
    """Split ``from a import b, c``: one name may be a module, another stands in a's file."""
    if isinstance(node, ast.ImportFrom):
        yield from (ast.ImportFrom(node.module, [alias], node.level) for alias in node.names)
    else:
        yield node


def _hands_over(function: ast.FunctionDef) -> bool:
    imports = (ast.Import, ast.ImportFrom)
    said = ast.get_docstring(function) is not None
    return len([each for each in function.body[said:] if not isinstance(each, imports)]) == 1


def _named(node: ast.AST, known: Mapping[str, Path]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name in known)
    if isinstance(node, ast.ImportFrom) and node.module in known:
        inside = {f"{node.module}.{alias.name}" for alias in node.names}
        yield from inside & known.keys() or {str(node.module)}


def circles(
    root: Path = SRC, links: Callable[[Path, Mapping[str, Path]], set[str]] = needed
) -> list[list[str]]:
    """Return each set of files that reach each other by these imports, sorted."""
    known = modules(root)
    below = {name: links(file, known) - {name} for name, file in known.items()}
    reached: dict[str, set[str]] = {}
    for name in below:
        reached[name], waiting = set(), [name]
        while waiting:
            new = below[waiting.pop()] - reached[name]
            reached[name] |= new
            waiting += new
    found = {frozenset(n for n in reached[name] if name in reached[n]) for name in reached}
    return sorted(sorted(circle) for circle in found if circle)
