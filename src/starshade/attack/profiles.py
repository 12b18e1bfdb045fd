"""Releases of averaged profiles, as attacks look at them: whole, or some groups at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from starshade import budget
from starshade.errors import ConfigError
from starshade.naming import aside
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.cells import Cells
from starshade.release.profile.profiles import Profiles
from starshade.release.table import Release

__all__ = ["AVERAGED", "averaged", "known_items", "released_cells", "shown_values", "tolerance_of"]

#: how far the mean of a group may be from the rating of one of it (definitions, "label")
AVERAGED = 0.5
_CELL = 2 * (4 + 1) + 5  # bytes: rows and postings, and what an attack lays out of them


def averaged(data: Ratings | Release) -> bool:
    """Tell whether cells are means or predictions rather than somebody's ratings."""
    return isinstance(data, Release) and isinstance(data.classes, Profiles)


def tolerance_of(data: Ratings | Release, tolerance: float | None) -> float:
    """Return how far a rating may be off: as told, else `AVERAGED` on profiles and 0 elsewhere."""
    if tolerance is not None:
        return float(tolerance)
    return AVERAGED if averaged(data) else 0.0


def released_cells(release: Release, items: Vocabulary | None = None) -> Cells:
    """Return the cells of a release as sparse rows.

    Of profiles, which are dense, only those of items that are among `items` are taken: an attack
    looks up none but these, and all of a large release do not fit into memory.
    """
    classes = release.classes
    if isinstance(classes, Cells):
        return classes
    if items is not None:
        classes = known_items(classes, items)
    needed = _CELL * int(np.count_nonzero(classes.levels))
    if needed > budget.left(classes.levels.nbytes):
        or_a_file = "or a file, with the original's"
        raise ConfigError(
            f"the attack needs about {budget.amount(needed)} of memory for "
            f"{classes.n_groups:,} groups x {classes.n_items:,} items as rows; "
            f"{budget.amount(max(0, budget.left(classes.levels.nbytes)))} may be used",
            advice="Attack fewer items"
            f"{aside('items', 'top:N', or_a_file)}, or allow more memory{aside('memory')}. "
            "link-existence and padding work on blocks of groups.",
        )
    return classes.cells()


def known_items(profiles: Profiles, items: Vocabulary) -> Profiles:
    """Return the items of profiles that are among others."""
    if items == profiles.items:
        return profiles
    place = np.sort(profiles.items.indices(items))
    place = place[place >= 0]
    if not len(place):
        raise ConfigError(
            "the release and the ratings have no item in common",
            advice="Give the ratings that the release was made from.",
        )
    return profiles if len(place) == profiles.n_items else profiles.keep_items(place)


def shown_values(data: Ratings | Profiles, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return what some rows show, shape (len(rows), n_items), NaN for null."""
    if isinstance(data, Profiles):
        return data.values(rows)
    part = data.keep_users(rows)
    out = np.full((part.n_users, part.n_items), np.nan)
    out[np.repeat(np.arange(part.n_users), part.user_support), part.columns] = part.values()
    return out
