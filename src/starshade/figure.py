"""`Figure`: what was found, declared once, where it is found.

::

    GEN_ILOSS = Figure("gen_iloss", "Generalization loss (GenILoss)", "ratio", low_is_good=True,
                       meaning="0 leaves every cell as it was.", short="GenILoss")
    GEN_ILOSS.of(0.33)

Text, notebooks, comparisons, reports and pages are written over what is declared; JSON has the
value under the key.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from starshade.markup import block, paragraph, table
from starshade.plain import percent
from starshade.renamed import newer_names


@dataclass(frozen=True)
class Rate:
    """A share with its 95 % interval, all in [0, 1]."""

    rate: float
    low: float
    high: float

    def to_dict(self) -> dict[str, float]:
        """Return ``{"rate", "low", "high"}``."""
        return {"rate": self.rate, "low": self.low, "high": self.high}

    def up_to(self, most: float) -> Rate:
        """Return the rate with an interval that does not cross what is at most possible.

        >>> print(Rate(0.1, 0.05, 0.3).up_to(0.2), Rate(0.1, 0.05, 0.15).up_to(0.2))
        10.0% [5.0%, 20.0%] 10.0% [5.0%, 15.0%]
        """
        return Rate(self.rate, self.low, max(self.rate, min(self.high, most)))

    def __str__(self) -> str:
        return f"{self.rate:.1%} [{self.low:.1%}, {self.high:.1%}]"


Unit = Literal["bits", "count", "error", "percent", "ratings", "ratio", "seconds", "share", "text"]
Value: TypeAlias = int | float | str | Rate | None


@dataclass(frozen=True)
class Figure:
    """One figure: what it is, and once it was found its value."""

    key: str  # its name in JSON
    title: str  # its name for a person
    # ``share`` is of [0, 1], ``percent`` of [0, 100], ``error`` and ``ratings`` are in steps of the
    # scale, ``text`` is no number
    unit: Unit
    low_is_good: bool | None = None  # None: neither end is
    meaning: str = ""  # what a high and a low one mean, in a sentence or two
    source: str = ""  # where it is defined; empty: at what finds it
    short: str = ""  # the head of a narrow column; empty: `title`
    value: Value = None  # None: it does not apply, or was not found
    people: int | None = None  # on how many people it rests, where it is of people
    reason: str = ""  # why there is no value

    @property
    def head(self) -> str:
        """The title, short."""
        return self.short or self.title

    @property
    def text(self) -> str:
        """The value as a person reads it; a dash where there is none.

        Examples
        --------
        >>> loss = Figure("loss", "Loss", "share")
        >>> loss.of(0.25).text, loss.of(Rate(0.5, 0.4, 0.6)).text, loss.text
        ('25.0%', '50.0% [40.0%, 60.0%]', '–')
        """
        value = self.value
        if isinstance(value, str | Rate):
            return str(value)
        if value is None or math.isnan(value):
            return "–"
        if self.unit == "share":
            return percent(value)
        if self.unit == "percent":
            return f"{value:,.2f}%"
        return f"{value:.4f}" if self.unit == "error" else number(value)

    @property
    def mean(self) -> float | None:
        """The value without its interval."""
        value = self.value.rate if isinstance(self.value, Rate) else self.value
        return None if isinstance(value, str) else value

    def to_dict(self) -> dict[str, Any]:
        """Return what a page shows of it, as plain JSON values."""
        return {
            "key": self.key,
            "title": self.title,
            "text": self.text,
            "meaning": self.meaning,
            "value": self.mean,
            "unit": self.unit,
        }

    def of(self, value: Value, *, people: int | None = None, reason: str = "") -> Figure:
        """Return it with a value, or with the reason why there is none."""
        return replace(self, value=value, people=people, reason=reason)


def number(value: float | None) -> str:
    """Write a count with thousands separators, anything else with at least four digits.

    Examples
    --------
    >>> number(4647), number(0.333333), number(12345.6), number(None)
    ('4,647', '0.3333', '12,346', '–')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) or abs(value) < 1000:
        return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
    return f"{value:,.0f}"


@dataclass(frozen=True)
class Table:
    """Figures that stand side by side; the first cell of each row is its head."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


_HEAD = ("figure", "value", "what it means")


def found_html(title: str, found: Sequence[Figure], text: str, tables: Sequence[Table] = ()) -> str:
    """Return figures as a table, other tables, and the paragraph that explains them."""
    rows = [(each.title, each.text, each.meaning) for each in found if each.value is not None]
    first = table(_HEAD, rows, numbers=(1,)) if rows else ""
    others = (
        table(each.head, each.rows, caption=each.title, numbers=range(1, len(each.head)))
        for each in tables
    )
    return block(title, first, *others, paragraph(text))


class Renamed:
    """Attributes by the names of earlier versions (`starshade.renamed`), with a warning."""

    if not TYPE_CHECKING:  # a type checker is to find wrong names

        def __getattr__(self, name: str) -> Any:
            for newer in newer_names(name):
                try:
                    value = object.__getattribute__(self, newer)
                except AttributeError:
                    continue
                text = f"{type(self).__name__}.{name} is now called {newer}"
                warnings.warn(text, DeprecationWarning, stacklevel=2)
                return value
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


class Shown(Renamed):
    """A paragraph, which is its text, and figures and tables; doors are written over these."""

    @property
    def found(self) -> tuple[Figure, ...]:
        """Every figure, with its title, its unit and what high and low mean."""
        return ()

    @property
    def tables(self) -> tuple[Table, ...]:
        """Figures that are compared side by side."""
        return ()

    def _of(self, *figures: Figure) -> tuple[Figure, ...]:
        """Return figures with the values that have their keys."""
        return tuple(figure.of(getattr(self, figure.key)) for figure in figures)

    def _headline(self) -> str:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return found_html(self._headline(), self.found, str(self), self.tables)


def payload(found: Any) -> dict[str, Any]:
    """Return the fields of a dataclass as plain JSON values; internal ones are not in its repr.

    Examples
    --------
    >>> payload(Table("Sizes", ("size",), (("2",),)))
    {'title': 'Sizes', 'head': ['size'], 'rows': [['2']]}
    """
    return {each.name: _plain(getattr(found, each.name)) for each in fields(found) if each.repr}


def _plain(value: Any) -> Any:
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if is_dataclass(value):
        return payload(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value
