"""LensKit's biased matrix factorization."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from starshade.kernels.arrays import Floats, Ints
from starshade.ratings.table import Ratings
from starshade.recommend.adapting import Adapter, as_factors, load
from starshade.recommend.factors import Factors
from starshade.recommend.settings import LensKitBiasedMFSettings

__all__ = ["LensKitBiasedMF"]


@dataclass(frozen=True)
class LensKitBiasedMF(LensKitBiasedMFSettings, Adapter):
    """``lenskit.als.BiasedMFScorer``: damped biases, then factors of what they leave.

    Its predictions are low rank plus biases: taken over as they are. Single precision.
    """

    name: ClassVar[str] = "lenskit-biased-mf"
    library: ClassVar[tuple[str, str, str]] = ("lenskit.als", "LensKit", "lenskit")

    def _fit(self, library: Any, ratings: Ratings, seed: int) -> Factors:
        model = library.BiasedMFScorer(
            features=int(self.factors),
            epochs=int(self.epochs),
            regularization=float(self.regularization),
            damping=float(self.damping),
        )
        options = load("lenskit.training", "LensKit", "lenskit").TrainingOptions(rng=seed)
        model.train(_dataset(ratings), options)
        of_users = partial(_spread, np.asarray(model.users.ids(), np.int64), ratings.n_users)
        of_items = partial(_spread, np.asarray(model.items.ids(), np.int64), ratings.n_items)
        return as_factors(
            ratings,
            model.bias.global_bias,
            (of_users(model.bias.user_biases), of_items(model.bias.item_biases)),
            (of_users(model.user_embeddings), of_items(model.item_embeddings)),
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


def _spread(places: Ints, count: int, known: Any) -> Floats:
    """Put the rows that LensKit knows where ours are; 0 elsewhere."""
    out = np.zeros((count, *known.shape[1:]))
    out[places] = known
    return out
