"""l-diversity and t-closeness by merging groups (definitions, "l-diversity" and "t-closeness").

A group falls short when some sensitive attribute has fewer than l different values in it, or is
distributed more than t away from the whole table. Two groups that do not fall short never fall
short as one: they keep their values, and the distribution of both is between theirs. So groups
are merged until none falls short. The smallest one that does (of equal ones, that which holds
the earliest record of a seeded order) is merged with the group that makes the least of the loss
|e|·Σ range/column; of equally cheap ones, again that which holds the earliest record.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray

from starshade.anonymize.points import Points, positions
from starshade.errors import UnmetError
from starshade.kernels.arrays import Ints
from starshade.kernels.interval.interval import cheapest_partner
from starshade.progress import note
from starshade.release.attributes import plain_attributes, ranks

_SLACK = 1e-9
_COPIES = 6  # of the table: as it is, as places (up to four bytes each)


@dataclass(frozen=True, eq=False)
class SensitiveValues:
    """One sensitive attribute, and what is asked of each group.

    `codes` (int64 (n,)): the place of each record's value among all, null first; from 0, none left
    out. `numeric`: whether values lie in order: neighbours 1/(v−1) apart. Else any two lie 1 apart.
    `least`: different values that a group must have (l). `farthest`: distance from all that it may
    have (t). `null`: whether 0 is null and counts as no value for l.
    """

    codes: Ints
    numeric: bool
    least: int
    farthest: float | None
    null: bool = False

    def meets(self, members: Ints) -> bool:
        """Tell whether these records do not fall short."""
        own = self.codes[members]
        if self.least and len(np.unique(own[own > 0] if self.null else own)) < self.least:
            return False
        return self.farthest is None or self.distance(members) <= self.farthest + _SLACK

    def distance(self, members: Ints) -> float:
        """Return the earth mover's distance of some records from all."""
        n, size, v = len(self.codes), len(members), int(self.codes.max()) + 1
        if v == 1:
            return 0.0
        own = np.bincount(self.codes[members], minlength=v)
        excess = own * n - np.bincount(self.codes, minlength=v) * size  # whole numbers
        if self.numeric:
            return float(np.abs(np.cumsum(excess)).sum() / (size * n * (v - 1)))
        return float(np.abs(excess).sum() / (2 * size * n))


def diverse_groups(
    points: Points,
    groups: Ints,
    sensitive: Sequence[str],
    l: int,  # noqa: E741 - the name that it has everywhere
    t: float | None,
    order: Ints,
    *,
    as_value: bool = False,
) -> Ints:
    """Merge groups until every sensitive attribute is l-diverse and t-close in each.

    `as_value`: whether a missing value counts for l.
    """
    attributes = points.ratings.attributes
    plain = plain_attributes(None if attributes is None else attributes.select(list(sensitive)))
    assert plain is not None
    required = []
    for name, column, rank in zip(sensitive, plain.columns, ranks(plain), strict=True):
        codes = np.unique(rank, return_inverse=True)[1]
        null = bool((rank == 0).any()) and not as_value
        different = int(codes.max()) + 1 - null
        if l > different:
            raise UnmetError(
                f"l = {l}: the sensitive attribute {name!r} has {different} different values in "
                "all, so no class can have more",
                advice=f"Choose l up to {different}, or another attribute.",
            )
        required.append(SensitiveValues(codes, str(column.type) == "double", l, t, null))
    members = _members(groups, order)
    failing = [any(not a.meets(group) for a in required) for group in members]
    if not any(failing):
        return groups
    merged = merge_until(positions(points.dense(copies=_COPIES))[0], members, failing, required)
    out = np.empty(len(groups), dtype=np.int64)
    for number, group in enumerate(merged):
        out[group] = number
    hint = "" if len(merged) > len(members) // 2 else "; smaller l or larger t lose less"
    note(
        f"{sum(failing):,} of {len(members):,} classes did not meet the requirement on sensitive "
        f"attributes and were merged: {_groups(len(merged))} left of {len(members):,}{hint}"
    )
    return out


def _groups(n: int) -> str:
    return f"{n:,} class{('es' if n != 1 else '')} {('are' if n != 1 else 'is')}"


def _members(groups: Ints, order: Ints) -> list[Ints]:
    """Return the records of each group, groups and records as `order` meets them."""
    met = groups[order]
    first = np.unique(met, return_index=True)[1]
    number = np.empty(len(first), dtype=np.int64)
    number[np.argsort(first)] = np.arange(len(first))
    sorted_by_group = np.argsort(number[met], kind="stable")
    ends = np.cumsum(np.bincount(number[met]))
    return np.split(order[sorted_by_group], ends[:-1])


def merge_until(
    places: NDArray[np.integer],
    members: list[Ints],
    failing: list[bool],
    required: Sequence[SensitiveValues],
) -> list[Ints]:
    """Merge groups that fall short with those that are cheapest to merge with.

    `members`: records of each group; the earlier group wins ties. `required`: all records together
    must not fall short.
    """
    groups: list[Ints | None] = list(members)
    low = np.array([places[group].min(axis=0) for group in members], dtype=np.int64)
    high = np.array([places[group].max(axis=0) for group in members], dtype=np.int64)
    sizes = np.array([len(group) for group in members])
    queue = [(int(sizes[g]), g) for g in range(len(members)) if failing[g]]
    heapify(queue)
    while queue:
        size, g = heappop(queue)
        if size != sizes[g]:
            continue  # merged since, and looked at then
        other = cheapest_partner(low, high, sizes, g)
        keep, gone = min(g, other), max(g, other)
        mine, its = groups[keep], groups[gone]
        assert mine is not None
        assert its is not None
        union = np.concatenate([mine, its])
        groups[keep], groups[gone] = union, None
        low[keep] = np.minimum(low[keep], low[gone])
        high[keep] = np.maximum(high[keep], high[gone])
        sizes[keep], sizes[gone] = len(union), 0
        if any(not a.meets(union) for a in required):
            heappush(queue, (len(union), keep))
    return [group for group in groups if group is not None]
