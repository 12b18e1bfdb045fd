from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
Kernel = tuple[str, str]  # its module, its name


def trees(*folders: str) -> dict[Path, ast.Module]:
    """The files that can name a kernel: those that speak of the room."""
    files = [file for folder in folders for file in sorted((ROOT / folder).rglob("*.py"))]
    texts = {file: file.read_text(encoding="utf-8") for file in files}
    return {
        file: ast.parse(text)
        for file, text in texts.items()
        if "starshade.kernels" in text or "njit" in text
    }


def module_of(file: Path) -> str:
    parts = file.relative_to(ROOT / "src" if "src" in file.parts else ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def decorators(node: ast.AST) -> set[str]:
    """The names of a function's decorators; with those that are inlined: "inline"."""
    if not isinstance(node, ast.FunctionDef):
        return set()
    texts = [ast.unparse(decorator) for decorator in node.decorator_list]
    return {text.partition("(")[0] if "inline=" not in text else "inline" for text in texts}


def declared(files: dict[Path, ast.Module], decorator: str) -> set[Kernel]:
    return {
        (module_of(file), node.name)
        for file, tree in files.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and decorator in decorators(node)
    }


def names_in(file: Path, tree: ast.Module) -> Iterator[Kernel]:
    """What Python code names, as kernels would be called: outside every kernel."""
    imported = {
        alias.asname or alias.name: (node.module or "", alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if not decorators(node) & {"njit", "inner", "inline"}:
            waiting += ast.iter_child_nodes(node)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield imported.get(node.id, (module_of(file), node.id))
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield ".".join(imported.get(node.value.id, (node.value.id,))), node.attr


def named(files: dict[Path, ast.Module]) -> set[Kernel]:
    return {name for file, tree in files.items() for name in names_in(file, tree)}


@pytest.fixture(scope="module")
def everything() -> dict[Path, ast.Module]:
    return trees("src", "tests", "benchmarks")


def test_an_inner_kernel_is_never_called_from_python(everything: dict[Path, ast.Module]) -> None:
    # it would end the process without a word: such a kernel is declared with njit
    assert declared(everything, "inner") & named(everything) == set()


def test_what_only_kernels_call_is_inner(everything: dict[Path, ast.Module]) -> None:
    ours = {kernel for kernel in declared(everything, "njit") if kernel[0].startswith("starshade.")}
    assert ours - named(everything) == set()


@pytest.mark.parametrize(
    "call",
    [
        "from starshade.kernels.search import place_of\nplace_of(1)",
        "from starshade.kernels.search import place_of as where\ndef f():\n    return where(1)",
        "from starshade.kernels import search\nsearch.place_of(1)",
    ],
)
def test_a_call_from_python_is_seen(call: str) -> None:
    assert ("starshade.kernels.search", "place_of") in set(names_in(ROOT / "x.py", ast.parse(call)))


def test_a_call_from_a_kernel_is_not() -> None:
    kernel = (
        "from starshade.kernels.search import place_of\n@inner\ndef f(x):\n    return place_of(x)"
    )
    assert not any("place_of" in name for name in names_in(ROOT / "x.py", ast.parse(kernel)))
