"""A parsed query: plain data, names not yet looked up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Function = Literal["COUNT", "SUM", "AVG", "MIN", "MAX"]


def shown(text: str) -> str:
    r"""Return a text for a message: what cannot be seen in it is escaped.

    >>> print(shown("Amélie\x1b[2J"))
    Amélie\x1b[2J
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


@dataclass(frozen=True)
class Name:
    """The name of an item or a personal attribute, as it was written."""

    text: str
    quoted: bool

    def __str__(self) -> str:
        text = shown(self.text)
        return f'"{text}"' if self.quoted else text


@dataclass(frozen=True)
class Aggregate:
    """``function(column)``; no column: ``COUNT(*)``."""

    function: Function
    column: Name | None = None

    def __str__(self) -> str:
        return f"{self.function}({'*' if self.column is None else self.column})"


@dataclass(frozen=True)
class Comparison:
    """One comparison of an item; the other six operators are these, negated or mirrored.

    `negated` turns the ratings that satisfy into the ratings that do not; null satisfies neither.
    For ``null`` it makes IS NOT NULL.
    """

    name: Name
    operator: Literal["in", "<", "<=", "between", "null"]
    constants: tuple[float, ...] = ()
    negated: bool = False


@dataclass(frozen=True)
class Junction:
    """AND or OR of two or more conditions."""

    operator: Literal["and", "or"]
    parts: tuple[Condition, ...]


Condition = Comparison | Junction


@dataclass(frozen=True)
class Statement:
    """One SELECT."""

    aggregates: tuple[Aggregate, ...]
    condition: Condition | None = None
    group_by: Name | None = None


def tests_of(condition: Condition) -> list[Comparison]:
    """Return the comparisons of a condition, from left to right."""
    if isinstance(condition, Comparison):
        return [condition]
    return [test for part in condition.parts for test in tests_of(part)]
