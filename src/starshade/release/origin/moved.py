"""Released ratings beside the true ones, cell by cell: layout "record" with its link."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from starshade.kernels.csr import keep_columns
from starshade.ratings.table import Ratings
from starshade.release.table import Link, Release

__all__ = ["Moved", "moved_cells", "places_in"]


@dataclass(frozen=True, eq=False)
class Moved:
    """What became of the ratings of the linked users, on the items that both tables have.

    Attributes
    ----------
    records : int
        Linked users.
    true, shown : ndarray of float64, shape (cells in both,)
        Ratings before and after.
    item : ndarray of int64, shape (cells in both,)
        Released item of each.
    suppressed, invented : ndarray of int64
        Released items of true ratings without a released one, and the other way round.
    """

    records: int
    true: NDArray[np.float64]
    shown: NDArray[np.float64]
    item: NDArray[np.int64]
    suppressed: NDArray[np.int64]
    invented: NDArray[np.int64]

    @property
    def invented_share(self) -> float:
        """Share of the released ratings that are invented."""
        return len(self.invented) / max(len(self.shown) + len(self.invented), 1)


def moved_cells(release: Release, original: Ratings, link: Link) -> Moved:
    """Compare a release of layout "record" with the ratings that it was made of.

    Parameters
    ----------
    release : Release
        Of layout "record".
    original : Ratings
        The table that the release was made from, or one that contains it.
    link : Link
        Users whom `original` lacks are left out.
    """
    classes = release.cells()
    same = original.users == link.users
    user = np.arange(len(link.users)) if same else original.users.indices(link.users)
    there = np.flatnonzero(user >= 0)
    item_of = classes.items.indices(original.items)
    both = item_of >= 0
    indptr, columns, codes, _ = keep_columns(
        original.indptr, original.columns, original.codes, None, both
    )
    true = _rows(indptr, item_of[both][columns], original.levels[codes], user[there])
    members = classes.symbols.members[classes.symbols.offsets[:-1]]
    common = np.zeros(classes.n_items, dtype=np.bool_)
    common[item_of[both]] = True
    kept = common[classes.columns]
    before = np.concatenate([[0], np.cumsum(kept)])
    shown = _rows(
        before[classes.indptr],
        classes.columns[kept].astype(np.int64),
        members[classes.codes[kept]],
        link.record[there],
    )
    place = places_in(true[0], true[1], shown[0], shown[1], classes.n_items)
    found = place >= 0
    gone = np.ones(len(true[1]), dtype=np.bool_)
    gone[place[found]] = False
    return Moved(
        records=len(there),
        true=true[2][place[found]],
        shown=shown[2][found],
        item=shown[1][found],
        suppressed=true[1][gone],
        invented=shown[1][~found],
    )


def places_in(
    indptr: NDArray[np.int64],
    columns: NDArray[np.integer],
    other_indptr: NDArray[np.int64],
    other_columns: NDArray[np.integer],
    n_items: int,
) -> NDArray[np.int64]:
    """Return where each cell of another table of the same rows is in this one; -1: nowhere."""
    if np.array_equal(indptr, other_indptr) and np.array_equal(columns, other_columns):
        return np.arange(len(columns))
    own, other = (
        np.repeat(np.arange(len(ends) - 1), np.diff(ends)) * n_items + items
        for ends, items in ((indptr, columns), (other_indptr, other_columns))
    )
    place = np.searchsorted(own, other)
    return np.where(np.append(own, -1)[place] == other, place, -1)


def _rows(
    indptr: NDArray[np.int64],
    columns: NDArray[np.int64],
    values: NDArray[np.float64],
    rows: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Take rows of a sparse table, in the order given."""
    lengths = np.diff(indptr)[rows]
    ends = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    cells = np.repeat(indptr[rows] - ends[:-1], lengths) + np.arange(ends[-1])
    return ends, columns[cells], values[cells]
