"""Whether ratings are the very ones that a release was made of: only its receipt can tell."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from starshade.errors import ConfigError
from starshade.ratings.table import Ratings
from starshade.release.receipt import ratings_digest
from starshade.release.table import Release

__all__ = ["refuse_other_ratings"]

# a table never changes, and every attack on a release comes by here
_found: WeakKeyDictionary[Ratings, set[str]] = WeakKeyDictionary()


def refuse_other_ratings(release: Release, original: Ratings, part: Ratings | None = None) -> None:
    """Refuse other ratings than those that the receipt was written for; looked up once a table.

    A mean is nobody's rating, so on layout "profile" the released cells themselves refute little.
    Nothing is told without a receipt, by one of an earlier version, or of a table that lacks some
    of the released users or items.

    Parameters
    ----------
    release : Release
    original : Ratings
        The table that the release was made from, or one that contains it.
    part : Ratings, optional
        Its released users on the released items, where they are at hand.

    Raises
    ------
    ConfigError
    """
    private = release.private
    if private is None or not private.ratings or private.ratings in _found.get(original, ()):
        return
    part = _released(release, original) if part is None else part
    if part is None:
        return
    if ratings_digest(part) != private.ratings:
        raise ConfigError(
            "these are other ratings than the release was made of, by what the receipt says of "
            "them: the same users and items, but not each the same ratings",
            advice="Give the ratings that the release was made from, read with the same options.",
        )
    for table in (original, part):
        _found.setdefault(table, set()).add(private.ratings)


def _released(release: Release, original: Ratings) -> Ratings | None:
    """Return the released users on the released items; None where some are not there."""
    assert release.private is not None
    items, users = release.classes.items, release.private.link.users
    part = original
    if items != original.items:
        place = original.items.indices(items)
        if (place < 0).any():
            return None
        part = original.keep_items(place)
    if users == part.users:
        return part
    if (original.users.indices(users) < 0).any():
        return None
    place = part.users.indices(users)
    return part.keep_users(place[place >= 0])
