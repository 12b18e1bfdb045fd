"""Released ratings beside the true ones, cell by cell: layout "record" with its link."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from starshade.kernels.csr import keep_columns, keep_rows
from starshade.kernels.lookup import places_in
from starshade.ratings.table import Ratings
from starshade.release.table import Link, Release

__all__ = ["Changes", "changed_cells"]


@dataclass(frozen=True, eq=False)
class Changes:
    """What became of the ratings of the linked users, on the items that both tables have.

    `records`: linked users. `true`, `shown` (cells in both,): ratings before and after. `item`
    (cells in both,): released item of each. `suppressed`, `invented`: released items of true
    ratings without a released one, and the other way round.
    """

    records: int
    true: NDArray[np.float64]
    shown: NDArray[np.float64]
    item: NDArray[np.int32]
    suppressed: NDArray[np.int32]
    invented: NDArray[np.int32]

    @property
    def invented_share(self) -> float:
        """Share of the released ratings that are invented."""
        return len(self.invented) / max(len(self.shown) + len(self.invented), 1)


def changed_cells(release: Release, original: Ratings, link: Link) -> Changes:
    """Compare a release of layout "record" with the ratings that it was made of, or with more.

    `link`: users whom `original` lacks are left out.
    """
    classes = release.cells()
    user = original.users.indices(link.users)
    there = np.flatnonzero(user >= 0)
    item_of = classes.items.indices(original.items)
    both = item_of >= 0
    indptr, columns, codes, _ = keep_columns(
        original.indptr, original.columns, original.codes, None, both
    )
    items = item_of[both][columns].astype(np.int32)
    true = keep_rows(indptr, items, original.levels[codes], None, user[there])
    members = classes.symbols.members[classes.symbols.offsets[:-1]]
    common = np.zeros(classes.n_items, dtype=np.bool_)
    common[item_of[both]] = True
    kept = common[classes.columns]
    before = np.concatenate([[0], np.cumsum(kept)])
    shown = keep_rows(
        before[classes.indptr],
        classes.columns[kept],
        members[classes.codes[kept]],
        None,
        link.record[there],
    )
    place = places_in(true[0], true[1], shown[0], shown[1], classes.n_items)
    linked = place >= 0
    gone = np.ones(len(true[1]), dtype=np.bool_)
    gone[place[linked]] = False
    return Changes(
        records=len(there),
        true=true[2][place[linked]],
        shown=shown[2][linked],
        item=shown[1][linked],
        suppressed=true[1][gone],
        invented=shown[1][~linked],
    )
