"""What synthetic data are like: a small set of numbers for each real data set.

The numbers are fitted to aggregate statistics: counts by rank, shares, spreads, and how often
an attack succeeds. No row of any data set is stored here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Preset:
    """The shape of a data set of ratings from 1 to 5.

    `n_users`, `n_items`, `n_ratings`: sizes of the real data. `least`: ratings that every user has
    at least, where the request leaves room for it. `activity`, `giants`: ratings above `least` of
    the user with the share p of users below: E^(1/activity) exp(giants E), E = -ln(1 - p), times
    what the total asks for. A Weibull tail (below 1: long), drawn out or cut in by `giants`.
    `decay`, `slope`, `offset`: popularity within a genre of the item at rank share x: exp(-decay x)
    (x + offset)^-slope. `charts`, `charts_by_activity`, `charts_spread`: log odds that a user of
    average activity picks from the charts, an overall list of the most popular items; how much they
    fall with the logarithm of activity (casual users pick from the charts); how much they vary
    between users. `charts_slope`, `charts_offset`: popularity within the charts: (x +
    charts_offset)^-charts_slope. `taste`: spread of a user's log preferences between genres.
    `casual`: how much log activity moves a user from the first genres to the last. `demographic`:
    share of the variance of taste that age, gender, occupation and region explain. `histogram`:
    weights of the ratings 1 to 5. `quality`, `fame`: share of an opinion's variance that the item
    makes; correlation of an item's quality with the logarithm of its popularity. `leniency`,
    `liking`: shares of the variance that the user and the user's taste make; the rest is noise.
    `first_day`, `n_days`: day number (since 1970-01-01) of the first day; length of the span.
    `campaigns`: bursts of arrivals: where and how long as shares of the span, and the share of all
    users. `growth`: arrivals outside campaigns grow like exp(growth x) over the span. `bouts`,
    `bouts_by_activity`, `bouts_spread`: bouts beyond the first: log-normal, rounded down, of this
    median for a user of average activity, this exponent of activity, and this spread. `gap`,
    `gap_spread`: days from one bout to the next: log-normal, rounded up, of this median and spread.
    `opening`, `size_spread`: the first bout's size as a multiple of another's; log spread of the
    sizes.
    """

    n_users: int
    n_items: int
    n_ratings: int
    least: int
    activity: float
    giants: float
    decay: float
    slope: float
    offset: float
    charts: float
    charts_by_activity: float
    charts_spread: float
    charts_slope: float
    charts_offset: float
    genres: int
    taste: float
    casual: float
    demographic: float
    histogram: tuple[float, float, float, float, float]
    quality: float
    fame: float
    leniency: float
    liking: float
    first_day: int
    n_days: int
    campaigns: tuple[tuple[float, float, float], ...]
    growth: float
    bouts: float
    bouts_by_activity: float
    bouts_spread: float
    gap: float
    gap_spread: float
    opening: float
    size_spread: float


# movielens-100k: fitted to counts by rank, spreads of users' and items' means, days per user, and
# Scoreboard-RH's success in the settings of benchmarks/synth_realism.py; netflix: to published
# aggregates of the Prize's data: sizes, mean, median and largest counts of users and items, rating
# histogram, span and growth
_FITTED: dict[str, tuple[Any, Any]] = {
    "n_users": (943, 480_189),
    "n_items": (1682, 17_770),
    "n_ratings": (100_000, 100_480_507),
    "least": (20, 1),
    "activity": (0.634, 0.795),
    "giants": (-0.15, 0.111),
    "decay": (6.8, 1.4),
    "slope": (0.08, 2.1),
    "offset": (0.009, 0.02),
    "charts": (-2.3, -2.45),
    "charts_by_activity": (1.4, 0.5),
    "charts_spread": (1.6, 1.0),
    "charts_slope": (1.8, 2.0),
    "charts_offset": (0.009, 0.002),
    "genres": (16, 24),
    "taste": (2.3, 1.5),
    "casual": (1.6, 0.5),
    "demographic": (0.2, 0.2),
    "histogram": ((6.1, 11.4, 27.1, 34.2, 21.2), (4.6, 10.1, 28.7, 33.6, 23.1)),
    "quality": (0.34, 0.17),
    "fame": (0.75, 0.5),
    "leniency": (0.115, 0.15),
    "liking": (0.06, 0.06),
    "first_day": (10_124, 10_906),
    "n_days": (215, 2243),
    "campaigns": (((0.02, 0.04, 0.08), (0.27, 0.06, 0.18), (0.90, 0.03, 0.13)), ()),
    "growth": (0.0, 2.5),
    "bouts": (0.85, 150.0),
    "bouts_by_activity": (1.1, 0.8),
    "bouts_spread": (2.0, 0.9),
    "gap": (6.0, 4.0),
    "gap_spread": (1.4, 1.4),
    "opening": (1.5, 15.0),
    "size_spread": (1.5, 1.0),
}
PRESETS = {
    name: Preset(**{field: values[place] for field, values in _FITTED.items()})
    for place, name in enumerate(("movielens-100k", "netflix"))
}

LIKES = (*PRESETS, "survey")  # whatever can be asked for
