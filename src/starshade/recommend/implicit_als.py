"""implicit's alternating least squares, which ranks and does not predict ratings."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from starshade import budget
from starshade.errors import ConfigError
from starshade.kernels.padded.als_predict import predict_pairs
from starshade.kernels.readonly import fixed
from starshade.ratings.table import Ratings
from starshade.recommend.adapting import (
    as_factors,
    load,
    small_seed,
)
from starshade.recommend.factors import Factors
from starshade.recommend.settings import ImplicitALSSettings
from starshade.rng import Rng, resolve_seed
from starshade.setting import check

__all__ = ["ImplicitALS"]


@dataclass(frozen=True)
class ImplicitALS(ImplicitALSSettings):
    """``implicit.als.AlternatingLeastSquares`` (Hu, Koren & Volinsky 2008).

    Its scores say how likely a user turns to an item, and a null is evidence against that: they
    are *not ratings*. A rating above the mean is given as a liking, one below it as a dislike,
    with the distance from the mean as confidence; the scores are then brought to the scale by
    the straight line that fits the ratings best. Good for comparing speed and rankings; as
    padding, and as a predictor of ratings, expect it to be worse than a model made for that.

    Parameters
    ----------
    factors : int
        At least 1.
    iterations : int
        At least 1.
    regularization : float
        At least 0.

    Raises
    ------
    ConfigError
        A setting out of range.

    Notes
    -----
    Single precision, and a linear algebra library inside: the same seed gives nearly the same
    numbers, not the same bits, at another number of threads.
    """

    def __post_init__(self) -> None:
        check(self)

    @property
    def name(self) -> str:
        """``implicit-als``."""
        return "implicit-als"

    def fit(self, ratings: Ratings, rng: Rng = None) -> Factors:
        """Fit implicit's model and the line from its scores to ratings."""
        als = load("implicit.cpu.als", "implicit", "compare")
        seed = resolve_seed(rng)
        if not ratings.n_ratings:
            raise ConfigError("no rating to learn from")
        from scipy.sparse import csr_matrix

        values = ratings.values()
        mean = float(values.mean())
        with warnings.catch_warnings():
            # advice on the threads of the linear algebra library, for the whole process
            warnings.filterwarnings("ignore", message=".*threadpool", category=RuntimeWarning)
            model = als.AlternatingLeastSquares(
                factors=int(self.factors),
                iterations=int(self.iterations),
                regularization=float(self.regularization),
                num_threads=budget.threads(),
                random_state=small_seed(seed, "implicit"),
            )
        likings = ((values - mean).astype(np.float32), ratings.columns, ratings.indptr)
        shape = (ratings.n_users, ratings.n_items)
        model.fit(csr_matrix(likings, shape=shape), show_progress=False)
        raw = as_factors(
            ratings,
            0.0,
            (np.zeros(ratings.n_users), np.zeros(ratings.n_items)),
            (model.user_factors, model.item_factors),
        )
        offset, slope = _line(_scores(ratings, raw), values)
        return as_factors(
            ratings,
            offset,
            (raw.user_bias, raw.item_bias),
            (raw.user_factors * slope, raw.item_factors),
        )


def _scores(ratings: Ratings, raw: Factors) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    users = np.repeat(np.arange(ratings.n_users), ratings.user_support)
    return np.asarray(
        predict_pairs(
            fixed(users),
            fixed(ratings.columns.astype(np.int64)),
            0.0,
            fixed(raw.user_bias),
            fixed(raw.item_bias),
            fixed(raw.user_factors),
            fixed(raw.item_factors),
        )
    )


def _line(
    scores: np.ndarray[tuple[int], np.dtype[np.float64]],
    values: np.ndarray[tuple[int], np.dtype[np.float64]],
) -> tuple[float, float]:
    spread = float(scores.var())
    slope = 0.0 if not spread else float(((scores - scores.mean()) * values).mean() / spread)
    return float(values.mean() - slope * scores.mean()), slope
