"""`MembershipResult`: how well people in a release can be told from people who are not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from starshade.attack.result import RECORDS
from starshade.attack.shadows.result import ASKED, ROUNDS, ShadowFound
from starshade.chart import Chart
from starshade.chart.shapes import Axis, Dot, Level, dot_chart
from starshade.figure import Figure, Rate, Table, number
from starshade.plain import counted, percent


@dataclass(frozen=True)
class Alarm:
    """How many members are found where so many outsiders are taken for members.

    `alarms`: the share of outsiders. `found`: of members; None: not measured, for this `reason`.
    """

    alarms: float
    found: Rate | None
    reason: str = ""


@dataclass(frozen=True)
class MembershipAt:
    """What is achieved with so many ratings of each person known.

    `known`: None: all that the person gave of released items. `members`, `outsiders`: different
    people. `auc`: over all rounds; None: not measured, for this `reason`. `by_round`: None where a
    round lacks either. `found`: at several shares of false alarms. `epsilon`: a lower bound, 95 %
    sure; None with one round alone.
    """

    known: int | None
    members: int
    outsiders: int
    auc: Rate | None
    by_round: tuple[float | None, ...]
    found: tuple[Alarm, ...]
    epsilon: float | None
    reason: str = ""

    @property
    def title(self) -> str:
        """What is known, in words."""
        return "all ratings known" if self.known is None else f"{self.known} ratings known"


_AUC = Figure(
    "auc",
    "Somebody in it ranked above somebody not in it (AUC)",
    "share",
    True,
    "50% is nothing learnt; high: that somebody is in the release can be told.",
)
_FIGURES = (
    RECORDS,
    ROUNDS,
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

    It is the method that is measured, on releases of nine tenths of the people.

    Attributes
    ----------
    attack, seconds, read_seconds, config, digest, version
        As in `AttackResult`.
    records : int
        Of the release under attack.
    targets, ineligible : int
        People asked about, and the other users of the original.
    rounds : int
        Of leaving people out.
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
        return {
            **super()._own(),
            "auc": None if self.auc is None else self.auc.to_dict(),
            "epsilon": self.epsilon,
        }

    def __str__(self) -> str:
        head = (
            f"{self.attack} on {counted(self.records, 'record')}: releases of nine tenths of the "
            f"people were made by the same method, in {counted(self.rounds, 'round')}, and "
            f"{counted(self.targets, 'person', 'people')} "
            "asked about, who were in one or in none."
        )
        if self.auc is None:
            return f"{head} Nothing could be measured: {self.everything.reason}."
        return " ".join([head, *self._told()])

    def _told(self) -> Iterator[str]:
        each = [f"{at.auc} with {at.title}" for at in self.by_known if at.auc is not None]
        yield (
            "Of two people, one in a release and one not, an adversary who compares how well they "
            "fit it, and fit one made without either, names the right one in "
            f"{', '.join(each)} of the cases (nothing learnt: 50 %)."
        )
        yield from self._alarms()
        if self.epsilon:
            yield (
                f"With all ratings known, no differential privacy with an ε below "
                f"{self.epsilon:.2f} can be claimed of the method (95 % sure)."
            )
        yield (
            "It measures the method at 90 % of the people, and an adversary who can make the "
            "release that would be there without this person; one who cannot knows less."
        )

    def _alarms(self) -> Iterator[str]:
        at = self.everything
        for each in at.found:
            if each.found is not None:
                yield (
                    f"With {each.alarms:.0%} of the outsiders taken for members, {each.found} of "
                    f"the members are found with {at.title} (guessing: {each.alarms:.0%})."
                )
        missing = [each for each in at.found if each.found is None]
        if missing:
            alarms = ", ".join(f"{each.alarms:.0%}" for each in missing)
            yield f"At {alarms} of false alarms it is not measured: {missing[0].reason}."

    @property
    def found(self) -> tuple[Figure, ...]:
        """Every figure, with its title, its unit and what high and low mean."""
        alarms = self.everything.found
        return (
            *self._of(*_FIGURES),
            *(
                Figure(
                    f"found_at_{each.alarms:g}",
                    f"Members found at {each.alarms:.0%} false alarms",
                    "share",
                    True,
                    f"{each.alarms:.0%} is nothing learnt.",
                ).of(each.found, reason=each.reason)
                for each in alarms
            ),
        )

    @property
    def tables(self) -> tuple[Table, ...]:
        """What is achieved with other numbers of known ratings."""
        alarms = [each.alarms for each in self.by_known[-1].found]
        head = ("known", "people in it", "AUC", *(f"found at {a:.0%}" for a in alarms), "least ε")
        rows = []
        for at in self.by_known:
            shares = [percent(a.found.rate) if a.found else "–" for a in at.found]
            shares += ["–"] * (len(alarms) - len(shares))
            auc = "–" if at.auc is None else percent(at.auc.rate)
            rows.append((at.title, f"{at.members:,}", auc, *shares, number(at.epsilon)))
        return (Table("How much is known", head, tuple(rows)),)

    def plot(self) -> Chart:
        """Draw how often the right one of two people is named; 50 % is not at all."""
        dots = [
            Dot(at.title, at.auc.rate, at.auc.low, at.auc.high)
            for at in self.by_known
            if at.auc is not None
        ]
        return dot_chart(
            "Who is in the release?",
            f"{counted(self.targets, 'person', 'people')}, {counted(self.rounds, 'round')} of "
            "leaving people out",
            dots,
            Axis("the right one of two named (AUC)", share=True),
            Level(0.5, "nothing learnt"),
        )

    def _headline(self) -> str:
        return f"{self.attack}: 50 % is nothing learnt"
