"""What was lost and what is still told, each figure with what a high or a low one means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from starshade.audit.dossier.data import Bins
from starshade.audit.result import AuditResult
from starshade.naming import aside, named
from starshade.ratings.table import Ratings
from starshade.release.table import Release
from starshade.utility.rating_histogram import RatingHistogram

__all__ = [
    "LOSSES",
    "disclosure_rows",
    "histogram_section",
    "loss_rows",
    "no_probe",
    "no_queries",
    "query_section",
    "recommender_section",
]

#: figure of `measure_all` → title, unit, whether low is good, what high and low mean
LOSSES: dict[str, tuple[str, str, bool | None, str]] = {
    "gen_iloss": (
        "Width of the released cells (GenILoss)",
        "share",
        True,
        "0 leaves every cell as it was; 100% makes each as wide as all ratings of its item.",
    ),
    "distortion_per_record": (
        "How far ratings were moved, per person",
        "ratings",
        True,
        "The sum of all moves of a person's ratings, in steps of the scale; 0 moved nothing.",
    ),
    "ratings_moved": (
        "Ratings moved",
        "count",
        True,
        "Ratings that are released with another value; low keeps more as it was.",
    ),
    "ratings_suppressed": (
        "Ratings left out",
        "count",
        True,
        "Ratings that are no longer in the release; low keeps more.",
    ),
    "ratings_invented": (
        "Ratings invented",
        "count",
        True,
        "Ratings in the release that nobody gave; low invents less.",
    ),
    "c_avg": (
        "Size of the classes against k (C_AVG)",
        "ratio",
        None,
        "1 is best: classes are no larger than k asks for. Above 1 people hide among more than "
        "asked, at the cost of detail; below 1 records are not equal but near each other.",
    ),
    "dm": (
        "Discernibility (DM)",
        "count",
        True,
        "The sum of squared class sizes: records × k at least, records squared when all are alike.",
    ),
    "classes": (
        "Classes of equal records",
        "count",
        False,
        "More classes keep more differences between people.",
    ),
    "smallest_class": (
        "Smallest class",
        "count",
        None,
        "The fewest records that are equal; k-anonymity asks for k at least.",
    ),
    "users_deleted": (
        "People left out by the method",
        "count",
        True,
        "People who could not be hidden among the others; low keeps more people.",
    ),
    "rare_items_dropped": (
        "Items left out because too few rated them",
        "count",
        True,
        "That an item is listed says that somebody rated it; low keeps more items.",
    ),
    "histogram_distance": (
        "Distance of the histograms, all cells",
        "share",
        True,
        "0 leaves as many cells of each rating, and without one, as there were; at 100% none is "
        "as it was.",
    ),
    "histogram_distance_rated": (
        "Distance of the histograms, ratings alone",
        "share",
        True,
        "0 leaves ratings as frequent, among each other, as they were; 100% has none in common.",
    ),
    "dissimilarity_all": (
        "How unlike two people are",
        "ratio",
        None,
        "Between any two people; to be compared with those who share a profile.",
    ),
    "dissimilarity_within": (
        "How unlike those are who share a profile",
        "ratio",
        True,
        "The lower beside any two people, the more alike are those who were put together.",
    ),
}

_SHARES = {
    "users_rating_disclosed": (
        "People of whom a rating is shown",
        "High means risk: they are in a class that shows one of their ratings plainly, however "
        "many they hide among.",
    ),
    "users_rating_exists": (
        "People of whom it is shown that they rated something",
        "High means risk: their class shows that each of its members rated some item.",
    ),
    "records_alone_with_sensitive": (
        "Records alone in their class with their sensitive attributes",
        "High means risk: by ratings and quasi-identifiers they hide among others; who knows their "
        "sensitive attributes, too, finds them.",
    ),
}

_RECOMMENDER = {
    "rmse_refit": ("Error of a recommender trained on the release", "rmse_original", True),
    "rmse_release": ("Error when the released cell itself predicts", "rmse_original", True),
    "similar_user_deviation_release": ("Error from the profile most like them", None, True),
    "top_n_agreement_refit": ("Recommendations that are the same", None, False),
}


def loss_rows(utility: Mapping[str, float | int | None]) -> list[dict[str, Any]]:
    """Return the losses that apply."""
    return [
        {
            "name": name,
            "title": title,
            "value": value,
            "unit": unit,
            "meaning": meaning,
            "low_is_good": low,
        }
        for name, (title, unit, low, meaning) in LOSSES.items()
        if (value := utility.get(name)) is not None
    ]


def disclosure_rows(shares: Mapping[str, float | None], release: Release) -> list[dict[str, Any]]:
    """Return what the release still tells of people, whoever is who; all of it is in its files."""
    names = ", ".join(release.manifest.attribute_columns)
    titles = _SHARES | {
        "unique_by_attributes": (
            f"Records that no other equals in {names}",
            "Who knows so much of such a person finds their record, whatever its ratings: nothing "
            "but the service that stands before it protects them. High means risk.",
        )
    }
    found = {**shares, "unique_by_attributes": _alone(release)}
    return [
        {"name": name, "title": title, "value": value, "unit": "share", "meaning": meaning}
        for name, (title, meaning) in titles.items()
        if (value := found.get(name)) is not None
    ]


def _alone(release: Release) -> float | None:
    """Return the share of records that stand alone with their exact personal attributes."""
    table = release.attributes
    if release.manifest.attributes != "exact" or table is None or not table.num_rows:
        return None
    names = table.column_names
    sizes = table.group_by(names).aggregate([([], "count_all")])["count_all"].to_numpy()
    return float((sizes == 1).sum() / table.num_rows)


def recommender_section(result: AuditResult) -> dict[str, Any] | None:
    """Return errors of recommenders before and after; None without held-out ratings."""
    found = result.utility
    if not found.get("probe_ratings"):
        return None
    rows = []
    for name, (title, before, low) in _RECOMMENDER.items():
        value, base = found.get(name), found.get(before) if before else None
        if value is None:
            continue
        rows.append(
            {
                "name": name,
                "title": title,
                "before": base,
                "after": value,
                "ratio": value / base if base else None,
                "unit": "ratings" if low else "share",
                "low_is_good": low,
                "meaning": _MEANING[low],
            }
        )
    return {
        "rows": rows,
        "tested": found["probe_ratings"],
        "meaning": "How well ratings that were held out are predicted, before and after. A ratio "
        "of 1 predicts as well from the release as from the original; above 1, worse.",
    }


_MEANING = {
    True: "Low is good: the typical distance of a predicted rating from the true one.",
    False: "High is good: the share of recommended items that the original would recommend too.",
}


def query_section(result: AuditResult) -> dict[str, Any] | None:
    """Return how far averages asked of the release are off; None where none can be asked."""
    titles = {
        "and": "of people who meet all conditions",
        "or": "of people who meet any of the conditions",
        "range": "of people whose ratings of an item lie in a range",
    }
    rows = [
        {
            "name": f"query_error_{kind}",
            "title": f"Averages {title}",
            "value": value,
            "unit": "percent",
            "meaning": "How far the answer lies from the true average; 0 is exact.",
        }
        for kind, title in titles.items()
        if (value := result.utility.get(f"query_error_{kind}")) is not None
    ]
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
        "aside first (starshade data split), make the release of the rest, and give what was set "
        f"aside with {named('probe')} and the receipt with {named('private')}."
    )


def no_queries(release: Release) -> str:
    """Say why no averages were compared."""
    manifest = release.manifest
    if release.attributes is None:
        why = "the release was made without personal attributes"
        why += aside("attributes", "none")
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

    Parameters
    ----------
    release : Release
    part : Ratings
        The released part of the original.
    differ : bool
        Whether that is less than all.
    """
    found, bins = RatingHistogram().measure(release, original=part), Bins.of(release.scale)
    if not found.before or not part.n_ratings:
        return None
    of_level = bins.place(release.scale.levels)

    def shares(cells: tuple[float, ...]) -> list[float]:
        held = np.bincount(of_level, weights=cells[1:], minlength=len(bins.ends))
        return [float(share) for share in held / (held.sum() or 1.0)]

    return {
        "of": "What the released people gave to the released items." * differ,
        "levels": bins.labels,
        "before": shares(found.before),
        "after": shares(found.after),
        "null_before": found.before[0],
        "null_after": found.after[0],
        "meaning": "How often each rating occurs among the cells that have one, before and after. "
        "The more alike the two, the better counts and averages of ratings hold; a cell that "
        "leaves several ratings open counts for each in equal parts.",
    }
