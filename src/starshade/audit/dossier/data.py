"""The original data in an internal report, and the people who are identifiable in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.attack.risk_result import RiskResult
from starshade.plain import counted
from starshade.ratings.describe import describe
from starshade.ratings.scale import SLACK, Scale
from starshade.ratings.shape import LONG_TAIL, SPARSITY, scale_text
from starshade.ratings.table import Ratings
from starshade.release.cells import Cells
from starshade.release.match.match import Match
from starshade.release.table import Release

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]

_BARS = 20  # levels that a histogram shows one by one; more are put into ten bins
_BINS = 10
_FEW_ITEMS = 50  # up to here people are counted in steps as wide as one another, beyond 1, 2, 5, 10
#: where the curve of the long tail is read off, as shares of the items
_ALONG = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def data_section(ratings: Ratings, released: Ratings, scale: Scale) -> dict[str, Any]:
    """Describe all ratings, the size of what was released of them, and the published scale."""
    description, differ = describe(ratings), shape_of(released) != shape_of(ratings)
    names = () if ratings.attributes is None else tuple(ratings.attributes.column_names)
    shape = shape_of(ratings)
    return {
        "of": "All your data, including people and items that were not released." * differ,
        "released": shape_of(released) if differ else None,
        **{name: shape[name] for name in ("users", "items", "ratings")},
        "scale": {
            "minimum": scale.minimum,
            "maximum": scale.maximum,
            "step": scale.step,
            "text": scale_text(scale.minimum, scale.maximum, scale.step),
        },
        "attributes": list(names),
        "sparsity": {
            "value": shape["sparsity"],
            "meaning": SPARSITY.meaning,
        },
        "histogram": {
            "bins": _shares(ratings, Bins.of(scale)),
            "meaning": "Rare ratings disclose more about a person than common ones.",
        },
        "long_tail": _long_tail(ratings),
        "ratings_per_user": _per_user(ratings),
        "first_day": description.first_day,
        "last_day": description.last_day,
        "notes": list(ratings.report.notes),
    }


def shape_of(ratings: Ratings) -> dict[str, Any]:
    """Return the size of a table."""
    cells = ratings.n_users * ratings.n_items
    return {
        "users": ratings.n_users,
        "items": ratings.n_items,
        "ratings": ratings.n_ratings,
        "sparsity": 1 - ratings.n_ratings / max(cells, 1),
        "text": f"{counted(ratings.n_ratings, 'rating')} by "
        f"{counted(ratings.n_users, 'person', 'people')} on {counted(ratings.n_items, 'item')}",
    }


@dataclass(frozen=True)
class Bins:
    """Bins of a scale: its levels, or ten where there are none or more than can be shown.

    `ends`: lowest and highest rating of each; `edges`: between them lie the bins, where they are
    not the levels.
    """

    scale: Scale
    ends: tuple[tuple[float, float], ...]
    edges: Floats | None

    @classmethod
    def of(cls, scale: Scale) -> Bins:
        """Choose the bins of a scale."""
        if scale.step is not None and len(scale.levels) <= _BARS:
            return cls(scale, tuple((level, level) for level in scale.levels.tolist()), None)
        edges = np.linspace(scale.minimum, scale.maximum, _BINS + 1)
        lows, highs = edges[:-1], edges[1:]
        if scale.step is not None:  # each bin from its first level to its last
            own = _places(scale.levels, scale, edges)
            first = np.searchsorted(own, np.arange(_BINS))
            lows, highs = scale.levels[first], scale.levels[np.r_[first[1:], len(own)] - 1]
        return cls(scale, tuple(zip(lows.tolist(), highs.tolist(), strict=True)), edges)

    @property
    def labels(self) -> list[str]:
        """A label for each bin."""
        return [f"{a:g}" if a == b else f"{a:g} to {b:g}" for a, b in self.ends]

    def place(self, values: Floats) -> Counts:
        """Return the bin of each rating; one between two of the scale is the nearest."""
        return _places(values, self.scale, self.edges)


def _places(levels: Floats, scale: Scale, edges: Floats | None) -> Counts:
    """Return the bin of each level: between edges, or the nearest level of the scale."""
    if edges is None:
        away = (levels - scale.minimum) / (scale.step or 1.0)
        steps = np.floor(away + 0.5 + SLACK).astype(np.int64)
        return np.clip(steps, 0, len(scale.levels) - 1)
    inside = np.searchsorted(edges, levels + SLACK, side="right") - 1
    return np.clip(inside, 0, len(edges) - 2)


def _shares(ratings: Ratings, bins: Bins) -> list[dict[str, Any]]:
    if not ratings.n_ratings:
        return []
    counts = np.bincount(ratings.codes, minlength=len(ratings.levels))
    places = bins.place(ratings.levels)
    held = np.bincount(places, weights=counts, minlength=len(bins.ends)).astype(np.int64)
    return [
        {"label": label, "low": low, "high": high, "ratings": n, "share": n / ratings.n_ratings}
        for label, (low, high), n in zip(bins.labels, bins.ends, held.tolist(), strict=True)
    ]


def _long_tail(ratings: Ratings) -> dict[str, Any]:
    """Return the share of ratings on the most rated items, at some shares of items."""
    support = np.sort(ratings.item_support)[::-1]
    cuts = np.ceil(np.array(_ALONG) * len(support) - 1e-9).astype(np.int64)
    held = np.concatenate([[0], np.cumsum(support)])[cuts] / max(ratings.n_ratings, 1)
    shown = dict(zip(_ALONG, held.tolist(), strict=True))
    return {
        "points": [{"items": share, "ratings": rated} for share, rated in shown.items()],
        "top_1_percent": shown[0.01],
        "top_10_percent": shown[0.1],
        "meaning": LONG_TAIL.meaning,
    }


def _per_user(ratings: Ratings) -> dict[str, Any]:
    starts = _starts(ratings.n_items)
    at = np.searchsorted(starts, ratings.user_support, side="right") - 1
    people = np.bincount(at, minlength=len(starts)).tolist()
    held = [bin_ for bin_, users in enumerate(people) if users]
    bins = []
    for bin_ in range(held[0], held[-1] + 1) if held else ():
        low, users = int(starts[bin_]), people[bin_]
        after = ratings.n_items + 1 if bin_ + 1 == len(starts) else int(starts[bin_ + 1])
        high = min(after - 1, ratings.n_items)
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
        "mean": ratings.n_ratings / max(ratings.n_users, 1),
        "bins": bins,
        "meaning": "An adversary can know many ratings of active people. People with few ratings "
        "offer little to match, but also have few similar records.",
    }


def _starts(n_items: int) -> Counts:
    """Return the least number of ratings of each bin: in even steps, or 1, 2, 5, 10, 20, 50."""
    if n_items <= _FEW_ITEMS:
        ends = np.arange(1, n_items + 1, max(1, -(-n_items // _BINS)))
    else:
        ends = np.outer(10 ** np.arange(len(str(n_items))), (1, 2, 5)).ravel()
    return np.concatenate([[0], ends[ends <= n_items]]).astype(np.int64)


def stand_out(risk: RiskResult | None, most: int) -> dict[str, Any]:
    """Return how few known ratings identify how many people; `most`: ratings of any person."""
    steps = [
        {"known": step["known"], "identified": step["at_most"]}
        for step in ([] if risk is None else risk.to_dict()["steps"])
        if step["known"] <= max(most, 1)
    ]
    return {
        "steps": steps,
        "users": 0 if risk is None else risk.targets,
        "knowledge": "that many exact ratings of a person, without dates",
        "meaning": "Share of people that so many known ratings identify: in 9 of 10 draws "
        "no other record agrees with them. High means risk: removing names does not protect these "
        "people.",
        "comparison": "The attacks count best guesses; here a person must be identified with "
        "certainty, in almost every draw of known ratings. So the figures differ.",
    }


def at_risk(risk: RiskResult | None, ratings: Ratings, release: Release) -> dict[str, Any] | None:
    """List the users that few ratings identify, and what the release discloses of them."""
    if risk is None:
        return None
    order = np.lexsort((risk.users, -risk.identified, risk.least))
    order = order[risk.least[order] > 0]
    users = risk.users[order]
    sizes, disclosed, existing = _class_counts(release, ratings, users)
    rows = [
        {
            "user": ratings.users[user],
            "known": int(risk.least[place]),
            "share": float(risk.identified[place]),
            "class_size": sizes[row],
            "disclosed": disclosed[row],
            "exists": existing[row],
        }
        for row, (user, place) in enumerate(zip(users.tolist(), order.tolist(), strict=False))
    ]
    return {
        "rows": rows,
        "listed": len(rows),
        "total": len(order),
        "text": _text(risk, ratings),
    }


def _text(risk: RiskResult, ratings: Ratings) -> str:
    text = (
        "Users that the fewest known ratings identify in the original data, and what the release "
        "discloses about them: class size, ratings that the class discloses, and items that it "
        "shows they rated. Blank: not in the release, or not known. If this is too much, hold "
        "back the first users, or use a larger k. The attack Scoreboard-RH may identify other "
        "users."
    )
    if risk.targets + risk.ineligible < ratings.n_users:
        text += f" Tested on {risk.targets:,} of {ratings.n_users:,} people, drawn at random."
    return text


_Counts = list[int | None]


def _class_counts(
    release: Release, ratings: Ratings, users: NDArray[np.int64]
) -> tuple[_Counts, _Counts, _Counts]:
    """Return class sizes, ratings disclosed and ratings known to exist; None: not known."""
    nothing: _Counts = [None] * len(users)
    rows = Match(release, ratings).row_of_user
    if rows is None:
        return nothing, nothing, nothing
    rows = rows[users]
    sizes = np.asarray(release.classes.sizes)
    if release.groups is not None:  # a record of its own: its class is of equal records
        sizes = np.bincount(release.groups)[release.groups]
    class_sizes = [int(sizes[row]) if row >= 0 else None for row in rows.tolist()]
    if not isinstance(release.classes, Cells):
        return class_sizes, nothing, nothing
    cells = release.classes
    disclosed, existing = list(nothing), list(nothing)
    for place, row in enumerate(rows.tolist()):
        if row >= 0:
            codes = cells.codes[cells.indptr[row] : cells.indptr[row + 1]]
            null, single = cells.symbols.null[codes], cells.symbols.is_single[codes]
            disclosed[place], existing[place] = int((single & ~null).sum()), int((~null).sum())
    return class_sizes, disclosed, existing
