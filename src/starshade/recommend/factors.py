"""`Factors`: a matrix of predictions, as low rank and biases."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from starshade.errors import ConfigError
from starshade.kernels.arrays import Floats, Ints, fixed
from starshade.kernels.padded.als import predict_pairs, predict_rows
from starshade.ratings.scale import Scale
from starshade.ratings.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class Factors:
    """A fitted model: biases and factors of every user and item.

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
            Row and column indices.

        Returns
        -------
        ndarray of float64, shape (n,)

        Raises
        ------
        ConfigError
            An index that is none, or not as many users as items.
        """
        rows = _indices(users, len(self.users), "users")
        columns = _indices(items, len(self.items), "items")
        if len(rows) != len(columns):
            raise ConfigError(f"{len(rows)} users and {len(columns)} items: must be pairs")
        predicted = predict_pairs(rows, columns, *self.parts)
        return np.asarray(np.clip(predicted, self.scale.minimum, self.scale.maximum))

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

        Raises
        ------
        ConfigError
            An index that is none.
        """
        rows = _indices(users, len(self.users), "users")
        columns = fixed(self.item_factors.T)  # item by item in a row: the inner loop
        return np.asarray(predict_rows(rows, *self.parts[:-1], columns))

    def __repr__(self) -> str:
        return (
            f"Factors({len(self.users):,} users x {len(self.items):,} items, "
            f"{self.n_factors} factors, scale {self.scale})"
        )

    @property
    def parts(self) -> tuple[float, Floats, Floats, Floats, Floats]:
        """Mean, biases and factors, as kernels read them."""
        return (
            float(self.mean),
            fixed(self.user_bias),
            fixed(self.item_bias),
            fixed(self.user_factors),
            fixed(self.item_factors),
        )


def _indices(given: NDArray[np.integer], count: int, what: str) -> Ints:
    """Return indices as a kernel takes them, which trusts them."""
    indices = np.atleast_1d(np.asarray(given))
    if not len(indices):
        return fixed(np.empty(0, dtype=np.int64))
    if indices.ndim != 1 or indices.dtype.kind not in "iu":
        raise ConfigError(f"{what}: must be a one-dimensional array of whole numbers")
    if indices.min() < 0 or indices.max() >= count:
        raise ConfigError(f"{what}: indices must be from 0 to {count - 1}")
    return fixed(indices.astype(np.int64))
