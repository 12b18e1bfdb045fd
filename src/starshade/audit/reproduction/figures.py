"""A figure as data: lines of points with intervals, and the paper's numbers as marks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

from starshade.attack.knowledge import Knowledge
from starshade.figure import Rate

Unit = Literal["share", "bits", "users", "seconds", "points", "number"]


@dataclass(frozen=True)
class Point:
    """One figure of ours."""

    x: float
    y: float
    # `low`, `high`: 95 % interval; None for a count of all. Of a time: the fastest and the slowest
    # run.
    low: float | None = None
    high: float | None = None
    label: str = ""  # as the paper's axis has it, "6 of 8"; empty where x says it
    knowledge: Knowledge | None = None
    # `targets`, `ineligible`: users it rests on; users of whom so much cannot be known
    targets: int | None = None
    ineligible: int | None = None

    @classmethod
    def of(cls, x: float, rate: Rate, **beside: Any) -> Point:
        """Return a point with its interval."""
        return cls(x, rate.rate, rate.low, rate.high, **beside)

    @property
    def lowest(self) -> float:
        """The lower end of its interval; itself where it has none."""
        return self.y if self.low is None else self.low

    @property
    def highest(self) -> float:
        """The upper end of its interval; itself where it has none."""
        return self.y if self.high is None else self.high

    def to_dict(self) -> dict[str, Any]:
        """Return the point as plain JSON values; NaN is null."""
        payload: dict[str, Any] = {"x": self.x, "y": None if math.isnan(self.y) else self.y}
        payload |= {"low": self.low, "high": self.high}
        if self.knowledge is not None:
            payload |= {
                "label": self.label,
                "knowledge": self.knowledge.name,
                "targets": self.targets,
                "ineligible": self.ineligible,
            }
        return payload


@dataclass(frozen=True)
class Series:
    """One line."""

    name: str
    measure: str  # what its y is, in a few words; lines of one measure share a panel
    points: tuple[Point, ...]  # ascending in x
    mistakes: str = ""  # "all right", "2 wrong", …; empty where nothing is attacked
    configuration: str = ""  # under which it was run; empty: the data as they are

    @classmethod
    def of(
        cls, name: str, measure: str, xs: Iterable[float], ys: Iterable[float], **beside: Any
    ) -> Series:
        """Return a line of points without intervals; values that are not numbers are omitted."""
        points = (Point(x, y) for x, y in zip(xs, ys, strict=True) if not math.isnan(y))
        return cls(name, measure, tuple(points), **beside)

    @property
    def label(self) -> str:
        """The name, and the configuration."""
        if self.name and self.configuration:
            return f"{self.name} ({self.configuration})"
        return self.name or self.configuration

    @property
    def full_name(self) -> str:
        """The name with the mistakes, and the configuration."""
        name = ", ".join(part for part in (self.name, self.mistakes) if part)
        return f"{name} ({self.configuration})" if self.configuration else name

    def to_dict(self) -> dict[str, Any]:
        """Return the line as plain JSON values."""
        return {
            "name": self.full_name,
            "configuration": self.configuration,
            "measure": self.measure,
            "points": [point.to_dict() for point in self.points],
        }


@dataclass(frozen=True)
class Mark:
    """A number that the paper's text gives for this figure (Netflix)."""

    x: float
    y: float
    label: str
    measures: tuple[str, ...]  # the panels it belongs to

    def to_dict(self) -> dict[str, Any]:
        """Return the mark as plain JSON values."""
        return asdict(self) | {"measures": list(self.measures)}


@dataclass(frozen=True)
class Level:
    """A height to compare with: bits before any knowledge."""

    y: float
    label: str


@dataclass(frozen=True)
class Skipped:
    """What the data cannot give."""

    figure: str
    what: str
    reason: str


@dataclass(frozen=True)
class Figure:
    """One figure of the paper, ours."""

    number: str  # the paper's; with a letter where it is ours beside the paper's
    title: str
    x_title: str
    y_title: str
    unit: Unit  # of y; points are those of the scale
    series: tuple[Series, ...]
    marks: tuple[Mark, ...] = ()  # the paper's numbers; its curves are pictures and not to be had
    levels: tuple[Level, ...] = ()
    # `x_log`, `y_log`: logarithmic axes
    x_log: bool = False
    y_log: bool = False
    # a few measured points, each with a dot and its interval, rather than a curve
    dotted: bool = False

    @property
    def place(self) -> tuple[int, str]:
        """Number and letter, to sort by."""
        digits = self.number.rstrip("abc")
        return int(digits), self.number[len(digits) :]

    @property
    def file_name(self) -> str:
        """The name of its files without a suffix: ``figure-04``."""
        number, letter = self.place
        return f"figure-{number:02d}{letter}"

    def to_dict(self) -> dict[str, Any]:
        """Return the figure as plain JSON values."""
        return {
            "figure": self.number,
            "title": self.title,
            "x": self.x_title,
            "y": self.y_title,
            "unit": self.unit,
            "series": [series.to_dict() for series in self.series],
            "paper": [mark.to_dict() for mark in self.marks],
            "levels": [asdict(level) for level in self.levels],
        }
