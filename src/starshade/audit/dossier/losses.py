"""What was lost and what is still told, each figure with what a high or a low one means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from starshade.audit.dossier.data import Bins
from starshade.audit.dossier.release import row_of
from starshade.audit.measure import figures_found
from starshade.audit.result import AuditResult
from starshade.figure import Figure
from starshade.ratings.table import Ratings
from starshade.release.table import Release
from starshade.utility.losses import DisclosureShares
from starshade.utility.query_error_result import KINDS
from starshade.utility.rating_histogram import RatingHistogram
from starshade.utility.registry import ENTRIES

#: measures that have a section of their own, or a row of another
_APART = {
    "disclosure-shares",
    "query-error",
    "recommender-error",
    "self-rank",
    "similar-user-deviation",
    "target-deviation",
    "top-n-agreement",
    "what-remains",
}
#: figure of recommenders → the same of the original
_RECOMMENDER = {
    "rmse_refit": "rmse_original",
    "rmse_release": "rmse_original",
    "similar_user_deviation_release": "",
    "top_n_agreement_refit": "",
}


def loss_rows(utility: Mapping[str, float | int | None]) -> list[dict[str, Any]]:
    """Return the losses that apply: of every measure that has no section of its own."""
    apart = {
        figure.key for entry in ENTRIES if entry.name in _APART for figure in entry.load().FIGURES
    }
    return [_row(figure) for figure in figures_found(utility) if figure.key not in apart]


def _row(figure: Figure) -> dict[str, Any]:
    return row_of(figure) | {"low_is_good": figure.low_is_good}


def disclosure_rows(shares: Mapping[str, float | None], release: Release) -> list[dict[str, Any]]:
    """Return what the release still tells of people, whoever is who; all of it is in its files."""
    names = ", ".join(release.manifest.attribute_columns)
    alone = Figure(
        "unique_by_attributes",
        f"Records that no other equals in {names}",
        "share",
        True,
        "Who knows so much of such a person finds their record, whatever its ratings: nothing "
        "but the service that stands before it protects them. High means risk.",
    )
    figures = [figure.of(shares.get(figure.key)) for figure in DisclosureShares.FIGURES]
    figures.append(alone.of(_alone(release)))
    return [_row(figure) for figure in figures if figure.value is not None]


def _alone(release: Release) -> float | None:
    table = release.attributes
    if release.manifest.attributes != "exact" or table is None or not table.num_rows:
        return None
    names = table.column_names
    sizes = table.group_by(names).aggregate([([], "count_all")])["count_all"].to_numpy()
    return float((sizes == 1).sum() / table.num_rows)


def recommender_section(result: AuditResult) -> dict[str, Any] | None:
    """Return errors of recommenders before and after; None without held-out ratings."""
    utility = result.utility
    if not utility.get("probe_ratings"):
        return None
    rows = []
    for figure in figures_found(utility):
        if figure.key not in _RECOMMENDER:
            continue
        base = utility.get(_RECOMMENDER[figure.key])
        value = figure.mean
        ratio = value / base if base and value is not None else None
        row = _row(figure) | {"before": base, "after": value, "ratio": ratio}
        rows.append({name: entry for name, entry in row.items() if name != "value"})
    return {
        "rows": rows,
        "tested": utility["probe_ratings"],
        "meaning": "How well ratings that were held out are predicted, before and after. A ratio "
        "of 1 predicts as well from the release as from the original; above 1, worse.",
    }


def query_section(result: AuditResult) -> dict[str, Any] | None:
    """Return how far averages asked of the release are off; None where none can be asked."""
    keys = [f"query_error_{kind}" for kind in KINDS]
    rows = [_row(figure) for figure in figures_found(result.utility) if figure.key in keys]
    if not rows:
        return None
    return {
        "rows": rows,
        "conditions": result.utility.get("query_error_conditions"),
        "meaning": "How far an average asked of the release lies from the true one, in percent of "
        "the answer. Low is good: an analyst may rely on it; high is not. The kind that matters is "
        "the kind that will be asked.",
    }


def no_probe() -> str:
    """Say what to do to see a recommender's losses, where there are none."""
    return (
        "Not told: no ratings were held out. To see what a recommender loses, set some ratings "
        "aside first, make the release of the rest, and give the receipt and what was set aside."
    )


def no_queries(release: Release) -> str:
    """Say why no averages were compared."""
    manifest = release.manifest
    if release.attributes is None:
        why = "the release was made without personal attributes"
    elif manifest.scale.step is None:
        why = "conditions are asked of the steps of a scale, and this one has none"
    else:
        names = ", ".join(manifest.attribute_columns)
        why = f"of the personal attributes ({names}) none is a number, or none was read here"
    return (
        f"Not measured: what is compared are averages of a numeric personal attribute, and {why}."
    )


def histogram_section(release: Release, part: Ratings, *, differ: bool) -> dict[str, Any] | None:
    """Return how ratings are shared out, before and after; None on a scale without steps.

    `part`: the released part of the original; `differ`: whether that is less than all.
    """
    histogram, bins = RatingHistogram().measure(release, original=part), Bins.of(release.scale)
    if not histogram.before or not part.n_ratings:
        return None
    of_level = bins.place(release.scale.levels)

    def shares(cells: tuple[float, ...]) -> list[float]:
        held = np.bincount(of_level, weights=cells[1:], minlength=len(bins.ends))
        return [float(share) for share in held / (held.sum() or 1.0)]

    return {
        "of": "What the released people gave to the released items." * differ,
        "levels": bins.labels,
        "before": shares(histogram.before),
        "after": shares(histogram.after),
        "null_before": histogram.before[0],
        "null_after": histogram.after[0],
        "meaning": "How often each rating occurs among the cells that have one, before and after. "
        "The more alike the two, the better counts and averages of ratings hold; a cell that "
        "leaves several ratings open counts for each in equal parts.",
    }
