"""``starshade data describe``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from starshade.cli.options.shared import Reading, reading
from starshade.cli.running.run import Run, running
from starshade.cli.show import columns, figures, page
from starshade.plain import percent

if TYPE_CHECKING:
    from starshade.ratings.describe import Description

__all__ = ["describe"]


@click.command()
@click.argument("ratings", metavar="RATINGS")
@reading(dates=True)
@running()
def describe(ratings: str, reading: Reading, run: Run) -> None:
    """Shape, scale, sparsity and long tail of RATINGS (a file, a folder or an archive)."""
    table = reading.read(ratings)
    from starshade.ratings.describe import describe as describe_table

    description = describe_table(table)
    run.emit({**description.to_dict(), "seconds": run.seconds}, lambda: _summary(description))


def _summary(description: Description) -> Any:
    report, first = description.report, description.first_day
    unknown = description.days_unknown
    seen = "found in the data" if report.scale_inferred else "declared"
    rows: list[tuple[str, Any]] = [
        ("format", report.format or "ratings"),
        ("columns", ", ".join(f"{k} = {v}" for k, v in report.mapping.items()) or None),
        ("users", description.users),
        ("items", description.items),
        ("ratings", description.ratings),
        ("scale", f"{description.scale} ({seen})"),
        ("cells without a rating", percent(description.sparsity)),
        ("dates", first and f"{first} to {description.last_day}"),
        ("ratings without a date", percent(unknown) if unknown else None),
        ("personal attributes", ", ".join(description.attributes) or None),
        ("users dropped (no rating left)", report.dropped_users or None),
        ("items dropped", report.dropped_items or None),
        ("duplicates merged", report.merged_duplicates or None),
        ("ratings on the top 1 % of items", percent(description.long_tail["top_1_percent"])),
        ("ratings on the top 10 % of items", percent(description.long_tail["top_10_percent"])),
    ]
    spread = columns(
        ("", "5 %", "25 %", "median", "75 %", "95 %", "mean"),
        [
            ("ratings per user", *_quantiles(description.ratings_per_user)),
            ("ratings per item", *_quantiles(description.ratings_per_item)),
        ],
    )
    return page(figures(rows), spread, _histogram(description))


def _quantiles(spread: dict[str, float]) -> list[str]:
    return [f"{spread[q]:,.0f}" for q in ("q05", "q25", "median", "q75", "q95")] + [
        f"{spread['mean']:,.1f}"
    ]


def _histogram(description: Description) -> Any:
    if len(description.histogram) > 30:
        return None
    most = max((n for _, _, n in description.histogram), default=0) or 1
    rows = []
    for low, high, n in description.histogram:
        label = f"{low:g}" if low == high else f"{low:g} to {high:g}"
        bar = "█" * round(24 * n / most)
        rows.append((label, f"{bar} {percent(n / max(description.ratings, 1))}"))
    return figures(rows, title="How ratings spread")
