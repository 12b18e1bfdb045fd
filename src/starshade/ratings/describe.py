"""The shape of a rating table, for its owner; nothing in it is about a single user."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import date, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.progress import announced
from starshade.ratings.scale import Scale
from starshade.ratings.table import UNKNOWN_DAY, Ratings, ReadReport

__all__ = ["Description", "describe"]

_BINS = 10  # of a real scale's histogram
_QUANTILES = {"q05": 0.05, "q25": 0.25, "median": 0.5, "q75": 0.75, "q95": 0.95}


@dataclass(frozen=True)
class Description:
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
    cells = ratings.n_users * ratings.n_items
    first, last, unknown = _days(ratings)
    names = () if ratings.attributes is None else tuple(ratings.attributes.column_names)
    return Description(
        users=ratings.n_users,
        items=ratings.n_items,
        ratings=ratings.n_ratings,
        scale=ratings.scale,
        sparsity=1 - ratings.n_ratings / cells if cells else 1.0,
        first_day=first,
        last_day=last,
        days_unknown=unknown,
        ratings_per_user=_spread(ratings.user_support),
        ratings_per_item=_spread(ratings.item_support),
        long_tail=_long_tail(ratings),
        histogram=_histogram(ratings),
        attributes=names,
        report=ratings.report,
    )


def _spread(counts: NDArray[np.int64]) -> dict[str, float]:
    if not len(counts):
        return {}
    # the least and the greatest would each be about one user
    return {"mean": float(counts.mean())} | {
        name: float(np.quantile(counts, q)) for name, q in _QUANTILES.items()
    }


def _days(ratings: Ratings) -> tuple[str | None, str | None, float | None]:
    if ratings.days is None or not ratings.n_ratings:
        return None, None, None
    known = ratings.days != UNKNOWN_DAY
    unknown = 1 - float(known.mean())
    if not known.any():
        return None, None, unknown
    start = date(1970, 1, 1) + timedelta(days=ratings.first_day)
    low = int(ratings.days.min())
    high = int(np.max(ratings.days, where=known, initial=0))
    return (
        (start + timedelta(days=low)).isoformat(),
        (start + timedelta(days=high)).isoformat(),
        unknown,
    )


def _long_tail(ratings: Ratings) -> dict[str, float]:
    support = np.sort(ratings.item_support)[::-1]
    total = max(ratings.n_ratings, 1)
    shares = {"top_1_percent": 0.01, "top_10_percent": 0.1}
    return {
        name: int(support[: int(np.ceil(share * len(support)))].sum()) / total
        for name, share in shares.items()
    }


def _histogram(ratings: Ratings) -> tuple[tuple[float, float, int], ...]:
    counts = np.bincount(ratings.codes, minlength=len(ratings.levels))
    if ratings.scale.step is not None:
        levels = ratings.levels.tolist()
        return tuple(zip(levels, levels, counts.tolist(), strict=True))
    edges = np.linspace(ratings.scale.minimum, ratings.scale.maximum, _BINS + 1)
    bins, _ = np.histogram(ratings.levels, bins=edges, weights=counts)
    whole = np.round(bins).astype(np.int64).tolist()
    return tuple(zip(edges[:-1].tolist(), edges[1:].tolist(), whole, strict=True))
