"""`RiskResult`: users re-identified by number of known ratings, and the list of high-risk users."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from starshade._version import __version__
from starshade.arguments import typed
from starshade.chart import Chart
from starshade.chart.shapes import Axis, curve_chart
from starshade.errors import ConfigError
from starshade.figure import Rate, Shown, Table, payload
from starshade.plain import counted
from starshade.ratings.places.atomic import atomic_file
from starshade.ratings.places.place import Where
from starshade.ratings.readers.text import Dialect
from starshade.ratings.write import write_table
from starshade.release.folder.digest import digest_of
from starshade.stats import wilson

if TYPE_CHECKING:
    from starshade.attack.shadows.membership_result import MembershipResult
    from starshade.ratings.table import Ratings


@dataclass(frozen=True)
class RiskStep:
    """Result for one number of known ratings.

    `tried`: targets not re-identified by fewer, with enough ratings. `identified`: those of them
    re-identified by this number. `ineligible`: targets not re-identified by fewer, with too few
    ratings.
    """

    known: int
    tried: int
    identified: int
    ineligible: int


@dataclass(frozen=True)
class RiskResult(Shown):
    """Least number of known ratings that re-identifies each user: internal.

    Attributes
    ----------
    attack : str
    records : int
        Records that the adversary sees.
    targets, ineligible : int
        Users attacked; users with too few ratings, or without a record.
    draws : int
    share : float
        Share of draws in which the record of a re-identified user stands out.
    steps : tuple of RiskStep
        By number of known ratings.
    knowledge, config : dict
        Errors of the knowledge; settings of the attack.
    seed : int
    digest : str
        SHA-256 over the original table.
    seconds : float
    users : ndarray of int64, shape (targets,)
        Rows of the original, ascending. This and the next two never enter `to_dict`.
    least : ndarray of int64, shape (targets,)
        The least number that re-identifies each; 0: none of the tested numbers.
    identified : ndarray of float64, shape (targets,)
        Share of draws in which each stood out with this number; 0 where `least` is.
    version : str
    """

    attack: str
    records: int
    targets: int
    ineligible: int
    draws: int
    share: float
    steps: tuple[RiskStep, ...]
    knowledge: dict[str, Any]
    config: dict[str, Any]
    seed: int
    digest: str
    seconds: float
    users: NDArray[np.int64] = field(repr=False, compare=False)
    least: NDArray[np.int64] = field(repr=False, compare=False)
    identified: NDArray[np.float64] = field(repr=False, compare=False)
    version: str = field(default=__version__)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON values; nothing in it is about a single user.

        `at_most` is the share of targets re-identified by this number or fewer.
        """
        return payload(self) | {
            "steps": [payload(step) | {"at_most": rate.to_dict()} for step, rate in self._rates()],
            "never": self.never,
        }

    @property
    def never(self) -> int:
        """Targets not re-identified by any tested number."""
        return self.targets - sum(step.identified for step in self.steps)

    def _rates(self) -> Iterable[tuple[RiskStep, Rate]]:
        counts = accumulate(step.identified for step in self.steps)
        return ((s, wilson(n, self.targets)) for s, n in zip(self.steps, counts, strict=True))

    def __str__(self) -> str:
        shares = ", ".join(f"{rate} by {step.known}" for step, rate in self._rates())
        phi, how = self.config.get("phi"), "only their record matches"
        if phi is not None:
            how = f"their record stands out at φ = {phi:g}"
        text = (
            f"{self.attack} on {counted(self.records, 'record')}, "
            f"{counted(self.targets, 'target')} "
            f"({self.knowledge['name']}). Re-identified ({how} in at least {self.share:.0%} of "
            f"{self.draws} draws) by at most this many known ratings: {shares}. Re-identified by "
            f"none of these: {self.never:,} targets"
        )
        short = self.steps[-1].ineligible
        if short:
            text += f"; {short:,} of them have fewer than {self.steps[-1].known} ratings"
        if phi is None:
            return f"{text}."
        return (
            f"{text}. The others are not necessarily safe: this attack answers only where a record "
            "stands out, while a label-based attack often finds a unique match."
        )

    def plot(self) -> Chart:
        """Draw the share of people re-identified by the number of known ratings."""
        points = [(step.known, rate.rate, rate.low, rate.high) for step, rate in self._rates()]
        return curve_chart(
            "Re-identification by number of known ratings",
            f"{counted(self.records, 'record')}, "
            f"{counted(self.targets, 'target')}; {self.knowledge['name']}",
            {"": points},
            Axis("known ratings per person", zero=False, whole=True),
            Axis("share re-identified by at most this many", share=True),
        )

    @property
    def tables(self) -> tuple[Table, ...]:
        """People re-identified by each number of known ratings."""
        rows = (
            (f"{step.known:,}", f"{step.identified:,}", str(rate), f"{step.tried:,}")
            for step, rate in self._rates()
        )
        head = ("known ratings", "newly re-identified", "by at most this many", "tested")
        return (Table("Re-identification by number of known ratings", head, tuple(rows)),)

    def _headline(self) -> str:
        return "Re-identification by number of known ratings"


@typed
def save_risk_list(result: RiskResult | MembershipResult, ratings: Ratings, path: Where) -> int:
    """Write the list of high-risk users: those re-identified by some number of known ratings.

    CSV, private (mode 0600 from the first byte on): ``user, least_known, share_identified``, the
    least number first, then in canonical order. For membership inference ``user, membership,
    ratings``: all users, with their TPR at 1 % FPR over the releases that contain them (all
    ratings known; empty for members of no counted release) and their number of ratings of the
    catalogue, the highest TPR first.

    Parameters
    ----------
    result : RiskResult or MembershipResult
    ratings : Ratings
        The original table of the result.
    path : path
        Must not exist, and not lie inside a release; links are followed.

    Returns
    -------
    int
        Users on the list.

    Raises
    ------
    ConfigError
        `ratings` do not belong to the result.
    OutputError
        The file exists, lies inside a release, or cannot be written; nothing is left behind.
    """
    if digest_of(ratings) != result.digest:
        raise ConfigError(
            "the list of high-risk users: these ratings do not belong to the result",
            advice="Give the attacked table, or the original of the attacked release.",
        )
    if isinstance(result, RiskResult):
        head, columns = _of_risk(result, ratings)
    else:
        head, columns = _of_membership(result)
    with atomic_file(path, 0o600) as file:
        write_table(file, Dialect(",", True), head, columns)
    return len(columns[0])


def _of_risk(result: RiskResult, ratings: Ratings) -> tuple[list[str], list[list[Any]]]:
    order = np.lexsort((result.users, result.least))
    listed = order[result.least[order] > 0]
    names = [ratings.users[user] for user in result.users[listed].tolist()]
    columns = [names, result.least[listed].tolist(), result.identified[listed].tolist()]
    return ["user", "least_known", "share_identified"], columns


def _of_membership(result: MembershipResult) -> tuple[list[str], list[list[Any]]]:
    own = result.everything.own
    if own is None:
        return ["user", "membership", "ratings"], [[], [], []]
    order = np.lexsort((own.users, -np.nan_to_num(own.found, nan=-1.0)))
    found = ["" if np.isnan(each) else each for each in own.found[order].tolist()]
    names = [own.ids[user] for user in own.users[order].tolist()]
    return ["user", "membership", "ratings"], [names, found, own.ratings[order].tolist()]
