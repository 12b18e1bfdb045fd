"""Surprise's SVD: the model of Funk and the paper, by stochastic gradient descent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from starshade.errors import ConfigError
from starshade.ratings.table import Ratings
from starshade.recommend.adapting import (
    as_factors,
    load,
    small_seed,
)
from starshade.recommend.factors import Factors
from starshade.recommend.settings import SurpriseSVDSettings
from starshade.rng import Rng, resolve_seed
from starshade.setting import check

__all__ = ["SurpriseSVD"]


@dataclass(frozen=True)
class SurpriseSVD(SurpriseSVDSettings):
    """``surprise.SVD``, whose predictions are low rank plus biases: taken over as they are.

    It keeps every rating as a Python object, about 200 bytes each, so it is no choice for many
    millions.

    Parameters
    ----------
    factors : int
        At least 1.
    epochs : int
        Passes over the ratings, at least 1.
    regularization : float
        At least 0.
    biases : bool
        False: neither mean nor biases, as probabilistic matrix factorization has it.

    Raises
    ------
    ConfigError
        A setting out of range.
    """

    def __post_init__(self) -> None:
        check(self)

    @property
    def name(self) -> str:
        """``surprise-svd``."""
        return "surprise-svd"

    def fit(self, ratings: Ratings, rng: Rng = None) -> Factors:
        """Fit Surprise's model; the seed decides the result."""
        surprise = load("surprise", "Surprise", "compare")
        seed = resolve_seed(rng)
        if not ratings.n_ratings:
            raise ConfigError("no rating to learn from")
        model = surprise.SVD(
            n_factors=int(self.factors),
            n_epochs=int(self.epochs),
            reg_all=float(self.regularization),
            biased=self.biases,
            random_state=small_seed(seed, "surprise"),
        )
        model.fit(_trainset(ratings, surprise.Trainset))
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
