"""Draw the cells of a synthetic table: items, ratings, days; block by block of users."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from starshade.kernels import synth as kernels
from starshade.kernels.warm import announce
from starshade.ratings.synth.preset import Preset
from starshade.rng import generator, stream_key

if TYPE_CHECKING:
    import pyarrow as pa


_BLOCK = 16_384  # users drawn between two words of progress
_SAMPLE = 200_000  # opinions that settle where one star ends and the next begins


@dataclass(frozen=True, eq=False)
class Drawing:
    """A table being drawn: who has how many cells, and from which streams.

    `fingerprints` (n_users,). `indptr` (n_users + 1,). `step`: receives how many cells have been
    drawn.
    """

    fingerprints: NDArray[np.uint64]
    indptr: NDArray[np.int64]
    seed: int
    step: Callable[[float], None]

    def columns(self, catalogue: Catalogue, shares: NDArray[np.float64]) -> NDArray[np.int32]:
        """Draw every user's items; see `draw_catalogue` and `draw_shares`."""
        announce("the synthetic data", kernels.draw_items, kernels.draw_ratings, kernels.draw_days)
        keys, n_items = self._keys("synthetic picks"), len(catalogue.genre)
        start, items, weights = catalogue.start, catalogue.items, catalogue.weights
        keep, other = kernels.alias_tables(start, weights)
        out = np.empty(self.indptr[-1], dtype=np.int32)
        for rows, pointers in self._blocks():
            picks = (keys[rows], pointers, shares[rows])
            kernels.draw_items(*picks, start, items, weights, keep, other, n_items, out)
        if len(out) >= n_items:
            key = np.uint64(stream_key(self.seed, "synthetic unrated"))
            kernels.place_unrated(key, self.indptr, out, n_items)
        return out

    def codes(
        self,
        preset: Preset,
        catalogue: Catalogue,
        taste: NDArray[np.float64],
        columns: NDArray[np.int32],
    ) -> NDArray[np.uint8]:
        """Draw the ratings, as codes from 0, so that their histogram is the preset's."""
        keys, n_users = self._keys("synthetic opinions"), len(self.fingerprints)
        own = generator(self.seed, "synthetic leniency").standard_normal(n_users)
        leniency = np.sqrt(preset.leniency) * own
        liking = (np.sqrt(preset.liking) * taste).astype(np.float32)
        quality = np.sqrt(preset.quality) * catalogue.quality
        rest = 1 - preset.quality - preset.leniency - preset.liking
        noise = np.sqrt(3 * rest) / np.pi  # a logistic number's variance is (pi scale)^2 / 3
        items = (quality, catalogue.genre, noise)
        stride = 1 + len(columns) // _SAMPLE
        table = (self.indptr, columns, leniency, liking)
        sample = kernels.sample_opinions(keys, stride, *table, *items)
        until = np.cumsum(preset.histogram) / np.sum(preset.histogram)
        cuts = np.quantile(sample, until[:-1])
        out = np.empty(len(columns), dtype=np.uint8)
        for rows, pointers in self._blocks():
            people = (leniency[rows], liking[rows])
            kernels.draw_ratings(keys[rows], pointers, columns, *people, *items, cuts, out)
        return out

    def days(
        self, preset: Preset, arrival: NDArray[np.int64], bouts: NDArray[np.int64]
    ) -> NDArray[np.uint16]:
        """Draw the days; see `draw_calendar`."""
        keys, last_day = self._keys("synthetic days"), preset.n_days - 1
        gaps = (preset.gap, preset.gap_spread)
        sizes = (preset.opening, preset.size_spread)
        out = np.empty(self.indptr[-1], dtype=np.uint16)
        for rows, pointers in self._blocks():
            times = (arrival[rows], bouts[rows], last_day)
            kernels.draw_days(keys[rows], pointers, *times, *gaps, *sizes, out)
        return out

    def _keys(self, purpose: str) -> NDArray[np.uint64]:
        key = np.uint64(stream_key(self.seed, purpose))
        return np.asarray(kernels.user_keys(key, self.fingerprints))

    def _blocks(self) -> Iterator[tuple[slice, NDArray[np.int64]]]:
        """Yield the rows of each block and where their cells are; tell when a block is done."""
        n_users = len(self.fingerprints)
        for low in range(0, n_users, _BLOCK):
            high = min(n_users, low + _BLOCK)
            yield slice(low, high), self.indptr[low : high + 1]
            self.step(float(self.indptr[high] - self.indptr[low]))


