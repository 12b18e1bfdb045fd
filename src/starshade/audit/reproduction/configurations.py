"""Configurations of a paper's study: as printed, as read, or ours.

A paper's `Choice`s define its three configurations in one place: the code runs with
these values, ``reproduce NAME --explain`` shows them, and every line of a figure names one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from starshade.figure import Table

Name = Literal["as-printed", "as-read", "ours"]
NAMES: tuple[Name, ...] = get_args(Name)


@dataclass(frozen=True)
class Choice:
    """One point at which the configurations of a paper may differ, or which it leaves open."""

    key: str  # the setting
    title: str  # what it settles, for a person
    # the value that each runs with; None where it cannot be run, which `why` explains
    as_printed: Any
    as_read: Any
    ours: Any
    place: str  # in the paper
    why: str = ""  # why they differ, or cannot be run
    erratum: str = ""  # the "where" of its line in docs/errata.md

    def of(self, name: Name) -> Any:
        """Return the value of a configuration."""
        return getattr(self, name.replace("-", "_"))


def settings_of(choices: Sequence[Choice], name: Name) -> dict[str, Any]:
    """Return what a configuration runs with.

    Examples
    --------
    >>> settings_of([Choice("t", "clusters", 3, 4, 5, "§1")], "as-read")
    {'t': 4}
    """
    return {choice.key: choice.of(name) for choice in choices}


def one_change(
    choices: Sequence[Choice], base: Name, other: Name
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return, for each point at which two differ, the base with this one point from the other.

    Examples
    --------
    >>> choices = [Choice("t", "clusters", 3, 4, 5, "§1"), Choice("w", "weights", 1, 1, 2, "§2")]
    >>> dict(one_change(choices, "as-printed", "as-read"))
    {'t': {'t': 4, 'w': 1}}
    """
    own = settings_of(choices, base)
    for choice in choices:
        if choice.of(base) != choice.of(other):
            yield choice.key, own | {choice.key: choice.of(other)}


def explained(choices: Sequence[Choice]) -> Table:
    """Return the configurations as a table: a row for each choice."""
    return Table(
        "The three configurations",
        ("what", *NAMES, "where", "why"),
        tuple(
            (
                choice.title,
                *(_words(choice.of(name)) for name in NAMES),
                choice.place,
                "; ".join(
                    filter(None, (choice.why, choice.erratum and f"erratum: {choice.erratum}"))
                ),
            )
            for choice in choices
        ),
    )


def _words(value: Any) -> str:
    if value is None:
        return "cannot be run"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)
