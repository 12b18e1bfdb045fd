"""Figs 3-8 out of what was measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from starshade.audit.reproduction.figures import Figure, Level, Point, Series
from starshade.audit.reproduction.sr.measured import (
    KS,
    PARTITIONS,
    RULES,
    SEARCHES,
    SHARES,
    Grid,
    Job,
    K,
    Predicted,
    Timed,
    Workload,
    point_of,
)
from starshade.audit.reproduction.study import Row
from starshade.ratings.proximity.settings import NullRule, Search

SEARCH_NAMES: dict[Search, str] = {
    "pairwise": "every pair",
    "slicing": "slicing (the paper's)",
    "tree": "tree (ours)",
}
PARTITION_NAMES = {"whole": "whole (the paper's)", "cluster": "cluster (ours)"}
ORIGINAL, MAJORITY = "original", "always the most frequent class"
_SECONDS = "seconds (median)"
_LOSS = "points per record"
_Points = tuple[Point, ...]


@dataclass(frozen=True)
class _Axis:
    """What grows along x: Fig 3 or 4 shows slicing alone, Fig 5 or 6 compares."""

    alone: str
    compared: str
    over: str
    x_title: str
    points: tuple[tuple[float, dict[str, Any]], ...]


def _axes(grid: Grid) -> tuple[_Axis, ...]:
    one, two = grid.star, 2 * grid.star
    shares = tuple((s, {"k": K, "eps": one, "l": two, "share": s}) for s in SHARES)
    by_eps = tuple((eps, {"k": K, "eps": eps, "l": two}) for eps in grid.eps)
    by_k = tuple((k, {"k": k, "eps": two, "l": two}) for k in KS)
    by_l = tuple((l, {"k": K, "eps": two, "l": l}) for l in grid.l)  # noqa: E741
    return (
        _Axis("3a", "5a", f"the data, ({K}, {one:g}, {two:g})", "% of the records", shares),
        _Axis("3b", "5b", f"ε, k = {K}, l = {two:g}", "ε", by_eps),
        _Axis("4a", "6a", f"k, ε = {two:g}, l = {two:g}", "k", by_k),
        _Axis("4b", "6b", f"l, k = {K}, ε = {two:g}", "l", by_l),
    )


def jobs_of(workloads: Iterable[Workload], grid: Grid) -> Iterator[Job]:
    """Return the checks behind Figs 3-6; some stand in several."""
    for workload in workloads:
        for nulls in workload.rules:
            for axis in _axes(grid):
                for _, setting in axis.points:
                    for search in SEARCHES:
                        yield Job(workload, nulls, search, **setting)


def time_figures(
    workloads: tuple[Workload, ...], grid: Grid, timed: Mapping[Job, Timed]
) -> Iterator[Figure]:
    """Make Figs 3-6: seconds of a check."""
    parts = [(workload, nulls) for workload in workloads for nulls in workload.rules]
    for axis in _axes(grid):

        def points(
            workload: Workload, nulls: NullRule, search: Search, axis: _Axis = axis
        ) -> _Points:
            jobs = [(x, Job(workload, nulls, search, **setting)) for x, setting in axis.points]
            return tuple(point_of(x, timed[job]) for x, job in jobs if job in timed)

        alone = (Series(nulls, of.name, points(of, nulls, "slicing")) for of, nulls in parts)
        compared = (
            Series(SEARCH_NAMES[search], f"{of.name}, {nulls}", points(of, nulls, search))
            for of, nulls in parts
            for search in SEARCHES
        )
        titles = (
            (axis.alone, f"Time of a check by slicing over {axis.over}", alone),
            (axis.compared, f"Slicing, every pair and ours over {axis.over}", compared),
        )
        for number, title, lines in titles:
            series = tuple(line for line in lines if line.points)
            if series:
                yield Figure(
                    number, title, axis.x_title, _SECONDS, "seconds", series,
                    y_log=True, dotted=True,
                )  # fmt: skip


def loss_figures(losses: list[Row], k: int, eps: float) -> Iterator[Figure]:
    """Make Figs 7(a), over ε at this k, and 7(b), over k at this ε."""
    for number, over, x, x_title, fixed in (
        ("7a", f"ε, k = {k}", "eps", "ε", {"k": k}),
        ("7b", f"k, ε = {eps:g}", "k", "k", {"eps": eps}),
    ):
        rows = sorted(losses, key=lambda row: row[x])
        series = tuple(
            Series(PARTITION_NAMES[partition], f"{name}, {nulls}", points)
            for name in dict.fromkeys(row["data"] for row in losses)
            for nulls in RULES
            for partition in PARTITIONS
            if (points := _points(rows, x, data=name, nulls=nulls, partition=partition, **fixed))
        )
        if series:
            title = f"Distortion by the interval anonymizer over {over}"
            yield Figure(number, title, x_title, _LOSS, "points", series, dotted=True)


def _points(rows: list[Row], x: str, **where: Any) -> _Points:
    own = (row for row in rows if all(row[name] == value for name, value in where.items()))
    return tuple(Point(row[x], row["distortion_per_record"]) for row in own)


def accuracy_figure(predicted: list[Predicted], eps: float) -> Iterator[Figure]:
    """Make Fig 8: how often an attribute is predicted right."""
    if not predicted:
        return
    series: list[Series] = []
    for nulls in dict.fromkeys(entry.nulls for entry in predicted):
        own = [entry for entry in predicted if entry.nulls == nulls]
        ks = sorted({entry.k for entry in own})
        whole = own[0].found  # the original is the same at every k
        for name, rate in ((ORIGINAL, whole.original), (MAJORITY, whole.majority)):
            series.append(Series(name, nulls, tuple(Point.of(k, rate) for k in ks)))
        for partition in dict.fromkeys(entry.partition for entry in own):
            points = [
                Point.of(entry.k, entry.found.anonymized)
                for entry in own
                if entry.partition == partition
            ]
            series.append(Series(PARTITION_NAMES[partition], nulls, tuple(points)))
    prediction = predicted[0].found
    yield Figure(
        number="8",
        title=f"Predicting {prediction.attribute} from ratings, ε = {eps:g}",
        x_title="k",
        y_title="right",
        unit="share",
        series=tuple(series),
        levels=(Level(0.75, "the paper: around 75 %"),),
        dotted=True,
    )
