"""From groups to profiles: one row of one-byte levels for each (definitions, "predictive", step 3).

What the four kinds say, `PredictiveAnonymizer` tells.

`padded` and `model` are linear in the members, so what comes out is the same whether rows are
written out or not; predictions are averaged unclipped, and only the mean is clipped. ``clip=
"cells"`` clips each prediction first, the paper's literal reading, and takes every member's row by
itself.

`pooled` fits a group's bias and factors to ``sum over members and their ratings of (rating - base
- prediction)^2`` with *half* of the members' own penalties added up. With all of them it would be
the mean of the members' own factors, each weighted by how much their ratings say; but a member's
factors are held back for the sake of what one user's few ratings cannot tell, and a group has k
times as many. A quarter and all of them both lost
more on MovieLens 100K, for k from 5 to 50 and 2 to 16 factors.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from starshade import budget
from starshade.errors import ConfigError
from starshade.kernels.arrays import Bytes, Floats, Ints, fixed
from starshade.kernels.predictive.homogenize import mean_levels, pooled_rows, simple_levels
from starshade.naming import aside
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.recommend.padded import Padded
from starshade.release.profile_release import into_classes
from starshade.release.profiles import quantize, released_levels

#: where each group's users end, 0 first, and the users: group j is ``users[ends[j]:ends[j + 1]]``
Members = tuple[Ints, Ints]
Levels = Bytes

_SHRINK = 0.5  # of the members' penalties
_BLOCK = 1 << 25  # bytes of means held as numbers


def check_profile_memory(ratings: Ratings, n_groups: int) -> None:
    """Refuse profiles that would not fit."""
    held = ratings.n_ratings * (ratings.columns.itemsize + ratings.codes.itemsize)
    need, left = n_groups * ratings.n_items, budget.left(held)
    if need > left:
        raise ConfigError(
            f"{n_groups:,} profiles of {ratings.n_items:,} items need {budget.amount(need)} of "
            f"memory; {budget.amount(max(0, left))} may be used",
            advice="Release fewer items or larger groups, or allow more memory"
            f"{aside('memory')} if the machine has it.",
        )


def mean_profiles(
    padded: Padded, members: Members, step: float, clip: Literal["mean", "cells"] = "mean"
) -> Levels:
    """Return the quantized mean row of each group."""
    scale = padded.ratings.scale
    if clip == "mean":
        return mean_levels(padded.parts, *members, _grid(scale, step))
    ends, users = members
    out = np.empty((len(ends) - 1, padded.n_items), np.uint8)
    size = max(1, _BLOCK // (8 * padded.n_items))
    for low in range(0, len(out), size):
        part = ends[low : low + size + 1]
        rows = padded.means(part - part[0], users[part[0] : part[-1]], clip=True)
        out[low : low + size] = quantize(rows, scale, step)
    return out


def simple_profiles(ratings: Ratings, members: Members, step: float, min_raters: int = 1) -> Levels:
    """Return the quantized mean rating of each group's raters."""
    return simple_levels(
        (fixed(ratings.indptr), fixed(ratings.columns), fixed(ratings.codes)),
        fixed(ratings.levels),
        ratings.n_items,
        members,
        min_raters,
        _grid(ratings.scale, step),
    )


def join_equal(
    ratings: Ratings, groups: Ints, levels: Levels, step: float, min_raters: int
) -> tuple[Ints, Levels]:
    """Make one group of those with equal simple profiles, until all differ.

    Together enough may have rated what in no group alone did. So what is joined is looked at
    anew: an item that `min_raters` rated gets their mean, any other stays as it was, null or a
    fake edge. It may then equal another group.
    """
    while True:
        joined = into_classes(levels)
        several = np.flatnonzero(np.bincount(joined) > 1)
        groups, levels = joined[groups], levels[: joined.max() + 1]
        if not len(several):
            return groups, levels
        users = np.flatnonzero(np.isin(groups, several))
        users = users[np.argsort(groups[users], kind="stable")]
        ends = np.concatenate([[0], np.cumsum(np.bincount(groups)[several])]).astype(np.int64)
        means = simple_profiles(ratings, (ends, users), step, min_raters)
        levels[several] = np.where(means > 0, means, levels[several])


def pooled_profiles(
    padded: Padded, members: Members, step: float, penalty: Floats, *, biases: bool
) -> Levels:
    """Return the quantized predictions for each group, fitted to all its members' ratings."""
    ends, users = members
    parts = padded.parts
    held = _SHRINK * np.add.reduceat(penalty[users], ends[:-1], axis=0)
    width = parts.loadings.shape[1]
    each = np.column_stack([held[:, 1], np.repeat(held[:, :1], width - 1, axis=1)])
    phi = np.zeros((len(ends) - 1, width))
    first = 0 if biases else 1
    loadings = fixed(parts.loadings[:, first:])
    phi[:, first:] = pooled_rows(
        parts._replace(loadings=loadings), ends, users, np.ascontiguousarray(each[:, first:])
    )
    alone = np.arange(len(ends))
    groups = parts._replace(phi=fixed(phi), indptr=fixed(np.zeros(len(ends), np.int64)))
    return mean_levels(groups, alone, alone[:-1], _grid(padded.ratings.scale, step))


def _grid(scale: Scale, step: float) -> tuple[float, float, int]:
    return float(scale.minimum), float(step), len(released_levels(scale, step))
