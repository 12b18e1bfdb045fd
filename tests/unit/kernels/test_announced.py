"""What is announced as compiled first is called: else it would be announced at every run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.house.floors import SRC

_MAYBE = (ast.If, ast.IfExp, ast.For)


def _maybe(
    node: ast.AST, within: tuple[int, ...] = ()
) -> Iterator[tuple[ast.AST, tuple[int, ...]]]:
    """Yield every node within, and the branches and loops around it."""
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                branch = isinstance(node, _MAYBE) and name in ("body", "orelse")
                around = (*within, id(node) ^ hash(name)) if branch else within
                yield child, around
                yield from _maybe(child, around)


def doubtful(file: Path) -> list[str]:
    """Return what a function announces and calls in a branch or a loop alone."""
    found = []
    for function in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if not isinstance(function, ast.FunctionDef):
            continue
        nodes = list(_maybe(function))
        calls = [(node, around) for node, around in nodes if isinstance(node, ast.Call)]
        for call, around in calls:
            if not (isinstance(call.func, ast.Name) and call.func.id == "announce"):
                continue
            within = {id(node) for node in ast.walk(call)}
            for kernel in call.args[1:]:
                used = [
                    where
                    for node, where in nodes
                    if isinstance(node, ast.Name)
                    and node.id == ast.unparse(kernel)
                    and id(node) not in within
                ]
                if used and not any(set(where) <= set(around) for where in used):
                    found.append(f"{file.name}:{call.lineno}: {ast.unparse(kernel)}")
    return found


def test_what_is_announced_is_called() -> None:
    files = (SRC / "kernels").rglob("*.py")
    assert [each for file in files for each in doubtful(file)] == []


def test_what_may_not_be_called_is_found(tmp_path: Path) -> None:
    file = tmp_path / "kernel.py"
    file.write_text(
        "def one(n):\n    announce('one', _one)\n    for i in range(n):\n        _one(i)\n"
        "def two(n):\n    announce('two', _one, _two)\n    return _one(n) if n else _two(n)\n"
        "def three(n):\n    for i in range(n):\n        announce('three', _one)\n        _one(i)\n"
        "def four(n):\n    announce('four', _one)\n    run(lambda i: _one(i), n)\n"
    )
    assert doubtful(file) == ["kernel.py:2: _one", "kernel.py:6: _one", "kernel.py:6: _two"]
