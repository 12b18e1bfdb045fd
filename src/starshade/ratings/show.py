"""A rating table for a notebook: its shape in a table, its histogram and long tail in a chart.

Nothing in either is about a single user or item.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from starshade.chart import Chart
from starshade.chart.shapes import Axis, Bar, bar_chart, curve_chart
from starshade.markup import block, facts, paragraph
from starshade.plain import counted
from starshade.ratings.describe import Description, describe

if TYPE_CHECKING:
    from starshade.ratings.table import Ratings

__all__ = ["ratings_chart", "ratings_html"]

_POINTS = 100  # of the long tail


def ratings_html(ratings: Ratings) -> str:
    """Say what there is, and what reading left out."""
    description = describe(ratings)
    notes = "".join(paragraph(note) for note in description.report.notes)
    return block(_size(description), facts(_rows(description)), notes)


def ratings_chart(ratings: Ratings) -> Chart:
    """Draw how often each rating was given, and how much the most rated items hold."""
    description = describe(ratings)
    total = max(description.ratings, 1)
    bars = [
        Bar(f"{low:g}" if low == high else f"{low:.3g} to {high:.3g}", n / total)
        for low, high, n in description.histogram
    ]
    size = _size(description)
    histogram = bar_chart(
        "How often each rating was given", size, bars, "rating", Axis("share", share=True)
    )
    held = np.cumsum(np.sort(ratings.item_support)[::-1]) / total
    places = np.unique(np.linspace(1, max(len(held), 1), _POINTS).round().astype(np.int64))
    points = [(p / len(held), float(held[p - 1])) for p in places.tolist() if len(held)]
    tail = curve_chart(
        "How much the most rated items hold",
        size,
        {"": [(0.0, 0.0), *points]},
        Axis("most rated items", share=True),
        Axis("share of all ratings", share=True),
    )
    return histogram.beside(tail, title="Ratings, and their long tail", subtitle=size)


def _size(of: Description) -> str:
    parts = ((of.users, "user"), (of.items, "item"), (of.ratings, "rating"))
    return ", ".join(counted(n, what) for n, what in parts)


def _rows(description: Description) -> list[tuple[str, str]]:
    """Name each figure, with what it means where the name does not say it."""
    report = description.report
    rows = [
        ("scale", f"{description.scale}{' (found in the data)' if report.scale_inferred else ''}"),
        ("not rated", f"{description.sparsity:.1%} of all users × items"),
    ]
    rows += [
        (f"ratings per {what}", f"{of['median']:,.0f} (median; 5 % have up to {of['q05']:,.0f}, "
         f"5 % have {of['q95']:,.0f} or more)")
        for what, of in (
            ("user", description.ratings_per_user),
            ("item", description.ratings_per_item),
        )
        if of
    ]  # fmt: skip
    top = description.long_tail["top_10_percent"]
    rows.append(("long tail", f"the most rated 10 % of the items hold {top:.1%} of the ratings"))
    if description.first_day is not None:
        unknown = f", {description.days_unknown:.1%} without" if description.days_unknown else ""
        rows.append(("dates", f"{description.first_day} to {description.last_day}{unknown}"))
    if description.attributes:
        rows.append(("personal attributes", ", ".join(description.attributes)))
    if report.mapping:
        mapping = ", ".join(f"{role} = {column}" for role, column in report.mapping.items())
        rows.append(("read as", f"{report.format}: {mapping}"))
    left_out = (
        ("users left out (no rating)", report.dropped_users),
        ("items left out", report.dropped_items),
        ("repeated ratings merged", report.merged_duplicates),
    )
    return rows + [(name, f"{n:,}") for name, n in left_out if n]
