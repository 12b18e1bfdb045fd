"""Times, counts and rates as the pages write them; other figures are written as in the report."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from starshade.plain import counted, percent
from starshade.report.phrases import ends

__all__ = ["ago", "duration", "interval", "iso", "sentence", "without_paths"]

#: where uploads lie: nobody brought a file under this name
_INSIDE = re.compile(r"(?:/[^\s:]*)?/uploads/[0-9]+/")
_MINUTE, _HOUR, _DAY = 60, 3600, 86400


def interval(rate: Any) -> str:
    """Write a rate (``{"rate", "low", "high"}``, or None) with its interval.

    Examples
    --------
    >>> interval({"rate": 0.5, "low": 0.4, "high": 0.6})
    '50.0% (40.0 to 60.0%)'
    """
    if rate is None or rate.get("rate") is None:
        return "not known"
    if rate.get("low") is None or rate.get("high") is None:
        return percent(rate["rate"])
    return f"{percent(rate['rate'])} ({ends(rate)})"


def duration(seconds: float) -> str:
    """Write how long, to one unit.

    Examples
    --------
    >>> duration(0.3), duration(12.4), duration(60), duration(5000)
    ('less than a second', '12 seconds', '1 minute', '1 hour 23 minutes')
    """
    if seconds < 1:
        return "less than a second"
    if seconds < 90 and round(seconds) != _MINUTE:
        return counted(round(seconds), "second")
    minutes = round(seconds / _MINUTE)
    if minutes < 60:
        return counted(minutes, "minute")
    hours, rest = divmod(minutes, 60)
    return counted(hours, "hour") + (f" {counted(rest, 'minute')}" if rest else "")


def iso(moment: float) -> str:
    """Write a moment (seconds since 1970) in ISO 8601, UTC."""
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="seconds")


def ago(moment: float, now: float | None = None) -> str:
    """Write how long ago a moment was.

    Examples
    --------
    >>> ago(100, 105), ago(0, 7200), ago(0, 86400 * 3)
    ('just now', '2 hours ago', '3 days ago')
    """
    past = max((time.time() if now is None else now) - moment, 0)
    if past < 45:
        return "just now"
    if past < _HOUR:
        return f"{counted(max(round(past / _MINUTE), 1), 'minute')} ago"
    if past < _DAY:
        return f"{counted(round(past / _HOUR), 'hour')} ago"
    return f"{counted(round(past / _DAY), 'day')} ago"


def sentence(text: str) -> str:
    """Begin with a capital letter and end with a stop.

    Examples
    --------
    >>> sentence("the file is empty")
    'The file is empty.'
    """
    if not text:
        return ""
    text = text[0].upper() + text[1:]
    return text if text[-1] in ".!?…" else text + "."


def without_paths(text: str, files: Mapping[str, str] | None = None) -> str:
    """Call files as their reader does.

    `files`: path → the name by which the page calls the file.

    Examples
    --------
    >>> without_paths("/srv/studio/uploads/18/a.csv, line 2: no rating")
    'a.csv, line 2: no rating'
    """
    for path, name in (files or {}).items():
        text = text.replace(path, name)
    return _INSIDE.sub("", text)
