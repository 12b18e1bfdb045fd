"""The rivals that KL compares with: Mondrian (strict and relaxed cuts) and k-Member.

See the definitions, "mondrian".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from starshade.anonymize.grouping import Grouping
from starshade.anonymize.order import put_back, seeded_order
from starshade.anonymize.points import Points, positions
from starshade.anonymize.settings import RangeSettings
from starshade.kernels.arrays import Array, Ints
from starshade.kernels.baselines import grow_clusters, relaxed_parts, strict_parts
from starshade.kernels.small import join

_MONDRIAN_COPIES = 6  # of the table: as it is, as places (up to four bytes each)


@dataclass(frozen=True)
class Mondrian(RangeSettings, Grouping):
    """Cut records at the median of the widest item while both parts keep k.

    The hierarchy is ``range`` unless another is named or the scale is fine.
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
        return mondrian_groups(points.dense(copies=_MONDRIAN_COPIES), self.k)


def mondrian_groups(matrix: Array, k: int) -> Ints:
    """Group the rows of a matrix by strict Mondrian.

    >>> rows = np.array([[1, 1], [5, 1], [2, 1], [5, 1], [5, 1]], dtype=np.uint8)
    >>> mondrian_groups(rows, 2).tolist()
    [0, 0, 0, 0, 0]
    >>> mondrian_groups(rows[:4], 2).tolist()
    [0, 1, 0, 1]
    """
    return strict_parts(positions(matrix)[0], k)


@dataclass(frozen=True)
class MondrianRelaxed(RangeSettings, Grouping):
    """Cut records into halves by the widest item while both parts keep k.

    The hierarchy is ``range`` unless another is named or the scale is fine.
    For the parameters see `starshade.anonymize.grouping.Grouping`.

    Notes
    -----
    As `starshade.anonymize.baselines.Mondrian`, but the records with the median rating are shared
    out so that both sides are halves (the left one has the odd record): who comes earlier in a
    permutation that the seed and the records' content decide goes left. Equal records are not cut.
    """

    name: ClassVar[str] = "mondrian-relaxed"

    def group(self, points: Points, seed: int) -> Ints:
        """Cut the records into groups; see `relaxed_groups`."""
        order = seeded_order(points.n_records, seed, self.name)
        return relaxed_groups(points.dense(copies=_MONDRIAN_COPIES), self.k, order)


def relaxed_groups(matrix: Array, k: int, order: NDArray[np.integer]) -> Ints:
    """Group the rows of a matrix by relaxed Mondrian.

    >>> rows = np.array([[1], [5], [5], [5]], dtype=np.uint8)
    >>> relaxed_groups(rows, 2, np.array([3, 2, 1, 0])).tolist()
    [0, 1, 1, 0]
    """
    return relaxed_parts(positions(matrix)[0], k, np.asarray(order, dtype=np.int64))


_COPIES = 5  # of the table: as it is, as places, by column, the one that shrinks, and its next


@dataclass(frozen=True)
class KMember(RangeSettings, Grouping):
    """Grow each group from a distant record, each time by the record that widens it least.

    The hierarchy is ``range`` unless another is named or the scale is fine.
    For the parameters see `starshade.anonymize.grouping.Grouping`.

    Notes
    -----
    A group of e records costs |e|·Σ_j range_j/column_j, where range_j is what it spans of item j
    and column_j what all records do; a null counts as the level below the scale. The first
    record is the first in a permutation that the seed and the records' content decide, and which
    settles all ties. The time grows with the square of the records.
    """

    name: ClassVar[str] = "k-member"

    def group(self, points: Points, seed: int) -> Ints:
        """Group the records greedily; see `member_groups`."""
        order = seeded_order(points.n_records, seed, self.name)
        return member_groups(points.dense(copies=_COPIES), self.k, order)


def member_groups(matrix: Array, k: int, order: NDArray[np.integer]) -> Ints:
    """Group the rows of a matrix by k-Member, meeting them in a given order.

    `order` (n,): a permutation of the rows; the first group grows from the first of them.

    >>> rows = np.array([[1, 1], [5, 4], [1, 2], [5, 5], [4, 4]], dtype=np.uint8)
    >>> member_groups(rows, 2, np.arange(5)).tolist()
    [0, 1, 0, 1, 1]
    """
    places, unit = positions(matrix)
    table = np.ascontiguousarray(places[order].T)
    group, low, high = grow_clusters(table, unit, k)
    sizes = np.full(len(low), k, dtype=np.int64)
    for left in np.flatnonzero(group < 0).tolist():
        group[left] = join(table[:, left].copy(), low, high, sizes)
    return put_back(order, group)
