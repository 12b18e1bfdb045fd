"""What the ratings look like, without anything about a single user: bins of k people or more."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.audit.few import is_few
from starshade.ratings.levels import users_per_level
from starshade.ratings.scale import SLACK, Scale
from starshade.ratings.table import Ratings

__all__ = ["Bins", "bins_of", "data_section", "pooled", "shares_of", "total_told"]

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]

_BARS = 20  # levels that a histogram shows one by one; more are put into ten bins
_BINS = 10
_FEW_ITEMS = 50  # up to here people are counted in steps as wide as one another, beyond 1, 2, 5, 10
#: where the curve of the long tail is read off, as shares of the items
_ALONG = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def data_section(ratings: Ratings, scale: Scale, k: int, of: str = "") -> dict[str, Any]:
    """Describe the ratings for anybody.

    Parameters
    ----------
    ratings : Ratings
    scale : Scale
        The one that is published.
    k : int
        The fewest people that a bin may rest on.
    of : str
        A sentence: which ratings these are.

    Returns
    -------
    dict
        See `starshade.audit.dossier.dossier.Dossier`.
    """
    cells = ratings.n_users * ratings.n_items
    names = () if ratings.attributes is None else tuple(ratings.attributes.column_names)
    enough = total_told(ratings, k)
    bins = shares_of(*bins_of(ratings, scale, k)) if enough else []
    return {
        "of": of,
        "released": None,
        "users": ratings.n_users,
        "items": ratings.n_items,
        "ratings": ratings.n_ratings if enough else None,
        "scale": {
            "minimum": scale.minimum,
            "maximum": scale.maximum,
            "step": scale.step,
            "text": _scale_text(scale),
        },
        "attributes": list(names),
        "sparsity": {
            "value": 1 - ratings.n_ratings / max(cells, 1) if enough else None,
            "meaning": "The share of all user-item pairs without a rating. The nearer to 100%, "
            "the rarer it is that two people rated the same things, and the easier a person is "
            "told apart by a few ratings.",
        },
        "histogram": {
            "bins": bins,
            "meaning": "How often each rating was given. Rare ratings tell more about the person "
            "who gave them than common ones.",
        },
        "long_tail": _long_tail(ratings, k),
        "ratings_per_user": _per_user(ratings, k),
    }


def total_told(ratings: Ratings, k: int) -> bool:
    """Tell whether a number of ratings speaks of `k` people or more, by what is missing, too."""
    lacking = int((ratings.user_support < ratings.n_items).sum())
    return ratings.n_users >= k and not is_few(lacking, k)


def _scale_text(scale: Scale) -> str:
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
        joined with the one before. Bins without people stand alone between such of `k` or more;
        beside fewer they would tell where these are. Empty where all together are too few.

    Examples
    --------
    >>> pooled(np.array([3, 9, 0, 1, 7, 2]), 5), pooled(np.array([0, 9, 0, 7, 0]), 5)
    ([(0, 2), (2, 6)], [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)])
    """
    if people.sum() < k:
        return []
    filled = np.flatnonzero(people)
    few = np.concatenate([[False], people[filled] < k, [False]])
    after = np.searchsorted(filled, np.arange(len(people)), side="right")
    beside_few = few[after] | few[np.minimum(after + 1, len(filled) + 1)]
    found: list[tuple[int, int]] = []
    start, held = 0, 0
    for bin_, count in enumerate(people.tolist()):
        held += count
        if held >= k or (held == 0 and count == 0 and not beside_few[bin_]):
            found.append((start, bin_ + 1))
            start, held = bin_ + 1, 0
    if start < len(people):  # too few are left: back to the last bin with people
        while found and not people[found[-1][0] : found[-1][1]].sum():
            found.pop()
        found[-1] = (found[-1][0], len(people))
    return found


@dataclass(frozen=True)
class Bins:
    """Bins of a scale, neighbours joined where fewer than k people gave what is in them.

    Attributes
    ----------
    ends : list of (float, float)
        Lowest and highest rating of each bin.
    of_level : ndarray of int64, shape (n_levels,)
        The bin of each level of the scale, or of each tenth of a scale without steps.
    """

    ends: list[tuple[float, float]]
    of_level: Counts

    @property
    def labels(self) -> list[str]:
        """What each bin holds, in words."""
        return [f"{a:g}" if a == b else f"{a:g} to {b:g}" for a, b in self.ends]

    def place(self, values: Floats, scale: Scale) -> Counts:
        """Return the bin of each rating; one between two of the scale is the nearest."""
        edges = None
        if scale.step is None:
            edges = np.linspace(scale.minimum, scale.maximum, _BINS + 1)
        return self.of_level[_places(values, scale, edges)]


