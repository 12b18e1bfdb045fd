"""Generalization hierarchies: what a group may be released as (KL Def 7, 8).

A `Dgh` is a list of levels above the value itself, each a partition of {null} ∪ scale into
intervals; null stands at its level below the scale. The NDGH is no list: its
statements are all sets of values, so it needs no object and is written ``"ndgh"``; so is
``"range"``, whose statements are all intervals (what the baselines publish), and
``"fixed-intervals"``, whose statements are all intervals between tenths of the scale.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil
from typing import Literal

import numpy as np

from starshade.errors import ConfigError
from starshade.kernels.arrays import Floats, Ints
from starshade.ratings.scale import MOST_COARSE, SLACK, Scale
from starshade.release import FIXED_INTERVALS


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


#: of the rest every cell is one of the sets of all values, of all intervals, of those between
#: tenths of the scale
Hierarchy = Dgh | Literal["ndgh", "range", "fixed-intervals"]

_ZERO_TO_FIVE = {
    "dgh-a": (((0, 1), (2, 3), (4, 5)), ((0, 5),)),
    "dgh-b": (((0, 2), (3, 5)), ((0, 5),)),
    "dgh-c": (((0, 5),),),
}

#: names that need no file
READY_MADE = ("ndgh", "range", FIXED_INTERVALS, "dgh", *_ZERO_TO_FIVE)


def tenths(scale: Scale) -> Floats:
    """Return the eleven ends of fixed intervals on a real scale."""
    ends = np.round(scale.minimum + scale.width * np.arange(11) / 10, 9)
    ends[[0, -1]] = scale.minimum, scale.maximum
    return np.asarray(ends)


def resolve(hierarchy: str | Dgh, scale: Scale, *, null_occurs: bool) -> Hierarchy:
    """Return the hierarchy that fits a scale.

    >>> resolve("dgh", Scale(1, 5, 1), null_occurs=True).to_text()
    ['[0,2] [3,5]', '[0,5]']
    >>> resolve("dgh", Scale(0.5, 5, 0.5), null_occurs=True).to_text()
    ['[0,2.5] [3,5]', '[0,5]']
    >>> resolve("dgh", Scale(-10, 10), null_occurs=True).to_text()
    ['[-11,0] (0,10]', '[-11,10]']
    """
    if isinstance(hierarchy, Dgh):
        bound = hierarchy.on(scale)
        check(bound, scale, null_occurs=null_occurs)
        return bound
    if hierarchy == "ndgh":
        return "ndgh"
    if hierarchy == "range":
        return "range"
    if hierarchy == FIXED_INTERVALS:
        if not scale.fine:
            raise ConfigError(
                f"hierarchy {FIXED_INTERVALS}: for real scales and those of more than "
                f"{MOST_COARSE} levels only, not for scale {scale}",
                advice="Use ndgh, range or dgh.",
                setting="hierarchy",
            )
        return "fixed-intervals"
    if hierarchy == "dgh":
        return _halves(scale)
    if hierarchy in _ZERO_TO_FIVE:
        return _zero_to_five(hierarchy, scale)
    raise ConfigError(
        f"hierarchy {hierarchy!r}: unknown",
        advice=f"Known: {', '.join(READY_MADE)}; or give the path of a hierarchy file.",
    )


def _zero_to_five(name: str, scale: Scale) -> Dgh:
    if scale != Scale(1, 5, 1):
        raise ConfigError(
            f"hierarchy {name}: for null = 0 and the ratings 1 to 5 only, not for scale {scale}",
            advice="Use dgh (two halves of any scale), ndgh, or a hierarchy file.",
        )
    return Dgh(
        name, tuple(tuple(Interval(*ends) for ends in level) for level in _ZERO_TO_FIVE[name])
    )


def _halves(scale: Scale) -> Dgh:
    """Two halves, then all: {null} ∪ scale cut after ⌈v/2⌉ values, a real scale in its middle."""
    whole = Interval(scale.null_level, scale.maximum)
    if scale.step is None:
        middle = scale.minimum + scale.width / 2
        lower = Interval(scale.null_level, middle)
        upper = Interval(middle, scale.maximum, without_low=True)
        halves: tuple[Interval, ...] = (lower, upper) if scale.width else (whole,)
    else:
        values = null_and_levels(scale).tolist()
        cut = ceil(len(values) / 2)
        halves = (Interval(values[0], values[cut - 1]), Interval(values[cut], values[-1]))
    return Dgh("dgh", (halves, (whole,)))


def check(dgh: Dgh, scale: Scale, *, null_occurs: bool) -> None:
    """Refuse a hierarchy that leaves some group without a statement, or with two."""
    if not dgh.levels:
        raise ConfigError(
            f"hierarchy {dgh.name}: it contains no level",
            advice="Write one line of intervals per level.",
        )
    for number, level in enumerate(dgh.levels, 1):
        _check_disjoint(dgh.name, number, level)
        if scale.step is None:
            _check_tiles(dgh.name, number, level, scale, null_occurs)
        else:
            _check_covers(dgh, number, scale, null_occurs)
    for number in range(1, len(dgh.levels)):
        _check_nested(dgh, number, scale)
    if len(_used(dgh, len(dgh.levels) - 1, scale)) > 1:
        raise ConfigError(
            f"hierarchy {dgh.name}: the last level has {len(dgh.levels[-1])} intervals, so some "
            "classes could not be released",
            advice=f"Add a last line with one interval for all: "
            f"[{scale.null_level:.10g},{scale.maximum:.10g}]",
        )


def _check_disjoint(name: str, number: int, level: tuple[Interval, ...]) -> None:
    for interval in level:
        point = abs(interval.low - interval.high) <= SLACK
        if interval.low > interval.high + SLACK or (
            point and (interval.without_low or interval.without_high)
        ):
            raise ConfigError(f"hierarchy {name}, level {number}: {interval} contains no value")
    for one, two in pairwise(level):
        apart = two.low - one.high
        meet = abs(apart) <= SLACK and not (one.without_high or two.without_low)
        if apart < -SLACK or meet:
            raise ConfigError(
                f"hierarchy {name}, level {number}: {one} and {two} overlap at {two.low:.10g}",
                advice="A value must be in exactly one interval of each level.",
            )


def _check_covers(dgh: Dgh, number: int, scale: Scale, null_occurs: bool) -> None:
    values = null_and_levels(scale)
    missing = np.flatnonzero(dgh.blocks(number - 1, values) < 0)
    if not null_occurs:
        missing = missing[missing > 0]
    if len(missing):
        raise _missing(dgh.name, number, float(values[missing[0]]), scale)


def _check_tiles(
    name: str, number: int, level: tuple[Interval, ...], scale: Scale, null_occurs: bool
) -> None:
    """On a real scale neighbours must touch: any value between them may occur."""
    first, last = level[0], level[-1]
    start = scale.null_level if null_occurs else scale.minimum
    if first.low > start + SLACK or (abs(first.low - start) <= SLACK and first.without_low):
        raise _missing(name, number, start, scale)
    if last.high < scale.maximum - SLACK or (
        abs(last.high - scale.maximum) <= SLACK and last.without_high
    ):
        raise _missing(name, number, scale.maximum, scale)
    for one, two in pairwise(level):
        if two.low > one.high + SLACK:
            raise _missing(name, number, (one.high + two.low) / 2, scale)
        if one.without_high and two.without_low:
            raise _missing(name, number, one.high, scale)


def _missing(name: str, number: int, value: float, scale: Scale) -> ConfigError:
    null = abs(value - scale.null_level) <= SLACK
    what = f"null (which counts as {value:.10g})" if null else f"the rating {value:.10g}"
    kind = "real-valued: intervals must touch, e.g. [0,2.5] (2.5,5]" if scale.step is None else ""
    return ConfigError(
        f"hierarchy {name}, level {number}: {what} of the scale {scale} is in no interval",
        advice="Every level must cover the scale"
        + (f", which is {kind}." if kind else ", and null where some cell is empty."),
    )


def _check_nested(dgh: Dgh, number: int, scale: Scale) -> None:
    """Each interval of level `number` must lie within one of the next level."""
    above = _used(dgh, number, scale)
    for inner in _used(dgh, number - 1, scale):
        if not any(_holds(outer, inner) for outer in above):
            raise ConfigError(
                f"hierarchy {dgh.name}: level {number} joins the values of {inner}, which level "
                f"{number + 1} separates",
                advice="A higher level may only join intervals of the level below.",
            )


def _holds(outer: Interval, inner: Interval) -> bool:
    low, high = inner.low - outer.low, outer.high - inner.high
    return (low > SLACK or (low >= -SLACK and outer.without_low <= inner.without_low)) and (
        high > SLACK or (high >= -SLACK and outer.without_high <= inner.without_high)
    )


def _used(dgh: Dgh, level: int, scale: Scale) -> list[Interval]:
    """Return a level's intervals, on a stepped scale drawn tight around the values inside."""
    if scale.step is None:
        return list(dgh.levels[level])
    values = null_and_levels(scale)
    blocks = dgh.blocks(level, values)
    return [
        Interval(float(inside[0]), float(inside[-1]))
        for block in range(len(dgh.levels[level]))
        if len(inside := values[blocks == block])
    ]
