"""Hierarchies from files, in two formats.

**Levels of intervals**, starshade's own: one line per level, the most specific first, intervals
separated by blanks; null is written ``null`` or as the number it counts as. Blank lines and what
follows ``#`` are ignored. On a real scale neighbours touch, and a round bracket leaves the end
out::

    # half stars: disliked, mixed, liked
    [null,2] [2.5,3.5] [4,5]
    [null,3.5] [4,5]
    [null,5]

**ARX's CSV**, separated by ``;``: one line per value, and after the value its name on each level.
Values of equal name are one interval of that level. It suits stepped scales, whose values can be
listed::

    null;low;*
    1;low;*
    2;low;*
    3;high;*
    4;high;*
    5;high;*

Both are UTF-8. What a file says is checked against the scale when the data are known
(`starshade.anonymize.hierarchy.hierarchy`).
"""

from __future__ import annotations

import math
import re
from pathlib import Path

from starshade.anonymize.hierarchy.hierarchy import Dgh, Interval
from starshade.errors import ConfigError
from starshade.files.side import HIERARCHY, read_side_text

_NULL = -math.inf  # `Dgh.on` puts the level of null in its place
_NAME = "file"  # a path has no place in a manifest
_END = r"\s*(null|[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|[-+]?\.\d+)\s*"
_INTERVAL = re.compile(rf"([\[(]){_END},{_END}([\])])", re.IGNORECASE)


def read_hierarchy(path: str | Path) -> Dgh:
    """Read a hierarchy file of either format."""
    return parse_hierarchy(read_side_text(path, HIERARCHY), str(path))


def parse_hierarchy(text: str, place: str = "hierarchy") -> Dgh:
    r"""Read the text of a hierarchy file; `place` is what messages call it.

    >>> parse_hierarchy("[0,2] [3,5]\n[0,5]").to_text()
    ['[0,2] [3,5]', '[0,5]']
    >>> len(parse_hierarchy("1;low;*\n2;low;*\n3;high;*").levels)
    3
    """
    lines = [(n, line.split("#")[0].strip()) for n, line in enumerate(text.split("\n"), 1)]
    lines = [(n, line) for n, line in lines if line]
    if any(";" in line for _, line in lines):
        return Dgh(_NAME, _arx_levels(lines, place))
    return Dgh(_NAME, tuple(_interval_line(line, f"{place}, line {n}") for n, line in lines))


def _interval_line(line: str, place: str) -> tuple[Interval, ...]:
    rest = _INTERVAL.sub(" ", line).split()
    if rest:
        raise ConfigError(
            f"{place}: {rest[0]!r} is not an interval",
            advice="Write intervals as [0,2] [3,5]; on a real scale also (2.5,5]; null for null.",
        )
    return tuple(
        sorted(
            Interval(_number(low, place), _number(high, place), left == "(", right == ")")
            for left, low, high, right in _INTERVAL.findall(line)
        )
    )


def _arx_levels(lines: list[tuple[int, str]], place: str) -> tuple[tuple[Interval, ...], ...]:
    rows: dict[float, list[str]] = {}
    width = len(lines[0][1].split(";"))
    for n, line in lines:
        value, *names = (field.strip().strip('"') for field in line.split(";"))
        if len(names) + 1 != width:
            raise ConfigError(
                f"{place}, line {n}: {len(names) + 1} columns where line {lines[0][0]} has {width}",
                advice="Each line is a value and its name on every level, separated by ;.",
            )
        number = _number(value or "null", f"{place}, line {n}")
        if number in rows:
            raise ConfigError(f"{place}, line {n}: the value {value} occurs a second time")
        rows[number] = names
    values = sorted(rows)
    # level 0 is kept, so that a value the file does not list is seen to be missing
    points = tuple(Interval(v, v) for v in values)
    named = (_arx_level([(v, rows[v][i]) for v in values], i + 1, place) for i in range(width - 1))
    return (points, *named)


def _arx_level(named: list[tuple[float, str]], level: int, place: str) -> tuple[Interval, ...]:
    """Join neighbours of equal name; a name that comes back later joins no interval."""
    ends: dict[str, list[float]] = {}
    before = None
    for value, name in named:
        if name in ends and name != before:
            raise ConfigError(
                f"{place}, level {level}: {name!r} joins {ends[name][0]:.10g} and {value:.10g} "
                "but not a value between them",
                advice="Ratings are generalized to intervals: join neighbours only.",
            )
        ends.setdefault(name, [value]).append(value)
        before = name
    return tuple(Interval(numbers[0], numbers[-1]) for numbers in ends.values())


def _number(text: str, place: str) -> float:
    if text.lower() == "null":
        return _NULL
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ConfigError(f"{place}: {text!r} is not a number", advice="Write null for null.")
    return number
