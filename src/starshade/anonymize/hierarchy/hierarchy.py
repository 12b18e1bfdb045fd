"""Generalization hierarchies: what a group may be released as (KL Def 7, 8).

A `Dgh` is a list of levels above the value itself, each a partition of {null} ∪ scale into
intervals; null stands at its level below the scale. The NDGH is no list: its
statements are all sets of values, so it needs no object and is written ``"ndgh"``; so is
``"range"``, whose statements are all intervals (what the baselines publish).
"""

from __future__ import annotations

from math import ceil
from typing import Literal

from starshade.anonymize.hierarchy.check import check
from starshade.anonymize.hierarchy.dgh import Dgh, Interval, null_and_levels
from starshade.errors import ConfigError
from starshade.ratings.scale import Scale

__all__ = ["READY_MADE", "Hierarchy", "resolve"]

Hierarchy = Dgh | Literal["ndgh", "range"]

_ZERO_TO_FIVE = {
    "dgh-a": (((0, 1), (2, 3), (4, 5)), ((0, 5),)),
    "dgh-b": (((0, 2), (3, 5)), ((0, 5),)),
    "dgh-c": (((0, 5),),),
}

#: names that need no file
READY_MADE = ("ndgh", "range", "dgh", *_ZERO_TO_FIVE)


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
    if hierarchy == "dgh":
        return _halves(scale)
    if hierarchy in _ZERO_TO_FIVE:
        return _zero_to_five(hierarchy, scale)
    raise ConfigError(
        f"hierarchy {hierarchy!r}: there is none of this name",
        advice=f"Known: {', '.join(READY_MADE)}; or give the path of a hierarchy file.",
    )


def _zero_to_five(name: str, scale: Scale) -> Dgh:
    if scale != Scale(1, 5, 1):
        raise ConfigError(
            f"hierarchy {name}: made for null = 0 and the ratings 1 to 5, not for scale {scale}",
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
