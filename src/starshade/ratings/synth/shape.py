"""The frame of synthetic ratings: how active users are, how items stand, when users come."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.ratings.synth.preset import Preset
from starshade.rng import generator

__all__ = ["Catalogue", "draw_activity", "draw_calendar", "draw_catalogue", "draw_shares"]

# Steps of the R2 sequence (Roberts 2018), points that fill the unit square evenly, and of its
# one-dimensional kin: with every seed the few most popular items are spread over genres and
# qualities alike, and the few most active users over those with and without a bent for charts.
_R2 = (0.7548776662466927, 0.5698402909980532)
_GOLDEN = 0.6180339887498949

Floats = NDArray[np.float64]


def draw_activity(
    preset: Preset, n_users: int, n_items: int, n_ratings: int, seed: int
) -> NDArray[np.int64]:
    """Draw the number of ratings of each user; they add up to `n_ratings` exactly.

    Every seed gives the same counts (but for rounding) to other users.
    """
    rank = generator(seed, "synthetic activity").permutation(n_users)
    e = -np.log1p(-(rank + 0.5) / n_users)
    shape = e ** (1 / preset.activity) * np.exp(preset.giants * e)
    least = preset.least
    if least * n_users > n_ratings or least > n_items:
        least = 1
    low, high = 0.0, n_items / float(shape.min())
    for _ in range(100):  # the scale at which the counts add up, to the last bit
        middle = (low + high) / 2
        if np.minimum(least + middle * shape, n_items).sum() < n_ratings:
            low = middle
        else:
            high = middle
    wanted = np.minimum(least + low * shape, n_items)
    counts = np.floor(wanted).astype(np.int64)
    while (missing := n_ratings - int(counts.sum())) > 0:
        room = np.flatnonzero(counts < n_items)
        most = np.argsort(counts[room] - wanted[room], kind="stable")
        counts[room[most[:missing]]] += 1
    return counts


@dataclass(frozen=True, eq=False)
class Catalogue:
    """Items, and the shelves that users pick them from: one per genre, then the charts.

    `genre` (n_items,). `quality` (float64 (n_items,)): of mean 0 and variance about 1. `start`
    (genres + 2,): shelf g holds the places ``start[g]:start[g + 1]``. `items` (2 * n_items,): the
    item at each place. `weights` (float64 (2 * n_items,)): popularity of each place.
    """

    genre: NDArray[np.int64]
    quality: Floats
    start: NDArray[np.int64]
    items: NDArray[np.int32]
    weights: Floats


def draw_catalogue(preset: Preset, n_items: int, seed: int) -> Catalogue:
    """Draw popularity, genre and quality of the items; the order of ids says nothing."""
    rng = generator(seed, "synthetic items")
    rank = rng.permutation(n_items)
    x = (rank + 0.5) / n_items
    log_weight = -preset.decay * x - preset.slope * np.log(x + preset.offset)
    fame = (log_weight - log_weight.mean()) / max(float(log_weight.std()), 1e-9)
    u, v = ((rng.random() + rank * step) % 1.0 for step in _R2)
    own = _normal(v)
    genre = (u * preset.genres).astype(np.int64)
    by_genre = np.argsort(genre, kind="stable")
    charts = (x + preset.charts_offset) ** -preset.charts_slope
    return Catalogue(
        genre,
        preset.fame * fame + np.sqrt(1 - preset.fame**2) * own,
        np.append(np.searchsorted(genre[by_genre], np.arange(preset.genres + 1)), 2 * n_items),
        np.concatenate([by_genre, np.arange(n_items)]).astype(np.int32),
        np.concatenate([np.exp(log_weight)[by_genre], charts]),
    )


def draw_shares(
    preset: Preset, catalogue: Catalogue, taste: Floats, counts: NDArray[np.int64], seed: int
) -> Floats:
    """Return how often each user picks from each shelf: cumulative shares, the last one 1."""
    shelves = pairwise(catalogue.start[:-1])
    mass = np.array([catalogue.weights[low:high].sum() for low, high in shelves])
    activity = np.log(counts / counts.mean())[:, None]
    lean = np.linspace(-1, 1, preset.genres)
    shares = mass * np.exp(preset.taste * taste + preset.casual * activity * lean)
    shares /= shares.sum(axis=1, keepdims=True)
    rank = np.empty(len(counts))
    rank[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    start = generator(seed, "synthetic charts").random()
    own = _normal((start + rank * _GOLDEN) % 1.0)[:, None]
    odds = preset.charts - preset.charts_by_activity * activity + preset.charts_spread * own
    charts = 1 / (1 + np.exp(-odds))
    cumulative = np.cumsum(np.hstack([shares * (1 - charts), charts]), axis=1)
    cumulative[:, -1] = 1.0
    return np.asarray(cumulative)


def _normal(evenly: NDArray[np.floating[Any]]) -> Floats:
    """Turn numbers spread evenly over [0, 1) into normal ones."""
    from scipy.special import ndtri

    return np.asarray(ndtri(np.clip(evenly, 1e-9, 1 - 1e-9)))


def draw_calendar(
    preset: Preset, counts: NDArray[np.int64], seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw each user's day of arrival (from 0) and number of bouts (at least 1)."""
    rng = generator(seed, "synthetic calendar")
    n = len(counts)
    when = rng.random(n)
    if preset.growth:
        when = np.log1p(when * np.expm1(preset.growth)) / preset.growth
    lot, below = rng.random(n), 0.0
    for centre, width, share in preset.campaigns:
        called = (lot >= below) & (lot < below + share)
        when[called] = centre + width * (when[called] - 0.5)
        below += share
    arrival = np.minimum((when * preset.n_days).astype(np.int64), preset.n_days - 1)
    active = (counts / counts.mean()) ** preset.bouts_by_activity
    more = preset.bouts * active * np.exp(preset.bouts_spread * rng.standard_normal(n))
    return arrival, 1 + np.minimum(more, counts - 1).astype(np.int64)
