"""Mondrian (LeFevre, DeWitt & Ramakrishnan 2006), with relaxed cuts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from starshade.anonymize.grouping import Grouping
from starshade.anonymize.order import seeded_order
from starshade.anonymize.points import Points
from starshade.anonymize.positions import positions
from starshade.anonymize.settings import RangeSettings
from starshade.kernels.arrays import Array, Ints
from starshade.kernels.greedy.mondrian import relaxed_parts

__all__ = ["MondrianRelaxed", "relaxed_groups"]

_COPIES = 6  # of the table: as it is, as places (up to four bytes each)


@dataclass(frozen=True)
class MondrianRelaxed(RangeSettings, Grouping):
    """Cut the records into halves on the item where they are widest, while both keep k.

    The hierarchy is ``range`` unless another is named.
    For the parameters see `starshade.anonymize.grouping.Grouping`.

    Notes
    -----
    As `starshade.anonymize.mondrian.Mondrian`, but the records with the median rating are shared
    out so that both sides are halves (the left one has the odd record): who comes earlier in a
    permutation that the seed and the records' content decide goes left. Equal records are not cut.
    """

    name: ClassVar[str] = "mondrian-relaxed"

    def group(self, points: Points, seed: int) -> Ints:
        """Cut the records into groups; see `relaxed_groups`."""
        order = seeded_order(points.n_records, seed, self.name)
        return relaxed_groups(points.dense(copies=_COPIES), self.k, order)


def relaxed_groups(matrix: Array, k: int, order: NDArray[np.integer]) -> Ints:
    """Group the rows of a matrix by relaxed Mondrian.

    >>> rows = np.array([[1], [5], [5], [5]], dtype=np.uint8)
    >>> relaxed_groups(rows, 2, np.array([3, 2, 1, 0])).tolist()
    [0, 1, 1, 0]
    """
    return relaxed_parts(positions(matrix)[0], k, np.asarray(order, dtype=np.int64))
