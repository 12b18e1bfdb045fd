"""`TrackerResult`: whom counts alone single out, and of whom everything can then be asked."""

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
    """What an adversary achieves who knows some personal attributes of the target.

    `attributes`: the attributes known. `breached`: share of targets who are at risk and of whom no
    other person at risk has the same attributes: the one condition that fits is theirs. `wrong`:
    share of targets who are not at risk, while exactly one person at risk has the same attributes:
    the adversary would take that person for the target. `one_condition`: share of targets of whom
    exactly one condition agrees, counting conditions and not the people they single out: the other
    reading of KL §1.1. A person whom a condition singles out with a predicate to spare is singled
    out by others too, so this is near 0. `queries`: queries for an attribute that it takes to
    verify a target, on average.
    """

    attributes: tuple[str, ...]
    breached: Rate
    wrong: Rate
    one_condition: Rate
    queries: float


_AT_RISK = Figure(
    "at_risk", "Singled out by counts", "share", True, "High: some count is one person's."
)
_BREACHED = Figure(
    "breached",
    "Recognised",
    "share",
    True,
    "High: all else that the interface tells of them is then known.",
)
_BY = Figure("by_length", "People singled out", "count", True)
_QUERIES = Figure("queries", "COUNT queries", "count")
_EMPTY = Figure("empty", "Queries that rest on no record", "count")
_REFUSED = Figure("refused", "Queries that are refused", "count", False)
_FEWEST = Figure("fewest", "Fewest records that an answer rests on", "count", False)


@dataclass(frozen=True, kw_only=True)
class TrackerResult(Found):
    """What asking counts came to (definitions, "tracker").

    Attributes
    ----------
    attack, seconds, read_seconds, config, digest, version
        As in `AttackResult`.
    records : int
        Records behind the interface.
    targets, ineligible : int
        People attacked, and users of the original who have no record. Without the link of a
        release the people attacked are its records.
    credit : {"linked", "compatible"}
    at_risk : Rate
        Share of targets whom some condition singles out: its COUNT is 1, and the 1 is theirs.
    by_length : tuple of int
        Targets at risk by how many predicates are enough: 1, 2, …
    backgrounds : tuple of Background
        One for each number of known attributes, in the order they were given; a single one with
        none where none were given.
    queries : int
        COUNT queries that were asked.
    empty, refused : int
        Of them those that rest on no record, and on fewer than the interface answers for.
    fewest : int or None
        The fewest records, above 0, that an answer rested on; None if all were empty or refused.
    floor : int
        The interface refuses what rests on 1 to floor - 1 records; 1: it refuses nothing.
    items : int
        Items that were asked about, the most rated ones.
    complete : bool
        Whether every condition on all items was asked, or the queries ran out.
    not_queried : tuple of str
        Known attributes that the interface does not have, so nothing could be verified by them.
    singled : dict
        Target → the shortest condition that singles them out; in memory alone.
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
            f"{counted(self.items, 'most rated item')} (rated so, rated at all, not rated), "
            f"{self.queries:,} COUNT queries."
        )
        return f"{question} {self._result()}{self._verified()}"

    def _result(self) -> str:
        if self.at_risk.rate:
            return (
                f"Counts alone single out {self.at_risk} of the people: some condition holds for "
                "one person only, and every further query with it is about that person."
            )
        text = "No count singles anybody out"
        if self.fewest is not None:
            text += f": the fewest records that an answer rested on are {self.fewest:,}"
        if self.refused:
            text += (
                f"; {counted(self.refused, 'query', 'queries')} on fewer than "
                f"{self.floor:,} refused"
            )
        return f"{text}."

    def _verified(self) -> str:
        missing = (
            f" The interface has no {', '.join(self.not_queried)} to verify by." if self.not_queried else ""
        )
        if not self.at_risk.rate:
            return missing
        last = self.backgrounds[-1]
        if not last.attributes:
            return (
                " Which of them is the target shows once personal attributes of the target are "
                "known (background)." + missing
            )
        text = (
            f" Somebody who knows a person's {_listed(last.attributes)} finds that exactly one of "
            f"those singled out has the same, and it is that person, in {last.breached} of the "
            "cases: whatever else the interface tells of that one record is then known about the "
            "person."
        )
        if last.wrong.rate:
            text += f" In {last.wrong} of the cases the one that fits is somebody else."
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
                replace(_BREACHED, title=f"Recognised, knowing {_listed(known.attributes)}").of(
                    known.breached
                )
                for known in self.backgrounds
                if known.attributes
            ),
            *(
                replace(_BY, title=f"People singled out by {counted(n, 'condition')}").of(people)
                for n, people in singled
                if people
            ),
            *self._of(_QUERIES, _EMPTY),
            replace(_REFUSED, meaning=f"They rest on fewer than {self.floor:,} records.").of(
                self.refused or None
            ),
            *self._of(_FEWEST, CREDIT),
        )

    @property
    def tables(self) -> tuple[Table, ...]:
        """Whose record it is, by what is known of the target."""
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
            "known of the target",
            "one fits, and it is theirs (breached)",
            "one fits: mistaken",
            "further queries each",
        )
        return (Table("Whose record it is", head, tuple(rows)),)

    def plot(self) -> Chart:
        """Draw who is singled out, and who is recognised by what is known of them."""
        return found_chart(
            f"What {self.attack} finds",
            f"{counted(self.records, 'record')}, {self.queries:,} counts asked",
            self.found,
        )

    def _headline(self) -> str:
        return f"{self.attack}: {self.at_risk.rate:.1%} of the people are singled out by counts"


def _listed(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
