"""Where each original user went: the row of the release that stands for them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from starshade.errors import ConfigError
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.origin.same import refuse_other_ratings
from starshade.release.table import Link, Release

__all__ = ["linked_rows", "places_among"]


def linked_rows(release: Release, original: Ratings, link: Link) -> NDArray[np.int64]:
    """Return the released row of each original user; -1 for those who were not released.

    Parameters
    ----------
    release : Release
    original : Ratings
        The table that the release was made from, or one that contains it.
    link : Link

    Returns
    -------
    ndarray of int64, shape (original.n_users,)

    Raises
    ------
    ConfigError
        The link is of another release, or the release's receipt was written for other ratings.
    """
    if len(link.record) != release.n_records:
        raise ConfigError(
            f"the link names {len(link.record):,} records, the release has "
            f"{release.n_records:,}: they do not belong together"
        )
    refuse_other_ratings(release, original)
    place = places_among(link.users, original.users)
    rows = release.class_of_record[link.record[place]]
    return np.where(place < 0, -1, rows)


def places_among(among: Vocabulary, ids: Vocabulary) -> NDArray[np.int64]:
    """Return the index of each id among others, -1 where it is none of them."""
    return np.arange(len(ids)) if among == ids else among.indices(ids)
