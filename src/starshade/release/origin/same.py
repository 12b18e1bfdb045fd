"""Whether ratings are the very ones that a release was made of: only its receipt can tell."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from starshade.errors import ConfigError
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.folder.receipt import ratings_digest
from starshade.release.table import Release

__all__ = ["refuse_other_ratings"]

_ADVICE = "Give the ratings that the release was made from, read with the same options."
# a table never changes, and every attack on a release comes by here
_found: WeakKeyDictionary[Ratings, set[str]] = WeakKeyDictionary()


def refuse_other_ratings(release: Release, original: Ratings, whole: Ratings | None = None) -> None:
    """Refuse other ratings than those that the receipt was written for; looked up once a table.

    A mean is nobody's rating, so on layout "profile" the released cells themselves refute little.
    Nothing is told without a receipt.

    Parameters
    ----------
    release : Release
    original : Ratings
        The table that the release was made from, or one that contains it.
    whole : Ratings, optional
        The table that `original` is a part of, where items or users were taken out of it.

    Raises
    ------
    ConfigError
        Some of the released users or items are not there, or they have other ratings.
    """
    private = release.private
    if private is None or not private.ratings or private.ratings in _found.get(original, ()):
        return
    part = _released(release, original if whole is None else whole)
    if ratings_digest(part) != private.ratings:
        raise ConfigError(
            "these are other ratings than the release was made of, by what the receipt says of "
            "them: the same users and items, but not each the same ratings",
            advice=_ADVICE,
        )
    for table in (original, part):
        _found.setdefault(table, set()).add(private.ratings)


def _released(release: Release, original: Ratings) -> Ratings:
    """Return the released users on the released items."""
    assert release.private is not None
    items, users = release.classes.items, release.private.link.users
    if users == original.users and items == original.items:
        return original
    columns, rows = (
        _places(among, ids, what)
        for among, ids, what in ((original.items, items, "items"), (original.users, users, "users"))
    )
    part = original if items == original.items else original.keep_items(columns)
    rows = rows if part.users == original.users else part.users.indices(users)
    return part.keep_users(rows[rows >= 0])


def _places(among: Vocabulary, ids: Vocabulary, what: str) -> NDArray[np.int64]:
    places = among.indices(ids)
    lacking = int((places < 0).sum())
    if lacking:
        raise ConfigError(
            f"{lacking:,} of the {len(ids):,} released {what} are not in these ratings, so that "
            "the receipt cannot tell whether they are those that the release was made of",
            advice=_ADVICE,
        )
    return places
