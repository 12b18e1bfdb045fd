"""Whose cells a release changed: what stands beside it tells of them, by subtraction.

Whoever has the release counts the cells of each rating in it. The same count of the ratings as they
are tells how many were changed, so it is told where no one's were, or those of k people or more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from starshade.audit.dossier.data import Bins
from starshade.audit.few import is_few
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.release.cells import Cells
from starshade.release.origin.origin import Origin
from starshade.release.profile.profiles import Profiles
from starshade.release.table import Release

__all__ = ["Shift", "changed_people", "shift_of"]

Floats = NDArray[np.float64]
_SLACK = 1e-6


@dataclass(frozen=True)
class Shift:
    """Cells of each person before, and what the release says of them.

    Attributes
    ----------
    before : ndarray of float64, shape (n_users, 1 + n_bins)
        Cells without a rating, then those in each bin.
    sure, open : ndarray of float64, shape (n_rows, 1 + n_bins)
        Cells that the release says are there, and those that it says may be there.
    rows : ndarray of int64, shape (n_users,), or None
        The released row of each person; None: nobody can tell.
    sizes : ndarray of int64, shape (n_rows,)
        People whom each row stands for.
    after : ndarray of float64, shape (1 + n_bins,)
        Cells in the release, an open one in equal parts.
    """

    before: Floats
    sure: Floats
    open: Floats
    rows: NDArray[np.int64] | None
    sizes: NDArray[np.int64]
    after: Floats

    def behind(self, columns: list[int]) -> int:
        """Return the fewest people, of some, by whom these columns differ; 0: they do not."""
        before, sure, open_ = (
            part[:, columns].sum(axis=1) for part in (self.before, self.sure, self.open)
        )
        if self.rows is not None:
            more = int((before > sure[self.rows] + _SLACK).sum())
            less = int((before < open_[self.rows] - _SLACK).sum())
            return min((n for n in (more, less) if n), default=0)
        away = float(before.sum() - self.after[columns].sum())
        if abs(away) < _SLACK:
            return 0
        held = before if away > 0 else np.repeat(open_, self.sizes)
        return 1 + int(np.searchsorted(np.cumsum(np.sort(held)[::-1]), abs(away) - _SLACK))

    def joined(self, bins: Bins, k: int) -> Bins:
        """Join neighbouring bins until each is told; one is left at last."""
        groups = [[at] for at in range(len(bins.ends))]
        at = 0
        while at < len(groups) and len(groups) > 1:
            if is_few(self.behind([1 + bin_ for bin_ in groups[at]]), k):
                first = min(at, len(groups) - 2)
                groups[first : first + 2] = [groups[first] + groups[first + 1]]
                at = 0
            else:
                at += 1
        place = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
        ends = [(bins.ends[group[0]][0], bins.ends[group[-1]][1]) for group in groups]
        return replace(bins, ends=ends, of_level=place[bins.of_level])


def shift_of(release: Release, part: Ratings, bins: Bins) -> Shift:
    """Count the cells in each bin, before and in the release.

    Parameters
    ----------
    release : Release
    part : Ratings
        What the released people gave to the released items.
    bins : Bins
    """
    scale, width = release.scale, 1 + len(bins.ends)
    user = np.repeat(np.arange(part.n_users), part.user_support)
    place = 1 + bins.place(part.levels, scale)[part.codes]
    before = np.bincount(user * width + place, minlength=part.n_users * width).astype(float)
    before = before.reshape(part.n_users, width)
    before[:, 0] = part.n_items - part.user_support
    classes = release.classes
    if isinstance(classes, Profiles):
        sure = shared = open_ = _of_profiles(classes, scale, bins)
    else:
        sure, shared, open_ = _of_cells(classes, scale, bins)
    rows = Origin(release, part).row_of_user
    return Shift(before, sure, open_, rows, classes.sizes, classes.sizes @ shared)


def _of_profiles(profiles: Profiles, scale: Scale, bins: Bins) -> Floats:
    of_level = np.concatenate([[0], 1 + bins.place(profiles.ratings, scale)])
    found = np.empty((profiles.n_groups, 1 + len(bins.ends)))
    for rows in profiles.blocks():
        columns = of_level[profiles.levels[rows]]
        for column in range(found.shape[1]):
            found[rows, column] = (columns == column).sum(axis=1)
    return found


def _of_cells(cells: Cells, scale: Scale, bins: Bins) -> tuple[Floats, Floats, Floats]:
    """Count cells that are surely in a bin, their parts of it, and cells that may be in it."""
    symbols, width = cells.symbols, 1 + len(bins.ends)
    symbol = np.repeat(np.arange(len(symbols)), symbols.n_members)
    shared = np.bincount(
        symbol * width + 1 + bins.place(symbols.members, scale), minlength=len(symbols) * width
    ).reshape(len(symbols), width)
    shared[:, 0] = symbols.null
    parts = shared / np.maximum(shared.sum(axis=1, keepdims=True), 1)
    row = np.repeat(np.arange(cells.n_groups), np.diff(cells.indptr))
    empty = cells.n_items - np.diff(cells.indptr)
    found: list[Floats] = []
    for of_symbol in (parts == 1, parts, parts > 0):
        weights = of_symbol.astype(np.float64)
        counts = np.empty((cells.n_groups, width))
        for at in range(width):
            counts[:, at] = np.bincount(row, weights[cells.codes, at], cells.n_groups)
        counts[:, 0] += empty
        found.append(counts)
    return found[0], found[1], found[2]


def changed_people(release: Release, part: Ratings) -> dict[str, int]:
    """Count people by what became of their ratings; empty where nobody can tell, or none can be.

    Returns
    -------
    dict
        Name of a loss → people whose ratings it counts.
    """
    rows = Origin(release, part).row_of_user if release.manifest.layout == "record" else None
    if rows is None:
        return {}
    kept = np.flatnonzero(rows >= 0)
    part, shown = part.keep_users(kept), release.cells().keep_rows(rows[kept])
    n_items = part.n_items
    was = np.repeat(np.arange(part.n_users), part.user_support) * n_items + part.columns
    is_ = np.repeat(np.arange(part.n_users), np.diff(shown.indptr)) * n_items + shown.columns
    both, mine, theirs = np.intersect1d(was, is_, assume_unique=True, return_indices=True)
    symbols = shown.symbols
    values = symbols.members[symbols.offsets[:-1]][shown.codes[theirs]]
    other = np.abs(part.levels[part.codes[mine]] - values) > _SLACK
    cells = {
        "ratings_moved": both[other],
        "ratings_suppressed": np.setdiff1d(was, is_, assume_unique=True),
        "ratings_invented": np.setdiff1d(is_, was, assume_unique=True),
    }
    people = {name: len(np.unique(each // n_items)) for name, each in cells.items()}
    together = np.concatenate(list(cells.values()))
    return people | {"distortion_per_record": len(np.unique(together // n_items))}
