"""How results look for a person: a few figures, a paragraph, no markup from data."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import RenderableType

from starshade.audit.reproduction.check import Check
from starshade.plain import percent

__all__ = [
    "columns",
    "command",
    "figures",
    "judged",
    "measured",
    "number",
    "page",
    "words",
]

_LABELS = {
    "groups": "groups",
    "classes": "classes of equal records",
    "smallest_class": "smallest class",
    "dm": "discernibility DM",
    "c_avg": "average class size C_AVG (1 is best)",
    "gen_iloss": "generalization loss GenILoss (0 is best)",
    "distortion": "distortion: how far ratings were moved, in all",
    "distortion_per_record": "distortion per record",
    "ratings_moved": "ratings moved",
    "ratings_suppressed": "ratings blanked",
    "ratings_invented": "ratings filled in",
    "users_deleted": "users left out to meet the requirement",
    "rare_items_dropped": "items left out as rare",
    "invented_cells": "ratings filled in, of those released",
    "single_rater_cells": "ratings that rest on one member's, of those released",
    "users_rating_disclosed": "users with a rating disclosed",
    "users_rating_exists": "users with a rating known to exist",
    "records_alone_with_sensitive": "records alone with their sensitive attributes",
    "query_error_and": "averages by query, % off: ratings joined by AND",
    "query_error_and_of_truth": "  as % of the true average",
    "query_error_or": "averages by query, % off: ratings joined by OR",
    "query_error_or_of_truth": "  as % of the true average",
    "query_error_range": "averages by query, % off: ranges of ratings",
    "query_error_range_of_truth": "  as % of the true average",
    "query_error_conditions": "averages compared",
    "rmse_original": "held-out ratings, RMSE: recommender on the original",
    "rmse_release": "  the released cells",
    "rmse_refit": "  recommender on the release",
    "mae_original": "held-out ratings, MAE: recommender on the original",
    "mae_release": "  the released cells",
    "mae_refit": "  recommender on the release",
    "rmse_ratio_release": "RMSE of the released cells, of the original's (1 is best)",
    "rmse_ratio_refit": "RMSE of the recommender on the release, of the original's",
    "mae_ratio_release": "MAE of the released cells, of the original's (1 is best)",
    "mae_ratio_refit": "MAE of the recommender on the release, of the original's",
    "probe_ratings": "held-out ratings tested",
    "probe_left_out": "held-out ratings of people or on items not released",
    "target_deviation_release": "target deviation, released cells",
    "target_deviation_refit": "target deviation, recommender on the release",
    "similar_user_deviation_release": "similar-user deviation, released cells",
    "similar_user_deviation_refit": "similar-user deviation, recommender on the release",
    "similar_user_users": "people compared with profiles",
    "self_rank_mean": "self-rank, mean percentile",
    "self_rank_median": "self-rank, median percentile",
    "self_rank_first": "people whose own profile is the most similar",
    "self_rank_users": "people ranked",
    "self_rank_profiles": "profiles they were ranked among",
    "histogram_distance": "rating histogram, how far from the original's (0 is best)",
    "histogram_distance_rated": "  of the cells with a rating alone",
    "null_share_before": "cells without a rating, before",
    "null_share_after": "cells without a rating, after",
    "dissimilarity_all": "dissimilarity of two people",
    "dissimilarity_within": "  of two with the same profile",
    "dissimilarity_users": "  people in the sample",
    "dissimilarity_pairs_within": "  pairs with the same profile",
    "top_n_agreement_release": "best ten alike, released cells (100% is best)",
    "top_n_agreement_refit": "best ten alike, recommender on the release",
    "top_n_users": "people with a best ten",
}
_SHARES = (
    "invented_cells",
    "single_rater_cells",
    "users_rating_disclosed",
    "users_rating_exists",
    "records_alone_with_sensitive",
    "self_rank_first",
    "null_share_before",
    "null_share_after",
    "top_n_agreement_release",
    "top_n_agreement_refit",
)
#: errors and their ratios, in which the fourth decimal counts
_ERRORS = ("rmse_", "mae_", "target_deviation_", "similar_user_deviation_")


def page(*parts: RenderableType | None) -> RenderableType:
    """Put parts one under the other, a blank line between."""
    from rich.console import Group
    from rich.text import Text

    shown = [part for part in parts if part is not None]
    spaced = [entry for part in shown for entry in (part, Text(""))]
    return Group(*spaced[:-1])


def words(text: str, style: str = "") -> RenderableType:
    """Show a paragraph as it is."""
    from rich.text import Text

    return Text(text, style=style)


def figures(rows: Iterable[tuple[str, Any]], title: str = "") -> RenderableType:
    """Show names and values in two columns; None is left out."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    for name, value in rows:
        if value is not None:
            table.add_row(
                Text(f"  {name}"), Text(value if isinstance(value, str) else number(value))
            )
    return _titled(title, table)


def measured(found: Mapping[str, float | int | None]) -> list[tuple[str, str]]:
    """Name the figures of a release for a person; – where one does not apply."""
    return [(_LABELS.get(name, name), _figure(name, value)) for name, value in found.items()]


def _figure(name: str, value: float | int | None) -> str:
    if name in _SHARES:
        return percent(value)
    if name.startswith(_ERRORS) and value is not None:
        return f"{value:.4f}"
    return number(value)


def command(*words: str) -> RenderableType:
    """Show a command to be copied: quoted for a shell, never broken into lines."""
    from rich.text import Text

    return Text(f"  {shlex.join(words)}", no_wrap=True, overflow="ignore")


def columns(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    title: str = "",
    align: str = "right",
    *,
    names: bool = False,
) -> RenderableType:
    """Show a small table with a head; all columns but the first are aligned as told.

    Names in the first column stay whole, and the others give way.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, show_edge=False)
    for i, name in enumerate(head):
        right = i and align == "right"
        whole = names and not i
        table.add_column(Text(name), justify="right" if right else "left", no_wrap=whole)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return _titled(title, table)


def judged(checks: Sequence[Check]) -> RenderableType:
    """Show what a paper says of its curves and whether it holds, then what we say of ours."""
    from starshade.audit.reproduction.check import apart

    titles = ("What the paper says", "What we say of our own methods")
    head = ("figure", "what is said", "on", "here", "holds")
    return page(
        *(
            columns(
                head,
                [(c.figure, c.says, c.where, c.ours, "yes" if c.holds else "no") for c in own],
                title=title,
                align="left",
            )
            for title, own in zip(titles, apart(checks), strict=True)
            if own
        )
    )


def _titled(title: str, table: RenderableType) -> RenderableType:
    from rich.console import Group
    from rich.text import Text

    return Group(Text(title, style="bold"), table) if title else table


def number(value: float | None) -> str:
    """Write a count with thousands separators, anything else with at least four digits."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) or abs(value) < 1000:
        return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
    return f"{value:,.0f}"
