"""Query errors of a release, by kind of condition and size."""

from __future__ import annotations

from starshade.ratings.table import Ratings
from starshade.release.table import Release

__all__ = ["mean_errors"]


def mean_errors(
    release: Release, original: Ratings, attribute: str, seed: int
) -> dict[str, float | int | None]:
    """Return ``query_error`` and one figure for each kind of condition."""
    return {}
