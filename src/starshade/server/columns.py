"""The columns of a file, to be offered where one is to be named; a glance, for every page."""

from __future__ import annotations

import csv
import stat
from pathlib import Path

__all__ = ["columns_of"]

_HEAD = 1 << 16  # bytes looked at
_MOST = 200  # names that are offered
_DELIMITERS = ("::", "\t", ",", ";", "|")
_LEAST = 2


def columns_of(file: Path) -> tuple[str, ...]:
    """Return the names in the first line of a text file; without names, the columns' numbers.

    Of other files, and of what cannot be looked at, there are none: reading says what is wrong.
    """
    try:
        if not stat.S_ISREG(file.stat().st_mode):  # a pipe would never end
            return ()
        with file.open("rb") as opened:
            head = opened.read(_HEAD)
        text = head.decode("utf-8-sig") if len(head) < _HEAD else head.decode("utf-8-sig", "ignore")
    except (OSError, ValueError):
        return ()
    line = next(iter(text.splitlines()), "")
    if not line.isprintable() and not line.replace("\t", "").isprintable():  # no text: a zip, …
        return ()
    names = max((_cells(line, mark) for mark in _DELIMITERS), key=len)
    if not _LEAST <= len(names) <= _MOST:
        return ()
    if any(_is_number(name) for name in names):
        return tuple(map(str, range(1, len(names) + 1)))
    return tuple(names)


def _cells(line: str, mark: str) -> list[str]:
    if len(mark) > 1:
        return line.split(mark)
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=mark), [])]
    except csv.Error:
        return []


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
