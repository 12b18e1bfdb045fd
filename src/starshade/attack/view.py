"""What the adversary sees, and who is who in it (definitions, "credit")."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from starshade.attack.layout import contents_of, rows_of, truth_of
from starshade.attack.profiles import released_cells
from starshade.attack.roles import roles_of, truth_on
from starshade.errors import ConfigError
from starshade.kernels.attack.agreement import count_outside
from starshade.kernels.profiles import first_equal_row
from starshade.ratings.table import ByItem, Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.cells import Cells, cells_of
from starshade.release.match.match import Match
from starshade.release.table import Link, Release

__all__ = ["View", "look", "look_unjudged"]


@dataclass(frozen=True, eq=False)
class View:
    """The data as an adversary sees them, beside the truth that judges the answers.

    `original`: the true table; targets are its users. See `look_unjudged` where it is not known.
    `cells`: rows as they were released, each standing for one or more records. `postings`: the same
    cells item by item. `repeats`: rows that equal an earlier one, ascending: the others are the
    distinct *profiles*. `copies` (n_rows,): records of all rows that equal a row, itself included.
    `row_of_user` (n_users,): the row of each user of the original; -1 where it is unknown or they
    have none. `item_of` (n_items,): where each item of the original is among the released ones; -1
    where it is not. `credit`: whether `row_of_user` is known. `ungeneralized`: the rows are the
    original's own.
    """

    original: Ratings
    cells: Cells
    postings: ByItem
    repeats: NDArray[np.int64]
    copies: NDArray[np.int64]
    row_of_user: NDArray[np.int64]
    item_of: NDArray[np.int32]
    credit: Literal["linked", "compatible"]
    ungeneralized: bool

    @cached_property
    def support(self) -> NDArray[np.int64]:
        """|supp(i)| as the adversary sees it, per released item."""
        cells = self.cells
        if cells.symbols.has_rating.all() and (cells.sizes == 1).all():
            return np.diff(self.postings.indptr)
        return cells.support

    def places(self, items: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return where items of the original are among the released ones; -1: nowhere."""
        return np.where(items >= 0, self.item_of[items], -1).astype(np.int32)

    def truth(self) -> Ratings:
        """Return the original on the released items, numbered as there; no user is dropped."""
        return truth_on(self.original, self.cells.items, self.item_of)


def look(data: Ratings | Release, original: Ratings | None, link: Link | None) -> View:
    """Show data to an adversary.

    `original`: the truth behind a release; None for a rating table, which is its own. `link`: who
    became which record of a release; None: the one that a release just made carries.
    """
    roles = roles_of(data, original, link)
    truth = roles.original
    if isinstance(data, Ratings):
        rows = roles.row_of_user
        return _see(truth, cells_of(data), rows, "linked", data.by_item, ungeneralized=True)
    view = _see(truth, released_cells(data, truth.items), roles.row_of_user, roles.credit)
    if roles.credit == "compatible":
        return view
    if data.manifest.layout == "generalized":
        _refuse_foreign_link(view)
    Match(data, truth, link).refuse_changed_link()
    return view


def look_unjudged(data: Ratings | Release) -> View:
    """Show data to an adversary whose answers nobody can judge: there is no original.

    In its place stands a table of one person of whom nothing is true. Targets are all this
    person: number 0, without a row.
    """
    cells = cells_of(data) if isinstance(data, Ratings) else released_cells(data)
    nobody = Ratings(
        scale=cells.symbols.scale,
        users=Vocabulary(np.zeros(1, dtype=np.int64)),
        items=cells.items,
        indptr=np.zeros(2, dtype=np.int64),
        columns=np.empty(0, dtype=np.int32),
        codes=np.empty(0, dtype=np.uint8),
        levels=np.empty(0),
    )
    postings = data.by_item if isinstance(data, Ratings) else None
    return _see(nobody, cells, np.full(1, -1, dtype=np.int64), "compatible", postings)


def _refuse_foreign_link(view: View) -> None:
    """Refuse a link under which some user's true row is not in the class they should be in."""
    both = np.zeros(view.cells.n_items, dtype=np.bool_)
    both[view.item_of[view.item_of >= 0]] = True
    outside = count_outside(
        view.row_of_user,
        rows_of(view.cells),
        truth_of(view.truth()),
        contents_of(view.cells.symbols),
        both,
    )
    if outside:
        linked = int((view.row_of_user >= 0).sum())
        raise ConfigError(
            f"{outside:,} of {linked:,} users whom the link names do not fit the class that it "
            "gives them: link and ratings do not belong together",
            advice="Give the ratings that the release was made from, with the ids they had then.",
        )


def _see(
    original: Ratings,
    cells: Cells,
    row_of_user: NDArray[np.int64],
    credit: Literal["linked", "compatible"],
    postings: ByItem | None = None,
    *,
    ungeneralized: bool = False,
) -> View:
    first = first_equal_row(cells.indptr, cells.columns, cells.codes, cells.days)
    # whole numbers below 2**53 are exact in float64, which is what bincount sums in
    records = np.bincount(first, weights=cells.sizes).astype(np.int64)
    return View(
        original=original,
        cells=cells,
        postings=cells.by_item if postings is None else postings,
        repeats=np.flatnonzero(first != np.arange(len(first))),
        copies=records[first],
        row_of_user=row_of_user,
        item_of=cells.items.indices(original.items).astype(np.int32),
        credit=credit,
        ungeneralized=ungeneralized,
    )
