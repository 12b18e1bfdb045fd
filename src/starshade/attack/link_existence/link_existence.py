"""Link existence: confidence that members behind a released edge rated the item (PA §6)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from starshade.arguments import numbers
from starshade.attack.knowledge import Knowledge
from starshade.attack.link_existence.edges import Shown, shown_of
from starshade.attack.link_existence.result import LinkResult, Tally
from starshade.attack.settings import LinkExistenceSettings
from starshade.attack.targets import Attack, Request, nobody_rated
from starshade.errors import ConfigError
from starshade.naming import called
from starshade.progress import note, task
from starshade.ratings.table import Ratings
from starshade.release.table import Release

_BLOCK = 2**21  # cells treated together


@dataclass(frozen=True)
class LinkExistence(LinkExistenceSettings, Attack[LinkResult]):
    """Measure for every released edge how many users of the class really rated the item.

    The adversary knows a person's class and reads in it that an item was rated. Of the g users of
    the class j rated it: j/g is the confidence that this person did. It is compared with PA's
    theorems.

    Parameters
    ----------
    prior : float or None
        Prior probability, in [0, 1], that a user rated an item. None: for each item the share of
        the original's users who rated it, because an adversary can look popularity up (PA's own
        example is one film's share of IMDb's users).

    Raises
    ------
    ConfigError
        A prior outside its range.

    Notes
    -----
    An edge is a record and an item whose cell has a member that is no null. A class is what the
    method grouped; on a rating table each user is one. Without a prior an adversary says
    1/g (Thm 6.2); with prior p, users rating independently, p/(1 - (1-p)^g), at most
    1/g + p/(2 - gp) where p ≤ 1/g (Thm 6.3). Neither bounds what data give, where users of a
    class were grouped because they are similar: a comparison, never an assertion. Where
    an edge is missing, that may prove that there was none: the share for which that is true is
    `missing_true`.

    Everything is counted: nothing is drawn, no targets are chosen, and knowledge plays no part. A
    release needs its original and the link.
    """

    name: ClassVar[str] = "link-existence"

    def _run(self, data: Ratings | Release, knowledge: Knowledge, request: Request) -> LinkResult:
        self.refuse(request)
        started = perf_counter()
        shown = shown_of(data, request.original, request.link)
        if shown is None:
            raise ConfigError(
                "link existence is not computable: it needs the private key file",
                advice="Give the private key file.",
            )
        return self.found(shown, started)

    @staticmethod
    def refuse(request: Request) -> None:
        """Raise ConfigError where targets were chosen."""
        request.refuse_targets("link existence counts the edges of every class")

    def found(self, shown: Shown, started: float) -> LinkResult:
        """Count the edges of what is shown; `started`: when the attack began."""
        if not shown.linked or not shown.n_ratings:
            raise nobody_rated()
        if shown.linked < shown.records:
            note(
                f"{shown.records - shown.linked:,} records belong to users missing from the "
                "original; they count as users without ratings"
            )
        counting = perf_counter()
        tally = self._tally(shown)
        seconds = max(perf_counter() - counting, 1e-9)
        return LinkResult(
            attack=self.name,
            records=shown.records,
            classes=len(shown.sizes),
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


_SLACK = 1e-12  # p = 1/g is allowed, and 0.2 is not quite 1/5


def link_existence_exact(p: Any, g: Any) -> NDArray[np.float64]:
    """Return the probability that a user rated, given that some user of a class of g did.

    Parameters
    ----------
    p : array_like of float
        Probability, in [0, 1], that a user rated the item, known beforehand; users rate
        independently.
    g : array_like of int
        Users in the class, at least 1.

    Returns
    -------
    ndarray of float64
        p / (1 - (1-p)^g); its limit 1/g where p = 0, which is also the confidence without prior
        knowledge (Thm 6.2).

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
        NaN where p > 1/g, to which the theorem does not apply.

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
        raise ConfigError(f"{called('prior')}: must be a probability from 0 to 1")
    if not (np.isfinite(g) & (g >= 1)).all():
        raise ConfigError("class size: must be at least 1")
    return p, g
