"""Groups of at least k users who are alike, by a sample, bins and clusters (PA §4.2, Alg. 1).

1. A sample of s = min(m, 20 ⌈√m⌉) users is put into t = ⌊√m⌋ clusters of at least ⌊s / 2t⌋.
2. Every user joins the bin of the nearest of their means. A bin of fewer than k users joins the
   bin whose centre is nearest to its users (least sum of distances), the smallest bin first.
3. Each bin B is put into ⌊|B| / k⌋ clusters of at least k: the groups.

Clusters are those of `bounded_t_means`. Bins do not see each other, so they are done side by side,
each on one thread; the largest, whose users' products would not fit, one after the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from starshade import budget
from starshade.anonymize.order import seeded_order
from starshade.anonymize.predictive.clusters import (
    Distances,
    bounded_t_means,
    factored,
    members_of,
    nearest,
    within,
    written_out,
)
from starshade.anonymize.settings import Clip
from starshade.errors import ConfigError
from starshade.kernels.arrays import Ints, run
from starshade.progress import task
from starshade.recommend.padded import Padded
from starshade.recommend.settings import Dissimilarity

_ROWS = 1 << 28  # bytes of distances held at once
_TOGETHER = 4096  # users of a bin whose products are taken; fixed, for rounding may differ


class Bins(NamedTuple):
    """Everybody's bin, whatever k is; bin j's centre is the mean of members[starts[j]:…]."""

    of_user: Ints
    starts: Ints
    members: Ints


def group_users(
    padded: Padded,
    k: int,
    seed: int,
    *,
    dissimilarity: Dissimilarity = "euclidean",
    clip: Clip = "mean",
    away: Distances | None = None,
    bins: Bins | None = None,
) -> Ints:
    """Put all users into groups of at least k (definitions, "predictive", step 2).

    `dissimilarity`: one of `starshade.recommend.padded.DISSIMILARITIES`. On ``euclidean``
    with ``clip="mean"`` a distance costs about as many products as the user has ratings; on all
    others as many as there are items, and rows are written out in blocks. `away`: any others, in
    place of these. `bins`: what `bins_of` found by the same distances; None: it is asked.
    """
    exact = dissimilarity == "euclidean" and clip == "mean" and away is None
    known = padded if exact else None
    away = away or distances_of(padded, dissimilarity, clip)
    order = seeded_order(padded.n_users, seed, "bins")
    found = bins or bins_of(away, padded.n_users, seed, known)
    return cluster_within(join_small(away, *found, k), order, k, away, known)


def distances_of(padded: Padded, dissimilarity: Dissimilarity, clip: Clip) -> Distances:
    """Return how rows are compared: by factors where that is exact, else written out."""
    if dissimilarity == "euclidean" and clip == "mean":
        return factored(padded)
    return written_out(padded, dissimilarity, clip=clip == "cells")


def bins_of(away: Distances, m: int, seed: int, padded: Padded | None = None) -> Bins:
    """Put m users into bins, small ones too; `padded`: where distances are Euclidean."""
    order, drawn = (seeded_order(m, seed, purpose) for purpose in ("bins", "sample"))
    starts, members = cluster_sample(away, drawn)
    return Bins(bin_users(away, order, members, starts, padded), starts, members)


def bin_users(
    away: Distances, order: Ints, members: Ints, starts: Ints, padded: Padded | None = None
) -> Ints:
    """Find everybody's nearest mean of members[starts[j]:starts[j + 1]].

    `padded`: where distances are Euclidean: the same, with most distances never taken.
    """
    m = len(order)
    with task("users to bins", m) as step:
        bins = np.empty(m, np.int64)
        size = max(1, _ROWS // (4 * len(starts)))
        for first in range(0, m, size):
            users = order[first : first + size]
            if padded is None:
                bins[users] = away.to_means(users, starts, members).argmin(axis=1)
            else:
                bins[users] = nearest(padded, users, starts, members)
            step(len(users))
    return bins


def cluster_sample(away: Distances, drawn: Ints) -> tuple[Ints, Ints]:
    """Cluster a sample: the virtual centres of bins are the means of its clusters."""
    m = len(drawn)
    t, s = int(np.sqrt(m)), min(m, 20 * int(np.ceil(np.sqrt(m))))
    sample = drawn[:s]
    with task("clusters of a sample"):
        starts, members = members_of(bounded_t_means(away, sample, t, s // (2 * t)), t)
    # fewer distinct rows than t leave clusters without any
    return np.unique(starts), sample[members]


def join_small(away: Distances, of_user: Ints, starts: Ints, members: Ints, k: int) -> Ints:
    """Join bins of fewer than k users to others."""
    bins = of_user.copy()
    sizes = np.bincount(bins, minlength=len(starts) - 1)
    while True:
        live = np.flatnonzero(sizes)
        small = live[np.argmin(sizes[live])]
        if sizes[small] >= k:
            break
        users = np.flatnonzero(bins == small)
        total = np.zeros(len(sizes))
        for line in away.to_means(users, starts, members):
            total += line
        total[sizes == 0] = np.inf
        total[small] = np.inf
        nearest = int(np.argmin(total))
        bins[users] = nearest
        sizes[nearest] += sizes[small]
        sizes[small] = 0
    return np.asarray(np.unique(bins, return_inverse=True)[1].astype(np.int64))


def cluster_within(bins: Ints, order: Ints, k: int, away: Distances, padded: Padded | None) -> Ints:
    """Cluster the users of each bin into groups of k or more; `padded`: distances are Euclidean."""
    n_bins = int(bins.max()) + 1
    starts, at = members_of(bins[order], n_bins)
    sizes = np.diff(starts)
    by_size = np.argsort(-sizes, kind="stable")  # the long ones first
    groups, count = np.empty(len(bins), np.int64), np.zeros(n_bins, np.int64)

    def cluster(b: int) -> None:
        users = order[at[starts[b] : starts[b + 1]]]
        if padded is not None and len(users) <= _TOGETHER:
            rows, distances = np.arange(len(users)), within(padded, users)
        else:
            rows, distances = users, away
        groups[users] = bounded_t_means(distances, rows, len(users) // k, k)
        count[b] = groups[users].max() + 1
        step(len(users))

    with task("groups within bins", len(bins)) as step:
        large = by_size if padded is None else by_size[sizes[by_size] > _TOGETHER]
        for b in large:
            cluster(int(b))
        side_by_side = by_size[len(large) :]
        if len(side_by_side):
            with budget.limits(threads=_threads(int(sizes[side_by_side[0]]))):
                run(lambda turn: cluster(int(side_by_side[turn])), len(side_by_side))
    return groups + (np.cumsum(count) - count)[bins]


def _threads(users: int) -> int:
    """Return how many threads may each hold the products and distances of so many users."""
    need, free = 16 * users**2, budget.left(0)
    if need > free:
        raise ConfigError(
            f"the largest bin, of {users:,} users, needs {budget.amount(need)}; "
            f"{budget.amount(max(free, 0))} may be used",
            advice="Allow more memory.",
        )
    return min(budget.threads(), int(free // need))
