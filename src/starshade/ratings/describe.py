"""The shape of a rating table, for its owner: in figures, habits, and in a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.arguments import typed
from starshade.chart import Chart
from starshade.chart.shapes import Axis, Bar, bar_chart, curve_chart
from starshade.engine.job import Engine
from starshade.errors import ConfigError
from starshade.figure import Figure, Shown, Table
from starshade.kernels.arrays import fixed
from starshade.kernels.attack.knowledge import count_marked
from starshade.plain import counted
from starshade.progress import announced
from starshade.ratings.scale import Scale
from starshade.ratings.shape import bars_of, figures_of, spread_of
from starshade.ratings.shards.counts import Counts, counts_of
from starshade.ratings.shards.shards import Shards
from starshade.ratings.table import UNKNOWN_DAY, Ratings, ReadReport

_BINS = 10  # of a real scale's histogram
_QUANTILES = {"q05": 0.05, "q25": 0.25, "median": 0.5, "q75": 0.75, "q95": 0.95}


@dataclass(frozen=True)
class Description(Shown):
    """What `describe` found.

    `sparsity`: share of cells that are null, in [0, 1]. `first_day`, `last_day`: ISO dates; None
    without dates. `days_unknown`: share of ratings without a date. `ratings_per_user`,
    `ratings_per_item`: mean, q05, q25, median, q75, q95. `long_tail`: share of all ratings that the
    most rated 1 % and 10 % of the items (rounded up) hold. `histogram`: lowest rating, highest
    rating and number of ratings: per level, or per bin of a real scale. `attributes`: names of the
    personal attributes.
    """

    users: int
    items: int
    ratings: int
    scale: Scale
    sparsity: float
    first_day: str | None
    last_day: str | None
    days_unknown: float | None
    ratings_per_user: dict[str, float]
    ratings_per_item: dict[str, float]
    long_tail: dict[str, float]
    histogram: tuple[tuple[float, float, int], ...]
    attributes: tuple[str, ...]
    report: ReadReport

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        flat = asdict(self)
        report = flat.pop("report")
        flat["scale"] = {
            "min": self.scale.minimum,
            "max": self.scale.maximum,
            "step": self.scale.step,
            "inferred": report["scale_inferred"],
        }
        flat["histogram"] = [
            {"low": low, "high": high, "ratings": n} for low, high, n in self.histogram
        ]
        return {
            **flat,
            "users_dropped": report["dropped_users"],
            "items_dropped": report["dropped_items"],
            "duplicates_merged": report["merged_duplicates"],
            "format": report["format"],
            "mapping": report["mapping"],
            "notes": list(report["notes"]),
        }

    def __str__(self) -> str:
        parts = ((self.users, "user"), (self.items, "item"), (self.ratings, "rating"))
        return ", ".join(counted(n, what) for n, what in parts)

    @property
    def found(self) -> tuple[Figure, ...]:
        """Size, scale, sparsity, long tail, dates, and what reading left out."""
        report = self.report
        mapping = ", ".join(f"{role} = {column}" for role, column in report.mapping.items())
        read = Figure("mapping", "Format", "text").of(
            f"{report.format}: {mapping}" if mapping else None
        )
        return (read, *figures_of(self.to_dict()))

    @property
    def tables(self) -> tuple[Table, ...]:
        """How many ratings people give, and items get."""
        spread = spread_of(self.to_dict())
        return () if spread is None else (spread,)

    def _headline(self) -> str:
        return "; ".join(["Ratings", *self.report.notes])


@announced("describing")
def describe(ratings: Ratings) -> Description:
    """Count what there is.

    >>> import numpy as np
    >>> from starshade.ratings.scale import Scale
    >>> from starshade.ratings.vocabulary import Vocabulary
    >>> scale = Scale(1, 5, 1)
    >>> table = Ratings(
    ...     scale, Vocabulary.of("ab"), Vocabulary.of("xy"), np.array([0, 2, 3]),
    ...     np.array([0, 1, 0], np.int32), np.array([0, 4, 4], np.uint8), scale.levels)
    >>> describe(table).sparsity
    0.25
    """
    names = () if ratings.attributes is None else tuple(ratings.attributes.column_names)
    return _described(Counts.of(ratings), ratings, names)


@announced("describing")
def describe_shards(shards: Shards, engine: Engine) -> Description:
    """Count what there is in a sharded store, shard by shard."""
    return _described(counts_of(shards, engine), shards, shards.manifest.attributes)


def _described(counts: Counts, of: Ratings | Shards, attributes: tuple[str, ...]) -> Description:
    n_users, n_items, n_ratings = counts.n_users, len(counts.items), counts.n_ratings
    cells = n_users * n_items
    first, last, unknown = _days(counts, of)
    one_each = np.ones(n_items, dtype=np.int64)
    return Description(
        users=n_users,
        items=n_items,
        ratings=n_ratings,
        scale=of.scale,
        sparsity=1 - n_ratings / cells if cells else 1.0,
        first_day=first,
        last_day=last,
        days_unknown=unknown,
        ratings_per_user=_spread(counts.support, counts.users),
        ratings_per_item=_spread(np.sort(counts.items), one_each),
        long_tail=_long_tail(counts),
        histogram=_histogram(counts, of),
        attributes=attributes,
        report=of.report,
    )


def _spread(values: NDArray[np.int64], often: NDArray[np.int64]) -> dict[str, float]:
    """Sum up whole numbers, ascending, each so often."""
    n = int(often.sum())
    if not n:
        return {}
    # the least and the greatest would each be about one user
    return {"mean": int((values * often).sum()) / n} | {
        name: _quantile(values, np.cumsum(often), q) for name, q in _QUANTILES.items()
    }


def _quantile(values: NDArray[np.int64], below: NDArray[np.int64], q: float) -> float:
    """Return `numpy.quantile` of ascending values; `below` counts each with those before it."""
    at = q * (int(below[-1]) - 1)
    low = int(at)
    place = np.searchsorted(below, [low, low + 1], side="right")
    return float(np.quantile(values[np.minimum(place, len(values) - 1)], at - low))


def _days(counts: Counts, of: Ratings | Shards) -> tuple[str | None, str | None, float | None]:
    if not of.has_days or not counts.n_ratings:
        return None, None, None
    known = np.flatnonzero(counts.days[:UNKNOWN_DAY])
    unknown = 1 - int(counts.days[:UNKNOWN_DAY].sum()) / counts.n_ratings
    if not len(known):
        return None, None, unknown
    start = date(1970, 1, 1) + timedelta(days=of.first_day)
    first, last = (start + timedelta(days=int(day)) for day in (known[0], known[-1]))
    return first.isoformat(), last.isoformat(), unknown


def _long_tail(counts: Counts) -> dict[str, float]:
    support = np.sort(counts.items)[::-1]
    total = max(counts.n_ratings, 1)
    shares = {"top_1_percent": 0.01, "top_10_percent": 0.1}
    return {
        name: int(support[: int(np.ceil(share * len(support)))].sum()) / total
        for name, share in shares.items()
    }


def _histogram(counts: Counts, of: Ratings | Shards) -> tuple[tuple[float, float, int], ...]:
    if of.scale.step is not None:
        levels = of.levels.tolist()
        return tuple(zip(levels, levels, counts.levels.tolist(), strict=True))
    edges = np.linspace(of.scale.minimum, of.scale.maximum, _BINS + 1)
    bins, _ = np.histogram(of.levels, bins=edges, weights=counts.levels)
    whole = np.round(bins).astype(np.int64).tolist()
    return tuple(zip(edges[:-1].tolist(), edges[1:].tolist(), whole, strict=True))


_POINTS = 100  # of the long tail


def ratings_chart(ratings: Ratings) -> Chart:
    """Draw how often each rating was given, and how much the most rated items hold."""
    description = describe(ratings)
    total = max(description.ratings, 1)
    bars = [Bar(name, share) for name, _, share in bars_of(description.to_dict())]
    size = str(description)
    histogram = bar_chart("Ratings by value", size, bars, "rating", Axis("share", share=True))
    held = np.cumsum(np.sort(ratings.item_support)[::-1]) / total
    places = np.unique(np.linspace(1, max(len(held), 1), _POINTS).round().astype(np.int64))
    points = [(p / len(held), float(held[p - 1])) for p in places.tolist() if len(held)]
    tail = curve_chart(
        "Share of the most rated items",
        size,
        {"": [(0.0, 0.0), *points]},
        Axis("most rated items", share=True),
        Axis("share of all ratings", share=True),
    )
    return histogram.beside(tail, title="Concentration of ratings (long tail)", subtitle=size)


@dataclass(frozen=True)
class OffTop:
    """Who rated items that are not among the most rated.

    `top`: the X most rated items are left out. `items`: how many items remain. `at_least`: share of
    all users who rated at least so many of those that remain.
    """

    top: int
    items: int
    at_least: dict[int, float]

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain JSON values."""
        return {
            "not_among_top": self.top,
            "items_left": self.items,
            "users": [{"at_least": n, "share": share} for n, share in self.at_least.items()],
        }


