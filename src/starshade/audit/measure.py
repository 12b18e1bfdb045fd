"""Every measure that applies to a release, in one flat dict."""

from __future__ import annotations

from collections.abc import Collection

from starshade.attack.view import look
from starshade.progress import task
from starshade.ratings.table import Ratings
from starshade.release.table import Release
from starshade.utility.registry import ENTRIES

__all__ = ["figures_of", "measure_all"]


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
        Name → figure; None where one does not apply. Beside the measures ``users_deleted``,
        people whom the method left out to meet its requirement, and ``rare_items_dropped``, as
        the release states them: no measure counts what is not there.

    Raises
    ------
    ConfigError
        The release was not made of these ratings, or its receipt does not belong to them.
    """
    if release.private is not None:
        look(release, original, None)  # refuses what does not belong together
    return figures_of(release, original)


def figures_of(
    release: Release, original: Ratings, *, without: Collection[str] = ()
) -> dict[str, float | int | None]:
    """Measure a release that is known to have been made of these ratings.

    `without` names measures that are not taken.
    """
    figures: dict[str, float | int | None] = {}
    entries = [entry for entry in ENTRIES if entry.name not in without]
    with task("measuring", len(entries)) as step:
        for entry in entries:
            figures |= entry.load()().measure(release, original=original).to_dict()
            step(1)
    manifest = release.manifest
    return figures | {
        "users_deleted": manifest.users_deleted,
        "rare_items_dropped": manifest.rare_items_dropped,
    }
