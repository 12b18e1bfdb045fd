"""Figs 3-8 out of what was measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from starshade.audit.reproduction.figures import Figure, Level, Point, Series
from starshade.audit.reproduction.parts import Part
from starshade.audit.reproduction.sr.bench import Bench
from starshade.audit.reproduction.sr.measured import (
    KS,
    LOSS_K,
    PARTITIONS,
    PREDICTED_KS,
    SEARCHES,
    SHARES,
    Grid,
    Job,
    K,
    Timed,
    Workload,
    point_of,
)
from starshade.audit.reproduction.sr.work import Reading
from starshade.ratings.proximity.settings import NullRule, Search

SEARCH_NAMES: dict[Search, str] = {
    "pairwise": "every pair",
    "slicing": "slicing",
    "tree": "tree",
}
PARTITION_NAMES = {"whole": "whole", "cluster": "cluster"}
_CONFIGURED = {"whole": "as-read", "cluster": "ours"}
#: under which reading a search's seconds were taken: our check stops a comparison early, and
#: answers ε ≥ R without a search
_TIMED: dict[Search, str] = {
    "pairwise": "ours",
    "slicing": "as-read, but ε ≥ R needs no search",
    "tree": "ours",
}
#: whose work is counted: name, search, reading, configuration
_WORKED: tuple[tuple[str, str, dict[str, Any], str], ...] = (
    ("every pair, to its end", "pairwise", {}, "as-printed"),
    ("every pair, given up early", "pairwise", {"early": True}, "ours"),
    ("slicing, pairwise-near groups", "slicing", {}, "as-printed"),
    ("slicing, balls", "slicing", {"cliques": False}, "as-read"),
    ("slicing, who is in a group does not ask", "slicing", {"covered": True},
     "as-printed, but who is in a group does not ask"),
)  # fmt: skip
_SECONDS, _CELLS = "seconds (median)", "cells touched"
_LOSS = "points per record"


@dataclass(frozen=True)
class _Axis:
    """What grows along x: Fig 3 or 4 shows slicing alone, Fig 5 or 6 compares."""

    alone: str
    compared: str
    over: str
    x_title: str
    points: tuple[tuple[float, dict[str, Any]], ...]


def _axes(grid: Grid, of: str = "3456") -> tuple[_Axis, ...]:
    one, two = grid.star, 2 * grid.star
    shares = tuple((s, {"k": K, "eps": one, "l": two, "share": s}) for s in SHARES)
    by_eps = tuple((eps, {"k": K, "eps": eps, "l": two}) for eps in grid.eps)
    by_k = tuple((k, {"k": k, "eps": two, "l": two}) for k in KS)
    by_l = tuple((l, {"k": K, "eps": two, "l": l}) for l in grid.l)  # noqa: E741
    axes = (
        _Axis("3a", "5a", f"the data, ({K}, {one:g}, {two:g})", "% of the records", shares),
        _Axis("3b", "5b", f"ε, k = {K}, l = {two:g}", "ε", by_eps),
        _Axis("4a", "6a", f"k, ε = {two:g}, l = {two:g}", "k", by_k),
        _Axis("4b", "6b", f"l, k = {K}, ε = {two:g}", "l", by_l),
    )
    return tuple(axis for axis in axes if axis.alone[0] in of)


def jobs_of(workloads: Iterable[Workload], grid: Grid, of: str = "3456") -> Iterator[Job]:
    """Return the checks behind these figures; some stand in several."""
    for workload in workloads:
        for nulls in workload.rules:
            for axis in _axes(grid, of):
                for _, setting in axis.points:
                    for search in SEARCHES:
                        yield Job(workload, nulls, search, **setting)


def work_figures(bench: Bench, of: str = "3456") -> Iterator[Figure]:
    """Make Figs 3-6, or those asked for, as work: the cells that each search touches."""
    places = [("all" if part is not bench.top else "top", part, nulls)
              for part in bench.workloads for nulls in part.rules]  # fmt: skip
    for axis in _axes(bench.grid, of):
        alone, compared = [], []
        for items, part, nulls in places:
            for name, search, change, configuration in _WORKED:
                reading = Reading(items, nulls, **change)
                points = tuple(
                    Point(x, float(bench.work(search, seed=bench.seeds[0], reading=reading,
                                              **setting).sum()))
                    for x, setting in axis.points
                    if not (reading.covered and "share" in setting)
                )  # fmt: skip
                if not points:
                    continue
                measure = f"{part.name}, {nulls}"
                compared.append(Series(name, measure, points, configuration=configuration))
                if search == "slicing" and configuration == "as-printed":
                    alone.append(Series(nulls, part.name, points, configuration=configuration))
        titles = (
            (axis.alone, f"Work of a check by slicing over {axis.over}", alone),
            (axis.compared, f"Work of slicing and of every pair over {axis.over}", compared),
        )
        for number, title, lines in titles:
            yield Figure(number, title, axis.x_title, _CELLS, "number", tuple(lines),
                         y_log=True, dotted=True)  # fmt: skip


def time_figures(
    workloads: tuple[Workload, ...], grid: Grid, timed: Mapping[Job, Timed]
) -> Iterator[Figure]:
    """Make Figs 5 and 6 as seconds: of slicing, every pair and ours, in one kind of code."""
    parts = [(workload, nulls) for workload in workloads for nulls in workload.rules]
    for axis in _axes(grid):
        series = []
        for of, nulls in parts:
            for search in SEARCHES:
                jobs = [(x, Job(of, nulls, search, **setting)) for x, setting in axis.points]
                points = tuple(point_of(x, timed[job]) for x, job in jobs if job in timed)
                if points:
                    series.append(
                        Series(SEARCH_NAMES[search], f"{of.name}, {nulls}", points,
                               configuration=_TIMED[search])
                    )  # fmt: skip
        if series:
            title = f"Seconds of slicing, every pair and ours over {axis.over}"
            yield Figure(f"{axis.compared}c", title, axis.x_title, _SECONDS, "seconds",
                         tuple(series), y_log=True, dotted=True)  # fmt: skip


def loss_figures(bench: Bench) -> Iterator[Figure]:
    """Make Fig 7, over ε and over k."""
    two = 2 * bench.grid.star
    for number, over, x_title, at in (
        ("7a", f"ε, k = {LOSS_K}", "ε", [(eps, LOSS_K, eps) for eps in bench.grid.eps]),
        ("7b", f"k, ε = {two:g}", "k", [(k, k, two) for k in KS]),
    ):
        series = []
        for nulls in _rules(bench):
            for partition in PARTITIONS:
                points = []
                for x, k, eps in at:
                    runs = [bench.release(nulls, partition, k, eps, s) for s in bench.seeds]
                    if not any("refused" in run for run in runs):
                        ys = [float(run["distortion"].mean()) for run in runs]
                        points.append(Point(x, float(np.mean(ys)), min(ys), max(ys)))
                if points:
                    series.append(Series(PARTITION_NAMES[partition], nulls, tuple(points),
                                         configuration=_CONFIGURED[partition]))  # fmt: skip
        if series:
            title = f"Distortion by the interval anonymizer over {over}"
            yield Figure(number, title, x_title, _LOSS, "points", tuple(series), dotted=True)


def _rules(bench: Bench) -> list[NullRule]:
    return [nulls for nulls in bench.top.rules if nulls != "zero"]


_SCORES = ("right", "balanced accuracy", "AUC")


def accuracy_figure(bench: Bench) -> Iterator[Figure]:
    """Make Fig 8: how well attributes are predicted, before and after."""
    series: list[Series] = []
    for attribute in bench.attributes:
        for place, score in enumerate(_SCORES):
            measure = f"{attribute}: {score}"
            for nulls in _rules(bench):
                for partition in PARTITIONS:
                    points = _points(bench, attribute, nulls, partition, "after", place)
                    series.append(Series(f"{PARTITION_NAMES[partition]}, {nulls}", measure, points,
                                         configuration=_CONFIGURED[partition]))  # fmt: skip
            series.append(
                Series(
                    "original",
                    measure,
                    _points(bench, attribute, "strict", "whole", "before", place),
                )
            )
            if not place:
                own = _points(bench, attribute, "strict", "whole", "majority", place)
                series.append(Series("always the most frequent class", measure, own))
    series = [line for line in series if line.points]
    if series:
        names = " and ".join(bench.attributes)
        yield Figure("8", f"Predicting {names} from ratings, ε = {2 * bench.grid.star:g}", "k",
                     "share", "share", tuple(series),
                     levels=(Level(0.75, "the paper: around 75 %"),), dotted=True)  # fmt: skip


def _points(
    bench: Bench, attribute: str, nulls: Any, partition: Any, what: str, place: int
) -> tuple[Point, ...]:
    points = []
    for k in PREDICTED_KS:
        runs = [bench.predicted(attribute, nulls, partition, k, seed) for seed in bench.seeds]
        if any("refused" in run for run in runs):
            continue
        ys = np.concatenate([_of(run, what, place) for run in runs])
        spread = 1.96 * float(ys.std()) / len(ys) ** 0.5
        points.append(Point(k, float(ys.mean()), float(ys.mean()) - spread,
                            float(ys.mean()) + spread))  # fmt: skip
    return tuple(points)


def _of(part: Part, what: str, place: int) -> Any:
    return part[what] if what == "majority" else part[what][:, place]
