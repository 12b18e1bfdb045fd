"""Figs 10-16 out of what was measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from statistics import median

from starshade.audit.reproduction.figures import Figure, Series
from starshade.audit.reproduction.kl.plan import Line
from starshade.audit.reproduction.shared import Row, points_of

__all__ = ["ALONE", "ASKED_AT", "WHOLE", "loss_figures", "query_figures", "time_figure"]

ASKED_AT = "k = {}"
WHOLE, ALONE = "from ratings to release", "forming groups alone"

_LOSSES = (
    ("10", "Discernibility", "dm", "DM"),
    ("11", "Average class size C_AVG", "c_avg", "records / (classes · k)"),
    ("12", "Generalization loss (GenILoss)", "gen_iloss", "mean width of a cell"),
)
_QUERIES = (
    ("13", "or", "Query error under OR", "items in the condition"),
    ("14", "and", "Query error under AND", "items in the condition"),
    ("15", "range", "Query error of rating ranges", "width of the range"),
)
_Dotted = partial(Figure, dotted=True)


def loss_figures(lines: Sequence[Line], rows: Sequence[Row], original: Row) -> Iterator[Figure]:
    """Make Figs 10-12: a panel for the methods, one for k-Likeness under each hierarchy."""
    panels = {
        "methods": [line for line in lines if not line.is_hierarchy],
        "k-Likeness under each hierarchy": [line for line in lines if line.method == "k-likeness"],
    }
    for number, title, name, y_title in _LOSSES:
        first = points_of([original], "k", name)
        series = tuple(
            Series(line.name, panel, first + points)
            for panel, own in panels.items()
            for line in own
            if (points := points_of(rows, "k", name, line=line.name))
        )
        if series:
            yield _Dotted(number, title, "k", y_title, "number", series, y_log=name == "dm")


def query_figures(rows: Sequence[Row], attribute: str) -> Iterator[Figure]:
    """Make Figs 13-15: a panel for each k."""
    for number, kind, title, x_title in _QUERIES:
        own = [row for row in rows if row["kind"] == kind]
        series = tuple(
            Series(line, ASKED_AT.format(k), points_of(own, "size", "error", line=line, k=k))
            for k, line in dict.fromkeys((row["k"], row["line"]) for row in own)
        )
        if series:
            y_title = f"relative error of AVG({attribute}), %"
            yield _Dotted(number, title, x_title, y_title, "number", series)


def time_figure(lines: Sequence[Line], rows: Sequence[Row]) -> Iterator[Figure]:
    """Make Fig 16: the whole way, and what methods differ in."""
    series = tuple(
        Series(line.name, panel, points)
        for panel, name in ((WHOLE, "seconds"), (ALONE, "grouping_seconds"))
        for line in lines
        if not line.is_hierarchy and (points := points_of(rows, "k", name, median, line=line.name))
    )
    if series:
        title = "Time of anonymizing"
        yield _Dotted("16", title, "k", "seconds (median)", "seconds", series, y_log=True)
