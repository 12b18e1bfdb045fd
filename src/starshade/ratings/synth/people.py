"""Synthetic people: personal attributes, and a taste that leans on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from starshade.rng import generator

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["People", "draw_people", "draw_taste"]

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
