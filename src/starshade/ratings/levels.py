"""Ratings as positions in a table of levels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.ratings.scale import SLACK, Scale

__all__ = ["code_type", "level_table"]


def level_table(
    distinct: NDArray[np.float64], scale: Scale
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the levels of a table that holds these ratings, and the level of each.

    Every level of a stepped scale; on a real one the distinct ratings, where one within 1e-9 of
    the level below it is that level.

    Parameters
    ----------
    distinct : ndarray of float64, shape (n,)
        Ratings on `scale`, in any order.

    Returns
    -------
    levels : ndarray of float64
        Ascending.
    positions : ndarray of int64, shape (n,)
    """
    if scale.step is not None:
        return scale.levels, np.round((distinct - scale.minimum) / scale.step).astype(np.int64)
    levels = np.unique(distinct)
    if len(levels) > 1 and np.diff(levels).min() <= SLACK:
        levels = _merge_near(levels)
    return levels, np.searchsorted(levels, distinct, side="right") - 1


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
