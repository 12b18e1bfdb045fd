"""`TrackerResult`: people singled out by COUNT queries, and re-identified by attributes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from starshade.attack.result import CREDIT, INELIGIBLE, RECORDS, TARGETS
from starshade.attack.shown import Found, found_chart
from starshade.chart import Chart
from starshade.figure import Figure, Rate, Renamed, Table
from starshade.plain import counted

#: item (its place among the released ones) and predicate, as SQL has it
Condition = tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class Background(Renamed):
    """Results of an adversary who knows some personal attributes of the target.

    `attributes`: the attributes known. `breached`: share of targets at risk whose attributes are
    unique among the people at risk: re-identification. `wrong`: share of targets not at risk, while
    exactly one person at risk has the same attributes: a wrong re-identification. `one_condition`:
    share of targets with exactly one agreeing condition, counting conditions instead of people: the
    other reading of KL §1.1. A person singled out by a condition with a redundant predicate is
    singled out by others too, so this is near 0. `queries`: mean number of attribute queries to
    verify a target.
    """

    attributes: tuple[str, ...]
    breached: Rate
    wrong: Rate
    one_condition: Rate
    queries: float


_AT_RISK = Figure(
    "at_risk",
    "Singled out by COUNT queries",
    "share",
    True,
    "High: some COUNT query isolates the person.",
)
_BREACHED = Figure(
    "breached",
    "Re-identification",
    "share",
    True,
    "High: all attributes that the interface returns for the person become known.",
)
_BY = Figure("by_length", "People singled out", "count", True)
_QUERIES = Figure("queries", "COUNT queries", "count")
_EMPTY = Figure("empty", "Queries without a matching record", "count")
_REFUSED = Figure("refused", "Refused queries", "count", False)
_FEWEST = Figure("fewest", "Fewest records behind an answer", "count", False)


@dataclass(frozen=True, kw_only=True)
class TrackerResult(Found):
    """Result of the tracker attack (definitions, "tracker").

    Attributes
    ----------
    attack, seconds, read_seconds, config, digest, version
        As in `AttackResult`.
    records : int
        Records behind the interface.
    targets, ineligible : int
        People attacked, and users of the original without a record. Without the link of a
        release its records are attacked.
    credit : {"linked", "compatible"}
    at_risk : Rate
        Share of targets singled out by some condition: its COUNT is 1 and counts the target.
    by_length : tuple of int
        Targets at risk by number of conditions needed: 1, 2, …
    backgrounds : tuple of Background
        One for each number of known attributes, in the given order; a single one without any
        where none were given.
    queries : int
        Number of COUNT queries.
    empty, refused : int
        Queries without a matching record, and queries that the interface refused.
    fewest : int or None
        The fewest records, above 0, behind an answer; None if all were empty or refused.
    floor : int
        The interface refuses answers based on 1 to floor - 1 records; 1: it refuses none.
    items : int
        Items queried, the most rated ones.
    complete : bool
        Whether every condition on all items was queried; else the queries ran out.
    not_queried : tuple of str
        Known attributes that the interface does not have and that verify nothing.
    singled : dict
        Target → the shortest isolating condition; never part of `to_dict`.
    """

    at_risk: Rate
    by_length: tuple[int, ...]
    backgrounds: tuple[Background, ...]
    queries: int
    empty: int
    refused: int
    fewest: int | None
    floor: int
    items: int
    complete: bool
    not_queried: tuple[str, ...]
    singled: dict[int, Condition] = field(repr=False)

    @property
    def breached(self) -> Rate:
        """Share of targets breached with all of the background."""
        return self.backgrounds[-1].breached

    def _own(self) -> dict[str, Any]:
        return super()._own() | {"breached": self.breached.to_dict()}

    def __str__(self) -> str:
        longest = self.config["conditions"]
        most = self.config["queries"]
        every = (
            "every condition"
            if self.complete
            else f"stopped after {counted(most, 'query', 'queries')}, conditions"
        )
        question = (
            f"{self.attack} on {counted(self.records, 'record')} behind a query interface: "
            f"{every} of up to {longest} predicate{'s' * (longest != 1)} on the "
            f"{counted(self.items, 'most rated item')} (value, rated, not rated), "
            f"{self.queries:,} COUNT queries."
        )
        return f"{question} {self._result()}{self._verified()}"

    def _result(self) -> str:
        if self.at_risk.rate:
            return (
                f"COUNT queries alone single out {self.at_risk} of people: some condition holds "
                "for one person only, so further queries with it return that person's attributes."
            )
        text = "No COUNT query singles out a person"
        if self.fewest is not None:
            text += f": the fewest records behind an answer are {self.fewest:,}"
        if self.refused:
            text += (
                f"; {counted(self.refused, 'query', 'queries')} on fewer than "
                f"{self.floor:,} records refused"
            )
        return f"{text}."

    def _verified(self) -> str:
        names = ", ".join(self.not_queried)
        missing = f" Attributes missing from the interface: {names}." if names else ""
        if not self.at_risk.rate:
            return missing
        last = self.backgrounds[-1]
        if not last.attributes:
            return (
                " Known personal attributes of the target (background) are needed to re-identify "
                "them." + missing
            )
        text = (
            f" An adversary who knows a person's {_listed(last.attributes)} re-identifies "
            f"{last.breached}: exactly one person singled out has these attributes, and it is the "
            "target. All other attributes of the record are then known."
        )
        if last.wrong.rate:
            text += f" {last.wrong} are re-identified wrongly."
        return text + missing

    @property
    def found(self) -> tuple[Figure, ...]:
        """Every figure, with its title, its unit and what high and low mean."""
        singled = enumerate(self.by_length, 1)
        return (
            *self._of(RECORDS, TARGETS),
            INELIGIBLE.of(self.ineligible or None),
            _AT_RISK.of(self.at_risk, people=self.targets),
            *(
                replace(
                    _BREACHED, title=f"Re-identification, knowing {_listed(known.attributes)}"
                ).of(known.breached)
                for known in self.backgrounds
                if known.attributes
            ),
            *(
                replace(_BY, title=f"People singled out by {counted(n, 'condition')}").of(people)
                for n, people in singled
                if people
            ),
            *self._of(_QUERIES, _EMPTY),
            replace(
                _REFUSED, meaning=f"Their answers are based on fewer than {self.floor:,} records."
            ).of(self.refused or None),
            *self._of(_FEWEST, CREDIT),
        )

    @property
    def tables(self) -> tuple[Table, ...]:
        """Re-identification by known attributes."""
        if not self.backgrounds[-1].attributes:
            return ()
        rows = (
            (
                " + ".join(known.attributes),
                str(known.breached),
                str(known.wrong),
                f"{known.queries:,.1f}",
            )
            for known in self.backgrounds
        )
        head = (
            "known attributes",
            "correct (breached)",
            "wrong",
            "further queries per target",
        )
        return (Table("Re-identification by known attributes", head, tuple(rows)),)

    def plot(self) -> Chart:
        """Draw the shares of people singled out and re-identified."""
        return found_chart(
            f"Results of the attack {self.attack}",
            f"{counted(self.records, 'record')}, {self.queries:,} COUNT queries",
            self.found,
        )

    def _headline(self) -> str:
        return f"COUNT queries single out {self.at_risk.rate:.1%} of people"


def _listed(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
