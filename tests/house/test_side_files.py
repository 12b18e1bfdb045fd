"""One function opens the files that a person names: no other place in the house reads one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.floors import SRC

#: where files are read otherwise, and why none of them is a side file
ALLOWED = {
    "files/side.py": "the function itself",
    "audit/attempts.py": "the kernel's figures of this process",
    "audit/make.py": "a release that was just written",
    "audit/reproduction/parts.py": "parts that this program keeps, each seen to be a file",
    "budget.py": "the kernel's figures of this machine",
    "engine/": "what a run keeps for itself",
    "kernels/": "sources and compiled code of this program",
    "project/inputs.py": "ratings that were recognised, and side files that were checked",
    "project/state.py": "a folder, to lock it",
    "ratings/places/atomic.py": "a folder, to flush it",
    "ratings/places/checked.py": "a column that was checked",
    "ratings/readers/": "ratings, and tables that were checked",
    "ratings/shards/entries.py": "what a run keeps for itself",
    "ratings/shards/unfinished.py": "what a run keeps for itself",
    "release/folder/": "files of a release, each seen to be regular",
    "release/match/": "what a run keeps for itself",
    "release/verify/": "files of a release, each seen to be regular",
    "report/pdf.py": "what a browser has just printed, in a temporary folder",
    "privacy/sharded/order.py": "what a run keeps for itself",
    "scratch.py": "temporary folders of this program",
    "server/": "the studio's own folder",
}
_READERS = {"read_text", "read_bytes", "open", "fromfile", "load", "read_table"}
_CALL = re.compile(rf"\b({'|'.join(_READERS)})\(")
_OTHERS = {"archive", "tarfile", "remote", "far", "spark", "json", "bucket"}  # open no path
_WRITING = {"O_WRONLY", "O_RDWR", "O_CREAT"}


def reads(source: str) -> Iterator[int]:
    """Yield the lines in which a file is opened or read by its path."""
    if not _CALL.search(source):
        return
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        of = node.func.value if isinstance(node.func, ast.Attribute) else None
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        owner = getattr(of, "attr", getattr(of, "id", ""))
        if name not in _READERS or owner in _OTHERS or (name == "load" and owner != "np"):
            continue
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        modes = {each.value for each in given if isinstance(each, ast.Constant)}
        writes = any(isinstance(mode, str) and set(mode) & set("wax") for mode in modes)
        if not writes and not any(flag in ast.unparse(node) for flag in _WRITING):
            yield node.lineno


def test_side_files_are_opened_in_one_place() -> None:
    found = [
        f"{file}:{line}: opens a file otherwise than by starshade.files.side"
        for file in sorted(SRC.rglob("*.py"))
        if not file.relative_to(SRC).as_posix().startswith(tuple(ALLOWED))
        for line in reads(file.read_text(encoding="utf-8"))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("source", "caught"),
    [
        ("Path(items).read_text(encoding='utf-8')", True),
        ("place.read_bytes()", True),
        ("open(path)", True),
        ("path.open('rb')", True),
        ("os.open(path, os.O_RDONLY)", True),
        ("np.load(path)", True),
        ("path.open('wb')", False),
        ("open(path, mode='x')", False),
        ("os.open(path, os.O_CREAT | os.O_EXCL)", False),
        ("tarfile.open(fileobj=file)", False),
        ("json.load(file)", False),
        ("read_side(path, ITEM_LIST)", False),
    ],
)
def test_a_read_by_path_is_caught(source: str, caught: bool) -> None:
    assert any(reads(source)) == caught


def test_the_constants_of_sizes_stand_together() -> None:
    def kinds(file: Path) -> int:
        return file.read_text(encoding="utf-8").count("SideFile(")

    others = [file for file in SRC.rglob("*.py") if kinds(file) and file != SRC / "files/side.py"]
    assert not others
    assert kinds(SRC / "files/side.py") > 8
