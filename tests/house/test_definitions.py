"""``docs/definitions`` defines whatever is registered, and whatever is cited is there."""

from __future__ import annotations

import re
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest

from tests.house.floors import SRC

ROOT = SRC.parents[1]
DOCS = ROOT / "docs"
PAGES = [DOCS / "definitions.md", *sorted((DOCS / "definitions").glob("*.md"))]
#: room → the page that has a section for each of its names
PAGE_OF = {
    "attack": "attacks",
    "privacy": "models",
    "anonymize": "methods",
    "utility": "measures",
    "recommend": "measures",
}
CITED = re.compile(r"\bdefinitions, (\"[a-z-]+\"(?:(?:,| and)\s+(?:#\s+)?\"[a-z-]+\")*)")


def anchors(page: Path) -> list[str]:
    """Return what the sections of a page are called in links to them."""
    titles = re.findall(r"^##+ (.*)$", page.read_text(encoding="utf-8"), re.M)
    return [re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles]


def cited(text: str) -> set[str]:
    return {name for names in CITED.findall(text) for name in re.findall(r'"(.*?)"', names)}


@pytest.mark.parametrize("room", PAGE_OF)
def test_what_is_registered_is_defined(room: str) -> None:
    names = {entry.name for entry in import_module(f"starshade.{room}.registry").ENTRIES}
    assert names <= set(anchors(DOCS / "definitions" / f"{PAGE_OF[room]}.md"))


def test_every_section_has_a_name_of_its_own() -> None:
    found = Counter(anchor for page in PAGES for anchor in anchors(page))
    assert [anchor for anchor, times in found.items() if times > 1] == []


def test_every_definition_that_is_cited_is_there() -> None:
    there = {anchor for page in PAGES for anchor in anchors(page)}
    files = [file for top in ("src", "tests", "benchmarks") for file in (ROOT / top).rglob("*.py")]
    found = {name: file for file in files for name in cited(file.read_text(encoding="utf-8"))}
    assert len(found) > 30
    assert {name: str(file) for name, file in found.items() if name not in there} == {}


def test_a_citation_is_seen() -> None:
    assert cited('"""Scores (NS §4; definitions, "scoreboard-rh")."""') == {"scoreboard-rh"}
    assert cited('definitions, "k-eps" and\n# "null-rules"; x') == {"k-eps", "null-rules"}
