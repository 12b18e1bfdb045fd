"""What several pages have: figures, tables, pictures, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Chart", "Figure", "Link", "Next", "Outcome", "Point", "Table"]


@dataclass(frozen=True)
class Link:
    """Somewhere to go."""

    text: str
    href: str


@dataclass(frozen=True)
class Next:
    """What to do now, and why."""

    why: str  # one or two sentences
    link: Link  # what to press
    main: bool = True  # the one thing that is suggested; at most one of a page's steps is


@dataclass(frozen=True)
class Figure:
    """One number that is said in words."""

    label: str  # of what
    value: str  # written out, e.g. ``98.2 %``, with its interval where there is one
    meaning: str = ""  # what a high or a low value means; may be empty
    share: float | None = None  # the same from 0 to 1, where a bar may be drawn of it


@dataclass(frozen=True)
class Table:
    """A table; the first cell of each row is its head."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Chart:
    """A picture and what it says to somebody who does not see it."""

    title: str
    # Vega-Lite, with its data in it. Of a frontier chart every datum has ``href``, the address of
    # the form for that release (see `Point`).
    spec: dict[str, Any]
    text: str  # the picture in a sentence or two
    # the picture's numbers; None where they stand beside it (`Outcome.points`)
    table: Table | None = None


@dataclass(frozen=True)
class Point:
    """One release that was tried in a comparison; never kept."""

    name: str  # ``k-likeness (k = 5)``
    method: str
    k: int
    # `loss`, `success`: formatted; empty where refused
    loss: str
    success: str
    loss_kind: str  # what `loss` measures, in words; only losses of one kind can be compared
    best: bool  # on the frontier: no other one of its kind is better in everything
    limit: str  # 1/k, beside which `success` is read, or that there is none; empty where refused
    href: str  # the form that makes it; empty where refused
    refused: str  # why there is none; empty otherwise


@dataclass(frozen=True)
class Outcome:
    """What a job found."""

    headline: str  # the one thing to know
    text: str  # the result's own paragraph; may be empty
    figures: tuple[Figure, ...] = ()
    chart: Chart | None = None
    points: tuple[Point, ...] = ()  # of a comparison: the frontier first
    # what the attacker of all `points` knows, after “somebody who knows”; empty without any
    attacker: str = ""
    reading_help: str = ""  # how to read these figures; may be empty
