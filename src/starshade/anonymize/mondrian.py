"""Mondrian (LeFevre, DeWitt & Ramakrishnan 2006; definitions, "mondrian"), with strict cuts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from starshade.anonymize.grouping import Grouping
from starshade.anonymize.points import Points
from starshade.anonymize.positions import positions
from starshade.anonymize.settings import RangeSettings
from starshade.kernels.arrays import Array, Ints
from starshade.kernels.greedy.mondrian import strict_parts

__all__ = ["Mondrian", "mondrian_groups"]

_COPIES = 6  # of the table: as it is, as places (up to four bytes each)


@dataclass(frozen=True)
class Mondrian(RangeSettings, Grouping):
    """Cut the records in two at the median of the item where they are widest, while both keep k.

    The hierarchy is ``range`` unless another is named.
    For the parameters see `starshade.anonymize.grouping.Grouping`.

    Notes
    -----
    A cut is strict: records with one and the same rating of the item stay together (at most the
    median to the left, above it to the right). An item whose cut would leave a side with fewer
    than k records makes way for the next in width; among equally wide ones the item order
    decides. Widths are shares of the whole column's, and a null counts as the level below the
    scale. Nothing is drawn: every seed gives the same release.
    """

    name: ClassVar[str] = "mondrian"

    def group(self, points: Points, seed: int) -> Ints:
        """Cut the records into groups; see `mondrian_groups`."""
        return mondrian_groups(points.dense(copies=_COPIES), self.k)


def mondrian_groups(matrix: Array, k: int) -> Ints:
    """Group the rows of a matrix by strict Mondrian.

    >>> rows = np.array([[1, 1], [5, 1], [2, 1], [5, 1], [5, 1]], dtype=np.uint8)
    >>> mondrian_groups(rows, 2).tolist()
    [0, 0, 0, 0, 0]
    >>> mondrian_groups(rows[:4], 2).tolist()
    [0, 1, 0, 1]
    """
    return strict_parts(positions(matrix)[0], k)
