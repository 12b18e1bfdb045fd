"""PA's tables and figures, of what a bench measured; and one of ours beside Table 1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from math import sqrt
from statistics import fmean
from typing import Any

import numpy as np

from starshade.audit.reproduction.estimates import Untestable
from starshade.audit.reproduction.figures import Figure, Point, Series, Skipped
from starshade.audit.reproduction.pa import looks
from starshade.audit.reproduction.pa.bench import Bench
from starshade.audit.reproduction.pa.configurations import LINES, PRINTED, READ, SIMPLE
from starshade.audit.reproduction.pa.measures import (
    GROUPS,
    NULLS,
    ORIGINAL_RMSE,
    SIMILAR_USER,
    TARGET,
)
from starshade.audit.reproduction.pa.released import within
from starshade.audit.reproduction.pa.result import Row
from starshade.progress import task
from starshade.utility.held_out.pairwise_dissimilarity import BINS

ORIGINAL = "original"
#: what the paper calls a line
_PROFILE = {READ: "padded", PRINTED: "padded", SIMPLE: "simple"}
#: table, reading → squared errors, how many, those of the original on the same ratings
_SOURCES = {
    ("1", "release"): ("release", "n", "original"),
    ("1", "refit"): ("refit", "refit_n", "refit_original"),
    ("3", "release"): ("near", "near_n", "near_original"),
}
_COMPARED = {"1": TARGET, "3": SIMILAR_USER}
CENTRES = {"virtual": "virtual centres", "real": "real users as centres"}
WHERE = {"before": "before clustering", "within": "within clusters"}
READINGS = {"release": "read from the release", "refit": "trained on the release"}


def measured(bench: Bench) -> tuple[list[tuple[str, int]], list[Skipped]]:
    """Run every line at every k; return what there is, and what was refused, with the reason."""
    ways: list[tuple[str, int]] = []
    skipped = []
    every = [
        (seed, k, line)
        for seed in bench.seeds
        for drawn in (False, True)  # what lines share is at hand as long as the users are the same
        for k in bench.ks
        for line in bench.lines
        if (bench.drawn(LINES[line]) is not None) == drawn
    ]
    with task("releases made and measured", len(every)) as step:
        for seed, k, line in every:
            if k in bench.ks_of(line):
                with suppress(Untestable):
                    bench.release(line, k, seed)
            step(1)
    for line in bench.lines:
        for k in bench.ks_of(line):
            try:
                for seed in bench.seeds:
                    bench.release(line, k, seed)
            except Untestable as why:
                what = f"{line}, k = {k}"
                skipped.append(Skipped("1, 3", what, str(why).removeprefix(f"{what}: ")))
            else:
                ways.append((line, k))
    return ways, skipped


def rows_of(bench: Bench, ways: Sequence[tuple[str, int]]) -> Iterator[Row]:
    """Make Tables 1 and 3, the original first; where that has no error there is no ratio to it."""
    if ways:
        line, k = next(((line, k) for line, k in ways if line == READ), ways[0])
        runs = bench.runs(line, k, "original", "n")
        if all(run["original"].sum() for run in runs):
            own = tuple(_rmse(run, "original", "n") for run in runs)
            yield Row("1", ORIGINAL, None, "original", own, own, ORIGINAL_RMSE)
    for (table, reading), (off, count, base) in _SOURCES.items():
        for line, k in ways:
            parts = [bench.release(line, k, seed) for seed in bench.seeds]
            if all(off in part and part[base].sum() for part in parts):
                yield Row(
                    table,
                    line,
                    k,
                    reading,
                    tuple(_rmse(part, off, count) for part in parts),
                    tuple(_rmse(part, base, count) for part in parts),
                    _COMPARED[table].get((_PROFILE.get(line, ""), k))
                    if reading == "release"
                    else None,
                )


def _rmse(part: Any, off: str, count: str) -> float:
    return sqrt(float(part[off].sum()) / float(part[count].sum()))


def releases_of(bench: Bench, ways: Sequence[tuple[str, int]]) -> Iterator[dict[str, Any]]:
    """Say what releases look like, in the mean of the runs."""
    for line, k in ways:
        parts = [bench.release(line, k, seed) for seed in bench.seeds]
        row: dict[str, Any] = {"line": line, "k": k}
        for name in ("groups", "nulls", "one_rater"):
            mean = fmean(float(part[name][0]) for part in parts)
            row[name] = None if np.isnan(mean) else mean
        row["paper_groups"] = GROUPS if k == 50 and line in _PROFILE else None
        row["paper_nulls"] = NULLS if k == 50 and line == SIMPLE else None
        yield row


def bins_figure(bench: Bench) -> Iterator[Figure]:
    """Make Fig 3: the sizes of bins of the first run, in ascending order."""
    series = []
    for name in (READ, PRINTED):
        part = looks.bins(bench, name, bench.seeds[0])
        for centres, words in CENTRES.items():
            sizes = np.sort(part[centres])
            xs = [100 * (i + 1) / len(sizes) for i in range(len(sizes))]
            ys = sizes.astype(float).tolist()
            series.append(Series.of(words, "users in a bin", xs, ys, configuration=name))
    yield Figure("3", "Sizes of bins", "% of the bins", "users in a bin", "number", tuple(series))


def pair_figure(bench: Bench) -> Iterator[Figure]:
    """Make Fig 4: dissimilarities of pairs, a panel before and one within clusters."""
    middles = ((np.arange(BINS) + 0.5) / BINS).tolist()
    part = looks.pairs(bench, READ, bench.ks[-1], bench.seeds[0])
    series = tuple(
        Series.of(metric, panel, middles, (100 * part[key]).tolist(), configuration=own)
        for where, panel in WHERE.items()
        for metric in looks.METRICS
        if (key := f"{metric} {where} shares") in part
        for own in ["" if where == "before" else READ]
    )
    if series:
        yield Figure(
            "4", "Dissimilarity of two users on padded rows", "dissimilarity", "% of the pairs",
            "number", series,
        )  # fmt: skip


def rank_figure(bench: Bench, ways: Sequence[tuple[str, int]]) -> Iterator[Figure]:
    """Make Fig 5: how many users are how near to their own profile, in the first run."""
    series = []
    for line, k in ways:
        part = bench.release(line, k, bench.seeds[0])
        if "rank" in part and part["asked"].any():
            shares = within(part["rank"][part["asked"] > 0])
            ys = [100 * share for share in shares]
            series.append(Series.of(f"k = {k}", line, range(1, 101), ys, configuration=line))
    if series:
        x_title = "self-rank at most, % of the profiles"
        yield Figure("5", "Self-rank", x_title, "% of the users", "number", tuple(series))


def error_figure(rows: Sequence[Row]) -> Iterator[Figure]:
    """Make ours beside Table 1: error over that on the original, by line and k."""
    series = []
    for reading, panel in READINGS.items():
        own = [row for row in rows if (row.table, row.reading) == ("1", reading)]
        for line in dict.fromkeys(row.line for row in own):
            points = tuple(
                _ratio(row)
                for row in sorted(own, key=lambda row: row.k or 0)
                if row.line == line and row.k is not None
            )
            series.append(Series("", panel, points, configuration=line))
    if series:
        title = "Error against that on the original (ours)"
        yield Figure(
            "6", title, "k", "RMSE / RMSE on the original", "number", tuple(series), dotted=True
        )


def _ratio(row: Row) -> Point:
    ratios = [mine / base for mine, base in zip(row.ours, row.base, strict=True)]
    assert row.k is not None
    return Point(row.k, row.ratio, min(ratios), max(ratios))
