"""Ratings as positions in a table of levels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.errors import ConfigError
from starshade.naming import named
from starshade.ratings.scale import SLACK, Scale
from starshade.ratings.table import Ratings


def level_table(
    distinct: NDArray[np.float64], scale: Scale
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the levels of a table that holds these ratings, and the level of each.

    Every level of a stepped scale; on a real one the distinct ratings, where one within 1e-9 of
    the level below it is that level.

    `distinct` (n,): ratings on `scale`, in any order. Returns `levels`: ascending. `positions`
    (n,).
    """
    if scale.step is not None:
        return scale.levels, places_of(distinct, scale.levels, scale)
    levels = np.unique(distinct)
    if len(levels) > 1 and np.diff(levels).min() <= SLACK:
        levels = _merge_near(levels)
    return levels, places_of(distinct, levels, scale)


def places_of(
    ratings: NDArray[np.float64], levels: NDArray[np.float64], scale: Scale
) -> NDArray[np.int64]:
    """Return the level of each rating, of a `level_table` that holds them all."""
    if scale.step is not None:
        return np.round((ratings - scale.minimum) / scale.step).astype(np.int64)
    return np.searchsorted(levels, ratings, side="right") - 1


def _merge_near(ascending: NDArray[np.float64]) -> NDArray[np.float64]:
    kept = [float(ascending[0])]
    for value in ascending[1:].tolist():
        if value - kept[-1] > SLACK:
            kept.append(value)
    return np.array(kept)


def code_type(n_levels: int) -> type[np.unsignedinteger[Any]]:
    """Return the narrowest type that holds a position among `n_levels`."""
    if n_levels <= 1 << 8:
        return np.uint8
    return np.uint16 if n_levels <= 1 << 16 else np.uint32


def near_levels(
    levels: NDArray[np.float64], error: float
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return, for each level, the positions low…high-1 of those within `error` (and 1e-9) of it."""
    reach = error + SLACK
    return (
        np.searchsorted(levels, levels - reach).astype(np.int64),
        np.searchsorted(levels, levels + reach).astype(np.int64),
    )


def on_scale(ratings: Ratings, scale: Scale) -> Ratings:
    """Return the same ratings declared on another scale."""
    if scale == ratings.scale:
        return ratings
    used = np.flatnonzero(np.bincount(ratings.codes, minlength=len(ratings.levels)))
    levels, translation = translated(ratings.levels, used, scale)
    return replace(ratings, scale=scale, levels=levels, codes=translation[ratings.codes])


def translated(
    levels: NDArray[np.float64], used: NDArray[np.int64], scale: Scale
) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return the levels of ratings declared on another scale, and the new code of each old one.

    `used`: places of the levels that somebody gave.
    """
    off = ~scale.contains(levels[used])
    if off.any():
        first = levels[used][off][0]
        raise ConfigError(
            f"{int(off.sum())} distinct ratings are off the scale {scale}; the lowest is {first:g}",
            advice="Give the ratings that the release was made from, or the same "
            f"{named('scale')}.",
        )
    new, positions = level_table(levels[used], scale)
    translation = np.zeros(len(levels), dtype=code_type(len(new)))
    translation[used] = positions
    return new, translation


def users_per_level(ratings: Ratings) -> NDArray[np.int64]:
    """Count the users who gave each rating at least once, shape (n_levels,)."""
    rows = np.flatnonzero(ratings.user_support)
    starts = ratings.indptr[rows]
    if not len(rows):
        return np.zeros(len(ratings.levels), dtype=np.int64)
    if len(ratings.levels) > 256:  # a pass per level would take too long
        row = np.repeat(np.arange(ratings.n_users), ratings.user_support)
        pairs = np.unique(row * len(ratings.levels) + ratings.codes)
        return np.bincount(pairs % len(ratings.levels), minlength=len(ratings.levels))
    users = [
        np.count_nonzero(np.logical_or.reduceat(ratings.codes == level, starts))
        for level in range(len(ratings.levels))
    ]
    return np.array(users, dtype=np.int64)
