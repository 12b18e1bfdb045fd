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

    found = describe_table(table)
    run.emit({**found.to_dict(), "seconds": run.seconds}, lambda: _summary(found))


def _summary(found: Description) -> Any:
    dropped = found.report.dropped_users
    source = found.report.format or "ratings"
    seen = "found in the data" if found.report.scale_inferred else "declared"
    dates = None if found.first_day is None else f"{found.first_day} to {found.last_day}"
    rows: list[tuple[str, Any]] = [
        ("format", source),
        ("columns", ", ".join(f"{k} = {v}" for k, v in found.report.mapping.items()) or None),
        ("users", found.users),
        ("items", found.items),
        ("ratings", found.ratings),
        ("scale", f"{found.scale} ({seen})"),
        ("cells without a rating", percent(found.sparsity)),
        ("dates", dates),
        ("ratings without a date", percent(found.days_unknown) if found.days_unknown else None),
        ("personal attributes", ", ".join(found.attributes) or None),
        ("users dropped (no rating left)", dropped or None),
        ("items dropped", found.report.dropped_items or None),
        ("duplicates merged", found.report.merged_duplicates or None),
        ("ratings on the top 1 % of items", percent(found.long_tail["top_1_percent"])),
        ("ratings on the top 10 % of items", percent(found.long_tail["top_10_percent"])),
    ]
    spread = columns(
        ("", "5 %", "25 %", "median", "75 %", "95 %", "mean"),
        [
            ("ratings per user", *_quantiles(found.ratings_per_user)),
            ("ratings per item", *_quantiles(found.ratings_per_item)),
        ],
    )
    return page(figures(rows), spread, _histogram(found))


def _quantiles(spread: dict[str, float]) -> list[str]:
    return [f"{spread[q]:,.0f}" for q in ("q05", "q25", "median", "q75", "q95")] + [
        f"{spread['mean']:,.1f}"
    ]


def _histogram(found: Description) -> Any:
    if len(found.histogram) > 30:
        return None
    most = max((n for _, _, n in found.histogram), default=0) or 1
    rows = []
    for low, high, n in found.histogram:
        label = f"{low:g}" if low == high else f"{low:g} to {high:g}"
        bar = "█" * round(24 * n / most)
        rows.append((label, f"{bar} {percent(n / max(found.ratings, 1))}"))
    return figures(rows, title="How ratings spread")
