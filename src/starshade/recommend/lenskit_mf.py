"""LensKit's biased matrix factorization."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.errors import ConfigError
from starshade.ratings.table import Ratings
from starshade.recommend.adapting import (
    as_factors,
    load,
    small_seed,
)
from starshade.recommend.factors import Factors
from starshade.recommend.settings import LensKitBiasedMFSettings
from starshade.rng import Rng, resolve_seed
from starshade.setting import check

__all__ = ["LensKitBiasedMF"]


@dataclass(frozen=True)
class LensKitBiasedMF(LensKitBiasedMFSettings):
    """``lenskit.als.BiasedMFScorer``: damped biases, then factors of what they leave.

    Its predictions are low rank plus biases: taken over as they are. Single precision.

    Parameters
    ----------
    factors : int
        At least 1.
    epochs : int
        At least 1.
    regularization : float
        Above 0; multiplied with the number of ratings of a row.
    damping : float
        Ratings at the mean that a bias is held back by, at least 0.

    Raises
    ------
    ConfigError
        A setting out of range.
    """

    def __post_init__(self) -> None:
        check(self)

    @property
    def name(self) -> str:
        """``lenskit-biased-mf``."""
        return "lenskit-biased-mf"

    def fit(self, ratings: Ratings, rng: Rng = None) -> Factors:
        """Fit LensKit's model."""
        als = load("lenskit.als", "LensKit", "lenskit")
        seed = resolve_seed(rng)
        if not ratings.n_ratings:
            raise ConfigError("no rating to learn from")
        model = als.BiasedMFScorer(
            features=int(self.factors),
            epochs=int(self.epochs),
            regularization=float(self.regularization),
            damping=float(self.damping),
        )
        options = load("lenskit.training", "LensKit", "lenskit").TrainingOptions(
            rng=small_seed(seed, "lenskit")
        )
        model.train(_dataset(ratings), options)
        users, items = (np.asarray(known.ids(), np.int64) for known in (model.users, model.items))
        return as_factors(
            ratings,
            model.bias.global_bias,
            (
                _spread(model.bias.user_biases, users, ratings.n_users),
                _spread(model.bias.item_biases, items, ratings.n_items),
            ),
            (
                _spread(model.user_embeddings, users, ratings.n_users),
                _spread(model.item_embeddings, items, ratings.n_items),
            ),
        )


def _dataset(ratings: Ratings) -> Any:
    """Build LensKit's own table; its ids are rows and columns, only those with a rating."""
    pandas = load("pandas", "LensKit", "lenskit")
    frame = pandas.DataFrame(
        {
            "user_id": np.repeat(np.arange(ratings.n_users), ratings.user_support),
            "item_id": ratings.columns.astype(np.int64),
            "rating": ratings.values(),
        }
    )
    return load("lenskit.data", "LensKit", "lenskit").from_interactions_df(frame)


def _spread(known: Any, places: NDArray[np.int64], count: int) -> NDArray[np.float64]:
    """Put the rows that LensKit knows where ours are; 0 elsewhere."""
    out = np.zeros((count, *known.shape[1:]))
    out[places] = known
    return out
