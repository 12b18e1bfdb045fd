"""k-Likeness (Riyana & Natwichai 2018, Algorithms 1-3; definitions, "k-likeness")."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from starshade.anonymize.grouping import Grouping
from starshade.anonymize.order import put_back, seeded_order
from starshade.anonymize.points import Points, is_sparse, sparse_rows
from starshade.kernels.arrays import Array, Ints
from starshade.kernels.likeness.likeness import distances, nucleus_groups
from starshade.kernels.likeness.sparse import SparseRows, sparse_distances, sparse_nucleus_groups

_COPIES = 4  # of the table: by user, by item, as words of bits, and laid out


@dataclass(frozen=True)
class KLikeness(Grouping):
    """Group k similar records and release their generalization.

    For the parameters see `starshade.anonymize.grouping.Grouping`.

    Notes
    -----
    Distances are L1 over the released items, a null counting as the level below the scale. Ties
    go to the record that comes earlier in a permutation that the seed and the records' content
    decide. Where most cells are null, distances are computed from the sparse rows; the groups are
    the same.
    """

    name: ClassVar[str] = "k-likeness"

    def group(self, points: Points, seed: int) -> Ints:
        """Group the records around nuclei; see `likeness_groups`."""
        order = seeded_order(points.n_records, seed, self.name)
        if is_sparse(points, _COPIES):
            return sparse_likeness_groups(sparse_rows(points, order), self.k, order)
        return likeness_groups(points.dense(copies=_COPIES), self.k, order)


def likeness_groups(matrix: Array, k: int, order: NDArray[np.integer]) -> Ints:
    """Group the rows of a matrix by k-Likeness, meeting them in a given order.

    `matrix` (uint8, uint16 or float64 (n, n_items)): null is a number as well. The type must hold
    the L1 distance of any two rows. `order` (n,): a permutation of the rows: the nucleus is always
    the first that is left in it, and it settles ties.

    >>> rows = np.array([[1], [5], [1], [5], [4]], dtype=np.uint8)
    >>> likeness_groups(rows, 2, np.arange(5)).tolist()
    [0, 1, 0, 1, 1]
    """
    n = len(matrix)
    if n <= 2 * k - 1:
        return np.zeros(n, dtype=np.int64)
    table = np.ascontiguousarray(matrix[order].T)
    place, n_groups = nucleus_groups(table, k)
    _join(place, n_groups, lambda left: distances(table, table[:, left].copy()))
    return put_back(order, place)


def sparse_likeness_groups(rows: SparseRows, k: int, order: NDArray[np.integer]) -> Ints:
    """Group sparse rows by k-Likeness: the groups of `likeness_groups` on the full table."""
    n = len(order)
    if n <= 2 * k - 1:
        return np.zeros(n, dtype=np.int64)
    place, n_groups = sparse_nucleus_groups(rows, k)
    _join(place, n_groups, lambda left: sparse_distances(rows, left))
    return put_back(order, place)


def _join(place: Ints, n_groups: int, away: Callable[[int], Array]) -> None:
    """Let each record left over join the group of least sum of distances (KL Eq. 6)."""
    for left in np.flatnonzero(place < 0).tolist():
        member = place >= 0
        # float64 is exact for sums of integers; on real scales members add in order
        weights = away(left)[member].astype(np.float64)
        place[left] = np.bincount(place[member], weights=weights, minlength=n_groups).argmin()
