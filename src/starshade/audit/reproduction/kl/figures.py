"""KL Figs 10-16: what every line loses, how wrong answers become, how much is compared."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from statistics import fmean, median
from time import perf_counter
from typing import Any

import numpy as np

from starshade.anonymize.points import Points, positions
from starshade.anonymize.prepare import prepare
from starshade.audit.attempts import attempt, compile_first
from starshade.audit.reproduction.claims import Untestable
from starshade.audit.reproduction.figures import Figure, Point, Series, Skipped
from starshade.audit.reproduction.kl.bench import PLAIN_USERS, QUERY_KS, Bench
from starshade.audit.reproduction.kl.configurations import READ
from starshade.audit.reproduction.kl.readings import (
    LIKENESS,
    MEMBER,
    MONDRIAN,
    Likeness,
    Line,
    Member,
)
from starshade.audit.reproduction.study import Row, points_of
from starshade.kernels.compared import (
    FIRST,
    SEED,
    SUM,
    plain_likeness,
    plain_member,
    plain_mondrian,
)
from starshade.progress import silence, task

ASKED_AT = "k = {}"
WHOLE, ALONE = "from ratings to release", "forming groups alone"
PLAIN = "forming groups alone, plain loops compiled"
INTERPRETED = "the same loops interpreted, of a few records"
_FEW = 150
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


def loss_rows(bench: Bench) -> tuple[list[Row], list[Skipped]]:
    """Return a row for the original, and for every line, k and run; what was refused."""
    rows = [_loss_row("original", 1, 1, bench.original())]
    refused: dict[tuple[str, int], str] = {}
    with task("anonymizing", len(bench.lines) * len(bench.ks) * len(bench.seeds)) as step:
        for name in bench.lines:
            for k in bench.ks:
                for run, seed in enumerate(bench.seeds, 1):
                    try:
                        rows.append(_loss_row(name, k, run, bench.losses(name, k, seed)))
                    except Untestable as why:
                        refused[name, k] = str(why)
                    step(1)
    return rows, skipped(refused, "10-12, 16")


def _loss_row(line: str, k: int, run: int, part: Mapping[str, Any]) -> Row:
    classes = int(part["classes"][0])
    return {
        "line": line,
        "k": k,
        "run": run,
        "dm": int(part["dm"][0]),
        "c_avg": len(part["loss"]) / (classes * k),
        "gen_iloss": float(part["loss"].mean()),
        "classes": classes,
    }


def skipped(refused: Mapping[tuple[str, int], str], figures: str) -> list[Skipped]:
    """Say what was refused, alike refusals once."""
    ks_of: dict[tuple[str, str], list[str]] = defaultdict(list)
    for (name, k), reason in refused.items():
        ks_of[name, reason].append(str(k))
    return [
        Skipped(figures, f"{name}, k = {', '.join(ks)}", reason)
        for (name, reason), ks in ks_of.items()
    ]


def query_rows(bench: Bench) -> tuple[list[Row], list[Skipped]]:
    """Return a row per line that queries are asked of, k, kind and size of condition, and run."""
    rows: list[Row] = []
    refused: dict[tuple[str, int], str] = {}
    asked = [line.name for line in bench.lines.values() if line.queried]
    with task("asking queries", len(asked) * len(QUERY_KS) * len(bench.seeds)) as step:
        for k in QUERY_KS:
            for name in asked:
                for run, seed in enumerate(bench.seeds, 1):
                    try:
                        rows += _query_rows(name, k, run, bench.errors(name, k, seed))
                    except Untestable as why:
                        refused[name, k] = str(why)
                    step(1)
    left = skipped(refused, "13-15")
    if not rows and not left:
        left = [Skipped("13-15", "queries", "no condition has an answer on these ratings")]
    return rows, left


def _query_rows(name: str, k: int, run: int, part: Mapping[str, Any]) -> Iterator[Row]:
    columns = ("kind", "size", "error", "of truth", "conditions")
    for kind, size, error, of_truth, conditions in zip(
        *(part[column].tolist() for column in columns), strict=True
    ):
        yield {
            "line": name,
            "k": k,
            "kind": kind,
            "size": size,
            "run": run,
            "error": error,
            "error_of_truth": of_truth,
            "conditions": conditions,
        }


def loss_figures(lines: Sequence[Line], rows: Sequence[Row]) -> Iterator[Figure]:
    """Make Figs 10-12: a panel for the methods, one for k-Likeness under each hierarchy."""
    panels = {
        "methods": [line for line in lines if not line.of_hierarchy],
        "k-Likeness under each hierarchy": [
            line for line in lines if line.of_hierarchy or line.name == LIKENESS
        ],
    }
    for number, title, name, y_title in _LOSSES:
        first = points_of(rows[:1], "k", name)
        series = tuple(
            Series(line.name, panel, first + points, configuration=line.configuration)
            for panel, own in panels.items()
            for line in own
            if (points := points_of(rows, "k", name, line=line.name))
        )
        if series:
            yield _Dotted(number, title, "k", y_title, "number", series, y_log=name == "dm")


def query_figures(
    lines: Mapping[str, Line], rows: Sequence[Row], attribute: str
) -> Iterator[Figure]:
    """Make Figs 13-15: a panel for each k."""
    for number, kind, title, x_title in _QUERIES:
        own = [row for row in rows if row["kind"] == kind]
        series = tuple(
            Series(
                line,
                ASKED_AT.format(k),
                points_of(own, "size", "error", line=line, k=k),
                configuration=lines[line].configuration,
            )
            for k, line in dict.fromkeys((row["k"], row["line"]) for row in own)
        )
        if series:
            y_title = f"relative error of AVG({attribute}), %"
            yield _Dotted(number, title, x_title, y_title, "number", series)


_WORK: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    LIKENESS: lambda part: part["nuclei"] + part["rest"],
    MEMBER: lambda part: part["member"],
    f"{MEMBER}, ranges looked up anew": lambda part: part["anew"],
    MONDRIAN: lambda part: part["mondrian"],
}


def work_figure(bench: Bench) -> Figure:
    """Make Fig. 16 of work.

    Raises
    ------
    Untestable
        There are too many users for plain algorithms.
    """
    series = []
    for name, of in _WORK.items():
        points = []
        for k in bench.ks:
            try:
                own = [float(of(bench.work(k, seed))[0]) for seed in bench.seeds]
            except Untestable:
                if k == bench.ks[0]:
                    raise
                continue
            points.append(Point(k, fmean(own), min(own), max(own)))
        series.append(Series(name, "plain algorithms", tuple(points), configuration=READ))
    title = "Work of anonymizing: cells compared"
    return _Dotted("16a", title, "k", "cells compared", "number", tuple(series), y_log=True)


def time_figure(bench: Bench) -> Figure | None:
    """Make Fig. 16: the whole way, what methods differ in, and that in plain loops."""
    own = [line for line in bench.lines.values() if not line.of_hierarchy]
    rows: list[Row] = []
    compile_first((line.at(bench.ks[0]) for line in own), bench.ratings, bench.seeds[0])
    _plain_rows(bench, bench.ks[0], bench.seeds[0])  # compiles
    with task("taking times", len(bench.ks) * len(bench.seeds)) as step:
        for seed in bench.seeds:  # in turns: what slows the machine slows all of them
            for k in bench.ks:
                rows += [row for line in own for row in _timed(bench, line, k, seed)]
                rows += _plain_rows(bench, k, seed)
                step(1)
    series = tuple(
        Series(line.name, panel, points, configuration=line.configuration)
        for panel in (WHOLE, ALONE, PLAIN, INTERPRETED)
        for line in own
        if (points := points_of(rows, "k", "seconds", median, line=line.name, panel=panel))
    )
    if not series:
        return None
    return _Dotted(
        "16", "Time of anonymizing", "k", "seconds (median)", "seconds", series, y_log=True
    )


def _timed(bench: Bench, line: Line, k: int, seed: int) -> Iterator[Row]:
    try:
        bench.losses(line.name, k, seed)
    except Untestable:
        return
    method = line.at(k)
    yield _row(line.name, k, WHOLE, attempt(method, bench.ratings, seed).seconds)
    table = prepare(bench.ratings, k, rare_items="keep").ratings
    points = Points(table, np.empty((table.n_users, 0), np.uint8))
    yield _row(line.name, k, ALONE, _seconds(lambda: method.group(points, seed)))


def _plain_rows(bench: Bench, k: int, seed: int) -> list[Row]:
    matrix, order = bench.plain(seed)
    if not k <= len(matrix) <= PLAIN_USERS:
        return []
    places = positions(matrix)[0].astype(np.int64)
    ways: dict[str, Callable[[], Any]] = {
        LIKENESS: lambda: Likeness(k).compared(matrix, order),
        MEMBER: lambda: Member(k).compared(matrix, order),
        MONDRIAN: lambda: plain_mondrian(places, k),
    }
    few = matrix[order[:_FEW]].astype(np.float64)
    some = places[order[:_FEW]]
    slow: dict[str, Callable[[], Any]] = {
        LIKENESS: lambda: interpreted(plain_likeness)(few, k, k - 1, FIRST, SUM, 0.0),
        MEMBER: lambda: interpreted(plain_member)(some, k, SEED),
    }
    return [
        *(_row(name, k, PLAIN, _seconds(run)) for name, run in ways.items()),
        *(_row(name, k, INTERPRETED, _seconds(run)) for name, run in slow.items() if k <= len(few)),
    ]


def interpreted(compiled: Any) -> Any:
    """Return what Python runs of a kernel, whose rows are compared compiled all the same."""
    return getattr(compiled, "py_func", compiled)


def _row(line: str, k: int, panel: str, seconds: float) -> Row:
    return {"line": line, "k": k, "panel": panel, "seconds": seconds}


def _seconds(run: Callable[[], Any]) -> float:
    with silence():
        started = perf_counter()
        run()
        return perf_counter() - started


def times_of(figure: Figure | None) -> dict[str, float]:
    """Return seconds over all k, by line and by what was timed; how many times k-Member's are."""
    if figure is None:
        return {}
    sums = {
        f"{series.measure}: {series.name}": sum(point.y for point in series.points)
        for series in figure.series
    }
    for panel in (WHOLE, ALONE, PLAIN, INTERPRETED):
        a, b = (sums.get(f"{panel}: {name}") for name in (MEMBER, LIKENESS))
        if a and b:
            sums[f"{panel}: k-Member's over k-Likeness's"] = a / b
    return sums
