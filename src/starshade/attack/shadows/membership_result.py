"""`MembershipResult`: the figures of membership inference."""

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

HEADLINE = 0.01  # false-positive rate of thresholds in policies
WORST = "the worst tenth by activity"
_NAMED = "the most active tenth", "the least active quarter"


@dataclass(frozen=True)
class Alarm(Renamed):
    """True-positive rate at a false-positive rate.

    `fpr`: share of non-members taken for members. `tpr`: share of members recognised. `rough`:
    based on fewer than ten false positives.
    """

    fpr: float
    tpr: Rate
    rough: bool = False

    def __str__(self) -> str:
        return f"{self.tpr}{' (rough)' * self.rough}"


@dataclass(frozen=True, eq=False)
class OfPeople:
    """True-positive rate of each person at 1 % FPR, over the releases that contain them.

    `users` (people,): of those who have the `ids`. `found` (people,): a share, NaN for members of
    no counted release. `ratings` (people,): their ratings on the catalogue.
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
        """Mean TPR and number of people, by number of ratings.

        Quarters, the most active tenth, and the tenth with the highest TPR.
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
    """Membership inference with a number of known ratings per person.

    `known`: None: all ratings of the catalogue. `members`, `non_members`: different people. `auc`:
    over all releases; None: not measured, for this `reason`. `by`: the score. `tpr_at_fpr`: at
    several false-positive rates. `epsilon`: a lower bound at 95 % confidence, and `curve`: pairs of
    FPR and TPR, both with all ratings known. `own`: of each person.
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
        """The known ratings, as text."""
        return "all ratings known" if self.known is None else f"{self.known} ratings known"

    def at(self, alarms: float) -> Alarm | None:
        """Return the TPR at this false-positive rate; None: not measured."""
        return next((each for each in self.tpr_at_fpr if each.fpr == alarms), None)


_AUC = Figure(
    "auc",
    "Membership inference (AUC)",
    "share",
    True,
    "Probability of ranking a member above a non-member; 50%: guessing.",
)
_FIGURES = (
    RECORDS,
    SHADOWS_MADE,
    ASKED,
    _AUC,
    Figure(
        "epsilon",
        "Lower bound of ε (95 % confidence)",
        "ratio",
        True,
        "The method has no differential privacy with a smaller ε; 0: nothing shown.",
    ),
)


@dataclass(frozen=True, kw_only=True)
class MembershipResult(ShadowFound):
    """Result of membership inference (definitions, "membership").

    The attack measures the method, on releases of random halves of the people. Figures are lower
    bounds: more shadow releases, or an adversary who knows more of the other people, achieve more.

    Attributes
    ----------
    attack, seconds, read_seconds, config, digest, version
        As in `AttackResult`.
    records : int
        Records of the attacked release.
    targets, ineligible : int
        People tested, and the other users of the original.
    shadows : int
        Shadow releases per target release.
    catalogue : int
        Items of all of them.
    by_known : tuple of MembershipAt
        With 4, 8, 20 and all ratings known, and the number of the knowledge; all last.
    knowledge : dict
        Items that may be known.
    seed : int
    """

    by_known: tuple[MembershipAt, ...]

    @property
    def everything(self) -> MembershipAt:
        """The result with all ratings known, chosen in advance as the headline."""
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
            f"{self.attack} on {counted(self.records, 'record')}, by {self.shadows + 1:,} releases "
            "of random halves of the people. Tested on "
            f"{counted(self.targets, 'person', 'people')}."
        )
        if self.auc is None:
            return f"{head} Not measured: {self.everything.reason}."
        return " ".join([head, *self._sentences()])

    def _sentences(self) -> Iterator[str]:
        each = [
            f"{at.auc} with {at.title} ({counted(at.members, 'person', 'people')})"
            for at in self.by_known
            if at.auc is not None
        ]
        yield (
            "Probability of ranking a member above a non-member (AUC; guessing: 50 %): "
            f"{', '.join(each)}."
        )
        for at in self.by_known:
            if (alarm := at.at(HEADLINE)) and (at.known in (8, None)):
                yield f"TPR at 1 % FPR with {at.title}: {alarm}."
        if self.everything.own is not None:
            groups = self.everything.own.groups
            parts = [f"{percent(groups[name][0])} of {name}" for name in _NAMED if name in groups]
            rough = alarm is not None and alarm.rough
            yield f"By activity, with all ratings known: {' and '.join(parts)}{' (rough)' * rough}."
        if self.epsilon:
            yield (
                f"With all ratings known, the method has no differential privacy with an ε below "
                f"{self.epsilon:.2f} (95 % confidence)."
            )
        yield (
            f"These are lower bounds by {counted(self.shadows, 'shadow release')}; more of them "
            "usually achieve more. Rough figures are based on fewer than ten false positives. The "
            "method is measured at half of the people. An adversary without such releases achieves "
            "less; one who knows more of the other people achieves more."
        )

    @property
    def found(self) -> tuple[Figure, ...]:
        """Every figure, with its title, its unit and what high and low mean."""
        return (
            *self._of(*_FIGURES),
            *(
                Figure(
                    f"tpr_at_{each.fpr:g}",
                    f"TPR at {100 * each.fpr:g} % FPR" + " (rough)" * each.rough,
                    "share",
                    True,
                    f"Share of members recognised; {100 * each.fpr:g} %: guessing.",
                ).of(each.tpr, reason="rough: fewer than ten false positives" * each.rough)
                for each in self.everything.tpr_at_fpr
            ),
        )

    @property
    def tables(self) -> tuple[Table, ...]:
        """TPR by number of known ratings, and by activity of people."""
        alarms = [each.fpr for each in self.by_known[-1].tpr_at_fpr]
        head = ("known", "members", "AUC", *(f"TPR at {100 * a:g} % FPR" for a in alarms))
        rows = []
        for at in self.by_known:
            shares = [f"{percent(a.tpr.rate)}{'*' * a.rough}" for a in at.tpr_at_fpr]
            shares += ["–"] * (len(alarms) - len(shares))
            auc = at.reason if at.auc is None else percent(at.auc.rate)
            rows.append((at.title, f"{at.members:,}", auc, *shares))
        known = Table("Known ratings (*: rough, fewer than ten false positives)", head, tuple(rows))
        own = self.everything.own
        if own is None:
            return (known,)
        people = tuple((name, f"{n:,}", percent(at)) for name, (at, n) in own.groups.items())
        alarm = self.everything.at(HEADLINE)
        rough = " (rough)" * (alarm is not None and alarm.rough)
        title = f"TPR by activity, all ratings known{rough}"
        return known, Table(title, ("activity", "people", "TPR at 1 % FPR"), people)

    def plot(self) -> Chart:
        """Draw TPR over FPR, both on log axes."""
        points = [p for p in self.everything.curve if p[1] > 0]
        return curve_chart(
            "Membership inference",
            f"{counted(self.targets, 'person', 'people')}, all ratings known, "
            f"{counted(self.shadows, 'shadow release')}",
            {"attack": points, "guessing": [(share, share) for share, _ in points]},
            Axis("false-positive rate (FPR)", share=True, zero=False, log=True),
            Axis("true-positive rate (TPR)", share=True, zero=False, log=True),
        )

    def _headline(self) -> str:
        rate = "not measured" if self.auc is None else f"AUC {self.auc} (guessing: 50 %)"
        return f"Membership inference: {rate}"
