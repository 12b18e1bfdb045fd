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

__all__ = ["not_made_of", "refuse_other_ratings"]

# a table never changes, and every attack on a release comes by here
_matched: WeakKeyDictionary[Ratings, set[str]] = WeakKeyDictionary()


def not_made_of(reason: str) -> ConfigError:
    """Return the error that a release was not made of the ratings given, or of more than them."""
    return ConfigError(
        reason,
        advice="Give the ratings that the release was made from, read with the same options.",
    )


def refuse_other_ratings(release: Release, original: Ratings, also: Ratings | None = None) -> None:
    """Refuse other ratings than those that the receipt was written for; looked up once a table.

    A mean is nobody's rating, so on layout "profile" the released cells themselves refute little.
    What is found of `original` is found of `also`, which is part of it or the other way round.
    """
    private = release.private
    tables = [original] if also is None else [original, also]
    if private is None or not private.ratings:
        return
    if any(private.ratings in _matched.get(table, ()) for table in tables):
        return
    part = _released(original, release.classes.items, private.link.users)
    if ratings_digest(part) != private.ratings:
        raise not_made_of(
            "these are other ratings than the release was made of, by what the receipt says of "
            "them: the same users and items, but not each the same ratings"
        )
    for table in (*tables, part):
        _matched.setdefault(table, set()).add(private.ratings)


def _released(original: Ratings, items: Vocabulary, users: Vocabulary) -> Ratings:
    if users == original.users and items == original.items:
        return original
    columns, rows = _places(original.items, items, "items"), _places(original.users, users, "users")
    part = original if items == original.items else original.keep_items(columns)
    rows = rows if part.users == original.users else part.users.indices(users)
    return part.keep_users(rows[rows >= 0])


def _places(among: Vocabulary, ids: Vocabulary, what: str) -> NDArray[np.int64]:
    places = among.indices(ids)
    lacking = int((places < 0).sum())
    if lacking:
        raise not_made_of(
            f"{lacking:,} of the {len(ids):,} released {what} are not in these ratings, so that "
            "the receipt cannot tell whether they are those that the release was made of"
        )
    return places
