"""Edges of a release, block by block of its groups: who shows an item, and who rated it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from starshade.attack.groups import Groups
from starshade.attack.layout import NO_DAYS, rows_of, truth_of
from starshade.attack.profiles import known_items
from starshade.attack.roles import Roles, truth_on
from starshade.attack.view import View
from starshade.kernels.attack.links import Edges, Members, count_edges, members_of, rated_unreleased
from starshade.kernels.readonly import fixed
from starshade.ratings.table import Ratings
from starshade.release.profile.profiles import Profiles

__all__ = ["Block", "Shown", "shown_profiles", "shown_view"]


@dataclass(frozen=True, eq=False)
class Block:
    """What some groups show.

    `edges`: its `group` is numbered as in `Shown`. `unreleased`: original ratings of their members
    that the members' records do not show. `groups`, `looked_at`: how many groups, and cells.
    """

    edges: Edges
    unreleased: int
    groups: int
    looked_at: int


@dataclass(frozen=True, eq=False)
class Shown:
    """What is shown, and the people behind it.

    `original`, `truth`: as given, and on the released items, numbered as there. `row_of_user`
    (n_users,). `blocks`: cells looked at together → the blocks, group by group.
    """

    original: Ratings
    truth: Ratings
    row_of_user: NDArray[np.int64]
    groups: Groups
    records: int
    n_items: int
    blocks: Callable[[int], Iterator[Block]]


def shown_view(view: View, groups: Groups) -> Shown:
    """Show cells that are in memory as sparse rows, of one or more rows a group."""
    cells, table = view.cells, view.truth()
    rated = fixed(cells.symbols.has_rating)
    truth = truth_of(table, ratings=False)._replace(days=NO_DAYS)
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

    return Shown(
        view.original, table, view.row_of_user, groups, cells.n_records, cells.n_items, blocks
    )


def shown_profiles(profiles: Profiles, roles: Roles) -> Shown:
    """Show profiles, each of which is a group; only one block of them is ever laid out as rows.

    Items that the original lacks are left out: nothing is known of them.
    """
    profiles = known_items(profiles, roles.original.items)
    place = profiles.items.indices(roles.original.items).astype(np.int32)
    table = truth_on(roles.original, profiles.items, place)
    truth = truth_of(table, ratings=False)._replace(days=NO_DAYS)
    row_of_user, n = roles.row_of_user, profiles.n_groups
    users = members_of(row_of_user, n)

    def blocks(size: int) -> Iterator[Block]:
        for part in profiles.blocks(size):
            start, stop = part.start, part.stop
            cells = profiles.cells(np.arange(start, stop))
            rows, rated = rows_of(cells), fixed(cells.symbols.has_rating)
            alone = np.arange(stop - start + 1)
            edges = count_edges(
                0,
                stop - start,
                Members(alone, alone[:-1]),
                Members(fixed(users.indptr[start : stop + 1]), users.members),
                rows,
                fixed(cells.sizes),
                rated,
                truth,
                cells.n_items,
            )
            own = np.where((row_of_user >= start) & (row_of_user < stop), row_of_user - start, -1)
            yield Block(
                edges._replace(group=edges.group + start),
                int(rated_unreleased(rows, rated, own, truth)),
                stop - start,
                len(cells.columns),
            )

    groups = Groups(np.arange(n), row_of_user, profiles.sizes)
    return Shown(
        roles.original, table, row_of_user, groups, profiles.n_records, profiles.n_items, blocks
    )