def bins_of(ratings: Ratings, scale: Scale, k: int) -> tuple[Bins, Counts]:
    """Choose the bins of a histogram, and count ratings in them.

    Parameters
    ----------
    ratings : Ratings
    scale : Scale
        The one that is published: its levels are told, not those of the ratings.
    k : int
        The fewest people that a bin may rest on.

    Returns
    -------
    bins : Bins
        Empty where fewer than `k` people gave anything.
    counts : ndarray of int64, shape (n_bins,)
        Ratings.
    """
    coarse = scale.step is None or len(scale.levels) > _BARS
    edges = np.linspace(scale.minimum, scale.maximum, _BINS + 1) if coarse else None
    places = _places(ratings.levels, scale, edges)
    lows, highs = (scale.levels, scale.levels) if edges is None else (edges[:-1], edges[1:])
    own = None if scale.step is None else _places(scale.levels, scale, edges)
    if own is not None:  # each bin from its first level to its last
        first = np.searchsorted(own, np.arange(len(lows)))
        lows, highs = scale.levels[first], scale.levels[np.r_[first[1:], len(own)] - 1]
    counts = np.bincount(ratings.codes, minlength=len(places)).astype(np.int64)
    joined = _joined(ratings, places, len(lows), k)
    if joined is None:
        return Bins([], np.empty(0, dtype=np.int64)), np.empty(0, dtype=np.int64)
    found = np.bincount(joined[places], weights=counts, minlength=joined[-1] + 1)
    held = [np.flatnonzero(joined == bin_) for bin_ in range(joined[-1] + 1)]
    ends = [(float(lows[those[0]]), float(highs[those[-1]])) for those in held]
    return Bins(ends, joined if own is None else joined[own]), found.astype(np.int64)


def _joined(ratings: Ratings, places: Counts, n_bins: int, k: int) -> Counts | None:
    """Return what each bin is joined to, so that all hold nobody or `k` people; None: too few.

    Who is in two bins is one person in both together: so people are counted anew after joining.
    """
    joined = np.arange(n_bins)
    while True:
        codes = joined[places].astype(np.uint8)[ratings.codes]
        levels = np.arange(joined[-1] + 1, dtype=np.float64)
        ranges = pooled(users_per_level(replace(ratings, levels=levels, codes=codes)), k)
        if not ranges:
            return None
        if len(ranges) == len(levels):
            return joined
        joined = np.repeat(np.arange(len(ranges)), [b - a for a, b in ranges])[joined]


def _places(levels: Floats, scale: Scale, edges: Floats | None) -> Counts:
    """Return the bin of each level: between edges, or the nearest level of the scale."""
    if edges is None:
        away = (levels - scale.minimum) / (scale.step or 1.0)
        steps = np.floor(away + 0.5 + SLACK).astype(np.int64)
        return np.clip(steps, 0, len(scale.levels) - 1)
    inside = np.searchsorted(edges, levels + SLACK, side="right") - 1
    return np.clip(inside, 0, len(edges) - 2)


def shares_of(bins: Bins, counts: Counts) -> list[dict[str, Any]]:
    """Return the ratings of each bin as a dossier tells them."""
    total = max(int(counts.sum()), 1)
    return [
        {"label": label, "low": low, "high": high, "ratings": count, "share": count / total}
        for label, (low, high), count in zip(bins.labels, bins.ends, counts.tolist(), strict=True)
    ]


def _long_tail(ratings: Ratings, k: int) -> dict[str, Any]:
    """Read the share of all ratings that the most rated items hold off at some shares of items.

    Between two points, and after the last but the end, lie the ratings of nobody or of `k` people,
    and rated by all or left out by `k` people.
    """
    if not total_told(ratings, k):
        return _tail({})
    support = ratings.item_support
    order = np.argsort(-support, kind="stable")
    cuts = np.ceil(np.array(_ALONG) * len(support) - 1e-9).astype(np.int64)
    held = np.concatenate([[0], np.cumsum(support[order])])[cuts] / max(ratings.n_ratings, 1)
    enough = _enough(ratings, cuts, k)
    shown = {share: float(held[at]) for at, share in enumerate(_ALONG) if at in enough}
    return _tail(shown)


