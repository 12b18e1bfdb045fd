"""Figs 10-16 out of what was measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean, median

from starshade.audit.reproduction.figures import Figure, Point, Series, Unit
from starshade.audit.reproduction.kl.losses import Measured
from starshade.audit.reproduction.kl.plan import Line
from starshade.audit.reproduction.kl.queries import Answered

__all__ = [
    "ALONE",
    "ASKED_AT",
    "HIERARCHIES",
    "METHODS",
    "WHOLE",
    "loss_figures",
    "query_figures",
    "time_figure",
]

METHODS, HIERARCHIES = "methods", "k-Likeness under each hierarchy"
ASKED_AT = "k = {}"
WHOLE, ALONE = "from ratings to release", "forming groups alone"

_LOSSES = (
    ("10", "Discernibility", "dm", "DM", True),
    ("11", "Average class size C_AVG", "c_avg", "records / (classes · k)", False),
    ("12", "Generalization loss (GenILoss)", "gen_iloss", "mean width of a cell", False),
)
_QUERIES = (
    ("13", "or", "Query error under OR", "items in the condition"),
    ("14", "and", "Query error under AND", "items in the condition"),
    ("15", "range", "Query error of rating ranges", "width of the range"),
)


def loss_figures(
    lines: Sequence[Line], measured: Sequence[Measured], original: Measured
) -> Iterator[Figure]:
    """Make Figs 10-12: a panel for the methods, one for k-Likeness under each hierarchy."""
    for number, title, name, y_title, log in _LOSSES:
        first = _point(1, [getattr(loss, name) for loss in original.losses])
        series = []
        for panel, own in _panels(lines):
            for line in own:
                points = [
                    _point(entry.k, [getattr(loss, name) for loss in entry.losses])
                    for entry in measured
                    if entry.line == line.name
                ]
                if points:
                    series.append(Series(line.name, panel, (first, *points)))
        if series:
            yield _figure(number, title, "k", y_title, "number", series, y_log=log)


def query_figures(answered: Sequence[Answered], attribute: str) -> Iterator[Figure]:
    """Make Figs 13-15: a panel for each k."""
    for number, kind, title, x_title in _QUERIES:
        own = [entry for entry in answered if entry.kind == kind]
        series = [
            Series(
                line,
                ASKED_AT.format(k),
                tuple(
                    _point(entry.size, entry.errors)
                    for entry in own
                    if (entry.line, entry.k) == (line, k)
                ),
            )
            for k, line in dict.fromkeys((entry.k, entry.line) for entry in own)
        ]
        if series:
            y_title = f"relative error of AVG({attribute}), %"
            yield _figure(number, title, x_title, y_title, "number", series)


def time_figure(lines: Sequence[Line], measured: Sequence[Measured]) -> Iterator[Figure]:
    """Make Fig 16: the whole way, and what methods differ in."""
    series = []
    for panel, name in ((WHOLE, "seconds"), (ALONE, "grouping")):
        for line in lines:
            points = tuple(
                _timed(entry.k, getattr(entry, name))
                for entry in measured
                if entry.line == line.name
            )
            if points and not line.is_hierarchy:
                series.append(Series(line.name, panel, points))
    if series:
        title = "Time of anonymizing"
        yield _figure("16", title, "k", "seconds (median)", "seconds", series, y_log=True)


def _panels(lines: Sequence[Line]) -> Iterator[tuple[str, list[Line]]]:
    yield METHODS, [line for line in lines if not line.is_hierarchy]
    yield HIERARCHIES, [line for line in lines if line.method == "k-likeness"]


def _figure(
    number: str,
    title: str,
    x_title: str,
    y_title: str,
    unit: Unit,
    series: Iterable[Series],
    *,
    y_log: bool = False,
) -> Figure:
    return Figure(number, title, x_title, y_title, unit, tuple(series), y_log=y_log, dotted=True)


def _point(x: float, values: Sequence[float]) -> Point:
    """Return the mean with the least and the greatest."""
    return Point(x, fmean(values), min(values), max(values))


def _timed(x: float, values: Sequence[float]) -> Point:
    """Return the median with the fastest and the slowest."""
    return Point(x, median(values), min(values), max(values))
