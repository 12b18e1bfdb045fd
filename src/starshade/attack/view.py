"""The data as an adversary sees them, and the link to people (definitions, "credit")."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from starshade.errors import ConfigError
from starshade.kernels.arrays import fixed
from starshade.kernels.attack.agreement import (
    NO_LEVELS,
    Contents,
    Rows,
    Truth,
    count_outside,
)
from starshade.kernels.attack.candidates import Postings
from starshade.kernels.csr import keep_columns
from starshade.ratings.levels import on_scale
from starshade.ratings.table import ByItem, Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.cells import Cells, Symbols, cells_of
from starshade.release.columns import Columns
from starshade.release.match.match import Match
from starshade.release.profiles import Profiles
from starshade.release.table import Link, Release


@dataclass(frozen=True, eq=False)
class View:
    """The data as an adversary sees them, and the truth that scores the answers.

    `original`: the true table; targets are its users. See `look_unjudged` where it is not known.
    `cells`: rows as they were released, each standing for one or more records; of profiles item by
    item. `postings`: the same cells item by item, where there is such a list; see `held`.
    `row_of_user` (n_users,): the row of each user of the original; -1 where it is unknown or they
    have none. `item_of` (n_items,): where each item of the original is among the released ones; -1
    where it is not. `credit`: whether `row_of_user` is known. `ungeneralized`: the rows are the
    original's own. `first` (n_rows,): of each row the first that counts as equal; None: that equals
    it cell by cell.
    """

    original: Ratings
    cells: Cells | Columns
    postings: ByItem | None
    row_of_user: NDArray[np.int64]
    item_of: NDArray[np.int32]
    credit: Literal["linked", "compatible"]
    ungeneralized: bool
    first: NDArray[np.int64] | None = None

    @cached_property
    def repeats(self) -> NDArray[np.int64]:
        """Rows that equal an earlier one, ascending: the others are the distinct *profiles*."""
        return np.flatnonzero(self._first != np.arange(self.cells.n_groups))

    @cached_property
    def copies(self) -> NDArray[np.int64]:
        """Records of all rows that equal a row, itself included, shape (n_rows,)."""
        # whole numbers below 2**53 are exact in float64, which is what bincount sums in
        records = np.bincount(self._first, weights=self.cells.sizes).astype(np.int64)
        return records[self._first]

    @property
    def most(self) -> float:
        """Upper bound of re-identification: 1 / the smallest number of equal records."""
        if self.ungeneralized or self.credit != "linked":
            return 1.0
        return 1 / max(1, int(self.copies.min(initial=self.cells.n_records)))

    @property
    def _first(self) -> NDArray[np.int64]:
        return self.cells.first_equal if self.first is None else self.first

    @cached_property
    def support(self) -> NDArray[np.int64]:
        """|supp(i)| as the adversary sees it, per released item."""
        if self.postings is not None:
            return np.diff(self.postings.indptr)
        return self.cells.support

    def held(self, items: NDArray[np.integer]) -> ByItem:
        """List the cells of these released items (-1 is none); others may be there as well."""
        return self.cells.held(items) if self.postings is None else self.postings

    def batches(self, items: NDArray[np.integer], most: int) -> Iterator[slice]:
        """Cut targets, of whom `items` (targets, known) are known, into at most so many at once.

        Fewer where the cells to be `held` are too many.
        """
        return self.cells.batches(items, most)

    def places(self, items: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return where items of the original are among the released ones; -1: nowhere."""
        return np.where(items >= 0, self.item_of[items], -1).astype(np.int32)

    def truth(self) -> Ratings:
        """Return the original on the released items, numbered as there; no user is dropped."""
        return self._truth

    @cached_property
    def _truth(self) -> Ratings:
        return truth_on(self.original, self.cells.items, self.item_of)


