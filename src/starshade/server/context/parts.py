"""What several pages have: figures, tables, pictures, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = [
    "Chart",
    "Figure",
    "Link",
    "Next",
    "Outcome",
    "Point",
    "Table",
    "Verdict",
]


@dataclass(frozen=True)
class Link:
    """Somewhere to go.

    Attributes
    ----------
    text, href : str
    """

    text: str
    href: str


@dataclass(frozen=True)
class Next:
    """What to do now, and why.

    Attributes
    ----------
    why : str
        One or two sentences.
    link : Link
        What to press.
    main : bool
        The one thing that is suggested; at most one of a page's steps is.
    """

    why: str
    link: Link
    main: bool = True


@dataclass(frozen=True)
class Figure:
    """One number that is said in words.

    Attributes
    ----------
    label : str
        Of what.
    value : str
        Written out, e.g. ``98.2 %``, with its interval where there is one.
    meaning : str
        What a high or a low value means; may be empty.
    share : float or None
        The same from 0 to 1, where a bar may be drawn of it.
    """

    label: str
    value: str
    meaning: str = ""
    share: float | None = None


@dataclass(frozen=True)
class Table:
    """A table; the first cell of each row is its head.

    Attributes
    ----------
    caption : str
    head : tuple of str
    rows : tuple of tuple of str
    """

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Chart:
    """A picture and what it says to somebody who does not see it.

    Attributes
    ----------
    title : str
    spec : dict
        Vega-Lite, with its data in it. Of a frontier chart every datum has ``href``, the address
        of the form for that release (see `Point`).
    text : str
        The picture in a sentence or two.
    table : Table or None
        The picture's numbers; None where they stand beside it (`Outcome.points`).
    """

    title: str
    spec: dict[str, Any]
    text: str
    table: Table | None = None


@dataclass(frozen=True)
class Point:
    """One release that was tried in a comparison; never kept.

    Attributes
    ----------
    name : str
        ``k-likeness (k = 5)``.
    method : str
    k : int
    loss, success : str
        Formatted; empty where refused.
    loss_kind : str
        What `loss` measures, in words; only losses of one kind can be compared.
    best : bool
        On the frontier: no other one of its kind is better in everything.
    limit : str
        1/k, beside which `success` is read, or that there is none; empty where refused.
    href : str
        The form that makes it; empty where refused.
    refused : str
        Why there is none; empty otherwise.
    """

    name: str
    method: str
    k: int
    loss: str
    success: str
    loss_kind: str
    best: bool
    limit: str
    href: str
    refused: str


@dataclass(frozen=True)
class Outcome:
    """What a job found.

    Attributes
    ----------
    headline : str
        The one thing to know.
    text : str
        The result's own paragraph; may be empty.
    figures : tuple of Figure
    chart : Chart or None
    points : tuple of Point
        Of a comparison: the frontier first.
    attacker : str
        What the attacker of all `points` knows, after “somebody who knows”; empty without any.
    tables : tuple of Table
    reading_help : str
        How to read these figures; may be empty.
    """

    headline: str
    text: str
    figures: tuple[Figure, ...] = ()
    chart: Chart | None = None
    points: tuple[Point, ...] = ()
    attacker: str = ""
    tables: tuple[Table, ...] = ()
    reading_help: str = ""


@dataclass(frozen=True)
class Verdict:
    """Whether a release may leave the house.

    Attributes
    ----------
    passed : bool
    word : str
        ``PASS`` or ``FAIL``.
    headline : str
    paragraph : str
    """

    passed: bool
    word: str
    headline: str
    paragraph: str
