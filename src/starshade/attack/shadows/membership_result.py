"""`MembershipResult`: how well people in a release can be told from people who are not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from starshade.attack.result import RECORDS
from starshade.attack.shadows.resampled import Ranking
from starshade.attack.shadows.result import ASKED, SHADOWS_MADE, ShadowFound
from starshade.chart import Chart
from starshade.chart.shapes import Axis, curve_chart
from starshade.figure import Figure, Rate, Renamed, Table
from starshade.plain import counted, percent
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary

HEADLINE = 0.01  # share of false alarms that verdicts are on
WORST = "the worst tenth by activity"
_NAMED = "the most active tenth", "the least active quarter"


@dataclass(frozen=True)
class Alarm(Renamed):
    """How many members are found where so many outsiders are taken for members.

    `fpr`: the share of outsiders. `tpr`: of members. `rough`: it rests on fewer than ten false
    alarms.
    """

    fpr: float
    tpr: Rate
    rough: bool = False

    def __str__(self) -> str:
        return f"{self.tpr}{' (rough)' * self.rough}"


@dataclass(frozen=True, eq=False)
class OfPeople:
    """How often each person is found at 1 % false alarms, in the releases that they are in.

    `users` (people,): of those who have the `ids`. `found` (people,): a share, NaN of who is a
    member of none that counts. `ratings` (people,): that they gave on the catalogue.
    """

    ids: Vocabulary
    users: NDArray[np.int64]
    found: NDArray[np.float64]
    ratings: NDArray[np.int64]

    @classmethod
    def of(cls, rankings: Sequence[Ranking], truth: Ratings, users: NDArray[np.int64]) -> OfPeople:
        """Count at the threshold of each ranking; `users`: of the truth, the people ranked."""
        times, found = np.zeros(len(users)), np.zeros(len(users))
        for each in rankings:
            above = each.score > each.threshold(HEADLINE)
            times += np.bincount(each.person[each.member], minlength=len(users))
            found += np.bincount(each.person[each.member & above], minlength=len(users))
        shares = found / np.where(times > 0, times, np.nan)
        return cls(truth.users, users, shares, truth.user_support[users])

    @property
    def groups(self) -> dict[str, tuple[float, int]]:
        """Mean share found and number of people, by how many ratings they gave.

        Quarters and the most active tenth, and of all tenths the one that is found most.
        """
        there = np.flatnonzero(~np.isnan(self.found))
        order = there[np.lexsort((self.users[there], self.ratings[there]))]
        quarters, tenths = (np.array_split(self.found[order], parts) for parts in (4, 10))
        names = (
            "the least active quarter",
            "the second quarter",
            "the third quarter",
            "the most active quarter",
        )
        out = dict(zip(names, quarters, strict=True)) | {"the most active tenth": tenths[-1]}
        out[WORST] = max(tenths, key=_mean)
        return {name: (_mean(found), len(found)) for name, found in out.items() if len(found)}


def _mean(found: NDArray[np.float64]) -> float:
    return float(found.mean()) if len(found) else -1.0


@dataclass(frozen=True)
class MembershipAt(Renamed):
    """What is achieved with so many ratings of each person known.

    `known`: None: all that the person gave of the catalogue. `members`, `non_members`: different
    people. `auc`: over all releases; None: not measured, for this `reason`. `by`: the score.
    `tpr_at_fpr`: at several shares of false alarms. `epsilon`: a lower bound, 95 % sure, and `curve`:
    shares of false alarms and of members found, of all ratings known. `own`: of each person.
    """

    known: int | None
    members: int
    non_members: int
    auc: Rate | None
    by: Literal["offline", "online"] = "offline"
    tpr_at_fpr: tuple[Alarm, ...] = ()
    epsilon: float | None = None
    curve: tuple[tuple[float, float], ...] = ()
    own: OfPeople | None = field(default=None, repr=False, compare=False)
    reason: str = ""

    @property
    def title(self) -> str:
        """What is known, in words."""
        return "all ratings known" if self.known is None else f"{self.known} ratings known"

    def at(self, alarms: float) -> Alarm | None:
        """Return what is found at this share of false alarms; None: not measured."""
        return next((each for each in self.tpr_at_fpr if each.fpr == alarms), None)


_AUC = Figure(
    "auc",
    "A member ranked above somebody who is not in it (AUC)",
    "share",
    True,
    "50% is nothing learnt; high: that somebody is in the release can be told.",
)
_FIGURES = (
    RECORDS,
    SHADOWS_MADE,
    ASKED,
    _AUC,
    Figure(
        "epsilon",
        "Least ε, 95 % sure",
        "ratio",
        True,
        "0 is nothing shown; no differential privacy with an ε below it can be claimed.",
    ),
)


@dataclass(frozen=True, kw_only=True)
class MembershipResult(ShadowFound):
    """How well an adversary tells who is in a release (definitions, "membership").

    It is the method that is measured, on releases of random halves of the people. A lower bound:
    more shadows, and an adversary who knows more of the others, find more.

    Attributes
    ----------
    attack, seconds, read_seconds, config, digest, version
        As in `AttackResult`.
    records : int
        Of the release under attack.
    targets, ineligible : int
        People asked about, and the other users of the original.
    shadows : int
        Releases that each is compared with.
    catalogue : int
        Items that all of them have.
    by_known : tuple of MembershipAt
        With 4, 8, 20 and all ratings known, and as many as the knowledge says; all last.
    knowledge : dict
        Which items may be known.
    seed : int
    """

    by_known: tuple[MembershipAt, ...]

    @property
    def everything(self) -> MembershipAt:
        """What is achieved with all ratings known, which was chosen before anything was tried."""
        return self.by_known[-1]

    @property
    def auc(self) -> Rate | None:
        """The AUC with all ratings known."""
        return self.everything.auc

    @property
    def epsilon(self) -> float | None:
        """The lower bound of ε with all ratings known."""
        return self.everything.epsilon

    def _own(self) -> dict[str, Any]:
        own = self.everything.own
        return {
            **super()._own(),
            "auc": None if self.auc is None else self.auc.to_dict(),
            "epsilon": self.epsilon,
            "by_activity": {}
            if own is None
            else {name: at for name, (at, _) in own.groups.items()},
        }

    def __str__(self) -> str:
        head = (
            f"{self.attack} on {counted(self.records, 'record')}: {self.shadows + 1:,} releases of "
            "random halves of the people were made in the same way, and of "
            f"{counted(self.targets, 'person', 'people')} it was asked which of them they are in."
        )
        if self.auc is None:
            return f"{head} Nothing could be measured: {self.everything.reason}."
        return " ".join([head, *self._sentences()])

    def _sentences(self) -> Iterator[str]:
        each = [
            f"{at.auc} with {at.title} ({counted(at.members, 'person', 'people')})"
            for at in self.by_known
            if at.auc is not None
        ]
        yield (
            "Of two people, one in a release and one not, an adversary who compares how well they "
            "fit it with how well they fit the others names the right one in "
            f"{', '.join(each)} of the cases (nothing learnt: 50 %)."
        )
        for at in self.by_known:
            if (alarm := at.at(HEADLINE)) and (at.known in (8, None)):
                yield f"With 1 % false alarms {alarm} of the members are found with {at.title}."
        if self.everything.own is not None:
            groups = self.everything.own.groups
            parts = [f"{percent(groups[name][0])} of {name}" for name in _NAMED if name in groups]
            rough = alarm is not None and alarm.rough
            yield f"With all ratings known these are {' and '.join(parts)}{' (rough)' * rough}."
        if self.epsilon:
            yield (
                f"With all ratings known, no differential privacy with an ε below "
                f"{self.epsilon:.2f} can be claimed of the method (95 % sure)."
            )
        yield (
            f"These are lower bounds, by {counted(self.shadows, 'shadow release')}: more usually "
            "find more; rough figures rest on fewer than ten false alarms. The method is measured "
            "at half of the people; an adversary who cannot make such releases knows less, and one "
            "who knows more of the other people finds more."
        )

    @property
    def found(self) -> tuple[Figure, ...]:
        """Every figure, with its title, its unit and what high and low mean."""
        return (
            *self._of(*_FIGURES),
            *(
                Figure(
                    f"tpr_at_{each.fpr:g}",
                    f"Members found at {100 * each.fpr:g} % false alarms"
                    + " (rough)" * each.rough,
                    "share",
                    True,
                    f"{100 * each.fpr:g} % is nothing learnt.",
                ).of(each.tpr, reason="rough: fewer than ten false alarms" * each.rough)
                for each in self.everything.tpr_at_fpr
            ),
        )

    @property
    def tables(self) -> tuple[Table, ...]:
        """What is achieved with other numbers of known ratings, and of whom."""
        alarms = [each.fpr for each in self.by_known[-1].tpr_at_fpr]
        head = ("known", "people in it", "AUC", *(f"found at {100 * a:g} %" for a in alarms))
        rows = []
        for at in self.by_known:
            shares = [f"{percent(a.tpr.rate)}{'*' * a.rough}" for a in at.tpr_at_fpr]
            shares += ["–"] * (len(alarms) - len(shares))
            auc = at.reason if at.auc is None else percent(at.auc.rate)
            rows.append((at.title, f"{at.members:,}", auc, *shares))
        known = Table(
            "How much is known (*: rough, on fewer than ten false alarms)", head, tuple(rows)
        )
        own = self.everything.own
        if own is None:
            return (known,)
        people = tuple((name, f"{n:,}", percent(at)) for name, (at, n) in own.groups.items())
        alarm = self.everything.at(HEADLINE)
        rough = " (rough)" * (alarm is not None and alarm.rough)
        title = f"Who is found, with all ratings known{rough}"
        return known, Table(title, ("who", "people", "found at 1 %"), people)

    def plot(self) -> Chart:
        """Draw how many members are found at how many false alarms, both on log axes."""
        points = [p for p in self.everything.curve if p[1] > 0]
        return curve_chart(
            "Who is in the release?",
            f"{counted(self.targets, 'person', 'people')}, {counted(self.shadows, 'shadow')}, all "
            "ratings known",
            {"found": points, "nothing learnt": [(share, share) for share, _ in points]},
            Axis("people not in it taken for members", share=True, zero=False, log=True),
            Axis("members found", share=True, zero=False, log=True),
        )

    def _headline(self) -> str:
        return f"{self.attack}: 50 % is nothing learnt"
