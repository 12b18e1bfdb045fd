"""`QueryResult`: an answer, its bounds, and the records that it rests on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from starshade._version import __version__
from starshade.figure import Shown, Table, found_html, number

Value = float | int | str | None


@dataclass(frozen=True)
class QueryResult(Shown):
    """The answer to a query.

    Attributes
    ----------
    value : number, str or None
        The expected value; of several aggregates, that of the first. None: null or refused.
    low, high : number, str or None
        Bounds of the true answer on the original, if it is not null. Equal to the value on an
        original. `high` of MIN and `low` of MAX are None if no record certainly satisfies the
        conditions and has a value.
    records : int or None
        Records that the answer rests on: those that may satisfy (and may have a value of the
        attribute). None where it is refused.
    refused : bool
        Whether the guard refuses an answer, or one of several.
    reason : str or None
        Why it is refused, or why it is null.
    aggregate : str
        The aggregate, e.g. ``AVG(Age)``.
    group : float or None
        Of an entry of `groups`: the value of the item; None for null.
    mode : {"strict", "paper", "original"}
    results : tuple of QueryResult
        One for each aggregate of the query, in its order; empty with GROUP BY.
    groups : tuple of QueryResult
        With GROUP BY: one for null, then one for each value of the scale.
    version : str
        Of starshade.
    """

    value: Value
    low: Value
    high: Value
    records: int | None
    refused: bool = False
    reason: str | None = None
    aggregate: str = ""
    group: float | None = None
    mode: str = "strict"
    results: tuple[QueryResult, ...] = ()
    groups: tuple[QueryResult, ...] = ()
    version: str = field(default=__version__)

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain JSON values."""
        return {
            **self._figures(),
            "mode": self.mode,
            "results": [result._figures() for result in self.results],
            "groups": [
                {
                    "group": entry.group,
                    **entry._figures(),
                    "results": [result._figures() for result in entry.results],
                }
                for entry in self.groups
            ],
        }

    def _figures(self) -> dict[str, Any]:
        names = ("aggregate", "value", "low", "high", "records", "refused", "reason")
        return {name: getattr(self, name) for name in names}

    def __str__(self) -> str:
        if self.groups:
            return "\n".join(
                f"{'null' if entry.group is None else f'{entry.group:g}'}: {entry}"
                for entry in self.groups
            )
        if len(self.results) > 1:
            return "\n".join(str(result) for result in self.results)
        return self._sentence()

    def _sentence(self) -> str:
        if self.refused:
            return f"{self.aggregate}: refused. {self.reason}"
        if self.mode == "original":
            return f"{self.aggregate} = {_spelled(self.value)} on the original, {self._rests()}."
        if self.value is None and self.low is None and self.high is None:
            return f"{self.aggregate}: null. {self.reason}"
        return (
            f"{self.aggregate} = {_spelled(self.value)} expected; on the original ratings of the "
            f"released people it {self._ends()}, {self._rests()}."
        )

    def _ends(self) -> str:
        """Return the bounds as text; MIN and MAX may lack the end that needs certain records."""
        if self.low is not None and self.high is not None:
            return f"lies between {_spelled(self.low)} and {_spelled(self.high)}"
        end = (
            f"{_spelled(self.low)} or more"
            if self.high is None
            else f"{_spelled(self.high)} or less"
        )
        return f"is {end}, or null, because no record certainly satisfies the conditions"

    def _rests(self) -> str:
        n, most = self.records or 0, "" if self.mode == "original" else "at most "
        return f"resting on {most}{n:,} record{'s' * (n != 1)}"

    @property
    def tables(self) -> tuple[Table, ...]:
        """Several answers as a table."""
        first, rows = "", [("", *each._cells()) for each in self.results]
        if self.groups:
            first = "null, then each rating"
            rows = [
                ("null" if entry.group is None else f"{entry.group:g}", *each._cells())
                for entry in self.groups
                for each in entry.results
            ]
        head = (first, "", "expected", "low", "high", "records")
        return (Table("", head, tuple(rows)),) if len(rows) > 1 else ()

    def _cells(self) -> tuple[str, ...]:
        if self.refused:
            return (self.aggregate, "refused", "", "", "")
        values = (self.value, self.low, self.high, self.records)
        return (self.aggregate, *(v if isinstance(v, str) else number(v) for v in values))

    def _repr_html_(self) -> str:
        tables = self.tables
        text = (self.reason or "") if tables else str(self)
        return found_html(self.aggregate, (), text, tables)


def _spelled(value: Value) -> str:
    if value is None:
        return "null"
    return f"{value:,.10g}" if isinstance(value, (int, float)) else repr(value)
