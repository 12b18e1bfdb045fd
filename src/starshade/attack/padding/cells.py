"""The cells of some groups beside the truth: who of the group rated what."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from starshade.attack.padding.auc import auc
from starshade.attack.padding.result import OfRank
from starshade.attack.profiles import shown_values
from starshade.attack.roles import Roles, truth_on
from starshade.ratings.table import Ratings
from starshade.release.profile.profiles import Profiles

__all__ = ["PaddedCells", "padded_cells"]


@dataclass(frozen=True, eq=False)
class PaddedCells:
    """The cells looked at, row by row; those of items that the original lacks are not judged.

    `shown` (groups, items): NaN for null. `known` (items,): which items are judged. `raters`,
    `sizes`, `popularity` (judged cells,): members of the group who rated the item, members, people
    who rated the item. `group`, `item` (judged cells,).
    """

    shown: NDArray[np.float64]
    known: NDArray[np.bool_]
    raters: NDArray[np.float64]
    sizes: NDArray[np.float64]
    popularity: NDArray[np.float64]
    group: NDArray[np.int64]
    item: NDArray[np.int64]

    @property
    def anywhere(self) -> NDArray[np.int64]:
        """One number for all cells: all are compared with each other."""
        return np.zeros(len(self.item), dtype=np.int64)

    def judged(self, score: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the scores of the cells that are judged."""
        return score[:, self.known].ravel()

    def ranked(self, rank: int, score: NDArray[np.float64]) -> OfRank:
        """Return what ranking by these scores achieves."""
        some, none = (self.raters > 0).astype(float), (self.raters == 0).astype(float)
        return OfRank(
            rank, auc(score, some, none, self.anywhere), auc(score, some, none, self.item)
        )


def padded_cells(
    data: Ratings | Profiles,
    roles: Roles,
    rows: NDArray[np.int64],
    sizes: NDArray[np.int64],
) -> PaddedCells:
    """Count who rated what in these rows."""
    items = data.items
    item_of = items.indices(roles.original.items).astype(np.int32)
    truth = truth_on(roles.original, items, item_of)
    known = np.zeros(len(items), dtype=np.bool_)
    known[item_of[item_of >= 0]] = True
    place = np.full(len(sizes) + 1, -1, dtype=np.int64)  # the last: users without a row
    place[rows] = np.arange(len(rows))
    of_cell = np.repeat(place[roles.row_of_user], truth.user_support)
    there = of_cell >= 0
    flat = of_cell[there] * len(items) + truth.columns[there]
    raters = np.bincount(flat, minlength=len(rows) * len(items)).reshape(len(rows), -1)
    shape = (len(rows), int(known.sum()))
    support = np.bincount(truth.columns, minlength=len(items))[known]
    return PaddedCells(
        shown=shown_values(data, rows),
        known=known,
        raters=raters[:, known].ravel().astype(float),
        sizes=np.repeat(sizes[rows], shape[1]).astype(float),
        popularity=np.tile(support, shape[0]).astype(float),
        group=np.repeat(np.arange(shape[0]), shape[1]),
        item=np.tile(np.arange(shape[1]), shape[0]),
    )
