"""Parts of several pages: figures, tables, charts, and next steps."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from starshade.figure import Table
from starshade.plain import counted, percent
from starshade.report.page import ends


@dataclass(frozen=True)
class Link:
    """A link."""

    text: str
    href: str


@dataclass(frozen=True)
class Next:
    """A next step, and its reason."""

    why: str  # one or two sentences
    link: Link  # what to press
    main: bool = True  # the one thing that is suggested; at most one of a page's steps is


@dataclass(frozen=True)
class Figure:
    """One value as text."""

    label: str  # of what
    value: str  # written out, e.g. ``98.2 %``, with its interval where there is one
    meaning: str = ""  # what a high or a low value means; may be empty
    share: float | None = None  # the same from 0 to 1, where a bar may be drawn of it

    @classmethod
    def of(cls, figure: Mapping[str, Any]) -> Figure:
        """Return the text of a `starshade.figure.Figure` from its dict."""
        share = figure["value"] if figure["unit"] == "share" else None
        return cls(figure["title"], figure["text"], figure["meaning"], share)


@dataclass(frozen=True)
class Chart:
    """A chart, with a text that describes it."""

    title: str
    # Vega-Lite, with its data in it. Of a frontier chart every datum has ``href``, the address of
    # the form for that release (see `Point`).
    spec: dict[str, Any]
    text: str  # the picture in a sentence or two
    # the picture's numbers; None where `Outcome.points` has them
    table: Table | None = None


@dataclass(frozen=True)
class Picture:
    """A picture of a report, drawn by the worker, with an accessible name inside."""

    title: str
    text: str  # in a sentence or two; of one that is not there: how to get it
    svg: str  # empty: there is none
    meaning: str = ""


@dataclass(frozen=True)
class Point:
    """A tested release of a comparison; never kept."""

    name: str  # ``k-likeness (k = 5)``
    method: str
    k: int
    # `loss`, `success`: formatted; empty where refused
    loss: str
    success: str
    loss_kind: str  # what `loss` measures; only losses of one kind can be compared
    best: bool  # Pareto-optimal
    limit: str  # 1/k, the bound of `success`, or that there is none; empty where refused
    href: str  # the form that makes it; empty where refused
    refused: str  # why there is none; empty otherwise


@dataclass(frozen=True)
class Outcome:
    """The outcome of a job."""

    headline: str  # the one thing to know
    text: str  # the result's own paragraph; may be empty
    figures: tuple[Figure, ...] = ()
    chart: Chart | None = None
    points: tuple[Point, ...] = ()  # of a comparison: the frontier first
    # what the adversary of all `points` knows, after “an adversary who knows”; may be empty
    attacker: str = ""
    reading_help: str = ""  # how to read these figures; may be empty


#: where uploads are: not the name under which a user knows the file
_INSIDE = re.compile(r"(?:/[^\s:]*)?/uploads/[0-9]+/(?:(?:users|item_names)/)?")
_MINUTE, _HOUR, _DAY = 60, 3600, 86400


def interval(rate: Any) -> str:
    """Format a rate (``{"rate", "low", "high"}``, or None) with its interval.

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
    """Format a duration.

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
    """Format a time (seconds since 1970) in ISO 8601, UTC."""
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="seconds")


def ago(moment: float, now: float | None = None) -> str:
    """Format the time since a moment.

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
    """Return a text with a capital letter and a full stop.

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
    """Replace paths in a text by the names that the user knows.

    `files`: path → the name by which the page calls the file.

    Examples
    --------
    >>> without_paths("/srv/studio/uploads/18/a.csv, line 2: no rating")
    'a.csv, line 2: no rating'
    """
    for path, name in (files or {}).items():
        text = text.replace(path, name)
    return _INSIDE.sub("", text)
