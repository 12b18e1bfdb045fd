from __future__ import annotations

import re
from pathlib import Path

from tests.house.floors import SRC

ROOT = SRC.parents[1]
FILES = sorted(SRC.rglob("*.py"))
MOST_LINES = 600
FILE = re.compile(r"\b\w+\.py\b")
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
#: notes that no reader of the repository has; definitions and papers are cited
ELSEWHERE = re.compile(r"\b(SPE[C]|GOLDE[N])\b|\bDESIG[N] §")


def lines_of(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines()


def test_every_file_is_short() -> None:
    long = [f"{file}: {n} lines" for file in FILES if (n := len(lines_of(file))) > MOST_LINES]
    assert not long, "\n".join([f"more than {MOST_LINES} lines: split it by subject", *long])


def test_every_file_is_finished() -> None:
    left = [
        f"{file}:{n}: {line.strip()}"
        for file in FILES
        for n, line in enumerate(lines_of(file), 1)
        if UNFINISHED.search(line)
    ]
    assert not left, "\n".join(left)


def test_no_file_names_a_machine() -> None:
    texts = [*FILES, *ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    told = [str(f) for f in texts if re.search(r"/(home|root|work)/\w", f.read_text("utf-8"))]
    assert not told


def test_what_is_cited_is_the_readers_too() -> None:
    folders = [ROOT / name for name in ("src", "tests", "docs", "benchmarks")]
    texts = [f for top in folders for kind in ("*.py", "*.md") for f in top.rglob(kind)]
    cited = [
        f"{file}:{n}: {line.strip()}"
        for file in [*texts, *ROOT.glob("*.md")]
        for n, line in enumerate(lines_of(file), 1)
        if ELSEWHERE.search(line)
    ]
    assert not cited, "\n".join(cited)


def test_every_file_that_a_source_names_is_there() -> None:
    there = {file.name for file in (*FILES, *(ROOT / "benchmarks").glob("*.py"))}
    named = {(file.name, name) for file in FILES for name in FILE.findall(file.read_text("utf-8"))}
    assert len(named) > 10
    assert {(file, name) for file, name in named if name not in there} == set()
