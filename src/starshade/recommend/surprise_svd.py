"""Surprise's SVD: the model of Funk and the paper, by stochastic gradient descent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from starshade.errors import ConfigError
from starshade.ratings.table import Ratings
from starshade.recommend.adapting import Adapter, as_factors
from starshade.recommend.factors import Factors
from starshade.recommend.settings import SurpriseSVDSettings

__all__ = ["SurpriseSVD"]


@dataclass(frozen=True)
class SurpriseSVD(SurpriseSVDSettings, Adapter):
    """``surprise.SVD``, whose predictions are low rank plus biases: taken over as they are.

    It keeps every rating as a Python object, about 200 bytes each, so it is no choice for many
    millions.
    """

    name: ClassVar[str] = "surprise-svd"
    library: ClassVar[tuple[str, str, str]] = ("surprise", "Surprise", "compare")

    def _fit(self, library: Any, ratings: Ratings, seed: int) -> Factors:
        model = library.SVD(
            n_factors=int(self.factors),
            n_epochs=int(self.epochs),
            reg_all=float(self.regularization),
            biased=self.biases,
            random_state=seed,
        )
        model.fit(_trainset(ratings, library.Trainset))
        if not np.isfinite(model.pu).all() or not np.isfinite(model.qi).all():
            raise ConfigError(
                f"surprise-svd: gradient descent diverges on the scale {ratings.scale}",
                advice="Divide the ratings, or use regularized-svd.",
            )
        mean = model.trainset.global_mean if self.biases else 0.0
        return as_factors(ratings, mean, (model.bu, model.bi), (model.pu, model.qi))


def _trainset(ratings: Ratings, make: type) -> object:
    """Build Surprise's own table; rows and columns serve as its inner ids."""
    values, columns = ratings.values().tolist(), ratings.columns.tolist()
    by_user: dict[int, list[tuple[int, float]]] = {}
    by_item: dict[int, list[tuple[int, float]]] = {}
    for user in range(ratings.n_users):
        for place in range(ratings.indptr[user], ratings.indptr[user + 1]):
            by_user.setdefault(user, []).append((columns[place], values[place]))
            by_item.setdefault(columns[place], []).append((user, values[place]))
    names = {row: row for row in range(max(ratings.n_users, ratings.n_items))}
    scale = (ratings.scale.minimum, ratings.scale.maximum)
    return make(
        by_user, by_item, ratings.n_users, ratings.n_items, ratings.n_ratings, scale, names, names
    )
