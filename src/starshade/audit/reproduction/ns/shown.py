"""NS's figures of the data themselves, and what theorems ask for."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from starshade.attack.sparsity.few_facts import facts_needed, lineup_facts
from starshade.attack.sparsity.information_gain import InformationGain
from starshade.audit.reproduction.figures import Figure, Level, Point, Series
from starshade.audit.reproduction.ns.bench import Bench
from starshade.audit.reproduction.ns.configurations import PRINTED, READ
from starshade.audit.reproduction.ns.of_data import EPS, LINEUP
from starshade.audit.reproduction.ns.plan import NETFLIX_BITS
from starshade.audit.reproduction.study import NETFLIX_USERS
from starshade.ratings.describe import users_by_activity
from starshade.ratings.table import Ratings
from starshade.stats import share

_DELTAS = (0.2, 0.5)
_GRID = [i / 40 for i in range(41)]


def sparsity_figures(bench: Bench) -> tuple[Figure, ...]:
    """Fig 1: share of records with a neighbour at least so alike; 1b: in random tenths too."""
    sparsity = bench.sparsity
    whole = tuple(
        Series(
            curve.name,
            "share of records",
            tuple(Point.of(x, curve.at_least(x), targets=sparsity.targets) for x in _GRID),
            configuration=READ,
        )
        for curve in sparsity.neighbours
    )
    first = Figure(
        number="1",
        title="Similarity to the nearest neighbour",
        x_title="similarity of the nearest neighbour, at least",
        y_title="share of records",
        unit="share",
        series=whole,
    )
    if not bench.can_sample:
        return (first,)
    tenth = bench.sparsity_of_tenth(0)
    points = tuple(Point.of(x, share(tenth >= x), targets=len(tenth)) for x in _GRID)
    lines = (
        Series("all", "share of records", whole[0].points, configuration=READ),
        Series("a random tenth", "share of records", points, configuration=READ),
    )
    title = "Sparsity of a random tenth, by items (Theorem 5, ours)"
    return first, Figure("1b", title, first.x_title, first.y_title, "share", lines)


def activity_figures(ratings: Ratings) -> tuple[Figure, Figure]:
    """Figs 2 and 3: users with exactly, and with at least, X ratings; internal."""
    counts = users_by_activity(ratings, 1000)
    at_least = ratings.n_users - np.concatenate([[0], np.cumsum(counts)[:-1]])
    return _activity("2", counts[:101], at_least[:101]), _activity("3", counts, at_least)


def _activity(number: str, counts: NDArray[np.int64], at_least: NDArray[np.int64]) -> Figure:
    xs = range(len(counts))
    return Figure(
        number=number,
        title=f"Users by their number of ratings X, up to {len(counts) - 1:,}",
        x_title="X, ratings of a user",
        y_title="users",
        unit="users",
        series=(
            Series.of("exactly X", "exactly X", xs, counts.tolist(), configuration=READ),
            Series.of("at least X", "at least X", xs, at_least.tolist(), configuration=PRINTED),
        ),
    )


def gain_figure(gain: InformationGain) -> Figure:
    """Fig 7: bits that knowing one item gives, by the item's rank."""
    ranks = gain.shown_ranks()
    return Figure(
        number="7",
        title="Information gained from one item",
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
    asked: list[tuple[dict[str, float | int | str], Callable[[int, float], int]]] = [
        ({"theorem": "1, 2, 4", "eps": EPS}, lambda n, delta: facts_needed(n, EPS, delta)),
        ({"theorem": "1, its proof: m without ε"}, _without_eps),
        ({"theorem": "3", "lineup": LINEUP}, lambda n, delta: lineup_facts(n, LINEUP, delta)),
    ]
    both = {"facts": records, "facts_netflix": NETFLIX_USERS}
    return [
        row | {"delta": delta} | {name: of(n, delta) for name, n in both.items()}
        for delta in _DELTAS
        for row, of in asked
    ]


def _without_eps(records: int, delta: float) -> int:
    return math.ceil(math.log(records) / -math.log1p(-delta))
