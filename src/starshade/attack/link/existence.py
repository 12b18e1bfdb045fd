"""Link existence: did the people behind a released edge rate the item? (PA §6)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from time import perf_counter
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from starshade.attack.groups import groups_of
from starshade.attack.knowledge import Knowledge
from starshade.attack.link.edges import Shown, shown_profiles, shown_view
from starshade.attack.link.result import LinkResult, Tally
from starshade.attack.link.theorems import link_existence_bound, link_existence_exact
from starshade.attack.roles import roles_of
from starshade.attack.settings import LinkExistenceSettings
from starshade.attack.targets import Asked, Attack
from starshade.attack.view import look
from starshade.errors import ConfigError
from starshade.progress import note, task
from starshade.ratings.table import Ratings
from starshade.release.folder.receipt import digest_of
from starshade.release.profile.profiles import Profiles
from starshade.release.table import Link, Release

__all__ = ["LinkExistence"]

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

    def _run(self, data: Ratings | Release, knowledge: Knowledge, asked: Asked) -> LinkResult:
        asked.refuse_targets("link existence counts the edges of every group")
        started = perf_counter()
        shown = _shown(data, asked.original, asked.link)
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
