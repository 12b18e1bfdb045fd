"""Released edges class by class, and the number of members who rated the item."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from starshade.attack.view import (
    NO_DAYS,
    Groups,
    Roles,
    View,
    below,
    groups_of,
    known_items,
    look,
    roles_of,
    rows_of,
    truth_of,
    truth_on,
)
from starshade.kernels.arrays import fixed
from starshade.kernels.attack.agreement import (
    Edges,
    count_edges,
    members_of,
    rated_unreleased,
)
from starshade.kernels.columns import count_raters
from starshade.ratings.table import Ratings
from starshade.release.cells import Cells
from starshade.release.folder.digest import digest_of
from starshade.release.profiles import Profiles
from starshade.release.table import Link, Release


def shown_of(data: Ratings | Release, original: Ratings | None, link: Link | None) -> Shown | None:
    """Show data; None: without a link nobody can say who is behind a record."""
    if isinstance(data, Ratings):
        truth = roles_of(data, original, link).original
        return shown_ratings(truth.n_users, truth.item_support, lambda: digest_of(truth))
    if isinstance(data.classes, Profiles):
        roles = roles_of(data, original, link)
        return None if roles.credit == "compatible" else shown_profiles(data.classes, roles)
    view = look(data, original, link)
    return None if view.credit == "compatible" else shown_view(view, groups_of(data, view))


@dataclass(frozen=True, eq=False)
class Block:
    """What some groups show.

    `edges`: its `group` is numbered as in `Shown`; it may stand for all of its size. `unreleased`:
    original ratings of their members that the members' records do not show. `groups`, `looked_at`:
    how many groups, or parts of them, and cells.
    """

    edges: Edges
    unreleased: int
    groups: float
    looked_at: int


@dataclass(frozen=True, eq=False)
class Shown:
    """What is shown, and what is counted of the people behind it.

    `n_users`, `n_ratings`: of the original; `linked`: its users who have a record. `raters`
    (n_items,): users who rated each released item. `sizes` (n_groups,): records of each group, of
    all `records`. `blocks`: cells looked at together → the blocks, group by group. `digest`: tells
    the original's.
    """

    n_users: int
    n_ratings: int
    linked: int
    raters: NDArray[np.int64]
    sizes: NDArray[np.int64]
    records: int
    blocks: Callable[[int], Iterator[Block]]
    digest: Callable[[], str]


def shown_ratings(n_users: int, raters: NDArray[np.int64], digest: Callable[[], str]) -> Shown:
    """Show ratings as they are: each user is a group, of whom all is true; so counts will do."""
    n_ratings, rated = int(raters.sum()), np.flatnonzero(raters)

    def blocks(_size: int) -> Iterator[Block]:
        edges = Edges(
            group=np.zeros(len(rated), dtype=np.int64),
            item=rated.astype(np.int32),
            edges=raters[rated],
            raters=np.ones(len(rated), dtype=np.int64),
        )
        yield Block(edges, 0, n_users, n_ratings)

    return Shown(
        n_users=n_users,
        n_ratings=n_ratings,
        linked=n_users,
        raters=raters,
        sizes=np.broadcast_to(np.int64(1), n_users),
        records=n_users,
        blocks=blocks,
        digest=digest,
    )


def shown_view(view: View, groups: Groups) -> Shown:
    """Show cells that are in memory as sparse rows, of one or more rows a group."""
    cells, table = view.cells, view.truth()
    assert isinstance(cells, Cells)  # profiles have blocks of their own
    rated = fixed(cells.symbols.has_rating)
    truth = truth_of(table)._replace(days=NO_DAYS)
    rows = rows_of(cells)._replace(days=NO_DAYS)
    of_group, sizes = members_of(groups.of_row, len(groups)), fixed(cells.sizes)
    users = members_of(groups.of_user, len(groups))

    def blocks(size: int) -> Iterator[Block]:
        held = np.bincount(groups.of_row, weights=np.diff(rows.indptr), minlength=len(groups))
        ends = np.cumsum(held)
        cuts = np.searchsorted(ends, np.arange(1, math.ceil(ends[-1] / size)) * size)
        # the ratings that nobody shows are counted at once, with the first block
        unreleased = int(rated_unreleased(rows, rated, view.row_of_user, truth))
        for start, stop in pairwise(np.unique([0, *cuts.tolist(), len(groups)]).tolist()):
            edges = count_edges(
                start, stop, of_group, users, rows, sizes, rated, truth, cells.n_items
            )
            yield Block(edges, unreleased, stop - start, int(held[start:stop].sum()))
            unreleased = 0

    original = view.original
    return Shown(
        n_users=original.n_users,
        n_ratings=original.n_ratings,
        linked=int((view.row_of_user >= 0).sum()),
        raters=np.bincount(table.columns, minlength=table.n_items),
        sizes=groups.sizes,
        records=cells.n_records,
        blocks=blocks,
        digest=lambda: digest_of(original),
    )


def shown_profiles(profiles: Profiles, roles: Roles) -> Shown:
    """Show profiles, each of which is a group, item by item; pairs that are alike are one edge.

    Items that the original lacks are left out: nothing is known of them.
    """
    original = roles.original
    profiles = known_items(profiles, original.items)
    place = profiles.items.indices(original.items).astype(np.int32)
    cells = truth_on(original, profiles.items, place).by_item
    columns, counters = profiles.columns, Counters.of(profiles)
    raters, row_of_user = (fixed(cells.indptr), fixed(cells.users)), fixed(roles.row_of_user)

    def count(first: int, last: int) -> tuple[NDArray[np.int64], int]:
        counts = np.zeros((last - first, len(counters)), dtype=np.int64)
        some = (first, last)
        levels = fixed(columns.levels)
        return counts, count_raters(levels, raters, row_of_user, counters.of_row, some, counts)

    return Shown(
        n_users=original.n_users,
        n_ratings=original.n_ratings,
        linked=int((roles.row_of_user >= 0).sum()),
        raters=np.diff(cells.indptr),
        sizes=profiles.sizes,
        records=profiles.n_records,
        blocks=lambda size: counters.blocks(size, profiles, count),
        digest=lambda: digest_of(original),
    )


@dataclass(frozen=True, eq=False)
class Counters:
    """Groups of one size are alike: of each size as many counters as people of it may have rated.

    `sizes`, `example` (n_sizes,): the sizes, and a group of each. `starts` (n_sizes + 1,): where
    the counters of each begin. `of_row` (n_groups,): where those of each group begin.
    """

    sizes: NDArray[np.int64]
    example: NDArray[np.int64]
    starts: NDArray[np.int64]
    of_row: NDArray[np.int64]

    @classmethod
    def of(cls, profiles: Profiles) -> Counters:
        """Lay them out."""
        sizes, example, kind = np.unique(profiles.sizes, return_index=True, return_inverse=True)
        starts = below(sizes + 1)
        return cls(sizes, example, starts, fixed(starts[kind]))

    def __len__(self) -> int:
        return int(self.starts[-1])

    def blocks(
        self,
        size: int,
        profiles: Profiles,
        count: Callable[[int, int], tuple[NDArray[np.int64], int]],
    ) -> Iterator[Block]:
        """Count pairs of a group and an item, some items at a time, about `size` counters.

        `count`: the first item, and past the last → counters of each, and ratings that are hidden.
        """
        counted = np.repeat(np.arange(len(self.sizes)), self.sizes + 1)
        each = max(1, size // len(self))
        for first in range(0, profiles.n_items, each):
            last = min(first + each, profiles.n_items)
            counts, hidden = count(first, last)
            item, at = np.nonzero(counts)
            edges = Edges(
                group=self.example[counted[at]],
                item=(first + item).astype(np.int32),
                edges=counts[item, at] * self.sizes[counted[at]],
                raters=at - self.starts[counted[at]],
            )
            share = (last - first) / profiles.n_items
            yield Block(edges, hidden, share * profiles.n_groups, int(counts.sum()))
