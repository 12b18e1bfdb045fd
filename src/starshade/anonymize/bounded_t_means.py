"""Bounded t-means: clusters of which none is smaller than asked (PA §4.2; SPEC §3.5).

A round gives every row a centre so that each has its least number of rows
(`starshade.kernels.bounded_t_means`), and takes the mean of each cluster's padded rows as the new
centre. A centre is written down as the rows whose mean it is, and rows are seen through one
function, the distances of rows to such means; `padded_distances` has three of them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from starshade.kernels.bounded_t_means import assign

__all__ = ["ROUNDS", "Distances", "bounded_t_means", "members_of"]

ROUNDS = 8
_BATCH = 1024  # rows that are compared among each other when centres are drawn

#: (rows (b,), starts (t + 1,), members) -> float32 (b, t): how far each row is from the mean of
#: each group ``members[starts[j]:starts[j + 1]]``; none negative, 0 for equal rows
Distances = Callable[[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]], NDArray[np.float32]]


def bounded_t_means(
    distances: Distances, rows: NDArray[np.int64], t: int, lower: int
) -> NDArray[np.int64]:
    """Cluster rows around t virtual centres, each with `lower` rows at least.

    Parameters
    ----------
    distances : Distances
    rows : ndarray of int64, shape (b,)
        In seeded order: the first t that are distinct are the first centres, and the earlier of
        two rows, or centres, goes first where distances are equal.
    t : int
        At least 1; with fewer distinct rows there are as many clusters as those.
    lower : int
        t · lower ≤ b.

    Returns
    -------
    ndarray of int64, shape (b,)
        Cluster of each row, 0 … t − 1.

    Notes
    -----
    Ends after 8 rounds, or when no row has changed its cluster.
    """
    first = _distinct(distances, rows, t)
    starts, members = np.arange(len(first) + 1), first
    labels = np.full(len(rows), -1, np.int64)
    for _ in range(ROUNDS):
        before = labels
        labels = assign(distances(rows, starts, members), lower)
        if (labels == before).all():
            break
        starts, order = members_of(labels, len(first))
        members = rows[order]
    return labels


def members_of(labels: NDArray[np.integer], t: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """List the members of each cluster, in order.

    Parameters
    ----------
    labels : ndarray of int, shape (b,)
        0 … t − 1.
    t : int

    Returns
    -------
    starts : ndarray of int64, shape (t + 1,)
    members : ndarray of int64, shape (b,)
        Cluster j has ``members[starts[j]:starts[j + 1]]``.

    Examples
    --------
    >>> starts, members = members_of(np.array([1, 0, 1]), 2)
    >>> starts.tolist(), members.tolist()
    ([0, 1, 3], [1, 0, 2])
    """
    starts = np.concatenate([[0], np.cumsum(np.bincount(labels, minlength=t))])
    return starts.astype(np.int64), np.argsort(labels, kind="stable")


def _distinct(distances: Distances, rows: NDArray[np.int64], t: int) -> NDArray[np.int64]:
    """Return the first t rows that differ from all before them, or as many as there are."""
    found, at = rows[:0], 0
    while len(found) < t and at < len(rows):
        batch = rows[at : at + min(_BATCH, max(t - len(found), 32))]
        at += len(batch)
        if len(found):
            apart = distances(batch, np.arange(len(found) + 1), found).min(axis=1) > 0
            batch = batch[apart]
        own = distances(batch, np.arange(len(batch) + 1), batch)
        repeated = (np.tril(own == 0, -1)).any(axis=1)  # of one before it in this batch
        found = np.concatenate([found, batch[~repeated]])
    return found[:t]
