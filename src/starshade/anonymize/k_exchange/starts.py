"""What k-exchange begins with beside greedy groups: equal records, and what its rivals find."""

from __future__ import annotations

import numpy as np

from starshade.anonymize.k_exchange.rows import GridRows
from starshade.anonymize.k_likeness import KLikeness
from starshade.anonymize.k_member import KMember
from starshade.anonymize.mondrian import Mondrian
from starshade.anonymize.mondrian_relaxed import MondrianRelaxed
from starshade.anonymize.points import Points
from starshade.kernels.arrays import Ints
from starshade.kernels.exchange.copies import marks
from starshade.kernels.exchange.exchange import form

__all__ = ["alike", "cost", "renumbered", "rival_groups", "small_groups"]


_CELLS = 1 << 18  # of a table on which Mondrian's groups are looked at, at most
_PAIRS = 1 << 28  # of records, times columns: where those are whose time grows with them


def rival_groups(points: Points, k: int, seed: int) -> list[Ints]:
    """Return the groups of the other methods for the same seed, where the table is small."""
    n, m = points.n_records, points.ratings.n_items + points.extra.shape[1]
    if n * m > _CELLS:
        return []
    rivals = [Mondrian(k).group(points, seed), MondrianRelaxed(k).group(points, seed)]
    if n * n * m <= _PAIRS:
        rivals += [KMember(k).group(points, seed), KLikeness(k).group(points, seed)]
    return rivals


def alike(rows: GridRows, k: int) -> Ints:
    """Return for each row which of the rows that occur k times or more it is, −1 for others.

    They are numbered in the order in which they first occur. All are −1 where fewer than k
    records would be left for groups of their own.
    """
    _, first, kind, copies = np.unique(
        marks(rows.arrays), return_index=True, return_inverse=True, return_counts=True
    )
    many = copies >= k
    left = rows.n - int(copies[many].sum())
    if not many.any() or 0 < left < k:
        return np.full(rows.n, -1, dtype=np.int64)
    number = np.full(len(many), -1, dtype=np.int64)
    in_order = np.flatnonzero(many)[np.argsort(first[many], kind="stable")]
    number[in_order] = np.arange(len(in_order))
    return number[kind.reshape(-1)]


def small_groups(rows: GridRows, groups: Ints, k: int) -> Ints:
    """Take groups of 2k or more apart, greedily, into ones of k to 2k−1: that never costs."""
    sizes = np.bincount(groups)
    large = sizes >= 2 * k
    members = np.argsort(groups, kind="stable")
    members = members[large[groups[members]]]
    parts = groups.copy()
    if len(members):
        leaf_ptr = np.concatenate([[0], np.cumsum(sizes[large])])
        inner = rows.take(members)
        part, _ = form(
            inner.arrays, rows.n_columns, leaf_ptr, np.arange(len(members)), k, rows.unit
        )
        parts[members] = len(sizes) + part
    return renumbered(parts)


def renumbered(groups: Ints) -> Ints:
    """Return the groups numbered 0, 1, … in the same order, numbers without records left out."""
    return (np.cumsum(np.bincount(groups) > 0) - 1)[groups]


def cost(rows: GridRows, groups: Ints) -> int:
    """Return the sum of size times width over all groups, exactly; the table becomes full."""
    indptr, columns, values, extra = rows.arrays
    table = np.zeros((rows.n, rows.n_columns), dtype=np.int64)
    table[np.repeat(np.arange(rows.n), np.diff(indptr)), columns] = values
    sizes = np.bincount(groups)
    table = np.hstack([table, extra])[np.argsort(groups, kind="stable")]
    first = np.cumsum(sizes) - sizes
    width = np.maximum.reduceat(table, first) - np.minimum.reduceat(table, first)
    return int(width.sum(axis=1) @ sizes)
