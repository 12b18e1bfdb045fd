"""What the ratings look like, without anything about a single user: bins of k people or more."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.ratings.levels import users_per_level
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings

__all__ = ["data_section", "pooled", "scale_text"]

Counts = NDArray[np.int64]

_BARS = 20  # levels of a histogram; more are put into ten bins
_BINS = 10
#: lower ends of the bins of ratings per user
_ENDS = np.unique(np.round(np.outer(10.0 ** np.arange(8), (1, 2, 5)).ravel()).astype(np.int64))
#: where the curve of the long tail is read off, as shares of the items
_ALONG = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def data_section(ratings: Ratings, scale: Scale, k: int) -> dict[str, Any]:
    """Describe the ratings for anybody.

    Parameters
    ----------
    ratings : Ratings
    scale : Scale
        The one that is published.
    k : int
        The fewest people that a bin may rest on.

    Returns
    -------
    dict
        See `starshade.audit.dossier.Dossier`.
    """
    cells = ratings.n_users * ratings.n_items
    names = () if ratings.attributes is None else tuple(ratings.attributes.column_names)
    return {
        "users": ratings.n_users,
        "items": ratings.n_items,
        "ratings": ratings.n_ratings,
        "scale": {
            "minimum": scale.minimum,
            "maximum": scale.maximum,
            "step": scale.step,
            "text": scale_text(scale),
        },
        "attributes": list(names),
        "sparsity": {
            "value": 1 - ratings.n_ratings / cells if cells else 1.0,
            "meaning": "The share of all user-item pairs without a rating. The nearer to 100 %, "
            "the rarer it is that two people rated the same things, and the easier a person is "
            "told apart by a few ratings.",
        },
        "histogram": {
            "bins": _histogram(ratings, scale, k),
            "meaning": "How often each rating was given. Rare ratings tell more about the person "
            "who gave them than common ones.",
        },
        "long_tail": _long_tail(ratings, k),
        "ratings_per_user": _per_user(ratings, k),
    }


def scale_text(scale: Scale) -> str:
    """Say a scale in words."""
    if scale.step is None:
        return f"{scale.minimum:g} to {scale.maximum:g}, any value between"
    return f"{scale.minimum:g} to {scale.maximum:g} in steps of {scale.step:g}"


def pooled(people: Counts, k: int) -> list[tuple[int, int]]:
    """Join neighbouring bins until each holds no people, or `k` or more.

    Parameters
    ----------
    people : ndarray of int64, shape (n_bins,)
    k : int

    Returns
    -------
    list of (int, int)
        Ranges of bins, end excluded, covering all of them in order; a last one of too few is
        joined with the one before. Empty where all together are too few.

    Examples
    --------
    >>> pooled(np.array([3, 9, 0, 1, 7, 2]), 5)
    [(0, 2), (2, 3), (3, 6)]
    """
    if people.sum() < k:
        return []
    found: list[tuple[int, int]] = []
    start, held = 0, 0
    for bin_, count in enumerate(people.tolist()):
        held += count
        if held >= k or (held == 0 and count == 0):
            found.append((start, bin_ + 1))
            start, held = bin_ + 1, 0
    if held:  # too few are left: back to the last bin with people
        while found and not people[found[-1][0] : found[-1][1]].sum():
            found.pop()
        found[-1] = (found[-1][0], len(people))
    return found


def _histogram(ratings: Ratings, scale: Scale, k: int) -> list[dict[str, Any]]:
    """Count ratings per level, or per tenth of the scale; neighbours joined where few rated so."""
    counts = np.bincount(ratings.codes, minlength=len(ratings.levels)).astype(np.int64)
    levels, people = ratings.levels, users_per_level(ratings)
    if scale.step is None or len(levels) > _BARS:
        edges = np.linspace(scale.minimum, scale.maximum, _BINS + 1)
        at = np.clip(np.searchsorted(edges, levels, side="right") - 1, 0, _BINS - 1)
        lows, highs = edges[:-1], edges[1:]
        counts = np.bincount(at, weights=counts, minlength=_BINS).astype(np.int64)
        # who gave several ratings of a bin counts once: the most that any of them has, at least
        people = np.array([people[at == bin_].max(initial=0) for bin_ in range(_BINS)])
    else:
        lows = highs = levels
    total = max(int(counts.sum()), 1)
    return [
        {
            "label": _between(float(lows[a]), float(highs[b - 1])),
            "low": float(lows[a]),
            "high": float(highs[b - 1]),
            "ratings": int(counts[a:b].sum()),
            "share": int(counts[a:b].sum()) / total,
        }
        for a, b in pooled(people, k)
    ]


def _between(low: float, high: float) -> str:
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def _long_tail(ratings: Ratings, k: int) -> dict[str, Any]:
    """Read the share of all ratings that the most rated items hold off at some shares of items."""
    support = np.sort(ratings.item_support)[::-1]
    total = max(ratings.n_ratings, 1)

    def held(share: float) -> float | None:
        counted = support[: int(np.ceil(share * len(support) - 1e-9))]
        return int(counted.sum()) / total if len(counted) and counted[0] >= k else None

    points = [{"items": share, "ratings": held(share)} for share in _ALONG]
    return {
        "points": [point for point in points if point["ratings"] is not None],
        "top_1_percent": held(0.01),
        "top_10_percent": held(0.1),
        "meaning": "The share of all ratings that the most rated items hold. The higher, the "
        "longer the tail of seldom rated items; who rated one of those stands out.",
    }


def _per_user(ratings: Ratings, k: int) -> dict[str, Any]:
    """Count people by how many ratings they gave; the tails joined, so that no bin is of few."""
    given = ratings.user_support
    at = np.searchsorted(_ENDS, given, side="right") - 1
    people = np.bincount(np.maximum(at, 0), minlength=len(_ENDS)).astype(np.int64)
    last = int(np.flatnonzero(people).max(initial=0)) + 1
    ranges = [(a, b) for a, b in pooled(people[:last], k)]
    while ranges and not people[slice(*ranges[0])].sum():
        ranges.pop(0)
    bins = []
    for place, (a, b) in enumerate(ranges):
        low = None if place == 0 else int(_ENDS[a])
        high = None if place == len(ranges) - 1 else int(_ENDS[b]) - 1
        users = int(people[a:b].sum())
        bins.append(
            {
                "label": _many(low, high),
                "low": low,
                "high": high,
                "users": users,
                "share": users / max(ratings.n_users, 1),
            }
        )
    enough = ratings.n_users >= k
    return {
        "mean": float(given.mean()) if enough and len(given) else None,
        "bins": bins,
        "meaning": "How many ratings people gave. Of those with many ratings an adversary can "
        "know many; those with few have little to be found by, and little to hide among.",
    }


def _many(low: int | None, high: int | None) -> str:
    if low is None:
        return "any number" if high is None else f"up to {high:,}"
    if high is None:
        return f"{low:,} or more"
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
