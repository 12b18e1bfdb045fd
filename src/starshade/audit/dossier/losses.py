"""Losses and remaining disclosure, each figure with the meaning of a high or a low value."""

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
    """Return what the release discloses of people; all of it can be counted in its files."""
    names = ", ".join(release.manifest.attribute_columns)
    alone = Figure(
        "unique_by_attributes",
        f"Records that are unique by {names}",
        "share",
        True,
        "An adversary who knows these attributes finds the record: only the query service protects "
        "these people. High means risk.",
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
        "meaning": "Prediction of held-out ratings, before and after. Ratio 1: as good from the "
        "release as from the original data; above 1: worse.",
    }


def query_section(result: AuditResult) -> dict[str, Any] | None:
    """Return the query error of averages; None where no queries can be answered."""
    keys = [f"query_error_{kind}" for kind in KINDS]
    rows = [_row(figure) for figure in figures_found(result.utility) if figure.key in keys]
    if not rows:
        return None
    return {
        "rows": rows,
        "conditions": result.utility.get("query_error_conditions"),
        "meaning": "Error of an average over the release, in percent of the answer. Low is good. "
        "The relevant kind of query is the one that users will ask.",
    }


def no_probe() -> str:
    """Say how to measure a recommender's loss."""
    return (
        "Not measured: no ratings were held out. Hold out some ratings, make the release from the "
        "rest, and give the private key file and the held-out ratings."
    )


def no_queries(release: Release) -> str:
    """Say why no averages were compared."""
    manifest = release.manifest
    if release.attributes is None:
        why = "the release was made without personal attributes"
    elif manifest.scale.step is None:
        why = "query conditions need a scale with steps"
    else:
        names = ", ".join(manifest.attribute_columns)
        why = f"no personal attribute ({names}) is numeric, or none was read here"
    return f"Not measured: query error is of averages of a numeric personal attribute, and {why}."


def histogram_section(release: Release, part: Ratings, *, differ: bool) -> dict[str, Any] | None:
    """Return the distribution of ratings, before and after; None on a scale without steps.

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
        "of": "Ratings of the released people on the released items." * differ,
        "levels": bins.labels,
        "before": shares(histogram.before),
        "after": shares(histogram.after),
        "null_before": histogram.before[0],
        "null_after": histogram.after[0],
        "meaning": "Among cells with a rating. The closer the two, the more accurate are counts "
        "and averages. A cell with several possible ratings counts equally for each.",
    }
