"""What an attack found, as a table for notebooks and as a chart: the same shares in both."""

from __future__ import annotations

from collections.abc import Sequence

from starshade.chart import Chart
from starshade.chart.shapes import Axis, Dot, Level, dot_chart
from starshade.figure import Figure, Rate, Table, shares_of
from starshade.markup import block, paragraph, table

__all__ = ["found_chart", "found_html"]

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


def found_chart(
    title: str, subtitle: str, figures: Sequence[Figure], level: Level | None = None
) -> Chart:
    """Draw shares with their intervals, beside what they must be compared with."""
    dots = [
        Dot(each.title, each.value.rate, each.value.low, each.value.high)
        for each in shares_of(figures)
        if isinstance(each.value, Rate)
    ]
    return dot_chart(title, subtitle, dots, Axis("share of the targets", share=True), level)
