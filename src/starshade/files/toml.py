"""TOML files: read safely, and in which line each key stands."""

from __future__ import annotations

import re
import tomllib
from typing import Any

_BRACKET = re.compile(r"[\[\]{}]")
_PART = r"""(?:"[^"\n]*"|'[^'\n]*'|[\w-]+)[ \t]*"""
_DOTTED = re.compile(rf"(?:^|[\[{{,])[ \t]*(?:{_PART}\.[ \t]*){{20}}", re.MULTILINE)
_DIGITS = re.compile(r"[0-9][0-9_]{4000}")


class UnusableToml(tomllib.TOMLDecodeError):
    """TOML that Python's reader fails on, or that no setting can need."""


def load_toml(text: str) -> dict[str, Any]:
    """Read TOML; what its reader does not survive is a `TOMLDecodeError` of a line as well."""
    if deep := _DOTTED.search(text):
        raise _unusable("a name of too many parts", text, deep.end())
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except ValueError:  # Python reads no number of so many digits
        digits = _DIGITS.search(text)
        raise _unusable(
            "a number of too many digits", text, digits.end() if digits else 0
        ) from None
    except RecursionError:
        raise _unusable("nested too deeply", text, _deepest(text)) from None


def _unusable(what: str, text: str, at: int) -> UnusableToml:
    return UnusableToml(f"{what} (at line {text.count(chr(10), 0, at) + 1}, column 1)")


def _deepest(text: str) -> int:
    """Return where brackets, those in texts too, are nested most deeply."""
    depth = most = at = 0
    for mark in _BRACKET.finditer(text):
        depth = depth + 1 if mark[0] in "[{" else depth - 1
        if depth > most:
            most, at = depth, mark.start()
    return at


class Lines:
    """In which line of a text each key stands; the first ``[[name]]`` is the section ``name 1``."""

    _SECTION = re.compile(r"\s*\[([^\[\]]+)\]\s*(?:#.*)?$")
    _ENTRY = re.compile(r"\s*\[\[([^\[\]]+)\]\]\s*(?:#.*)?$")
    _KEY = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([A-Za-z0-9_-]+))\s*[=.]""")

    def __init__(self, text: str) -> None:
        self.first: dict[tuple[str, str], int] = {}
        section, entries = "", dict[str, int]()
        for number, line in enumerate(text.split("\n"), 1):
            if entry := self._ENTRY.match(line):
                name = entry[1].strip().strip("\"'")
                entries[name] = entries.get(name, 0) + 1
                section = f"{name} {entries[name]}"
                self.first.setdefault((section, ""), number)
            elif found := self._SECTION.match(line):
                section = found[1].strip().strip("\"'")
                self.first.setdefault((section, ""), number)
            elif key := self.key_in(line):
                self.first.setdefault((section, key), number)

    @classmethod
    def key_in(cls, line: str) -> str:
        """Return the key that a line begins with; empty: none."""
        found = cls._KEY.match(line)
        return (found[1] or found[2] or found[3] or "") if found else ""

    def of(self, section: str, key: str = "") -> int:
        """Return the line of a key, or else of its section; 0: it stands in no line."""
        places = (section, key), (f"{section}.{key}", ""), (section, "")
        return next((self.first[place] for place in places if place in self.first), 0)


def no_toml(error: tomllib.TOMLDecodeError, text: str) -> tuple[int, str, str]:
    """Return the line of an error, what is wrong, and what to do."""
    what, _, where = str(error).partition(" (at ")
    lines = text.rstrip().split("\n")
    found = re.match(r"line (\d+)", where)
    number = int(found[1]) if found else len(lines)  # "end of document"
    key = Lines.key_in(lines[number - 1]) if number <= len(lines) else ""
    if what == "Cannot overwrite a value" and key:
        return number, f"invalid TOML: {key} is defined more than once", "Remove one of them."
    advice = 'Texts need quotes, lists need brackets: items = "top:50", known = [2, 4].'
    return number, f"invalid TOML: {what[0].lower()}{what[1:]}", advice
