"""k-Member (Byun, Kamra, Bertino & Li 2007): greedy groups of least range loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from starshade.anonymize.grouping import Grouping
from starshade.anonymize.order import put_back, seeded_order
from starshade.anonymize.points import Points
from starshade.anonymize.positions import positions
from starshade.anonymize.settings import RangeSettings
from starshade.kernels.arrays import Array, Ints
from starshade.kernels.greedy.k_member import grow_clusters, join_cluster

__all__ = ["KMember", "member_groups"]

_COPIES = 5  # of the table: as it is, as places, by column, the one that shrinks, and its next


@dataclass(frozen=True)
class KMember(RangeSettings, Grouping):
    """Grow each group from the record furthest from the last one's, by what costs least range.

    The hierarchy is ``range`` unless another is named.
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
        group[left] = join_cluster(table[:, left].copy(), low, high, sizes)
    return put_back(order, group)
