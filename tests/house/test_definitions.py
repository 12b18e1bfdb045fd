"""``docs/definitions`` defines whatever is registered."""

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


def anchors(page: Path) -> list[str]:
    """Return what the sections of a page are called in links to them."""
    titles = re.findall(r"^##+ (.*)$", page.read_text(encoding="utf-8"), re.M)
    return [re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles]


@pytest.mark.parametrize("room", PAGE_OF)
def test_what_is_registered_is_defined(room: str) -> None:
    names = {entry.name for entry in import_module(f"starshade.{room}.registry").ENTRIES}
    assert names <= set(anchors(DOCS / "definitions" / f"{PAGE_OF[room]}.md"))


def test_every_section_has_a_name_of_its_own() -> None:
    found = Counter(anchor for page in PAGES for anchor in anchors(page))
    assert [anchor for anchor, times in found.items() if times > 1] == []