def look(data: Ratings | Release, original: Ratings | None, link: Link | None) -> View:
    """Return data as an adversary sees them.

    `original`: the truth behind a release; None for a rating table, which is its own. `link`: who
    became which record of a release; None: the one that a release just made carries.
    """
    roles = roles_of(data, original, link)
    truth = roles.original
    if isinstance(data, Ratings):
        rows = roles.row_of_user
        return view_of(truth, cells_of(data), rows, "linked", data.by_item, ungeneralized=True)
    view = view_of(truth, released_cells(data, truth.items), roles.row_of_user, roles.credit)
    if roles.credit == "compatible":
        return view
    if data.manifest.layout == "generalized":
        _refuse_foreign_link(view)
    Match(data, truth, link).refuse_changed_link()
    return view


def of_released(view: View) -> tuple[View, NDArray[np.int64]]:
    """Restrict the truth of a release to its items and its people, as an audit does.

    People: who has a record; where that is unknown, who rated one of the items. Also returns the
    row of each in the original.
    """
    truth, scale = view.truth(), view.cells.symbols.scale
    linked = view.credit == "linked"
    users = np.flatnonzero(view.row_of_user >= 0 if linked else truth.user_support)
    if len(users) < truth.n_users:
        truth = truth.keep_users(users)
    if scale.contains(truth.levels[np.unique(truth.codes)]).all():  # not all where some were moved
        truth = on_scale(truth, scale)
    if truth is view.original:
        return view, users
    return view_of(truth, view.cells, view.row_of_user[users], view.credit), users


