"""`Factors`: a matrix of predictions, as low rank and biases."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from starshade.kernels.als_predict import predict_pairs, predict_rows
from starshade.kernels.readonly import fixed
from starshade.ratings.scale import Scale
from starshade.ratings.vocabulary import Vocabulary

__all__ = ["Factors"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Factors:
    """What was learned: biases and factors of every user and item.

    The prediction for user u and item i is
    ``mean + user_bias[u] + item_bias[i] + user_factors[u] @ item_factors[i]``.

    Attributes
    ----------
    users, items : Vocabulary
        Those of the ratings that were learned from.
    scale : Scale
        Likewise; `predict` clips to it.
    mean : float
    user_bias : ndarray of float64, shape (n_users,)
        0 for a user without ratings.
    item_bias : ndarray of float64, shape (n_items,)
        Likewise.
    user_factors : ndarray of float64, shape (n_users, f)
        All 0 for a user without ratings; f may be 0.
    item_factors : ndarray of float64, shape (n_items, f)
        Likewise.
    """

    users: Vocabulary
    items: Vocabulary
    scale: Scale
    mean: float
    user_bias: Floats
    item_bias: Floats
    user_factors: Floats
    item_factors: Floats

    @property
    def n_factors(self) -> int:
        """The width f of the factors."""
        return int(self.item_factors.shape[1])

    def predict(self, users: NDArray[np.integer], items: NDArray[np.integer]) -> Floats:
        """Predict pairs, clipped to the scale.

        Parameters
        ----------
        users, items : ndarray of int, shape (n,)
            Row and column indices, valid ones.

        Returns
        -------
        ndarray of float64, shape (n,)
        """
        found = predict_pairs(
            fixed(np.asarray(users, dtype=np.int64)),
            fixed(np.asarray(items, dtype=np.int64)),
            *self._parts(),
        )
        return np.asarray(np.clip(found, self.scale.minimum, self.scale.maximum))

    def rows(self, users: NDArray[np.integer]) -> Floats:
        """Predict all items of some users, unclipped.

        The same numbers, bit for bit, as single pairs give before they are clipped, at any
        number of threads.

        Parameters
        ----------
        users : ndarray of int, shape (b,)
            Row indices; the caller has checked that b × n_items numbers fit.

        Returns
        -------
        ndarray of float64, shape (b, n_items)
        """
        mean, user_bias, item_bias, user_factors, item_factors = self._parts()
        return np.asarray(
            predict_rows(
                fixed(np.asarray(users, dtype=np.int64)),
                mean,
                user_bias,
                item_bias,
                user_factors,
                fixed(item_factors.T),  # item by item in a row: the inner loop
            )
        )

    def _parts(self) -> tuple[float, Floats, Floats, Floats, Floats]:
        return (
            float(self.mean),
            fixed(self.user_bias),
            fixed(self.item_bias),
            fixed(self.user_factors),
            fixed(self.item_factors),
        )
