"""`RiskResult`: how few known cells identify how many users, and the list of those to hold back."""

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
    """What came of one number of known cells.

    `tried`: targets whom fewer cells did not identify, and of whom so many can be known.
    `identified`: those among them for whom so many are enough. `ineligible`: targets whom fewer
    cells did not identify, and of whom so many cannot be known.
    """

    known: int
    tried: int
    identified: int
    ineligible: int


@dataclass(frozen=True)
class RiskResult(Shown):
    """How few known cells are enough, user by user: internal.

    Attributes
    ----------
    attack : str
    records : int
        Records that the adversary sees.
    targets, ineligible : int
        Users attacked; users of whom not even the fewest cells can be known, or without record.
    draws : int
    share : float
        A user is identified when their record stands out in this share of the draws.
    steps : tuple of RiskStep
        By number of known cells.
    knowledge, config : dict
        How exact the knowledge is; the attack's settings.
    seed : int
    digest : str
        SHA-256 over the original table.
    seconds : float
    users : ndarray of int64, shape (targets,)
        Rows of the original, ascending. This and the next two never enter `to_dict`.
    least : ndarray of int64, shape (targets,)
        The least number of cells that identifies each; 0 where none of those tried does.
    identified : ndarray of float64, shape (targets,)
        Share of the draws in which each stood out with so many; 0 where `least` is.
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

        `at_most` is the share of targets whom so many cells, or fewer, identify.
        """
        return payload(self) | {
            "steps": [payload(step) | {"at_most": rate.to_dict()} for step, rate in self._rates()],
            "never": self.never,
        }

    @property
    def never(self) -> int:
        """Targets whom none of the numbers tried identifies."""
        return self.targets - sum(step.identified for step in self.steps)

    def _rates(self) -> Iterable[tuple[RiskStep, Rate]]:
        counts = accumulate(step.identified for step in self.steps)
        return ((s, wilson(n, self.targets)) for s, n in zip(self.steps, counts, strict=True))

    def __str__(self) -> str:
        shares = ", ".join(f"{rate} by {step.known}" for step, rate in self._rates())
        phi, how = self.config.get("phi"), "no record but theirs agrees with what is known"
        if phi is not None:
            how = f"their record stands out by the attack's φ = {phi:g}"
        text = (
            f"{self.attack} on {counted(self.records, 'record')}, "
            f"{counted(self.targets, 'target')} "
            f"({self.knowledge['name']}): identified, that is {how} in at least "
            f"{self.share:.0%} of {self.draws} draws, by so many known cells or fewer: {shares}. "
            f"Identified by none of these numbers: {self.never:,} of the targets"
        )
        short = self.steps[-1].ineligible
        if short:
            text += f"; {short:,} of them have fewer than {self.steps[-1].known} cells to know"
        if phi is None:
            return f"{text}."
        return (
            f"{text}. Whoever is not identified so is not safe for that: this attack answers only "
            "where a record stands out, while the label-based one often finds that a single record "
            "fits."
        )

    def plot(self) -> Chart:
        """Draw how many people so many known ratings, or fewer, identify."""
        points = [(step.known, rate.rate, rate.low, rate.high) for step, rate in self._rates()]
        return curve_chart(
            "How few facts identify how many people",
            f"{counted(self.records, 'record')}, "
            f"{counted(self.targets, 'target')}; {self.knowledge['name']}",
            {"": points},
            Axis("ratings known of a person", zero=False, whole=True),
            Axis("share identified by so many or fewer", share=True),
        )

    @property
    def tables(self) -> tuple[Table, ...]:
        """How many people each number of known cells identifies."""
        rows = (
            (f"{step.known:,}", f"{step.identified:,}", str(rate), f"{step.tried:,}")
            for step, rate in self._rates()
        )
        head = ("known cells", "identified first by so many", "by so many or fewer", "tried")
        return (Table("How few known cells are enough", head, tuple(rows)),)

    def _headline(self) -> str:
        return "How few facts identify how many people"


@typed
def save_risk_list(result: RiskResult | MembershipResult, ratings: Ratings, path: Where) -> int:
    """Write the users to hold back: those whom some number of known cells identifies.

    CSV, for the owner's eyes alone (mode 0600 from the first byte on): ``user, least_known,
    share_identified``, the least number first, then in canonical order. Of a membership attack
    ``user, membership, ratings``: everybody, with the share of the releases containing them in
    which they are found at 1 % false alarms (all ratings known; empty of who is in none that
    counts) and how many ratings they gave of the items there, the most found first.

    Parameters
    ----------
    result : RiskResult or MembershipResult
    ratings : Ratings
        The original table that the result is about.
    path : path
        Must not exist, and not lie inside a release; links are followed.

    Returns
    -------
    int
        Users on the list.

    Raises
    ------
    ConfigError
        `ratings` are not those that the result is about.
    OutputError
        The file exists, lies inside a release, or cannot be written; nothing is left behind.
    """
    if digest_of(ratings) != result.digest:
        raise ConfigError(
            "the risk list: these are not the ratings that the result is about",
            advice="Give the very table that was attacked (or that the release was made of).",
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
