"""Information gain of one known item (NS Fig 7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.arguments import typed
from starshade.attack.sparsity.sparsity import about_one_star
from starshade.chart import Chart
from starshade.chart.shapes import Axis, curve_chart
from starshade.engine.job import Engine, Job, Tables
from starshade.engine.local import Local
from starshade.errors import ConfigError
from starshade.figure import Figure, Shown
from starshade.kernels.arrays import fixed
from starshade.kernels.attack.neighbours import mean_log_neighbours
from starshade.plain import counted
from starshade.progress import announced
from starshade.ratings.levels import near_levels
from starshade.ratings.shards.counts import counts_of
from starshade.ratings.shards.item_blocks import ItemBlocks
from starshade.ratings.shards.shards import Shards
from starshade.ratings.table import UNKNOWN_DAY, ByItem, Ratings

_RANKS = 200  # of the curve in to_dict, spaced evenly on a logarithmic axis


@dataclass(frozen=True, eq=False)
class InformationGain(Shown):
    """Information gain of one known item in bits, from the most rated item down.

    `records`: N; the initial entropy is log2(N) bits. `day_error`: None: the data have no dates.
    `support` (n_ranks,): raters of the item at each rank; items without raters have no rank.
    `rated` (n_ranks,): knowing that the target rated it: log2(N / raters). `with_rating`,
    `with_day` (n_ranks,): knowing also the rating (or the day) within the error: log2(N / raters
    within it), the mean over the item's raters. `with_day` is None without dates, and NaN for an
    item none of whose raters has a day.
    """

    records: int
    rating_error: float
    day_error: int | None
    support: NDArray[np.int64] = field(repr=False)
    rated: NDArray[np.float64] = field(repr=False)
    with_rating: NDArray[np.float64] = field(repr=False)
    with_day: NDArray[np.float64] | None = field(repr=False)

    def shown_ranks(self) -> NDArray[np.int64]:
        """Ranks, counted from 1, that stand for the curve: at most 200, denser at the top."""
        n = len(self.support)
        if not n:
            return np.empty(0, dtype=np.int64)
        return np.unique(np.round(np.geomspace(1, n, min(n, _RANKS)))).astype(np.int64)

    def curves(self) -> dict[str, NDArray[np.float64]]:
        """Return the curves by name, as in the figure."""
        curves = {
            "rated at all": self.rated,
            f"rating ±{self.rating_error:g}": self.with_rating,
        }
        if self.with_day is not None:
            curves[f"day ±{self.day_error}"] = self.with_day
        return curves

    def to_dict(self) -> dict[str, Any]:
        """Return the curves at the shown ranks as plain JSON values; no item is named."""
        ranks = self.shown_ranks()
        return {
            "records": self.records,
            "items": len(self.support),
            "rating_error": self.rating_error,
            "day_error": self.day_error,
            "rank": ranks.tolist(),
            "raters": self.support[ranks - 1].tolist(),
            "bits": {
                name: [None if np.isnan(v) else float(v) for v in curve[ranks - 1]]
                for name, curve in self.curves().items()
            },
        }

    def __str__(self) -> str:
        if not len(self.support):
            return "No item was rated, so no rating can be known."
        middle = len(self.support) // 2
        return (
            f"To single out one of {self.records:,} people takes {np.log2(self.records):.1f} bits. "
            f"Knowing that a person rated the most rated item gives {self.rated[0]:.1f} bits, the "
            f"median item {self.rated[middle]:.1f}; with the rating within "
            f"{self.rating_error:g}, {self.with_rating[0]:.1f} and {self.with_rating[middle]:.1f}."
        )

    def plot(self) -> Chart:
        """Draw the information gain of one item, from the most rated down (NS Fig 7)."""
        ranks = self.shown_ranks().tolist()
        curves = {
            name: [(rank, float(bits[rank - 1])) for rank in ranks]
            for name, bits in self.curves().items()
        }
        return curve_chart(
            "Information gain of one known rating",
            f"{counted(self.records, 'person', 'people')}; "
            f"{np.log2(self.records):.1f} bits single out one of them",
            curves,
            Axis("rank of the item, most rated first", log=True),
            Axis("bits"),
        )

    @property
    def found(self) -> tuple[Figure, ...]:
        """Information gain of the most rated item, by knowledge."""
        if not len(self.support):
            return ()
        return tuple(
            Figure(f"bits.{name}", f"The most rated item, {name}", "bits", True).of(float(bits[0]))
            for name, bits in self.curves().items()
        )

    def _headline(self) -> str:
        return "Information gain of one known rating"


@typed
@announced("computing information gain")
def information_gain(
    ratings: Ratings | Shards,
    *,
    rating_error: float | None = None,
    day_error: int = 14,
    engine: Engine | None = None,
) -> InformationGain:
    """Compute the information gain of knowing one item, for every item by rank.

    Parameters
    ----------
    ratings : Ratings or Shards
        A partitioned store is read in blocks of items; the result equals that of one table.
    rating_error : float or None
        None: a quarter of the scale's width (one star on 1-5).
    day_error : int
    engine : Engine, optional
        Execution engine for partitions; None: this process, without a journal.

    Raises
    ------
    ConfigError
        An error below 0, a fractional number of days, or a table without users.

    Notes
    -----
    NS Fig 7: log2(N/|supp(i)|), and with an error the mean over u in supp(i) of
    log2(N/c_u), c_u counting the users of supp(i), u included, whose value is within the error
    of u's. Users without a day are left out of the mean and of the counts. Items cannot be added
    up: who rated one is more likely to have rated another.

    Examples
    --------
    >>> table = Ratings.from_arrays(["a", "b", "c"], ["x", "x", "y"], [5, 1, 3], scale="1:5:1")
    >>> gain = information_gain(table)
    >>> [round(float(bits), 4) for bits in (gain.rated[0], gain.with_rating[0])]
    [0.585, 1.585]
    """
    error = about_one_star(ratings.scale) if rating_error is None else rating_error
    if not error >= 0:
        raise ConfigError(f"rating_error {error}: must be at least 0")
    if not (0 <= day_error <= UNKNOWN_DAY and day_error % 1 == 0):
        raise ConfigError(f"day_error {day_error}: must be whole days from 0 to {UNKNOWN_DAY}")
    if not ratings.n_users:
        raise ConfigError("information gain: the table has no users")
    told = {"rating_error": float(error), "day_error": int(day_error)}
    if isinstance(ratings, Shards):
        support, bits = _of_shards(ratings, engine or Local(), told)
    else:
        support = ratings.item_support
        bits = _bits(ratings.by_item, 0, told, {"levels": ratings.levels})
    ranking = np.argsort(-support, kind="stable")[: int(np.count_nonzero(support))]
    prior = np.log2(ratings.n_users)
    day = bits.get("day")
    return InformationGain(
        records=ratings.n_users,
        rating_error=error,
        day_error=None if day is None else day_error,
        support=support[ranking],
        rated=prior - np.log2(support[ranking]),
        with_rating=prior - bits["rating"][ranking],
        with_day=None if day is None else prior - day[ranking],
    )


def _of_shards(
    shards: Shards, engine: Engine, settings: Mapping[str, Any]
) -> tuple[NDArray[np.int64], Tables]:
    """Look at the raters of some items at a time, in whatever shards they are."""
    support = counts_of(shards, engine).items
    job = Job("computing information gain", _bits, settings, threaded=True)
    blocks = ItemBlocks.of(shards, support)
    parts = list(engine.run(job, blocks, {"levels": shards.levels}))
    return support, {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _bits(cells: ByItem, _first: int, settings: Mapping[str, Any], tables: Tables) -> Tables:
    """Return what is missing of each item's raters, knowing more than that they rated it."""
    indptr, near = fixed(cells.indptr), near_levels(tables["levels"], settings["rating_error"])
    found = {"rating": mean_log_neighbours(indptr, fixed(cells.codes), *near)}
    if cells.days is not None:
        every, reach = np.arange(UNKNOWN_DAY + 1, dtype=np.int64), settings["day_error"]
        days = fixed(cells.days)
        near = every - reach, every + reach + 1
        found["day"] = mean_log_neighbours(indptr, days, *near, UNKNOWN_DAY)
    return found
