"""Who was put together: the groups behind the rows that an adversary sees."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from starshade.attack.view import View
from starshade.ratings.table import Ratings
from starshade.release.table import Release

__all__ = ["Groups", "groups_of"]


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups of records.

    `of_row` (n_rows,): the group of each released row. `of_user` (n_users,): the group of each user
    of the original; -1 where it is unknown or they have none. `sizes` (n_groups,): records in each
    group.
    """

    of_row: NDArray[np.int64]
    of_user: NDArray[np.int64]
    sizes: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.sizes)


def groups_of(data: Ratings | Release, view: View) -> Groups:
    """Find the groups: what a method put together where records were released one by one.

    Elsewhere a row is a group: a class of a generalized release, a profile, or one user of a
    rating table.
    """
    rows = view.row_of_user
    of_row = np.arange(view.cells.n_groups)
    if isinstance(data, Release) and data.groups is not None:
        of_row = np.asarray(data.groups, dtype=np.int64)
    sizes = np.bincount(of_row, weights=view.cells.sizes).astype(np.int64)
    return Groups(of_row, np.where(rows < 0, -1, of_row[rows]), sizes)
