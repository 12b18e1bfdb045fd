"""Columns laid beside each other: every value as its place between its column's ends."""

from __future__ import annotations

from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["positions"]

_FINEST = 2**30  # places are told apart to a billionth of a column


def positions(matrix: NDArray[Any]) -> tuple[NDArray[Any], int]:
    """Place each value between the least (0) and the greatest (`unit`) of its column.

    Shares of a column's range, as the baselines add and compare them, are then whole numbers, so
    that equal sums are equal whatever the order in which they were added.

    Parameters
    ----------
    matrix : ndarray, shape (n, n_columns)
        Finite numbers, n at least 1.

    Returns
    -------
    places : ndarray of int8 or int32, shape (n, n_columns)
        All 0 in a constant column.
    unit : int
        The place of every other column's greatest value: where all numbers are whole, the least
        common multiple of the columns' ranges, so that no place is rounded; about 2³⁰ where some
        are not or that multiple is larger, and places are rounded to it.

    Examples
    --------
    >>> places, unit = positions(np.array([[0, 3], [1, 0], [2, 1]], dtype=np.uint8))
    >>> places.tolist(), unit
    ([[0, 6], [3, 0], [6, 2]], 6)
    """
    low = matrix.min(axis=0).astype(np.float64)
    width = matrix.max(axis=0).astype(np.float64) - low
    whole = [bool((column == np.rint(column)).all()) for column in matrix.T]
    unit = lcm(*(int(w) for w, is_whole in zip(width, whole, strict=True) if w and is_whole))
    if unit > _FINEST:
        unit = _FINEST
    elif not all(whole):
        unit *= _FINEST // unit
    places = np.zeros(matrix.shape, dtype=np.int8 if unit < 2**7 else np.int32)
    for j in np.flatnonzero(width):
        away = matrix[:, j].astype(np.float64) - low[j]
        # the product of whole numbers is exact below 2**53, and so is what it is divided by
        places[:, j] = np.rint(away * unit / width[j])
    return places, unit
