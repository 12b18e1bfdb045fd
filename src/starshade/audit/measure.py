"""Every measure that applies to a release, in one flat dict."""

from __future__ import annotations

from starshade.progress import task
from starshade.ratings.table import Ratings
from starshade.release.table import Release
from starshade.utility.registry import ENTRIES

__all__ = ["measure_all"]


def measure_all(release: Release, original: Ratings) -> dict[str, float | int | None]:
    """Measure a release in every way that ``starshade list measures`` names.

    Parameters
    ----------
    release : Release
    original : Ratings
        The ratings that the release was made from.

    Returns
    -------
    dict
        Name → figure; None where one does not apply.

    Raises
    ------
    ConfigError
        A released item is not in `original`.
    """
    figures: dict[str, float | int | None] = {}
    with task("measuring", len(ENTRIES)) as step:
        for entry in ENTRIES:
            figures |= entry.load()().measure(release, original=original).to_dict()
            step(1)
    return figures
