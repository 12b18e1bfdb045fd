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
from starshade.attack.targets import Attack, Request, nobody_rated
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
        self.refuse(request)
        started = perf_counter()
        shown = _shown(data, request.original, request.link)
        if shown is None:
            raise ConfigError(
                "link existence: without a link nobody can say whose rating an edge was",
                advice="Give the private receipt.",
            )
        return self.found(shown, started)

    @staticmethod
    def refuse(request: Request) -> None:
        """Raise ConfigError where targets were chosen."""
        request.refuse_targets("link existence counts the edges of every group")

    def found(self, shown: Shown, started: float) -> LinkResult:
        """Count the edges of what is shown; `started`: when the attack began."""
        if not shown.linked or not shown.n_ratings:
            raise nobody_rated()
        if shown.linked < shown.records:
            note(
                f"{shown.records - shown.linked:,} records belong to users whom the original "
                "lacks: they count as if they had rated nothing"
            )
        counting = perf_counter()
        tally = self._tally(shown)
        seconds = max(perf_counter() - counting, 1e-9)
        return LinkResult(
            attack=self.name,
            records=shown.records,
            groups=len(shown.sizes),
            targets=shown.linked,
            ineligible=shown.n_users - shown.linked,
            seconds=perf_counter() - started,
            postings_per_second=(tally.looked_at + shown.n_ratings) / seconds,
            config=asdict(self),
            digest=shown.digest(),
            **tally.figures(),
        )

    def _tally(self, shown: Shown) -> Tally:
        tally = Tally(cells=shown.records * len(shown.raters))
        priors = shown.raters / shown.n_users
        if self.prior is not None:
            priors = np.full(len(priors), self.prior)
        with task("counting edges", len(shown.sizes)) as step:
            for block in shown.blocks(_BLOCK):
                edges = block.edges
                p, g = priors[edges.item], shown.sizes[edges.group]
                exact, bound = link_existence_exact(p, g), link_existence_bound(p, g)
                tally.add(edges.edges, edges.raters, g, exact, bound)
                tally.rated_unreleased += block.unreleased
                tally.looked_at += block.looked_at
                step(block.groups)
        return tally


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
