"""What groups are formed on: the ratings of each record, and its encoded quasi-identifiers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from starshade.anonymize.dense import dense_levels
from starshade.ratings.table import Ratings

__all__ = ["Points"]


@dataclass(frozen=True, eq=False)
class Points:
    """The records that a method groups.

    Attributes
    ----------
    ratings : Ratings
        The items to release and the users left on them; a null counts as the level below the
        scale.
    extra : ndarray, shape (n_users, n_extra)
        Quasi-identifiers as further columns, in the unit of `dense`: steps of the scale, on a
        real scale ratings (`starshade.anonymize.personal.quasi`). Whole numbers or float64. No
        column where personal attributes are not part of the groups.
    """

    ratings: Ratings
    extra: NDArray[Any]

    @property
    def n_records(self) -> int:
        """Records to group."""
        return self.ratings.n_users

    def dense(self, *, copies: int = 1) -> NDArray[Any]:
        """Return records × (items, then quasi-identifiers) as numbers; see `dense_levels`."""
        return dense_levels(self.ratings, copies=copies, beside=self.extra)
