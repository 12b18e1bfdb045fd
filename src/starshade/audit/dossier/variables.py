"""The variables of the data with the technique for each, and the risk by class sizes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from starshade.ratings.table import Ratings
from starshade.release.promise import cells_are
from starshade.release.table import Release
from starshade.utility.losses import class_sizes

_KEPT = "Released as in the original."
_GONE = "Not released."
#: layout → technique for a rating
_RATINGS = {
    "generalized": "Generalized: a class has one set or interval of ratings per item.",
    "record": "Generalized or suppressed in each record, so that records are near each other.",
}


def variables_section(ratings: Ratings, release: Release) -> list[dict[str, str]]:
    """Return each variable, its kind of identifier, and what the release does to it."""
    return [
        {"name": name, "kind": kind, "technique": technique}
        for name, kind, technique in _variables(ratings, release)
    ]


def risk_section(release: Release) -> dict[str, Any] | None:
    """Return the risk by class sizes (El Emam 2013); None where records of a class may differ.

    An adversary knows that the target is in the data (prosecutor risk), and the table is the
    population. ``average``: classes / records; ``maximum``: 1 in the smallest class.
    """
    sizes = class_sizes(release)
    if release.manifest.layout == "record" or not len(sizes):
        return None
    return {
        "average": len(sizes) / int(sizes.sum()),
        "maximum": 1 / int(sizes.min()),
        "smallest": int(sizes.min()),
        "classes": len(sizes),
    }


def _variables(ratings: Ratings, release: Release) -> Iterator[tuple[str, str, str]]:
    manifest = release.manifest
    yield (
        "User id",
        "direct identifier",
        "Removed. The private key file links ids to records.",
    )
    few = "Items with too few raters are left out." if manifest.rare_items == "drop" else _KEPT
    yield "Rated items", "indirect identifier", few
    yield "Rating", "indirect identifier", _RATINGS.get(manifest.layout) or cells_are(manifest)
    if ratings.days is not None:
        yield "Date of a rating", "indirect identifier", _GONE
    for name in () if ratings.attributes is None else ratings.attributes.column_names:
        if name in manifest.quasi_identifiers:
            yield name, "quasi-identifier", "Generalized: equal within a class."
        elif name in manifest.sensitive_attributes:
            yield name, "sensitive attribute", _KEPT
        elif name in manifest.attribute_columns:
            yield name, "personal attribute", _KEPT
        else:
            yield name, "personal attribute", _GONE
