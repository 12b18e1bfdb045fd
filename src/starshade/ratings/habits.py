"""How much people rate, and how much of it is off the beaten track (NS Figs 2, 3 and table)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.errors import ConfigError
from starshade.kernels.attack.knowledge import count_marked
from starshade.kernels.readonly import fixed
from starshade.ratings.table import Ratings

__all__ = ["OffTop", "rated_outside_top", "users_by_activity"]


@dataclass(frozen=True)
class OffTop:
    """Who rated items that are not among the most rated.

    `top`: the X most rated items are left out. `items`: how many items remain. `at_least`: share of
    all users who rated at least so many of those that remain.
    """

    top: int
    items: int
    at_least: dict[int, float]

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain JSON values."""
        return {
            "not_among_top": self.top,
            "items_left": self.items,
            "users": [{"at_least": n, "share": share} for n, share in self.at_least.items()],
        }


def users_by_activity(ratings: Ratings, most: int = 1000) -> NDArray[np.int64]:
    """Count the users with exactly 0, 1, … `most` ratings.

    `most`: at least 0; users with more are not counted. Returns (most + 1,): a bin may be a single
    user: internal.
    """
    if most < 0:
        raise ConfigError(f"most {most}: at least 0")
    support = ratings.user_support
    return np.bincount(support[support <= most], minlength=most + 1).astype(np.int64)


def rated_outside_top(
    ratings: Ratings,
    top: Sequence[int] = (100, 500, 1000),
    at_least: Sequence[int] = (1, 5, 10),
) -> tuple[OffTop, ...]:
    """Tell how many users rated items that are not among the X most rated (NS §5).

    Parameters
    ----------
    ratings : Ratings
    top : sequence of int
        Each X, at least 0.
    at_least : sequence of int
        Numbers of rated items, at least 1.

    Returns
    -------
    tuple of OffTop
        One per X; shares are of all users, those without a rating included.

    Raises
    ------
    ConfigError
        A number out of range.
    """
    for name, numbers, least in (("top", top, 0), ("at_least", at_least, 1)):
        if any(n < least for n in numbers):
            raise ConfigError(f"{name} {min(numbers)}: at least {least}")
    ranking = ratings.most_rated(max(top, default=0))
    indptr, columns = fixed(ratings.indptr), fixed(ratings.columns)
    rows = []
    for x in top:
        left = np.ones(ratings.n_items, dtype=np.bool_)
        left[ranking[:x]] = False
        rated = count_marked(indptr, columns, left)
        users = max(len(rated), 1)
        shares = {n: float(np.count_nonzero(rated >= n) / users) for n in at_least}
        rows.append(OffTop(x, int(left.sum()), shares))
    return tuple(rows)
