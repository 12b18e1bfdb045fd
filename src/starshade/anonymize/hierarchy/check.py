"""Does a hierarchy fit a scale? Covering, disjoint, nested (KL Def 7)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from starshade.anonymize.hierarchy.dgh import Dgh, Interval, null_and_levels
from starshade.errors import ConfigError
from starshade.ratings.scale import SLACK, Scale

__all__ = ["check"]


def check(dgh: Dgh, scale: Scale, *, null_occurs: bool) -> None:
    """Refuse a hierarchy that leaves some group without a statement, or with two."""
    if not dgh.levels:
        raise ConfigError(
            f"hierarchy {dgh.name}: no level in it", advice="Write one line of intervals a level."
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
            "groups could not be released at all",
            advice=f"Add a last line with one interval for all: "
            f"[{scale.null_level:.10g},{scale.maximum:.10g}]",
        )


def _check_disjoint(name: str, number: int, level: tuple[Interval, ...]) -> None:
    for interval in level:
        point = abs(interval.low - interval.high) <= SLACK
        if interval.low > interval.high + SLACK or (
            point and (interval.without_low or interval.without_high)
        ):
            raise ConfigError(f"hierarchy {name}, level {number}: {interval} holds no value")
    for one, two in pairwise(level):
        apart = two.low - one.high
        meet = abs(apart) <= SLACK and not (one.without_high or two.without_low)
        if apart < -SLACK or meet:
            raise ConfigError(
                f"hierarchy {name}, level {number}: {one} and {two} overlap at {two.low:.10g}",
                advice="A value must lie in one interval of each level only.",
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
        f"hierarchy {name}, level {number}: {what} of the scale {scale} lies in no interval",
        advice="Every level must cover the scale"
        + (f", which is {kind}." if kind else ", and null where some cell is empty."),
    )


def _check_nested(dgh: Dgh, number: int, scale: Scale) -> None:
    """Each interval of level `number` must lie within one of the next level."""
    above = _used(dgh, number, scale)
    for inner in _used(dgh, number - 1, scale):
        if not any(_holds(outer, inner) for outer in above):
            raise ConfigError(
                f"hierarchy {dgh.name}: level {number} joins the values of {inner}, "
                f"which level {number + 1} puts apart",
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
