"""Figures as people read them: counts with separators, sizes, intervals, a dash for none."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from starshade.figure import Figure, Unit
from starshade.query.statement import shown

if TYPE_CHECKING:
    from markupsafe import Markup

__all__ = ["count", "ends", "figure", "lines", "sentence", "size"]

_NONE = "–"


def ends(rate: Mapping[str, float]) -> str:
    """Write the interval of a rate.

    Examples
    --------
    >>> ends({"rate": 0.149, "low": 0.1401, "high": 0.158})
    '14.0 to 15.8%'
    """
    return f"{rate['low']:.1%}".removesuffix("%") + f" to {rate['high']:.1%}"


def count(number: float | str | None) -> str:
    """Write a number of things; text stands as it is.

    Examples
    --------
    >>> count(100000), count(None), count("fewer than 5")
    ('100,000', '–', 'fewer than 5')
    """
    if isinstance(number, str):
        return number
    return _NONE if number is None or math.isnan(number) else f"{number:,.0f}"


def size(n_bytes: int) -> str:
    """Write the size of a file.

    Examples
    --------
    >>> size(812), size(1_234_567)
    ('812 bytes', '1.2 MB')
    """
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if n_bytes >= unit:
            return f"{n_bytes / unit:,.1f} {name}"
    return f"{n_bytes} bytes"


def figure(value: float | str | None, unit: Unit) -> str:
    """Write a value in its unit, as `Figure` does.

    Examples
    --------
    >>> figure(0.333, "share"), figure(1.0021621, "ratio"), figure("fewer than 5", "count")
    ('33.3%', '1.002', 'fewer than 5')
    """
    return Figure("", "", unit).of(value).text


def lines(text: str) -> Markup:
    r"""Write a text of several lines; what cannot be seen in one is escaped.

    Examples
    --------
    >>> print(lines("one <b>\ntwo\x1b"))
    one &lt;b&gt;
    two\x1b
    """
    from markupsafe import Markup, escape

    return Markup("\n").join(escape(shown(line)) for line in text.split("\n"))


def sentence(text: str) -> str:
    """Begin a text with a capital letter.

    Examples
    --------
    >>> sentence("its cells are means")
    'Its cells are means'
    """
    return text[:1].upper() + text[1:]
