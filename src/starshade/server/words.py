"""Numbers, times and sizes as the pages write them."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Any

__all__ = [
    "ago",
    "count",
    "duration",
    "interval",
    "iso",
    "number",
    "percent",
    "sentence",
    "size",
]

_MINUTE, _HOUR, _DAY = 60, 3600, 86400


def percent(share: float | None) -> str:
    """Write a share of one; a small one is never shown as none, nor a large one as all.

    Examples
    --------
    >>> percent(0.982), percent(0.00001), percent(0.99999), percent(1), percent(None)
    ('98.2 %', 'below 0.1 %', 'above 99.9 %', '100 %', 'not known')
    """
    if share is None:
        return "not known"
    if 0 < share < 0.001:
        return "below 0.1 %"
    if 0.999 < share < 1:
        return "above 99.9 %"
    return f"{100 * share:.1f} %" if share not in (0, 1) else f"{100 * share:.0f} %"


def interval(rate: Any) -> str:
    """Write a rate (``{"rate", "low", "high"}``, or None) with its interval.

    Examples
    --------
    >>> interval({"rate": 0.5, "low": 0.4, "high": 0.6})
    '50.0 % (40.0 % to 60.0 %)'
    """
    if rate is None or rate.get("rate") is None:
        return "not known"
    if rate.get("low") is None or rate.get("high") is None:
        return percent(rate["rate"])
    return f"{percent(rate['rate'])} ({percent(rate['low'])} to {percent(rate['high'])})"


def number(value: float | None) -> str:
    """Write a number: whole ones with commas, others with four digits or so.

    Examples
    --------
    >>> number(100000), number(3.14159), number(None)
    ('100,000', '3.142', 'not known')
    """
    if value is None:
        return "not known"
    if float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.1f}" if abs(value) >= 1000 else f"{value:.4g}"


def count(n: int, noun: str, plural: str = "") -> str:
    """Write how many.

    Examples
    --------
    >>> count(1, "item"), count(1682, "item"), count(2, "person", "people")
    ('1 item', '1,682 items', '2 people')
    """
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


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
        return count(round(seconds), "second")
    minutes = round(seconds / _MINUTE)
    if minutes < 60:
        return count(minutes, "minute")
    hours, rest = divmod(minutes, 60)
    return count(hours, "hour") + (f" {count(rest, 'minute')}" if rest else "")


def size(length: float) -> str:
    """Write bytes, in powers of ten.

    Examples
    --------
    >>> size(999), size(1_500_000), size(10_000_000_000)
    ('999 bytes', '1.5 MB', '10 GB')
    """
    for unit, least in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if length >= least:
            return f"{length / least:.3g} {unit}"
    return count(int(length), "byte")


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
        return f"{count(max(round(past / _MINUTE), 1), 'minute')} ago"
    if past < _DAY:
        return f"{count(round(past / _HOUR), 'hour')} ago"
    return f"{count(round(past / _DAY), 'day')} ago"


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
