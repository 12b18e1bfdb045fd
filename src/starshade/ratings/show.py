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
    told = describe(ratings)
    title = (
        f"{counted(told.users, 'user')}, {counted(told.items, 'item')}, "
        f"{counted(told.ratings, 'rating')}"
    )
    notes = "".join(paragraph(note) for note in told.report.notes)
    return block(title, facts(_rows(told)), notes)


def ratings_chart(ratings: Ratings) -> Chart:
    """Draw how often each rating was given, and how much the most rated items hold."""
    told = describe(ratings)
    total = max(told.ratings, 1)
    bars = [
        Bar(f"{low:g}" if low == high else f"{low:.3g} to {high:.3g}", n / total)
        for low, high, n in told.histogram
    ]
    size = (
        f"{counted(told.users, 'user')}, {counted(told.items, 'item')}, "
        f"{counted(told.ratings, 'rating')}"
    )
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


def _rows(told: Description) -> list[tuple[str, str]]:
    """Name each figure, with what it means where the name does not say it."""
    scale = f"{told.scale}{' (found in the data)' if told.report.scale_inferred else ''}"
    rows = [
        ("scale", scale),
        ("not rated", f"{told.sparsity:.1%} of all users × items"),
    ]
    rows += [
        (f"ratings per {what}", f"{of['median']:,.0f} (median; 5 % have up to {of['q05']:,.0f}, "
         f"5 % have {of['q95']:,.0f} or more)")
        for what, of in (("user", told.ratings_per_user), ("item", told.ratings_per_item))
        if of
    ]  # fmt: skip
    top = told.long_tail["top_10_percent"]
    rows.append(("long tail", f"the most rated 10 % of the items hold {top:.1%} of the ratings"))
    if told.first_day is not None:
        unknown = f", {told.days_unknown:.1%} without" if told.days_unknown else ""
        rows.append(("dates", f"{told.first_day} to {told.last_day}{unknown}"))
    if told.attributes:
        rows.append(("personal attributes", ", ".join(told.attributes)))
    if told.report.mapping:
        mapping = ", ".join(f"{role} = {column}" for role, column in told.report.mapping.items())
        rows.append(("read as", f"{told.report.format}: {mapping}"))
    left_out = (
        ("users left out (no rating)", told.report.dropped_users),
        ("items left out", told.report.dropped_items),
        ("repeated ratings merged", told.report.merged_duplicates),
    )
    return rows + [(name, f"{n:,}") for name, n in left_out if n]