_MALE = 0.71  # as on MovieLens
_AGE = (3.44, 0.36)  # mean and spread of log age: median 31, nine in ten from 17 to 56
_AGES = (7, 90)
# name, share, mean age, spread of age, share of men
_OCCUPATIONS = (
    ("administrator", 0.10, 39.0, 10.0, 0.55),
    ("artist", 0.05, 31.0, 9.0, 0.60),
    ("educator", 0.12, 42.0, 10.0, 0.72),
    ("engineer", 0.11, 36.0, 10.0, 0.95),
    ("healthcare", 0.04, 40.0, 10.0, 0.45),
    ("librarian", 0.06, 40.0, 10.0, 0.45),
    ("marketing", 0.06, 37.0, 9.0, 0.65),
    ("other", 0.14, 34.0, 11.0, 0.66),
    ("programmer", 0.11, 33.0, 8.0, 0.92),
    ("retired", 0.02, 63.0, 6.0, 0.90),
    ("student", 0.14, 22.0, 4.0, 0.69),
    ("writer", 0.05, 36.0, 10.0, 0.58),
)
_REGIONS = 10  # the first digit of the zip code
# how strongly taste leans on age, gender, occupation and region
_LEANING = (0.85, 0.3, 0.5, 0.2)


@dataclass(frozen=True, eq=False)
class People:
    """Personal attributes as numbers, one entry per user.

    `age`: whole years. `zip_code`: in [0, 100,000).
    """

    age: NDArray[np.float64]
    male: NDArray[np.bool_]
    occupation: NDArray[np.int64]
    zip_code: NDArray[np.int64]

    def table(self) -> pa.Table:
        """Return the attributes as `Ratings.attributes` holds them."""
        import pyarrow as pa

        names = pa.array([name for name, *_ in _OCCUPATIONS])
        codes = pa.array([f"{code:05d}" for code in range(100_000)])
        return pa.table(
            {
                "Age": self.age,
                "Gender": pa.array(["F", "M"]).take(pa.array(self.male.astype(np.int64))),
                "Occupation": names.take(pa.array(self.occupation)),
                "Zip code": codes.take(pa.array(self.zip_code)),
            }
        )


def draw_people(n: int, seed: int) -> People:
    """Draw `n` people; the occupation depends on age and gender."""
    rng = generator(seed, "synthetic people")
    age = np.clip(np.round(np.exp(rng.normal(*_AGE, n))), *_AGES).astype(np.float64)
    male = rng.random(n) < _MALE
    occupation = _draw_occupation(age, male, rng.random(n))
    zip_code = rng.integers(0, 100_000, n)
    return People(age, male, occupation, zip_code)


def _draw_occupation(
    age: NDArray[np.float64], male: NDArray[np.bool_], x: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Bayes: share x density of the age x share of the gender, normalised, cut at x."""
    chance = np.empty((len(_OCCUPATIONS), len(age)))
    for o, (_, share, mean, spread, men) in enumerate(_OCCUPATIONS):
        density = np.exp(-(((age - mean) / spread) ** 2) / 2) / spread + 1e-12
        chance[o] = share * density * np.where(male, men, 1 - men)
    until = np.cumsum(chance, axis=0)
    return np.asarray((x * until[-1] >= until[:-1]).sum(axis=0), dtype=np.int64)


def draw_taste(people: People, genres: int, demographic: float, seed: int) -> NDArray[np.float64]:
    """Draw each user's preference for each genre, of mean 0 and variance about 1.

    `demographic`: share of the variance that the attributes explain, in [0, 1]. Returns (n_users,
    genres).
    """
    rng = generator(seed, "synthetic taste")
    n = len(people.age)
    by_age, by_gender, by_occupation, by_region = _LEANING
    years = (np.log(people.age) - _AGE[0]) / _AGE[1]
    sex = (people.male - _MALE) / np.sqrt(_MALE * (1 - _MALE))
    leaning = by_age * years[:, None] * _likes(rng, 1, genres)
    leaning += by_gender * sex[:, None] * _likes(rng, 1, genres)
    leaning += by_occupation * _likes(rng, len(_OCCUPATIONS), genres)[people.occupation]
    leaning += by_region * _likes(rng, _REGIONS, genres)[people.zip_code // 10_000]
    leaning /= np.sqrt(sum(weight**2 for weight in _LEANING))
    own = rng.standard_normal((n, genres))
    return np.asarray(np.sqrt(demographic) * leaning + np.sqrt(1 - demographic) * own)


def _likes(rng: np.random.Generator, kinds: int, genres: int) -> NDArray[np.float64]:
    """Draw how each kind of people likes the genres: of mean 0 and variance 1 exactly."""
    likes = rng.standard_normal((kinds, genres))
    likes -= likes.mean(axis=1, keepdims=True)
    return np.asarray(likes / likes.std(axis=1, keepdims=True))


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
