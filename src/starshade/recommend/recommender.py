"""What any recommender has to offer: settings that fit, and a fit that predicts."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from starshade.kernels.arrays import Floats
from starshade.ratings.table import Ratings
from starshade.rng import Rng

__all__ = ["Fitted", "Recommender"]


class Fitted(Protocol):
    """What was learned from ratings."""

    def predict(self, users: NDArray[np.integer], items: NDArray[np.integer]) -> Floats:
        """Predict pairs of row and column indices, clipped to the scale; shape (n,)."""

    def rows(self, users: NDArray[np.integer]) -> Floats:
        """Predict all items of some users, unclipped; shape (len(users), n_items)."""


class Recommender(Protocol):
    """Settings of one way to learn from ratings."""

    @property
    def name(self) -> str:
        """As `registry` lists it."""

    def fit(self, ratings: Ratings, rng: Rng = None) -> Fitted:
        """Learn from ratings; the same seed gives the same predictions."""
