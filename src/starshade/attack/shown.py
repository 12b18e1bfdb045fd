"""What an attack found, as a table for notebooks and as a chart: the same shares in both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from starshade.chart import Chart
from starshade.chart.shapes import Axis, Dot, Level, dot_chart
from starshade.figure import Rate
from starshade.markup import block, paragraph, table

__all__ = ["Shown", "shares_chart", "shares_html"]

_HEAD = ("figure", "share", "95 % interval", "what it means")


@dataclass(frozen=True)
class Shown:
    """A share, in the reader's words."""

    name: str
    rate: Rate
    meaning: str


def shares_html(title: str, shares: Sequence[Shown], text: str) -> str:
    """Return shares as a table, and the paragraph that explains them."""
    rows = [
        (s.name, f"{s.rate.rate:.1%}", f"{s.rate.low:.1%} to {s.rate.high:.1%}", s.meaning)
        for s in shares
    ]
    return block(title, table(_HEAD, rows, numbers=(1, 2)), paragraph(text))


def shares_chart(
    title: str, subtitle: str, shares: Sequence[Shown], level: Level | None = None
) -> Chart:
    """Draw shares with their intervals, beside what they must be compared with."""
    dots = [Dot(s.name, s.rate.rate, s.rate.low, s.rate.high) for s in shares]
    return dot_chart(title, subtitle, dots, Axis("share of the targets", share=True), level)