def users_by_activity(ratings: Ratings, most: int = 1000) -> NDArray[np.int64]:
    """Count the users with exactly 0, 1, … `most` ratings.

    `most`: at least 0; users with more are not counted. Returns (most + 1,): a bin may be a single
    user: internal.
    """
    if most < 0:
        raise ConfigError(f"most {most}: at least 0")
    support = ratings.user_support
    return np.bincount(support[support <= most], minlength=most + 1).astype(np.int64)


@typed
def rated_outside_top(
    ratings: Ratings,
    top: Sequence[int] = (100, 500, 1000),
    at_least: Sequence[int] = (1, 5, 10),
) -> tuple[OffTop, ...]:
    """Count the users who rated items outside the X most rated (NS §5).

    Parameters
    ----------
    ratings : Ratings
    top : sequence of int
        Each X, at least 0.
    at_least : sequence of int
        Numbers of rated items, at least 1.

    Returns
    -------
    tuple of OffTop
        One per X; shares are of all users, those without a rating included.

    Raises
    ------
    ConfigError
        A number out of range.
    """
    for name, numbers, least in (("top", top, 0), ("at_least", at_least, 1)):
        if any(n < least for n in numbers):
            raise ConfigError(f"{name} {min(numbers)}: at least {least}")
    ranking = ratings.most_rated(max(top, default=0))
    indptr, columns = fixed(ratings.indptr), fixed(ratings.columns)
    rows = []
    for x in top:
        left = np.ones(ratings.n_items, dtype=np.bool_)
        left[ranking[:x]] = False
        rated = count_marked(indptr, columns, left)
        users = max(len(rated), 1)
        shares = {n: float(np.count_nonzero(rated >= n) / users) for n in at_least}
        rows.append(OffTop(x, int(left.sum()), shares))
    return tuple(rows)
