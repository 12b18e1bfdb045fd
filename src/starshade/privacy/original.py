"""Who rated what, where a model asks about people and not only about what is shown."""

from __future__ import annotations

from starshade.errors import ConfigError
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.match.match import Match
from starshade.release.table import Release


def rated_by(data: Release | Ratings, original: Ratings | None) -> Ratings | None:
    """Return who rated the released items, in their order; None where nobody says."""
    if isinstance(data, Ratings):
        return data if original is None else _same_items(data.items, original)
    if original is not None:
        return Match(data, original).part
    if data.private is None or data.private.original is None:
        return None
    return _same_items(data.classes.items, data.private.original)


def _same_items(items: Vocabulary, original: Ratings) -> Ratings:
    place = original.items.indices(items)
    if (place < 0).any():
        raise ConfigError("the table has items that the original ratings do not have")
    return original.keep_items(place)
