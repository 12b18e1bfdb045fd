"""Figs 3-8 out of what was measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from starshade.audit.reproduction.estimates import Untestable
from starshade.audit.reproduction.figures import Figure, Level, Point, Series, Skipped
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
    Partition,
    Timed,
    Workload,
    point_of,
)
from starshade.audit.reproduction.sr.work import SHOWN, Reading
from starshade.ratings.proximity.settings import NullRule, Search

_CONFIGURED = {"whole": "as-read", "cluster": "ours"}
#: a search's name, and under which reading its seconds were taken: our check stops a comparison
#: early, and answers ε ≥ R without a search
_TIMED: dict[Search, tuple[str, str]] = {
    "pairwise": ("every pair", "ours"),
    "slicing": ("slicing", "as-read, but ε ≥ R needs no search"),
    "tree": ("tree", "ours"),
}


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


def work_figures(bench: Bench, of: str = "3456") -> tuple[list[Figure], list[Skipped]]:
    """Make Figs 3-6, or those asked for, as work: the cells that each search touches."""
    figures, missing = [], {}
    for axis in _axes(bench.grid, of):
        compared = []
        for part, base in bench.places:
            for name, search, change, configuration in SHOWN:
                reading, panel = replace(base, **change), f"{part.name}, {base.nulls}"
                if reading.covered and "share" in axis.points[0][1]:
                    continue
                try:
                    points = tuple(_work(bench, search, reading, *point) for point in axis.points)
                except Untestable as reason:
                    missing[f"{panel}: {name}"] = str(reason)
                else:
                    compared.append(Series(name, panel, points, configuration=configuration))
        alone = [
            replace(line, name=line.measure.rpartition(", ")[2],
                    measure=line.measure.rpartition(", ")[0])
            for line in compared if line.name == "slicing, pairwise-near groups"
        ]  # fmt: skip
        for number, whose, lines in (
            (axis.alone, "a check by slicing", alone),
            (axis.compared, "slicing and of every pair", compared),
        ):
            if lines:
                title = f"Work of {whose} over {axis.over}"
                figures.append(Figure(number, title, axis.x_title, "cells touched", "number",
                                      tuple(lines), y_log=True, dotted=True))  # fmt: skip
    return figures, [Skipped("3-6", what, reason) for what, reason in missing.items()]


def _work(bench: Bench, search: str, reading: Reading, x: float, setting: dict[str, Any]) -> Point:
    work = bench.work(search, seed=bench.seeds[0], reading=reading, **setting)
    return Point(x, float(work.sum()))


def time_figures(bench: Bench, timed: Mapping[Job, Timed], of: str = "3456") -> Iterator[Figure]:
    """Make Figs 5 and 6 as seconds: of slicing, every pair and ours, in one kind of code."""
    for axis in _axes(bench.grid, of):
        series = []
        for part, base in bench.places:
            for search, (name, configuration) in _TIMED.items():
                jobs = [(x, Job(part, base.nulls, search, **setting)) for x, setting in axis.points]
                points = tuple(point_of(x, timed[job]) for x, job in jobs if job in timed)
                if points:
                    series.append(Series(name, f"{part.name}, {base.nulls}", points,
                                         configuration=configuration))  # fmt: skip
        if series:
            title = f"Seconds of slicing, every pair and ours over {axis.over}"
            yield Figure(f"{axis.compared}c", title, axis.x_title, "seconds (median)", "seconds",
                         tuple(series), y_log=True, dotted=True)  # fmt: skip


def loss_figures(bench: Bench) -> Iterator[Figure]:
    """Make Fig 7, over ε and over k."""
    two = 2 * bench.grid.star
    for number, over, x_title, at in (
        ("7a", f"ε, k = {LOSS_K}", "ε", [(eps, LOSS_K, eps) for eps in bench.grid.eps]),
        ("7b", f"k, ε = {two:g}", "k", [(k, k, two) for k in KS]),
    ):
        series = []
        for nulls, partition in released_rules(bench):
            points = []
            for x, k, eps in at:
                runs = [bench.release(nulls, partition, k, eps, s) for s in bench.seeds]
                if not any("refused" in run for run in runs):
                    ys = [float(run["distortion"].mean()) for run in runs]
                    points.append(Point(x, float(np.mean(ys)), min(ys), max(ys)))
            if points:
                series.append(Series(partition, nulls, tuple(points),
                                     configuration=_CONFIGURED[partition]))  # fmt: skip
        if series:
            title = f"Distortion by the interval anonymizer over {over}"
            yield Figure(number, title, x_title, "points per record", "points", tuple(series),
                         dotted=True)  # fmt: skip


def released_rules(bench: Bench) -> list[tuple[NullRule, Partition]]:
    """Return under which rules releases are made; under "zero" they are those under "strict"."""
    rules = [nulls for nulls in bench.top.rules if nulls != "zero"]
    return [(nulls, partition) for nulls in rules for partition in PARTITIONS]


def accuracy_figure(bench: Bench) -> Iterator[Figure]:
    """Make Fig 8: how well attributes are predicted, before and after."""
    series = []
    for at, attribute in enumerate(bench.attributes):
        for place, score in enumerate(("right", "balanced accuracy", "AUC")):
            lines = [
                (f"{partition}, {nulls}", (nulls, partition), "after", _CONFIGURED[partition])
                for nulls, partition in released_rules(bench)
            ]
            lines.append(("original", ("strict", "whole"), "before", ""))
            if not place:
                lines.append(("always the most frequent class", lines[-1][1], "majority", ""))
            for name, rule, when, configuration in lines:
                points = tuple(_predicted(bench, rule, when, at, place))
                if points:
                    series.append(Series(name, f"{attribute}: {score}", points,
                                         configuration=configuration))  # fmt: skip
    if series:
        names = " and ".join(bench.attributes)
        yield Figure("8", f"Predicting {names} from ratings, ε = {2 * bench.grid.star:g}", "k",
                     "share", "share", tuple(series),
                     levels=(Level(0.75, "the paper: around 75 %"),), dotted=True)  # fmt: skip


def _predicted(
    bench: Bench, rule: tuple[NullRule, Partition], when: str, at: int, place: int
) -> Iterator[Point]:
    width = 1 if when == "majority" else 3
    for k in PREDICTED_KS:
        runs = [bench.predicted(*rule, k, seed) for seed in bench.seeds]
        if not any("refused" in run for run in runs):
            ys = np.concatenate([run[when][at].reshape(-1, width)[:, place] for run in runs])
            half = 1.96 * float(ys.std()) / len(ys) ** 0.5
            yield Point(k, float(ys.mean()), float(ys.mean()) - half, float(ys.mean()) + half)
