"""`Dgh`: levels of intervals above the value itself (KL Def 7)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from starshade.kernels.arrays import Floats, Ints
from starshade.ratings.scale import SLACK, Scale

__all__ = ["Dgh", "Interval", "null_and_levels"]


@dataclass(frozen=True, order=True)
class Interval:
    """Values from `low` to `high`; an end may be left out (only of use on a real scale).

    Minus infinity stands for null until the scale is known.
    """

    low: float
    high: float
    without_low: bool = False
    without_high: bool = False

    def __str__(self) -> str:
        left, right = "(" if self.without_low else "[", ")" if self.without_high else "]"
        low, high = ("null" if e == -math.inf else f"{e:.15g}" for e in (self.low, self.high))
        return f"{left}{low},{high}{right}"


@dataclass(frozen=True)
class Dgh:
    """A domain generalization hierarchy.

    `name`: as the manifest names it; no path. `levels`: level 1 upwards, most specific first;
    intervals ascending. Level 0, the value itself, is understood.
    """

    name: str
    levels: tuple[tuple[Interval, ...], ...]

    def on(self, scale: Scale) -> Dgh:
        """Return the hierarchy with null at its level of this scale."""
        null = scale.null_level

        def place(end: float) -> float:
            return null if end == -math.inf else end

        return replace(
            self,
            levels=tuple(
                tuple(replace(i, low=place(i.low), high=place(i.high)) for i in level)
                for level in self.levels
            ),
        )

    def blocks(self, level: int, values: Floats) -> Ints:
        """Return which interval of a level holds each value, -1 for none."""
        intervals = self.levels[level]
        # an end that is left out is moved inwards, so that one search serves both kinds
        low = np.array([i.low + SLACK if i.without_low else i.low - SLACK for i in intervals])
        high = np.array([i.high - SLACK if i.without_high else i.high + SLACK for i in intervals])
        place = np.searchsorted(high, values)
        inside = place < len(intervals)
        inside[inside] = values[inside] >= low[place[inside]]
        return np.where(inside, place, -1)

    def to_text(self) -> list[str]:
        """Return one line per level, as a hierarchy file has them."""
        return [" ".join(map(str, level)) for level in self.levels]


def null_and_levels(scale: Scale) -> Floats:
    """Return {null} ∪ scale as numbers; ConfigError on a real scale, which has no levels."""
    return np.concatenate([[scale.null_level], scale.levels])
