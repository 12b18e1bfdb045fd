"""Figs 1-3 and 7, the table of §5 and the theorems: what the data say without an attack."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from starshade.attack.sparsity.bounds import facts_needed, lineup_facts
from starshade.attack.sparsity.information_gain import InformationGain
from starshade.attack.sparsity.sparsity import SparsityResult
from starshade.audit.reproduction.figures import Figure, Level, Point, Series
from starshade.audit.reproduction.ns.paper import NETFLIX_BITS, NETFLIX_RECORDS
from starshade.ratings.habits import users_by_activity
from starshade.ratings.table import Ratings

__all__ = ["activity_figures", "gain_figure", "sparsity_figure", "theorem_rows"]

_EPS, _DELTAS, _LINEUP = 0.05, (0.2, 0.5), 10


def sparsity_figure(sparsity: SparsityResult) -> Figure:
    """Fig 1: share of records with a neighbour at least so alike."""
    grid = [i / 40 for i in range(41)]
    return Figure(
        number="1",
        title="How like its nearest neighbour a record is",
        x_title="similarity of the nearest neighbour, at least",
        y_title="share of records",
        unit="share",
        series=tuple(
            Series(
                curve.name,
                "share of records",
                tuple(Point.of(x, curve.at_least(x), targets=sparsity.targets) for x in grid),
            )
            for curve in sparsity.neighbours
        ),
    )


def activity_figures(ratings: Ratings) -> tuple[Figure, Figure]:
    """Figs 2 and 3: users with exactly X ratings; single users show, so internal."""
    counts = users_by_activity(ratings, 1000)
    return _activity("2", counts[:101]), _activity("3", counts)


def _activity(number: str, counts: NDArray[np.int64]) -> Figure:
    return Figure(
        number=number,
        title=f"Users with exactly X ratings, X up to {len(counts) - 1:,}",
        x_title="X, ratings of a user",
        y_title="users",
        unit="users",
        series=(Series.of("users", "users", range(len(counts)), counts.tolist()),),
    )


def gain_figure(gain: InformationGain) -> Figure:
    """Fig 7: bits that knowing one item gives, by the item's rank."""
    ranks = gain.shown_ranks()
    return Figure(
        number="7",
        title="What knowing one item tells",
        x_title="rank of the item (most rated first)",
        y_title="bits gained",
        unit="bits",
        series=tuple(
            Series.of(name, "bits gained", ranks.tolist(), curve[ranks - 1].tolist())
            for name, curve in gain.curves().items()
        ),
        levels=(
            Level(float(np.log2(gain.records)), "all there is to know"),
            Level(NETFLIX_BITS, "all there is to know, Netflix"),
        ),
        x_log=True,
    )


def theorem_rows(records: int) -> list[dict[str, float | int | str]]:
    """Facts that Theorems 1-4 ask for, on so many records and on Netflix's."""
    rows: list[dict[str, float | int | str]] = []
    for delta in _DELTAS:
        rows += [
            {
                "theorem": "1, 2, 4",
                "eps": _EPS,
                "delta": delta,
                "facts": facts_needed(records, _EPS, delta),
                "facts_netflix": facts_needed(NETFLIX_RECORDS, _EPS, delta),
            },
            {
                "theorem": "3",
                "lineup": _LINEUP,
                "delta": delta,
                "facts": lineup_facts(records, _LINEUP, delta),
                "facts_netflix": lineup_facts(NETFLIX_RECORDS, _LINEUP, delta),
            },
        ]
    return rows