def look_unjudged(data: Ratings | Release) -> View:
    """Return data as an adversary sees them, without an original to score answers.

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
    return view_of(nobody, cells, np.full(1, -1, dtype=np.int64), "compatible", postings)


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
            f"{outside:,} of {linked:,} linked users do not match their class: link and ratings do "
            "not belong together",
            advice="Give the original ratings of the release, with their original ids.",
        )


def view_of(
    original: Ratings,
    cells: Cells | Columns,
    row_of_user: NDArray[np.int64],
    credit: Literal["linked", "compatible"],
    postings: ByItem | None = None,
    *,
    ungeneralized: bool = False,
) -> View:
    """Show rows of cells to an adversary; parameters as in `View`."""
    return View(
        original=original,
        cells=cells,
        postings=postings,
        row_of_user=row_of_user,
        item_of=cells.items.indices(original.items).astype(np.int32),
        credit=credit,
        ungeneralized=ungeneralized,
    )


@dataclass(frozen=True, eq=False)
class Roles:
    """The truth behind what an adversary sees.

    `original`: the true table; targets are its users. `row_of_user` (n_users,): the row of each
    user of the original; -1 where it is unknown or they have none. `credit`: whether `row_of_user`
    is known.
    """

    original: Ratings
    row_of_user: NDArray[np.int64]
    credit: Literal["linked", "compatible"]


def roles_of(data: Ratings | Release, original: Ratings | None, link: Link | None) -> Roles:
    """Say who is who; parameters and errors as in `starshade.attack.view.look`."""
    if isinstance(data, Ratings):
        if (original is not None and original is not data) or link is not None:
            raise ConfigError(
                "a rating table is attacked with its own truth",
                advice="Omit the original and the link; they belong to a release.",
            )
        return Roles(data, np.arange(data.n_users), "linked")
    if original is None:
        raise ConfigError(
            "an attack on a release needs the original ratings",
            advice="Give the original; known ratings and the scoring of answers need it.",
        )
    origin = Match(data, original, link)
    origin.refuse_unknown_users()
    rows = origin.row_of_user
    if rows is None:
        return Roles(original, np.full(original.n_users, -1, dtype=np.int64), "compatible")
    return Roles(original, rows, "linked")


def truth_on(original: Ratings, items: Vocabulary, item_of: NDArray[np.int32]) -> Ratings:
    """Return the original on released items, numbered as there; no user is dropped.

    `item_of` says where each item of the original is among the released ones, -1: it is not.
    """
    released = item_of >= 0
    if released.all() and len(released) == len(items):
        return original
    indptr, columns, codes, days = keep_columns(
        original.indptr, original.columns, original.codes, original.days, released
    )
    return replace(
        original,
        items=items,
        indptr=indptr,
        # both numberings are canonical, so columns stay ascending
        columns=item_of[released][columns],
        codes=codes,
        days=days,
        item_names=None,
    )


NO_DAYS = fixed(np.empty(0, dtype=np.uint16))


def below(counts: NDArray[Any]) -> NDArray[np.int64]:
    """Add up what comes before each; one more than there are."""
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def rows_of(cells: Cells | Columns) -> Rows:
    """Lay out released rows."""
    if isinstance(cells, Columns):
        columns, codes = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.uint8)
        return Rows(
            fixed(below(cells.lengths)), fixed(columns), fixed(codes), NO_DAYS, fixed(cells.levels)
        )
    days = NO_DAYS if cells.days is None else cells.days
    return Rows(
        fixed(cells.indptr), fixed(cells.columns), fixed(cells.codes), fixed(days), NO_LEVELS
    )


def postings_of(held: ByItem) -> Postings:
    """Lay out cells item by item."""
    days = NO_DAYS if held.days is None else held.days
    return Postings(fixed(held.indptr), fixed(held.users), fixed(held.codes), fixed(days))


def truth_of(table: Ratings) -> Truth:
    """Lay out true rows, numbered as the released items."""
    days = NO_DAYS if table.days is None else table.days
    codes, levels = fixed(table.codes), fixed(table.levels)
    return Truth(fixed(table.indptr), fixed(table.columns), codes, levels, fixed(days))


def contents_of(symbols: Symbols) -> Contents:
    """Lay out what cells can say."""
    return Contents(
        fixed(symbols.offsets),
        fixed(symbols.members),
        fixed(symbols.null),
        fixed(symbols.low),
        fixed(symbols.high),
        fixed(symbols.has_rating),
        symbols.scale.minimum,
    )


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
    """Return the classes: the groups of a method where single records were released.

    Elsewhere a row is a group: a class of a generalized release, a profile, or one user of a
    rating table.
    """
    rows = view.row_of_user
    of_row = np.arange(view.cells.n_groups)
    if isinstance(data, Release) and data.groups is not None:
        of_row = np.asarray(data.groups, dtype=np.int64)
    sizes = np.bincount(of_row, weights=view.cells.sizes).astype(np.int64)
    return Groups(of_row, np.where(rows < 0, -1, of_row[rows]), sizes)


#: how far the mean of a group may be from the rating of one of it (definitions, "label")
AVERAGED = 0.5


def averaged(data: Ratings | Release) -> bool:
    """Tell whether cells are means or predictions, not ratings of people."""
    return isinstance(data, Release) and isinstance(data.classes, Profiles)


def moved(data: Ratings | Release) -> bool:
    """Tell whether ratings were moved, so that a cell is only near the truth."""
    if not isinstance(data, Release) or data.manifest.layout != "record":
        return False
    return data.manifest.imputed_cells is not None


def tolerance_of(data: Ratings | Release) -> float:
    """Return how far a rating may be off if nothing is set: `AVERAGED` on profiles, else 0."""
    return AVERAGED if averaged(data) else 0.0


def released_cells(release: Release, items: Vocabulary | None = None) -> Cells | Columns:
    """Return the cells of a release; of profiles item by item, those that are among `items`."""
    classes = release.classes
    if isinstance(classes, Cells):
        return classes
    return (classes if items is None else known_items(classes, items)).columns


def known_items(profiles: Profiles, items: Vocabulary) -> Profiles:
    """Return the items of profiles that are among others."""
    if items == profiles.items:
        return profiles
    place = np.sort(profiles.items.indices(items))
    place = place[place >= 0]
    if not len(place):
        raise ConfigError(
            "the release and the ratings have no item in common",
            advice="Give the ratings that the release was made from.",
        )
    return profiles if len(place) == profiles.n_items else profiles.keep_items(place)


def shown_values(data: Ratings | Profiles, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return what some rows show, shape (len(rows), n_items), NaN for null."""
    if isinstance(data, Profiles):
        return data.values(rows)
    part = data.keep_users(rows)
    out = np.full((part.n_users, part.n_items), np.nan)
    out[np.repeat(np.arange(part.n_users), part.user_support), part.columns] = part.values()
    return out
