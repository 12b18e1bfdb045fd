"""The part of the original ratings that a release speaks about."""

from __future__ import annotations

from starshade.errors import ConfigError
from starshade.ratings.table import Ratings
from starshade.release.table import Release

__all__ = ["released_part"]


def released_part(release: Release, original: Ratings) -> Ratings:
    """Return the released items of the original, in the same order, and the users left there.

    Parameters
    ----------
    release : Release
    original : Ratings
        The table that the release was made from, or one that contains it.

    Raises
    ------
    ConfigError
        A released item is not in `original`.
    """
    items = release.classes.items
    if items == original.items:
        return original.drop_empty_users()
    indices = original.items.indices(items)
    unknown = int((indices < 0).sum())
    if unknown:
        raise ConfigError(
            f"{unknown:,} of the release's {len(items):,} items are not in the original ratings",
            advice="Give the ratings that the release was made from.",
        )
    return original.keep_items(indices)
