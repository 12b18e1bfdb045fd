"""Results as what JSON knows, shares as people read them."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any


def counted(n: int, one: str, many: str = "") -> str:
    """Write a number of things, of which several are called `many`; empty: `one` with an s.

    Examples
    --------
    >>> counted(1, "row"), counted(1502, "row"), counted(2, "person", "people")
    ('1 row', '1,502 rows', '2 people')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def split_list(text: str) -> list[str]:
    """Split a list written with commas; a part in double quotes may hold some.

    Examples
    --------
    >>> split_list('age, "Sweet, or salty?",zip,')
    ['age', 'Sweet, or salty?', 'zip']
    """
    rows = csv.reader([text.replace("\n", ",")], skipinitialspace=True)
    return [part.strip() for row in rows for part in row if part.strip()]


def join_list(parts: Iterable[object], between: str = ",") -> str:
    """Write a list with commas, for `split_list` to read.

    Examples
    --------
    >>> join_list(["age", "Sweet, or salty?", 3])
    'age,"Sweet, or salty?",3'
    """
    return between.join(map(_quoted, map(str, parts)))


def _quoted(text: str) -> str:
    doubled = text.replace('"', '""')
    return f'"{doubled}"' if {",", '"'} & set(text) else text


_OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    r"""Return a text for a terminal: what it would obey in place of showing it is escaped.

    Tabs and line ends stay.

    Examples
    --------
    >>> print(visible("nix\x1b[31m.csv"))
    nix\x1b[31m.csv
    """
    return _OBEYED.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def percent(share: float | None) -> str:
    """Write a share in [0, 1] as a percentage; a dash where there is none.

    It is never rounder than it is: more than nothing never reads 0.0 %, less than all never
    100.0 %.

    Examples
    --------
    >>> percent(0.1494), percent(0.0002), percent(0.9999), percent(None)
    ('14.9%', '< 0.1%', '> 99.9%', '–')
    """
    if share is None or math.isnan(share):
        return "–"
    if 0 < share < 0.0005:
        return "< 0.1%"
    if 0.9995 <= share < 1:
        return "> 99.9%"
    return f"{share:.1%}"


def plain(value: Any) -> Any:
    """Return a result as JSON knows it: NaN and infinity become null, NumPy becomes Python.

    TypeError where something is in it that JSON has no word for.

    Examples
    --------
    >>> plain({"rate": float("nan"), "known": (2, 4)})
    {'rate': None, 'known': [2, 4]}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, Path):
        return str(value)
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    raise TypeError(f"{type(value).__name__} in a result")
