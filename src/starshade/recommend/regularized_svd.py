"""The regularized SVD (PA §4.1), with biases, by alternating least squares."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from starshade.errors import ConfigError
from starshade.kernels.arrays import Floats
from starshade.naming import called
from starshade.progress import note, task
from starshade.ratings.table import Ratings
from starshade.recommend.als import (
    Alternation,
    fit_sweeps,
    mean_and_spread,
    penalties,
    stopping_sweep,
)
from starshade.recommend.factors import Factors
from starshade.recommend.settings import RegularizedSVDSettings
from starshade.rng import Rng, resolve_seed
from starshade.setting import check

__all__ = ["RegularizedSVD", "check_factors"]

_FACTORS = RegularizedSVDSettings.factors  # unless told, as many as there can be


@dataclass(frozen=True)
class RegularizedSVD(RegularizedSVDSettings):
    """Low rank plus biases, fitted by alternating least squares.

    Minimises the squared error of the ratings plus, for every user and item with n ratings,
    ``regularization · s · (n + 100)`` times the square of its factors, s being the standard
    deviation of the ratings, and three times the square of its bias. A penalty that grows with n
    keeps rows of many ratings from fitting noise (Zhou et al. 2008); the 100 does so where there
    are few.

    Parameters
    ----------
    factors : int
        At least 1. No matrix of ratings has a higher rank than it has users or items: up to 16
        are fitted as far as there are so many (a note says so), more are refused.
    regularization : float
        From 0 to 1e100, in units of the ratings' spread, so that it means the same on every scale.
    sweeps : int
        How often users and items are fitted in turn, at least 1; at most, if `holdout` is not 0.
    biases : bool
        Fit a bias for each user and item; False is the paper's model.
    holdout : float
        Share of the ratings held out to find the number of sweeps after which predictions no
        longer improve; the model is then fitted to all ratings with so many sweeps. 0: all
        `sweeps` are made.

    Raises
    ------
    ConfigError
        A setting out of range.

    Examples
    --------
    >>> from starshade.ratings.synth.synth import synthesize
    >>> ratings = synthesize(n_users=50, n_items=20, n_ratings=400, rng=0)
    >>> fitted = RegularizedSVD(factors=4).fit(ratings, rng=0)
    >>> fitted.rows([0, 1]).shape
    (2, 20)
    """

    name: ClassVar[str] = "regularized-svd"

    def __post_init__(self) -> None:
        check(self)

    def fit(self, ratings: Ratings, rng: Rng = None) -> Factors:
        """Fit the model; the same seed gives the same bits at any number of threads.

        Parameters
        ----------
        ratings : Ratings
            At least one rating.
        rng : int, Generator or None
            Seed of the first item factors and of what is held out.

        Raises
        ------
        ConfigError
            No rating, more than 16 factors where there are fewer users or items, or more memory
            needed than may be used.
        """
        seed = resolve_seed(rng)
        if not ratings.n_ratings:
            raise ConfigError("no rating to learn from")
        if self.factors > _FACTORS:
            check_factors(int(self.factors), ratings)
        rank = min(int(self.factors), ratings.n_users, ratings.n_items)
        if rank < self.factors:
            note(
                f"factors {self.factors}: {rank} are fitted, a matrix of {ratings.n_users:,} "
                f"users and {ratings.n_items:,} items has no more"
            )
        how = Alternation(rank, float(self.regularization), self.biases, seed)
        how.check_memory(ratings, searching=self.holdout > 0)
        sweeps = int(self.sweeps)
        if self.holdout:
            sweeps = stopping_sweep(ratings, how, sweeps, float(self.holdout))
        with task("fitting the recommender", 2 * sweeps) as step:
            sides = fit_sweeps(ratings, how, sweeps, step)
        mean, spread = mean_and_spread(ratings)
        bias = [side[:, -1] * spread if self.biases else np.zeros(len(side)) for side in sides]
        factors = [side[:, :rank] * math.sqrt(spread) for side in sides]
        return Factors(ratings.users, ratings.items, ratings.scale, mean, *bias, *factors)

    def penalties(self, ratings: Ratings) -> Floats:
        """Return what `fit` holds each user back by, in the units of the ratings.

        Whoever fits somebody else to the same items, such as a group of users as one, holds them
        back alike.

        Returns
        -------
        ndarray of float64, shape (n_users, 2)
            On the square of the factors, and of the bias.
        """
        how = Alternation(int(self.factors), float(self.regularization), self.biases, 0)
        out = np.array(penalties(ratings.user_support, how))
        out[:, 0] *= mean_and_spread(ratings)[1]
        return out


def check_factors(factors: int, ratings: Ratings) -> None:
    """Refuse more factors than a matrix of these users and items can have."""
    most = min(ratings.n_users, ratings.n_items)
    if factors > most:
        raise ConfigError(
            f"{called('factors')} {factors:,}: at most {most:,}, as there are "
            f"{ratings.n_users:,} users and "
            f"{ratings.n_items:,} items",
            advice="A few are enough; 3 to 16 are usual.",
        )
