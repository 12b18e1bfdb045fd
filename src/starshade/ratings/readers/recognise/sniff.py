"""The head of a text file: its delimiter, whether it has a header, its columns."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from starshade.errors import ConfigError, InputError
from starshade.naming import called
from starshade.ratings.readers.columns import NUMBER
from starshade.ratings.readers.recognise.aliases import (
    ALIASES,
    headless,
    normalized,
    refuse_repeated,
)
from starshade.ratings.readers.recognise.inputs import Input, reading
from starshade.ratings.readers.text import Dialect

_HEAD = 1 << 20  # bytes looked at
_LONGEST_HEAD = 1 << 24  # a wide table's header may be long
_ROWS = 200
_DELIMITERS = ("::", "\t", ",", ";", "|")  # a blank is tried when none of these splits
_NAMED = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": " ", "pipe": "|"}
_LEAST = 3  # user, item, rating


@dataclass(frozen=True)
class Head:
    """What the first rows of a file look like.

    `columns`: the header's names, or ``1``, ``2``, … without a header. `rows`: the first rows,
    without the header.
    """

    dialect: Dialect
    columns: tuple[str, ...]
    rows: list[list[str]]


def look(
    item: Input,
    *,
    delimiter: str | None = None,
    header: bool | None = None,
    named: Sequence[str] = (),
    quoted: bool = True,
    what: str = "ratings",
) -> Head:
    """Look at the head of a plain text file.

    `delimiter`: one ASCII character, ``::``, or a name such as ``tab``; None: found. `header`:
    None: the first record is a header if it holds a known or a given name, or no number. `named`:
    column names that the caller was given. `quoted`: whether the dialect knows quotes. `what`: what
    the file should hold, for messages.
    """
    text, whole = _head(item)
    if not text.strip():
        raise InputError(
            f"{item.shown}: empty: it contains no {what}",
            advice="Check that it was written completely.",
        )
    mark = _delimiter(text, whole, quoted, item) if delimiter is None else _checked(delimiter)
    rows = _records(text, whole, mark, quoted, item)
    if header is None:
        header = _is_header(rows[0], named)
    dialect = Dialect(mark, header, quoted and mark != "::")
    if not header:
        return Head(dialect, tuple(str(i + 1) for i in range(len(rows[0]))), rows)
    if _goes_on_below(rows):
        raise InputError(
            f"{item.shown}: some columns have no name; their names are in line 2, as "
            "SurveyMonkey writes them",
            advice="Move these names to line 1, and remove line 2.",
        )
    numbers = any(map(_is_number, rows[0]))
    hint = f"If the first line is a row of a wide table: {headless()}." if numbers else ""
    refuse_repeated(rows[0], item.shown, hint)
    return Head(dialect, tuple(rows[0]), rows[1:])


def _goes_on_below(rows: list[list[str]]) -> bool:
    """Tell whether the second row names columns that the first one leaves without a name."""
    if len(rows) < _LEAST:
        return False
    first, second, third = ([cell.strip() for cell in row] for row in rows[:3])
    unnamed = [place for place, cell in enumerate(first[: len(second)]) if not cell]
    words = not any(map(_is_number, second)) and all(second[place] for place in unnamed)
    # a title above a header is followed by names alone
    words = words and any(above and not below for above, below in zip(first, second, strict=False))
    return bool(unnamed) and words and any(_is_number(third[p]) for p in unnamed if p < len(third))


def _head(item: Input) -> tuple[str, bool]:
    with reading(item), open(item.path, "rb") as file:
        head = file.read(_HEAD)
        while head.count(b"\n") < 2 and len(head) < _LONGEST_HEAD:
            more = file.read(_HEAD)
            if not more:
                break
            head += more
        whole = not file.read(1)
    # a byte that is not UTF-8 may stand in a column that nobody asks for
    return head.decode("utf-8-sig", errors="replace"), whole


def _checked(delimiter: str) -> str:
    mark = _NAMED.get(delimiter, delimiter)
    plain = len(mark) == 1 and mark.isascii() and mark.isprintable() and not mark.isalnum()
    if mark == "::" or mark == "\t" or (plain and mark not in "\"'.+-_"):
        return mark
    raise ConfigError(
        f"{called('delimiter')} {delimiter!r}: not supported",
        advice="Allowed: , ; | tab space, or :: .",
        setting="delimiter",
    )


def _delimiter(text: str, whole: bool, quoted: bool, item: Input) -> str:
    """Choose what splits all rows alike into the most fields; the earlier on a tie."""
    best, most = "", 1
    first = ("", 1)
    for mark in _DELIMITERS:
        counts = _counts(text, whole, mark, quoted, item)
        if min(counts) == max(counts) and counts[0] > most:
            best, most = mark, counts[0]
        if counts[0] > first[1]:
            first = (mark, counts[0])
    if most >= _LEAST:
        return best
    _refuse_title(text, whole, quoted, item)
    if first[1] >= _LEAST:  # some row does not fit: the reader will name it
        return first[0]
    blanks = _counts(text, whole, " ", quoted, item)
    if min(blanks) == max(blanks) >= _LEAST:
        return " "
    return best or first[0] or ","


def _refuse_title(text: str, whole: bool, quoted: bool, item: Input) -> None:
    """Refuse a first line of one field above rows that have more, all of them as many."""
    for mark in _DELIMITERS:
        first, *others = _counts(text, whole, mark, quoted, item)
        rest = others[others.count(1) :] if set(others[: others.count(1)]) <= {1} else []
        if first == 1 and rest and min(rest) == max(rest) >= _LEAST:
            raise InputError(
                f"{item.shown}: its first line is not the header: it has 1 field, the lines "
                f"below have {rest[0]}",
                advice="Remove the lines above the header.",
            )


def _counts(text: str, whole: bool, mark: str, quoted: bool, item: Input) -> list[int]:
    """Return the number of fields of each of the first rows; 1 where they are beyond measure."""
    try:
        return [len(row) for row in _records(text, whole, mark, quoted, item)]
    except InputError:
        return [1]


def _records(text: str, whole: bool, mark: str, quoted: bool, item: Input) -> list[list[str]]:
    """Split the first rows; at least one. The last may be cut off, and is left out then."""
    if mark == "::":
        # str.splitlines would also split at characters that may stand in an id
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        rows = [line.split("::") for line in lines if line][: _ROWS + 1]
        return rows[:-1] if not whole and len(rows) > 1 else rows
    lines_of = io.StringIO(text, newline="")
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    reader = csv.reader(lines_of, delimiter=mark, quoting=quoting)
    rows = []
    try:
        for row in reader:
            if row:
                rows.append(row)
            if len(rows) > _ROWS:
                break
    except csv.Error as error:
        if not rows:
            raise InputError(
                f"{item.shown}: the first row cannot be split into fields ({error})",
                advice="This is not a table of ratings.",
            ) from None
        return rows
    return rows[:-1] if len(rows) > _ROWS or (not whole and len(rows) > 1) else rows


def _is_header(first: Sequence[str], named: Sequence[str]) -> bool:
    """Judge the first record: known names make a header, numbers a row."""
    known = set().union(*ALIASES.values())
    known |= {normalized(name) for name in named if not name.isdigit()}  # those are places
    if any(normalized(cell) in known for cell in first):
        return True
    return not any(map(_is_number, first))


def _is_number(cell: str) -> bool:
    return NUMBER.fullmatch(cell.strip()) is not None
