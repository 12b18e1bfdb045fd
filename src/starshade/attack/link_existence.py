"""Link existence: did the people behind a released edge rate the item? (PA §6)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import pairwise
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from starshade.arguments import numbers
from starshade.attack.knowledge import Knowledge
from starshade.attack.link_result import LinkResult, Tally
from starshade.attack.settings import LinkExistenceSettings
from starshade.attack.targets import Attack, Request
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
from starshade.errors import ConfigError
from starshade.kernels.arrays import fixed
from starshade.kernels.attack.agreement import (
    Edges,
    count_edges,
    members_of,
    rated_unreleased,
)
from starshade.kernels.columns import count_raters
from starshade.naming import called
from starshade.progress import note, task
from starshade.ratings.table import Ratings
from starshade.release.cells import Cells
from starshade.release.folder.digest import digest_of
from starshade.release.profiles import Profiles
from starshade.release.table import Link, Release

_BLOCK = 2**21  # cells treated together


@dataclass(frozen=True)
class LinkExistence(LinkExistenceSettings, Attack[LinkResult]):
    """Ask of every released edge how many of the users it may belong to really rated the item.

    The adversary has found a person's group, by whatever they know, and reads in it that an item
    was rated. Of the g users of the group j did rate it: j/g is how sure the edge makes them
    that this person did. Beside it stands what PA's theorems say of it.

    Parameters
    ----------
    prior : float or None
        Probability, in [0, 1], that a user rated an item, known beforehand. None: for each item
        the share of the original's users who rated it, because popularity is what an outsider
        can look up (PA's own example is one film's share of IMDb's users).

    Raises
    ------
    ConfigError
        A prior outside its range.

    Notes
    -----
    An edge is a record and an item whose cell has a member that is no null. A group is what the
    method put together; on a rating table each user is one. Without a prior an adversary says
    1/g (Thm 6.2); with prior p, users rating independently, p/(1 - (1-p)^g), at most
    1/g + p/(2 - gp) where p ≤ 1/g (Thm 6.3). Neither bounds what data give, where users of a
    group were put together because they are similar: a comparison, never an assertion. Where
    an edge is missing, that may prove that there was none: the share for which that is true is
    `missing_true`.

    Everything is counted: nothing is drawn, no targets are chosen, and knowledge plays no part. A
    release needs its original and the link.
    """

    name: ClassVar[str] = "link-existence"

    def _run(self, data: Ratings | Release, knowledge: Knowledge, request: Request) -> LinkResult:
        request.refuse_targets("link existence counts the edges of every group")
        started = perf_counter()
        shown = _shown(data, request.original, request.link)
        if shown is None:
            raise ConfigError(
                "link existence: without a link nobody can say whose rating an edge was",
                advice="Give the private receipt.",
            )
        linked = int((shown.row_of_user >= 0).sum())
        if not linked or not shown.original.n_ratings:
            raise ConfigError("nobody can be attacked: no user has a record and a rating")
        if linked < shown.records:
            note(
                f"{shown.records - linked:,} records belong to users whom the original "
                "lacks: they count as if they had rated nothing"
            )
        counting = perf_counter()
        tally = self._tally(shown)
        seconds = max(perf_counter() - counting, 1e-9)
        return LinkResult(
            attack=self.name,
            records=shown.records,
            groups=len(shown.groups),
            targets=linked,
            ineligible=shown.original.n_users - linked,
            seconds=perf_counter() - started,
            postings_per_second=(tally.looked_at + shown.original.n_ratings) / seconds,
            config=asdict(self),
            digest=digest_of(shown.original),
            **tally.figures(),
        )

    def _tally(self, shown: Shown) -> Tally:
        tally = Tally(cells=shown.records * shown.n_items)
        priors = self._priors(shown)
        with task("counting edges", len(shown.groups)) as step:
            for block in shown.blocks(_BLOCK):
                edges = block.edges
                p, g = priors[edges.item], shown.groups.sizes[edges.group]
                exact, bound = link_existence_exact(p, g), link_existence_bound(p, g)
                tally.add(edges.edges, edges.raters, g, exact, bound)
                tally.rated_unreleased += block.unreleased
                tally.looked_at += block.looked_at
                step(block.groups)
        return tally

    def _priors(self, shown: Shown) -> NDArray[np.float64]:
        if self.prior is not None:
            return np.full(shown.n_items, self.prior)
        raters = np.bincount(shown.truth.columns, minlength=shown.n_items)
        return np.asarray(raters / shown.truth.n_users)


def _shown(data: Ratings | Release, original: Ratings | None, link: Link | None) -> Shown | None:
    if isinstance(data, Release) and isinstance(data.classes, Profiles):
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
    assert isinstance(cells, Cells)  # profiles have blocks of their own
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
    """Show profiles, each of which is a group, item by item; pairs that are alike are one edge.

    Items that the original lacks are left out: nothing is known of them.
    """
    profiles = known_items(profiles, roles.original.items)
    place = profiles.items.indices(roles.original.items).astype(np.int32)
    table = truth_on(roles.original, profiles.items, place)
    columns, raters = profiles.columns, (fixed(table.by_item.indptr), fixed(table.by_item.users))
    # groups of one size are alike: of each size so many counters as people of it may have rated
    sizes, example, kind = np.unique(profiles.sizes, return_index=True, return_inverse=True)
    starts = below(sizes + 1)
    counted = np.repeat(np.arange(len(sizes)), sizes + 1)
    row_of_user, of_row = fixed(roles.row_of_user), fixed(starts[kind])

    def blocks(size: int) -> Iterator[Block]:
        each = max(1, size // len(counted))
        for first in range(0, columns.n_items, each):
            last = min(first + each, columns.n_items)
            counts = np.zeros((last - first, len(counted)), dtype=np.int64)
            some = (first, last)
            hidden = count_raters(fixed(columns.levels), raters, row_of_user, of_row, some, counts)
            item, at = np.nonzero(counts)
            edges = Edges(
                group=example[counted[at]],
                item=(first + item).astype(np.int32),
                edges=counts[item, at] * sizes[counted[at]],
                raters=at - starts[counted[at]],
            )
            share = (last - first) / columns.n_items
            yield Block(edges, hidden, share * columns.n_groups, int(counts.sum()))

    groups = Groups(np.arange(columns.n_groups), roles.row_of_user, profiles.sizes)
    return Shown(
        roles.original,
        table,
        roles.row_of_user,
        groups,
        profiles.n_records,
        columns.n_items,
        blocks,
    )


_SLACK = 1e-12  # p = 1/g is allowed, and 0.2 is not quite 1/5


def link_existence_exact(p: Any, g: Any) -> NDArray[np.float64]:
    """Return the probability that a user rated, given that one of a group of g did.

    Parameters
    ----------
    p : array_like of float
        Probability, in [0, 1], that a user rated the item, known beforehand; users rate
        independently.
    g : array_like of int
        Users in the group, at least 1.

    Returns
    -------
    ndarray of float64
        p / (1 - (1-p)^g); its limit 1/g where p = 0, which is also what Thm 6.2 has an
        adversary without prior knowledge say.

    Raises
    ------
    ConfigError
        p or g outside its range.

    Examples
    --------
    >>> round(float(link_existence_exact(0.05, 5)), 5)
    0.22102
    """
    p, g = _checked(p, g)
    with np.errstate(divide="ignore", invalid="ignore"):
        somebody = -np.expm1(g * np.log1p(-p))  # 1 - (1-p)^g, exact for small p too
        return np.asarray(np.where(p > 0, p / somebody, 1 / g))


def link_existence_bound(p: Any, g: Any) -> NDArray[np.float64]:
    """Return the bound 1/g + p/(2 - g·p) on `link_existence_exact` (PA Thm 6.3).

    Parameters
    ----------
    p, g : array_like
        As in `link_existence_exact`.

    Returns
    -------
    ndarray of float64
        NaN where p > 1/g, of which the theorem says nothing.

    Raises
    ------
    ConfigError
        p or g outside its range.

    Examples
    --------
    >>> round(float(link_existence_bound(0.2, 5)), 5)
    0.4
    """
    p, g = _checked(p, g)
    within = p * g <= 1 + _SLACK
    return np.where(within, 1 / g + p / np.where(within, 2 - g * p, 1.0), np.nan)


def _checked(p: Any, g: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    p, g = numbers("p", p), numbers("g", g)
    if not ((p >= 0) & (p <= 1)).all():
        raise ConfigError(f"{called('prior')}: a probability, from 0 to 1")
    if not (np.isfinite(g) & (g >= 1)).all():
        raise ConfigError("group size: at least 1")
    return p, g
