"""ε and a null rule as a table: which codes are near which (SR Eq. 1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from starshade.ratings.proximity.settings import NullRule
from starshade.ratings.scale import SLACK, Scale

__all__ = [
    "NullRule",
    "Rule",
    "largest_distance",
    "reaches_all",
    "rule_of",
]


@dataclass(frozen=True, eq=False)
class Rule:
    """Which codes are near which: 0 stands for null, c for ``levels[c - 1]``.

    `low`, `high` (n_levels + 1,): code c is proximate to the rated codes ``low[c] … high[c]``; none
    where ``low[c] > high[c]``. `null` (n_levels + 1,): whether code c is proximate to null; null
    always is. `by_pattern`: a null is proximate to nulls alone: only records that rated the same
    items can be proximate. `everybody`: every code is proximate to every code: all records are
    proximate.
    """

    low: NDArray[np.int32]
    high: NDArray[np.int32]
    null: NDArray[np.bool_]
    by_pattern: bool
    everybody: bool


def largest_distance(scale: Scale, nulls: NullRule) -> float:
    """Return how far apart two cells can be on a scale, null among them.

    >>> [largest_distance(Scale(1, 5, 1), nulls) for nulls in ("strict", "ignore", "zero")]
    [5.0, 4.0, 5.0]
    """
    if nulls == "strict":
        return float(scale.cost_of_null)
    lowest = scale.null_level if nulls == "zero" else scale.minimum
    return float(scale.maximum - lowest)


def reaches_all(scale: Scale, eps: float, nulls: NullRule) -> bool:
    """Tell whether ε makes any two records proximate, whatever was rated on this scale."""
    return largest_distance(scale, nulls) <= eps + _slack(scale)


def rule_of(scale: Scale, levels: NDArray[np.float64], eps: float, nulls: NullRule) -> Rule:
    """Return which codes are near which.

    `levels` (n_levels,): ascending ratings that codes stand for (`Ratings.levels`). `eps`: 0 or
    more, in units of the scale. `nulls` ({"strict", "ignore", "zero"}): what a null against a
    rating costs: R = max(maximum, width) of the scale (the paper), nothing, or its distance from
    the level just below the scale.

    >>> scale = Scale(1, 5, 1)
    >>> rule_of(scale, scale.levels, 1, "strict").high.tolist()
    [0, 2, 3, 4, 5, 5]
    >>> rule_of(scale, scale.levels, 1, "zero").null.tolist()
    [True, True, False, False, False, False]
    """
    reach = eps + _slack(scale)
    high = np.searchsorted(levels, levels + reach, side="right")
    # the lowest code whose highest proximate one is c or above; mutual to the last bit
    low = np.searchsorted(high, np.arange(1, len(levels) + 1)) + 1
    if nulls == "ignore":
        cost = np.zeros(len(levels))
    elif nulls == "zero":
        cost = levels - scale.null_level
    else:
        cost = np.full(len(levels), scale.cost_of_null)
    near_null = cost <= reach
    if nulls == "strict" and near_null.all() and len(levels):
        low[:], high[:] = 1, len(levels)  # R is above every difference
    rated = int(near_null.sum())  # the lowest levels, as costs ascend
    return Rule(
        low=np.concatenate([[1], low]).astype(np.int32),
        high=np.concatenate([[rated], high]).astype(np.int32),
        null=np.concatenate([[True], near_null]),
        by_pattern=not near_null.any(),
        everybody=bool(near_null.all() and (low == 1).all() and (high == len(levels)).all()),
    )


def _slack(scale: Scale) -> float:
    """Return by how much two ratings may miss ε: 1e-9, or what rounding does to large numbers."""
    largest = max(abs(scale.minimum), abs(scale.maximum))
    return max(SLACK, 8 * float(np.spacing(largest)))
