"""Bounded t-means: clusters of which none is smaller than asked (PA §4.2).

A round gives every row a centre so that each has its least number of rows
(`starshade.kernels.predictive.bounded_t_means`), and takes the mean of each cluster's padded rows
as the new centre. A centre is written down as the rows whose mean it is, and rows are seen through
the distances of rows to such means; `padded_distances` has three ways to them.

The first centres are rows that are distinct *as rows*. A dissimilarity of 0 does not say that two
rows are equal: under closeness all rows may be that near, and nearness is not transitive; nor do
items of weight 0 count. So rows at distance 0 are compared cell by cell.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from starshade.kernels.arrays import Floats, Ints
from starshade.kernels.predictive.bounded_t_means import assign

__all__ = ["ROUNDS", "Distances", "bounded_t_means", "members_of"]

ROUNDS = 8
_BATCH = 1024  # rows that are compared among each other when centres are drawn
_WRITTEN = 256  # rows written out at once when they are compared cell by cell
_DECIMALS = 9  # of a cell; what is behind them is rounding


@dataclass(frozen=True)
class Distances:
    """What clustering sees of rows.

    `to_means`: (rows (b,), starts (t + 1,), members) -> float32 (b, t): how far each row is from
    the mean of each group ``members[starts[j]:starts[j + 1]]``; none negative, 0 for equal rows.
    `written`: rows (b,) -> float64 (b, n): their cells. Runs on one thread.
    """

    to_means: Callable[[Ints, Ints, Ints], NDArray[np.float32]]
    written: Callable[[Ints], Floats]


def bounded_t_means(distances: Distances, rows: Ints, t: int, lower: int) -> Ints:
    """Cluster rows around t virtual centres, each with `lower` rows at least.

    `rows` (b,): in seeded order: the first t that are distinct (in some cell, whatever the
    distances) are the first centres, and the earlier of two rows, or centres, goes first where
    distances are equal. `t`: at least 1; with fewer distinct rows there are as many clusters as
    those.
    """
    first = _distinct(distances, rows, t)
    starts, members = np.arange(len(first) + 1), first
    labels = np.full(len(rows), -1, np.int64)
    for _ in range(ROUNDS):
        before = labels
        labels = assign(distances.to_means(rows, starts, members), lower)
        if (labels == before).all():
            break
        starts, order = members_of(labels, len(first))
        members = rows[order]
    return labels


def members_of(labels: NDArray[np.integer], t: int) -> tuple[Ints, Ints]:
    """List the members of each cluster, in order.

    `members` (b,): cluster j has ``members[starts[j]:starts[j + 1]]``.

    >>> starts, members = members_of(np.array([1, 0, 1]), 2)
    >>> starts.tolist(), members.tolist()
    ([0, 1, 3], [1, 0, 2])
    """
    starts = np.concatenate([[0], np.cumsum(np.bincount(labels, minlength=t))])
    return starts.astype(np.int64), np.argsort(labels, kind="stable")


def _distinct(distances: Distances, rows: Ints, t: int) -> Ints:
    """Return the first t rows that differ from all before them, or as many as there are."""
    distinct, at = rows[:0], 0
    while len(distinct) < t and at < len(rows):
        batch = rows[at : at + min(_BATCH, max(t - len(distinct), 32))]
        at += len(batch)
        known = np.concatenate([distinct, batch])
        equal = distances.to_means(batch, np.arange(len(known) + 1), known) == 0
        equal &= np.tri(len(batch), len(known), len(distinct) - 1, dtype=bool)  # of those before it
        repeated = equal.any(axis=0)
        repeated[len(distinct) :] |= equal.any(axis=1)
        places = np.flatnonzero(repeated)
        new = ~repeated
        new[places[_first_of_equal(distances, known[places])]] = True
        distinct = np.concatenate([distinct, batch[new[len(distinct) :]]])
    return distinct[:t]


def _first_of_equal(distances: Distances, rows: Ints) -> Ints:
    """Return the place of the first of all rows that are equal in every cell."""
    marks = [
        hashlib.blake2b(cells.tobytes(), digest_size=16).hexdigest()
        for low in range(0, len(rows), _WRITTEN)
        for cells in distances.written(rows[low : low + _WRITTEN]).round(_DECIMALS) + 0.0  # no -0.0
    ]
    return np.asarray(np.unique(marks, return_index=True)[1], np.int64)
