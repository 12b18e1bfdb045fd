"""Merging groups until sensitive ratings spread enough in every ball (SR Def. 3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from starshade.anonymize.interval.table import Coarse, IntervalTable, moved_ratings
from starshade.errors import UnmetError
from starshade.kernels.arrays import Array, Bools, Floats, Ints
from starshade.kernels.interval.pack import count_groups, union_costs
from starshade.progress import task
from starshade.ratings.proximity.balls import ball_sizes, ball_sums
from starshade.ratings.proximity.rule import NullRule
from starshade.ratings.proximity.space import space_of
from starshade.ratings.proximity.spread import moments, spreads, too_low
from starshade.ratings.table import Ratings

__all__ = ["Sought", "Spread", "holds_already", "merge_until_spread"]

_PARTNERS = 256  # groups that a failing one may merge with: those next to it in number


@dataclass(frozen=True, eq=False)
class Sought:
    """What is asked of the released table."""

    ratings: Ratings
    open: Ints
    sensitive: Ints
    eps: float
    nulls: NullRule
    l: float  # noqa: E741  (the paper's name)


@dataclass(frozen=True, eq=False)
class Spread:
    """Groups whose clipped records meet the requirement."""

    cost: float
    released: Ratings


def holds_already(sought: Sought, k: int) -> bool:
    """Tell whether the table meets the requirement before any rating is moved."""
    space = space_of(sought.ratings, sought.open, sought.eps, sought.nulls)
    if (ball_sizes(space, stop_at=k) < k).any():
        return False
    if not sought.l:
        return True
    own = moments(sought.ratings, sought.sensitive)
    return not too_low(_ball_spreads(sought.ratings, own, sought), sought.l).any()


def merge_until_spread(
    table: IntervalTable, coarse: Coarse, groups: Ints, sought: Sought
) -> Spread:
    """Clip, look at every ball of the result, merge the groups of those that fail, and repeat.

    Groups are always clipped from the original ratings. Each round leaves fewer groups, so there
    is a last one. A ball may reach beyond its group; it is the balls that are looked at.
    """
    own = moments(sought.ratings, sought.sensitive)
    n_groups = int(groups.max()) + 1
    with task("merging groups until sensitive ratings spread", n_groups - 1) as step:
        while True:
            cost, cells = table.clip(groups)
            released = moved_ratings(sought.ratings, sought.open, table, cells)
            deviations = _ball_spreads(released, own, sought)
            failing = too_low(deviations, sought.l)
            if not failing.any():
                return Spread(cost, released)
            if n_groups == 1:
                _refuse(deviations[0], failing[0], sought.l)
            weak = np.unique(groups[failing.any(axis=1)])
            groups = _merged(coarse, groups, weak, own, sought)
            step(n_groups - 1 - int(groups.max()))
            n_groups = int(groups.max()) + 1


def _ball_spreads(released: Ratings, own: Array, sought: Sought) -> Floats:
    space = space_of(released, sought.open, sought.eps, sought.nulls)
    return spreads(ball_sizes(space), ball_sums(space, own), released.scale)


def _merged(coarse: Coarse, groups: Ints, weak: Ints, own: Array, sought: Sought) -> Ints:
    """Merge each weak group with the one whose union costs least, one that spreads enough first.

    Groups next to each other in number are alike: they come from one pattern and one part of it.
    A group takes part in one union a round, or is joined by further ones.
    """
    n_groups = int(groups.max()) + 1
    counts = count_groups(coarse.codes, groups, n_groups, coarse.n_levels)
    sizes = np.bincount(groups, minlength=n_groups)
    sums = np.zeros((n_groups, own.shape[1]), dtype=own.dtype)
    np.add.at(sums, groups, own)
    into = np.arange(n_groups)
    joined = np.zeros(n_groups, dtype=np.bool_)
    alive = np.arange(n_groups)
    for group in weak.tolist():
        if joined[group] or len(alive) == 1:
            continue
        place = int(np.searchsorted(alive, group))
        first = max(0, min(place - _PARTNERS // 2, len(alive) - _PARTNERS))
        partners = alive[first : first + _PARTNERS]
        partners = partners[partners != group]
        added = union_costs(counts, group, partners, coarse.width, coarse.null_cost)
        both = spreads(
            sizes[partners] + sizes[group], sums[partners] + sums[group], sought.ratings.scale
        )
        lacking = too_low(both, sought.l).any(axis=1)
        partner = int(partners[np.lexsort([added, lacking])[0]])
        for part in (counts, sizes, sums):
            part[partner] += part[group]
        into[group] = partner
        joined[partner] = True
        alive = np.delete(alive, place)
    while not np.array_equal(into, into[into]):
        into = into[into]
    return np.asarray(np.unique(into[groups], return_inverse=True)[1].reshape(-1))


def _refuse(deviations: Floats, failing: Bools, l: float) -> None:  # noqa: E741
    place = int(np.flatnonzero(failing)[0])
    raise UnmetError(
        f"l = {l:g}: over all records together the standard deviation of sensitive item "
        f"{place + 1} of the {len(deviations)} given is {deviations[place]:.4g}, so no "
        "grouping was found in which every one of its balls has more",
        advice="Choose a smaller l, or leave the item out of the release.",
    )
