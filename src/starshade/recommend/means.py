"""Predictions from means alone: of all ratings, of each item, of each user and item.

What anyone could predict who knows no more than these means: the baselines of a recommender.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings

Floats = NDArray[np.float64]

_ITEM_SHRINKAGE = 5.0  # ratings at the mean of all that an item's bias is held back by
_USER_SHRINKAGE = 10.0


@dataclass(frozen=True, eq=False)
class Means:
    """Means of a table of ratings.

    `overall`: of all ratings. `items` (n_items,): of each item, `overall` where it has no rating.
    `item_bias` (n_items,), `user_bias` (n_users,): shrunk deviations; 0 without a rating.
    """

    scale: Scale
    overall: float
    items: Floats
    item_bias: Floats
    user_bias: Floats

    @classmethod
    def of(cls, ratings: Ratings) -> Means:
        """Average some ratings, of which there is at least one."""
        values, columns = ratings.values(), ratings.columns
        users = np.repeat(np.arange(ratings.n_users), ratings.user_support)
        overall = float(values.mean())
        off = values - overall
        item_bias = _shrunk(columns, off, ratings.item_support, _ITEM_SHRINKAGE)
        left = off - item_bias[columns]
        user_bias = _shrunk(users, left, ratings.user_support, _USER_SHRINKAGE)
        return cls(ratings.scale, overall, item_means(ratings), item_bias, user_bias)

    def by_user_and_item(self, users: NDArray[np.int64], items: NDArray[np.int64]) -> Floats:
        """Predict pairs of users and items, within the scale."""
        predicted = self.overall + self.item_bias[items] + self.user_bias[users]
        return np.clip(predicted, self.scale.minimum, self.scale.maximum)


def item_means(ratings: Ratings) -> Floats:
    """Return each item's mean rating, that of all ratings where it has none."""
    support = ratings.item_support
    sums = np.bincount(ratings.columns, ratings.values(), ratings.n_items)
    whole = np.full(ratings.n_items, sums.sum() / max(1, support.sum()))
    np.divide(sums, support, out=whole, where=support > 0)
    return whole


def _shrunk(
    group: NDArray[np.integer], off: Floats, support: NDArray[np.int64], shrinkage: float
) -> Floats:
    return np.bincount(group, off, len(support)) / (support + shrinkage)
