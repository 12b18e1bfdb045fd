"""Work that no compiler changes: the cells that a search touches (SR §5.1, §7.2).

To slice, a record takes the slab of side 2ε along the first attribute, which is sorted and so
costs as many cells as the slab has records; attribute by attribute the candidates are trimmed,
each costing a cell. To compare every pair to its end costs all cells of all pairs. A pair that is
given up at the first attribute that sets it apart costs the very cells that trimming costs, and
one more for each record that the slab leaves out: beside such a comparison slicing saves nothing
but the first attribute.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.progress import task
from starshade.ratings.proximity.settings import NullRule
from starshade.ratings.proximity.space import Rule, Space

_FIRST, _NEXT = 8, 64  # columns looked at together


@dataclass(frozen=True)
class Reading:
    """How a check is done; the fields are those of `CHOICES`, and what a way changes."""

    items: str = "all"  # or "top"; or how many of the most rated
    nulls: NullRule = "strict"
    cliques: bool = True  # whether a pairwise-near set is sought within each cube
    early: bool = False  # whether a comparison of two stops at the first attribute apart
    first: bool = False  # whether the check ends at the first record that fails
    short_cut: bool = False  # whether ε ≥ R is answered without a search
    covered: bool = False  # whether who is in a group that was found is not asked again


PRINTED = Reading()
_OF_WAY: dict[str, dict[str, Any]] = {
    "ball": {"cliques": False},
    "most rated": {"items": "top"},
    "ignore": {"items": "top", "nulls": "ignore"},
    "zero": {"items": "top", "nulls": "zero"},
    "early": {"early": True},
    "first failing": {"first": True},
    "short cut": {"short_cut": True},
    "covered": {"items": "top", "nulls": "ignore", "covered": True},
}


def reading_of(way: str) -> Reading:
    """Return what a way makes of the paper's reading."""
    return replace(PRINTED, **_OF_WAY.get(way, {}))


def count_cells(space: Space, order: NDArray[np.int64]) -> dict[str, NDArray[np.int64]]:
    """Count, for each record, its slab, the cells that trimming touches, and its ball.

    `order`: the attributes, the sorted one first.
    """
    n, p, rule = space.n_records, space.n_items, space.rule
    if rule.everybody:
        whole = np.full(n, n, np.int64)
        return {"slab": whole, "cells": whole * (p - 1), "ball": whole}
    codes = space.full()[:, order]
    counted = np.empty((n, 3), np.int64)
    with task("counting cells", n) as step:
        for record in range(n):
            counted[record] = _cells_of(codes, record, rule)
            step(1)
    return dict(zip(("slab", "cells", "ball"), counted.T.copy(), strict=True))


def _cells_of(codes: NDArray[Any], record: int, rule: Rule) -> tuple[int, int, int]:
    n, p = codes.shape
    own = codes[record]
    low, high, null = rule.low[own], rule.high[own], rule.null[own]
    alive, touched, slab, at = np.arange(n), 0, 0, 0
    while at < p:
        end = min(p, at + (_NEXT if at else _FIRST))
        part = codes[alive, at:end]
        near = np.where(part == 0, null[at:end], (part >= low[at:end]) & (part <= high[at:end]))
        near = np.logical_and.accumulate(near, axis=1)
        left = near.sum(axis=0)
        touched += int(left[:-1].sum()) + (len(alive) if at else 0)
        slab = slab if at else int(left[0])
        alive, at = alive[near[:, -1]], end
        if len(alive) == 1:  # the record itself, which goes on to the end
            touched += p - at
            break
    return slab, touched, len(alive)
