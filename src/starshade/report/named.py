"""The users named in an internal report, for erasure."""

from __future__ import annotations

from collections.abc import Collection
from html.parser import HTMLParser
from pathlib import Path

from starshade.files.side import REPORT, read_side_text


def names_any(report: Path, users: Collection[str]) -> bool:
    """Return whether an internal report names any of these users.

    Reports of earlier versions do, in a table of people at risk; now `save_people` writes them.
    """
    reader = _People()
    reader.feed(read_side_text(report, REPORT))
    return not reader.users.isdisjoint(users)


class _People(HTMLParser):
    """Reads the heads of the rows of the table of people."""

    def __init__(self) -> None:
        super().__init__()
        self.users: set[str] = set()
        self._inside = self._head = False
        self._text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self._inside = ("class", "people") in attrs
        if self._inside and tag == "th" and ("scope", "row") in attrs:
            self._head, self._text = True, ""

    def handle_data(self, data: str) -> None:
        self._text += data * self._head

    def handle_endtag(self, tag: str) -> None:
        if tag == "table":
            self._inside = False
        if self._head and tag == "th":
            self._head = False
            self.users.add(self._text)
