"""`Space`: a table made ready to be asked who is proximate to whom."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from starshade.ratings.proximity.rule import NullRule, Rule, rule_of
from starshade.ratings.table import Ratings

__all__ = ["Space", "space_of"]


@dataclass(frozen=True, eq=False)
class Space:
    """Records as codes, and the rule.

    Attributes
    ----------
    codes : ndarray of int64, shape (n_records, n_items)
        0 is null, c stands for ``levels[c - 1]``.
    rule : Rule
    """

    codes: NDArray[np.int64]
    rule: Rule

    @property
    def n_records(self) -> int:
        """Records, empty ones included."""
        return len(self.codes)


def space_of(ratings: Ratings, items: NDArray[np.integer], eps: float, nulls: NullRule) -> Space:
    """Make a table ready.

    Parameters
    ----------
    ratings : Ratings
        Users without a rating are records too.
    items : ndarray of int
        Indices of the non-sensitive items.
    eps, nulls
        See `rule_of`.

    Raises
    ------
    ConfigError
        See `rule_of`; or the table does not fit the memory budget.
    """
    rule = rule_of(ratings.scale, ratings.levels, eps, nulls)
    table = np.zeros((ratings.n_users, ratings.n_items), dtype=np.int64)
    rows = np.repeat(np.arange(ratings.n_users), ratings.user_support)
    table[rows, ratings.columns] = ratings.codes.astype(np.int64) + 1
    return Space(table[:, items], rule)
