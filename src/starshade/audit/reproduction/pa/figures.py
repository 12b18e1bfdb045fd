"""PA's Table 2 and Figs 3-5, and one of ours beside Table 1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from starshade.anonymize.order import seeded_order
from starshade.anonymize.predictive.bins import cluster_sample
from starshade.anonymize.predictive.clusters import Distances, factored
from starshade.audit.reproduction.figures import Figure, Point, Series
from starshade.audit.reproduction.pa import measured
from starshade.audit.reproduction.pa.measured import BinSizes, Pairs, Ranks
from starshade.audit.reproduction.pa.result import LevelRow, Row
from starshade.progress import task
from starshade.ratings.holdout import sample_users
from starshade.ratings.scale import Scale
from starshade.recommend.padded import Padded
from starshade.utility.held_out.pairwise_dissimilarity import BINS

_CELLS = 400_000_000  # looked at, at most; more users are sampled
_BLOCK = 1 << 22  # cells written out at once
_PAPERS = Scale(1, 5, 1)


def histogram_of(padded: Padded, seed: int) -> tuple[LevelRow, ...]:
    """Count how many cells hold each rating before and after padding (PA Table 2).

    Padded values are clipped to the scale and count as the nearest rating, half up.

    Null comes first; empty on a scale without steps. The seed draws users where there are more than
    can be looked at.
    """
    ratings, scale = padded.ratings, padded.ratings.scale
    if scale.step is None:
        return ()
    some = max(1, _CELLS // max(1, ratings.n_items))
    users = sample_users(ratings, np.arange(ratings.n_users), some, seed)
    after = np.zeros(len(scale.levels))
    size = max(1, _BLOCK // max(1, ratings.n_items))
    with task("counting padded ratings", len(users)) as step:
        for first in range(0, len(users), size):
            rows = padded.block(users[first : first + size], clip=True)
            after += np.bincount(_nearest(rows, scale).ravel(), minlength=len(after))
            step(len(rows))
    before = np.bincount(_nearest(ratings.values(), scale), minlength=len(after))
    cells = ratings.n_users * ratings.n_items
    theirs = measured.HISTOGRAM if scale == _PAPERS else {}
    counts = zip(
        [None, *scale.levels.tolist()],
        [1 - ratings.n_ratings / cells, *(before / cells)],
        [0.0, *(after / (len(users) * ratings.n_items))],
        strict=True,
    )
    return tuple(
        LevelRow(level, float(first), float(then), *_of_paper(theirs.get(int(level or 0))))
        for level, first, then in counts
    )


def _nearest(values: NDArray[np.float64], scale: Scale) -> NDArray[np.int64]:
    assert scale.step is not None
    # a little more than a half: the float dust of an exact half must not decide
    place = np.floor((values - scale.minimum) / scale.step + 0.5 + 1e-9).astype(np.int64)
    return np.minimum(place, len(scale.levels) - 1)


def _of_paper(percent: tuple[float, float] | None) -> tuple[float | None, float | None]:
    if percent is None:
        return None, None
    return round(percent[0] / 100, 8), round(percent[1] / 100, 8)


def sizes_of_bins(padded: Padded, seed: int) -> tuple[BinSizes, ...]:
    """Put all users into bins around virtual, and around real, centres (PA §4.2, Fig 3).

    The sample, its clusters and their number are those of `group_users`. The real centre of a
    cluster is its member nearest to its mean. Small bins are left as they are.
    """
    away = factored(padded)
    order = seeded_order(padded.n_users, seed, "sample")
    starts, members = cluster_sample(away, order)
    cluster = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    own = away.to_means(members, starts, members)[np.arange(len(members)), cluster]
    real = np.array([members[a + int(np.argmin(own[a:b]))] for a, b in pairwise(starts)])
    return (
        BinSizes("virtual", _sizes(away, order, starts, members)),
        BinSizes("real", _sizes(away, order, np.arange(len(real) + 1), real)),
    )


def _sizes(
    away: Distances,
    users: NDArray[np.int64],
    starts: NDArray[np.int64],
    members: NDArray[np.int64],
) -> NDArray[np.int64]:
    counts = np.zeros(len(starts) - 1, np.int64)
    size = max(1, _BLOCK // len(counts))
    with task("users to bins", len(users)) as step:
        for first in range(0, len(users), size):
            nearest = away.to_means(users[first : first + size], starts, members).argmin(axis=1)
            counts += np.bincount(nearest, minlength=len(counts))
            step(len(nearest))
    return np.sort(counts)


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
