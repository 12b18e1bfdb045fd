"""Figs 3-5 out of what was measured, and one of ours beside Table 1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from starshade.audit.reproduction.figures import Figure, Point, Series
from starshade.audit.reproduction.pa.measured import BinSizes, Pairs, Ranks
from starshade.audit.reproduction.pa.result import Row
from starshade.utility.held_out.pairwise_dissimilarity import BINS

__all__ = ["CENTRES", "WHERE", "bins_figure", "error_figure", "pair_figure", "rank_figure"]

CENTRES = {"virtual": "virtual centres", "real": "real users as centres"}
WHERE = {"before": "before clustering", "within": "within clusters"}
READINGS = {"release": "read from the release", "refit": "trained on the release"}


def bins_figure(sizes: Sequence[BinSizes]) -> Iterator[Figure]:
    """Make Fig 3: the sizes of bins, in ascending order."""
    series = tuple(
        Series.of(
            CENTRES[bins.centres],
            "users in a bin",
            [100 * (i + 1) / len(bins.sizes) for i in range(len(bins.sizes))],
            np.sort(bins.sizes).astype(float).tolist(),
        )
        for bins in sizes
    )
    if series:
        yield Figure("3", "Sizes of bins", "% of the bins", "users in a bin", "number", series)


def pair_figure(measured: Sequence[Pairs]) -> Iterator[Figure]:
    """Make Fig 4: dissimilarities of pairs, a panel before and one within clusters."""
    middles = ((np.arange(BINS) + 0.5) / BINS).tolist()
    series = tuple(
        Series.of(pairs.metric, panel, middles, [100 * float(share) for share in pairs.shares])
        for where, panel in WHERE.items()
        for pairs in measured
        if pairs.where == where
    )
    if series:
        title = "Dissimilarity of two users on padded rows"
        yield Figure("4", title, "dissimilarity", "% of the pairs", "number", series)


def rank_figure(measured: Sequence[Ranks]) -> Iterator[Figure]:
    """Make Fig 5: how many users find their own profile among the nearest, a panel per k."""
    series = tuple(
        Series.of(
            ranks.line,
            f"k = {ranks.k}",
            range(1, len(ranks.within) + 1),
            [100 * share for share in ranks.within],
        )
        for ranks in measured
    )
    if series:
        x_title = "self-rank at most, % of the profiles"
        yield Figure("5", "Self-rank", x_title, "% of the users", "number", series)


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
            series.append(Series(line, panel, points))
    if series:
        title = "Error against that on the original (ours)"
        yield Figure(
            "6", title, "k", "RMSE / RMSE on the original", "number", tuple(series), dotted=True
        )


def _ratio(row: Row) -> Point:
    ratios = [mine / base for mine, base in zip(row.ours, row.base, strict=True)]
    assert row.k is not None
    return Point(row.k, row.ratio, min(ratios), max(ratios))
