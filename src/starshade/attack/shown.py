"""Base class of the results of attacks: JSON, notebook table and chart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from starshade._version import __version__
from starshade.chart import Chart
from starshade.chart.shapes import Axis, Dot, Level, dot_chart
from starshade.figure import Figure, Rate, Shown, payload

#: figures of attacks on single targets; null in the results of other attacks
NOT_ASKED = (
    "success",
    "expected_top1",
    "expected_top1_interval",
    "class_contents_known",
    "false_match",
    "false_match_absent",
    "no_answer",
    "entropy_bits",
    "entropy_bits_profile",
    "knowledge",
    "known_from",
    "people",
    "median_ratings",
    "recall",
    "seed",
)
_FIRST = ("attack", "records", "targets", "ineligible", "credit")
_LAST = ("seconds", "read_seconds", "postings_per_second", "config", "digest", "version")


def found_chart(
    title: str, subtitle: str, figures: Sequence[Figure], level: Level | None = None
) -> Chart:
    """Draw shares with their intervals and their baseline."""
    dots = [
        Dot(each.title, each.value.rate, each.value.low, each.value.high)
        for each in figures
        if isinstance(each.value, Rate)
    ]
    return dot_chart(title, subtitle, dots, Axis("share of targets", share=True), level)


@dataclass(frozen=True, kw_only=True)
class Found(Shown):
    """Fields that the results of all attacks share.

    `targets`, `ineligible`: users attacked, and those who could not be. `credit`: whether an answer
    counts when it is the target's record, or when it is compatible with the target's true row.
    `seconds`, `read_seconds`: for the attack, and for reading the data (0 when they were in
    memory). `postings_per_second`: cells looked at. `digest`: SHA-256 over the original table.
    """

    attack: str
    records: int
    targets: int
    ineligible: int
    credit: Literal["linked", "compatible"] = "linked"
    seconds: float
    read_seconds: float = 0.0
    postings_per_second: float | None = None
    config: dict[str, Any]
    digest: str
    version: str = field(default=__version__)

    #: keys of JSON that are null
    NULL: ClassVar[tuple[str, ...]] = NOT_ASKED

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON values; nothing in it is about a single user."""
        every = payload(self)
        first, last = ({name: every[name] for name in names} for names in (_FIRST, _LAST))
        return first | dict.fromkeys(self.NULL) | self._own() | last

    def _own(self) -> dict[str, Any]:
        """Return the part of JSON that other attacks do not have."""
        return {k: v for k, v in payload(self).items() if k not in _FIRST + _LAST}

    def _headline(self) -> str:
        return self.attack
