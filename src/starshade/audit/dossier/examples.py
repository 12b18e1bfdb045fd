"""Example classes as released, each with its real rows for the internal report."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.ratings.table import Ratings
from starshade.ratings.write import shortest_decimal
from starshade.release.match.match import Match
from starshade.release.readable.examples import NOTHING, released_rows, typical
from starshade.release.table import Release

_PEOPLE = 5  # real rows of a class, at most


def example_rows(release: Release, original: Ratings) -> dict[str, Any] | None:
    """Return the example classes with up to five real rows each: internal.

    People have no name and the order of `original`; `more` are those that are not shown.
    `real` is None without the key file. Items have their names, if
    `original` has some.
    """
    rows = typical(release)
    if not len(rows):
        return None
    place_of = original.items.indices(release.classes.items)
    shown, items = released_rows(release, rows, original.item_support[place_of])
    places = place_of[items]
    if original.item_names:
        shown["items"] = [original.item_names[place] for place in places.tolist()]
    of_user = Match(release, original).row_of_user
    if of_user is None:
        return shown
    for one, row in zip(shown["classes"], rows.tolist(), strict=True):
        people = np.flatnonzero(of_user == row)
        one["real"] = [_real(original, user, places) for user in people[:_PEOPLE].tolist()]
        one["more"] = max(len(people) - _PEOPLE, 0)
    return shown


def _real(original: Ratings, user: int, places: NDArray[np.int64]) -> list[str]:
    here = slice(int(original.indptr[user]), int(original.indptr[user + 1]))
    levels = original.levels[original.codes[here]].tolist()
    given = dict(zip(original.columns[here].tolist(), levels, strict=True))
    return [
        shortest_decimal(given[place]) if place in given else NOTHING for place in places.tolist()
    ]
