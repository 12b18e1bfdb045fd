from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.house.floors import SRC

ROOT = SRC.parents[1]
FILES = sorted(SRC.rglob("*.py"))
MOST_LINES = 400
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")


@pytest.mark.parametrize("file", FILES, ids=lambda f: str(f.relative_to(SRC)))
def test_a_file_is_short_and_finished(file: Path) -> None:
    lines = file.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= MOST_LINES, "a file that wants 400 lines wants to be two"
    left = [
        f"{file}:{n}: {line.strip()}" for n, line in enumerate(lines, 1) if UNFINISHED.search(line)
    ]
    assert not left, "\n".join(left)


def test_no_file_names_a_machine() -> None:
    texts = [*FILES, *ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    told = [str(f) for f in texts if re.search(r"/(home|root|work)/\w", f.read_text("utf-8"))]
    assert not told
