"""implicit's alternating least squares, which ranks and does not predict ratings."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from starshade import budget
from starshade.kernels.arrays import Floats
from starshade.kernels.padded.als_predict import predict_pairs
from starshade.kernels.readonly import fixed
from starshade.ratings.table import Ratings
from starshade.recommend.adapting import Adapter, as_factors
from starshade.recommend.factors import Factors
from starshade.recommend.settings import ImplicitALSSettings

__all__ = ["ImplicitALS"]


@dataclass(frozen=True)
class ImplicitALS(ImplicitALSSettings, Adapter):
    """``implicit.als.AlternatingLeastSquares`` (Hu, Koren & Volinsky 2008).

    Its scores say how likely a user turns to an item, and a null is evidence against that: they
    are *not ratings*. A rating above the mean is given as a liking, one below it as a dislike,
    with the distance from the mean as confidence; the scores are then brought to the scale by
    the straight line that fits the ratings best. Good for comparing speed and rankings; as
    padding, and as a predictor of ratings, expect it to be worse than a model made for that.

    Notes
    -----
    Single precision, and a linear algebra library inside: the same seed gives nearly the same
    numbers, not the same bits, at another number of threads.
    """

    name: ClassVar[str] = "implicit-als"
    library: ClassVar[tuple[str, str, str]] = ("implicit.cpu.als", "implicit", "compare")

    def _fit(self, library: Any, ratings: Ratings, seed: int) -> Factors:
        from scipy.sparse import csr_matrix

        values = ratings.values()
        mean = float(values.mean())
        with warnings.catch_warnings():
            # advice on the threads of the linear algebra library, for the whole process
            warnings.filterwarnings("ignore", message=".*threadpool", category=RuntimeWarning)
            model = library.AlternatingLeastSquares(
                factors=int(self.factors),
                iterations=int(self.iterations),
                regularization=float(self.regularization),
                num_threads=budget.threads(),
                random_state=seed,
            )
        likings = ((values - mean).astype(np.float32), ratings.columns, ratings.indptr)
        shape = (ratings.n_users, ratings.n_items)
        model.fit(csr_matrix(likings, shape=shape), show_progress=False)
        none = np.zeros(ratings.n_users), np.zeros(ratings.n_items)
        raw = as_factors(ratings, 0.0, none, (model.user_factors, model.item_factors))
        offset, slope = _line(_scores(ratings, raw), values)
        return as_factors(ratings, offset, none, (raw.user_factors * slope, raw.item_factors))


def _scores(ratings: Ratings, raw: Factors) -> Floats:
    users = np.repeat(np.arange(ratings.n_users), ratings.user_support)
    columns = ratings.columns.astype(np.int64)
    return np.asarray(predict_pairs(fixed(users), fixed(columns), *raw.parts))


def _line(scores: Floats, values: Floats) -> tuple[float, float]:
    spread = float(scores.var())
    slope = 0.0 if not spread else float(((scores - scores.mean()) * values).mean() / spread)
    return float(values.mean() - slope * scores.mean()), slope
