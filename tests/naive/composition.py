"""Composition by its definition: every history of each person's cells that all releases allow.

A release is what it says of each person: a name for the class they are in, and per item what their
cell holds: a set of ratings and None, or ``(low, high, null)`` with both ends. An item that it says
nothing true of is not there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise, product

from starshade.ratings.scale import Scale

Value = float | None
Content = frozenset[Value] | tuple[float, float, bool]
Released = dict[str, tuple[object, dict[str, Content]]]


def holds(content: Content | None, value: Value) -> bool:
    """Tell whether a cell allows a rating or, as None, that there is none; no cell allows all."""
    if content is None:
        return True
    if isinstance(content, frozenset):
        return value in content
    low, high, null = content
    return null if value is None else low - 1e-9 <= value <= high + 1e-9


def values_of(scale: Scale, contents: Iterable[Content | None]) -> list[Value]:
    """Enough ratings to tell by: all of a scale; of a real one all ends, and points between."""
    if scale.step is not None:
        return [None, *scale.levels.tolist()]
    points = {scale.minimum, scale.maximum}
    for content in contents:
        ends = content if isinstance(content, frozenset) else (content or ())[:2]
        points |= {v for v in ends if v is not None and v >= scale.minimum}
    ends = sorted(points)
    return [None, *ends, *((a + b) / 2 for a, b in pairwise(ends))]


def may_become(before: Value, after: Value, changes: str) -> bool:
    """Tell whether a rating may have become another from one release to the next."""
    if before == after:
        return True
    if changes == "none" or after is None:
        return False
    return before is None or changes == "revised"


def histories(
    scale: Scale, contents: list[Content | None], changes: str
) -> list[tuple[Value, ...]]:
    """List what a cell may have been at the time of each release."""
    every = values_of(scale, contents)
    allowed = [[v for v in every if holds(content, v)] for content in contents]
    return [
        history
        for history in product(*allowed)
        if all(may_become(a, b, changes) for a, b in pairwise(history))
    ]


@dataclass
class Told:
    """What the releases tell together.

    `last`: per person and item the values that are possible at the time of the last release.
    """

    joint: dict[str, tuple[object, ...]]
    sizes: Counter[tuple[object, ...]]
    pinned: dict[str, int]
    impossible: set[str]
    last: dict[str, dict[str, list[Value]]]

    def below(self, k: int) -> int:
        return sum(n for n in self.sizes.values() if n < k)

    @property
    def people_certain(self) -> int:
        return sum(n > 0 for n in self.pinned.values())


def together(scale: Scale, releases: list[Released], items: list[str], changes: str) -> Told:
    """Hold every person's cells of all releases together, oldest first."""
    people = sorted({person for release in releases for person in release})
    joint = {p: tuple(r[p][0] if p in r else "absent" for r in releases) for p in people}
    told = Told(joint, Counter(joint.values()), dict.fromkeys(people, 0), set(), {})
    for person in people:
        told.last[person] = {}
        for item in items:
            cells = [release[person][1].get(item) if person in release else None
                     for release in releases]  # fmt: skip
            found = histories(scale, cells, changes)
            if not found:
                told.impossible.add(person)
                continue
            each = [set(values) for values in zip(*found, strict=True)]
            told.pinned[person] += any(len(v) == 1 and None not in v for v in each)
            told.last[person][item] = sorted(each[-1], key=lambda v: (v is None, v))
    return told
