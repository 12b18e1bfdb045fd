"""Nearest neighbours, as NS §3 and Fig 1 write them: every pair of records."""

from __future__ import annotations

import numpy as np

from starshade.ratings.table import UNKNOWN_DAY, Ratings


def nearest(ratings: Ratings, rating_error: float, day_error: int) -> list[list[float]]:
    """Highest Sim of each record to another one: rated, ratings alike, and days alike too."""
    rows = [_row(ratings, u) for u in range(ratings.n_users)]
    return [
        [
            max(
                (_sim(rows[u], rows[v], rating_error, day_error, strictness)
                 for v in range(len(rows)) if v != u),
                default=0.0,
            )
            for strictness in range(3)
        ]
        for u in range(len(rows))
    ]  # fmt: skip


def covered(ratings: Ratings, rating_error: float, day_error: int) -> list[list[float]]:
    """Highest share of each record's own cells that another record has in common with it."""
    rows = [_row(ratings, u) for u in range(ratings.n_users)]
    return [
        [
            max(
                (_common(mine, other, rating_error, day_error, strictness) / len(mine)
                 if mine else 1.0 for v, other in enumerate(rows) if v != u),
                default=0.0,
            )
            for strictness in range(3)
        ]
        for u, mine in enumerate(rows)
    ]  # fmt: skip


def _row(ratings: Ratings, user: int) -> dict[int, tuple[float, int]]:
    cells = range(ratings.indptr[user], ratings.indptr[user + 1])
    days = ratings.days
    return {
        int(ratings.columns[p]): (
            float(ratings.levels[ratings.codes[p]]),
            UNKNOWN_DAY if days is None else int(days[p]),
        )
        for p in cells
    }


def _sim(
    mine: dict[int, tuple[float, int]],
    theirs: dict[int, tuple[float, int]],
    rating_error: float,
    day_error: int,
    strictness: int,
) -> float:
    union = mine.keys() | theirs.keys()
    if not union:  # two empty records are equal
        return 1.0
    return _common(mine, theirs, rating_error, day_error, strictness) / len(union)


def _common(
    mine: dict[int, tuple[float, int]],
    theirs: dict[int, tuple[float, int]],
    rating_error: float,
    day_error: int,
    strictness: int,
) -> int:
    common = 0
    for item in mine.keys() & theirs.keys():
        (rating, day), (other, other_day) = mine[item], theirs[item]
        near = abs(rating - other) <= rating_error + 1e-9
        known = UNKNOWN_DAY not in (day, other_day)
        soon = known and abs(day - other_day) <= day_error
        common += [True, near, near and soon][strictness]
    return common


def gains(ratings: Ratings, rating_error: float, day_error: int) -> list[tuple[float, ...]]:
    """Fig 7, item by item from the most rated down: (rated, with the rating, with the day)."""
    found = []
    for item in ratings.most_rated(ratings.n_items):
        cells = np.flatnonzero(ratings.columns == item)
        if not len(cells):
            continue
        values = ratings.levels[ratings.codes[cells]].tolist()
        days = [] if ratings.days is None else ratings.days[cells].tolist()
        days = [d for d in days if d != UNKNOWN_DAY]
        n = ratings.n_users
        found.append(
            (
                float(np.log2(n / len(cells))),
                _mean_gain(n, values, rating_error + 1e-9),
                _mean_gain(n, days, day_error),
            )
        )
    return found


def _mean_gain(n: int, values: list[float], error: float) -> float:
    if not values:
        return float("nan")
    counts = [sum(abs(v - w) <= error for w in values) for v in values]
    return float(np.mean([np.log2(n / c) for c in counts]))


def off_top(ratings: Ratings, top: int, at_least: int) -> float:
    """Share of users who rated at least so many items that are not among the most rated."""
    support = [int((ratings.columns == i).sum()) for i in range(ratings.n_items)]
    ranking = sorted(range(ratings.n_items), key=lambda i: (-support[i], i))
    popular = set(ranking[:top])
    good = 0
    for u in range(ratings.n_users):
        row = ratings.columns[ratings.indptr[u] : ratings.indptr[u + 1]].tolist()
        good += len(set(row) - popular) >= at_least
    return good / ratings.n_users