def _tail(shown: dict[float, float]) -> dict[str, Any]:
    return {
        "points": [{"items": share, "ratings": rated} for share, rated in shown.items()],
        "top_1_percent": shown.get(0.01),
        "top_10_percent": shown.get(0.1),
        "meaning": "The share of all ratings that the most rated items hold. The higher, the "
        "longer the tail of seldom rated items; who rated one of those stands out.",
    }


def _enough(ratings: Ratings, cuts: Counts, k: int) -> set[int]:
    """Choose the cuts through the items, most rated first, with enough people on both sides."""
    rank = np.empty(ratings.n_items, dtype=np.int64)
    rank[np.argsort(-ratings.item_support, kind="stable")] = np.arange(ratings.n_items)
    step = np.searchsorted(cuts, rank[ratings.columns], side="right")  # between which cuts
    user = np.repeat(np.arange(ratings.n_users), ratings.user_support)
    sizes = np.bincount(np.searchsorted(cuts, np.arange(ratings.n_items), side="right"))
    sizes = np.append(sizes, np.zeros(len(cuts) + 1 - len(sizes), dtype=np.int64))
    shape = (len(cuts) + 1, ratings.n_users)
    given = np.bincount(step * ratings.n_users + user, minlength=shape[0] * shape[1]).reshape(shape)
    found, since = set(), 0
    for at in range(len(cuts)):
        here, after = slice(since, at + 1), slice(at + 1, None)
        told = sizes[here].sum() == 0 and since == at > 0  # the same as the cut before
        if (told or _told(given[here], sizes[here], k)) and _told(given[after], sizes[after], k):
            found.add(at)
            since = at + 1
    return found


def _told(given: Counts, sizes: Counts, k: int) -> bool:
    """Tell whether nobody or `k` people gave these, and nobody or `k` people lack some of them."""
    given, size = given.sum(axis=0), int(sizes.sum())
    if not size:
        return True
    return not is_few((given > 0).sum(), k) and not is_few((given < size).sum(), k)


def _per_user(ratings: Ratings, k: int) -> dict[str, Any]:
    """Count people by how many ratings they gave; bins of too few are joined with the next."""
    starts = _starts(ratings.n_items)
    at = np.searchsorted(starts, ratings.user_support, side="right") - 1
    people = np.bincount(at, minlength=len(starts)).astype(np.int64)
    first = int(not people[0])  # nobody gave none
    ranges = pooled(people[first:], k)
    held = [at for at, (a, b) in enumerate(ranges) if people[first + a : first + b].any()]
    bins = []
    # nobody gave less or more: told where k people stand at that end, and else ends are open
    for a, b in ranges[held[0] : held[-1] + 1] if held else ():
        low, users = int(starts[first + a]), int(people[first + a : first + b].sum())
        more = first + b == len(starts)
        high = ratings.n_items if more else min(int(starts[first + b]) - 1, ratings.n_items)
        bins.append(
            {
                "label": f"{low:,}" if low >= high else f"{low:,} to {high:,}",
                "low": low,
                "high": high,
                "users": users,
                "share": users / ratings.n_users,
            }
        )
    return {
        "mean": ratings.n_ratings / ratings.n_users if total_told(ratings, k) else None,
        "bins": bins,
        "meaning": "How many ratings people gave. Of those with many ratings an adversary can "
        "know many; those with few have little to be found by, and little to hide among.",
    }


def _starts(n_items: int) -> Counts:
    """Return the least number of ratings of each bin: in even steps, or 1, 2, 5, 10, 20, 50."""
    if n_items <= _FEW_ITEMS:
        ends = np.arange(1, n_items + 1, max(1, -(-n_items // _BINS)))
    else:
        ends = np.outer(10 ** np.arange(len(str(n_items))), (1, 2, 5)).ravel()
    return np.concatenate([[0], ends[ends <= n_items]]).astype(np.int64)
