from __future__ import annotations

import hashlib
import re
from pathlib import Path

from tests.house.floors import SRC

STATIC = SRC / "server" / "static"
VENDOR = STATIC / "vendor"
LINE = re.compile(r"^\| (?P<file>\S+\.js) \|.*\| (?P<licence>[^|]+) \| `(?P<sha>[0-9a-f]{64})` \|$")
# a whole address in what we wrote ourselves; names of XML languages are no addresses
ELSEWHERE = re.compile(r"""(?:https?:)?//(?!www\.w3\.org/)[\w-]+\.\w""")


def _lines() -> dict[str, re.Match[str]]:
    text = (VENDOR / "VENDORED.md").read_text(encoding="utf-8")
    return {found["file"]: found for line in text.splitlines() if (found := LINE.match(line))}


def test_every_vendored_script_is_listed_as_published() -> None:
    scripts = {file.name: file for file in VENDOR.glob("*.js")}
    lines = _lines()
    assert set(lines) == set(scripts)
    for name, file in scripts.items():
        assert hashlib.sha256(file.read_bytes()).hexdigest() == lines[name]["sha"], name


def test_every_vendored_script_keeps_its_licence_beside_it() -> None:
    for name, line in _lines().items():
        for licence in line["licence"].split(", "):
            assert (VENDOR / licence).stat().st_size > 400, (name, licence)


def test_no_page_of_ours_names_another_machine() -> None:
    ours = [*STATIC.glob("*.*"), *(SRC / "server" / "templates").rglob("*.j2")]
    told = [
        f"{Path(file).name}:{n}: {line.strip()}"
        for file in ours
        if file.suffix in (".js", ".css", ".svg", ".j2")
        for n, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if ELSEWHERE.search(line)
    ]
    assert not told, "\n".join(told)
