"""Count, group by group, who really rated what a group's records show (PA §6)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from starshade.kernels.arrays import Bools, Int32s, Ints
from starshade.kernels.attack.agreement import Rows, Truth
from starshade.kernels.warm import announce

__all__ = ["Edges", "Members", "count_edges", "members_of", "rated_unreleased"]


class Members(NamedTuple):
    """Who is in which group: group g holds ``members[indptr[g]:indptr[g + 1]]``."""

    indptr: Ints
    members: Ints


class Edges(NamedTuple):
    """Pairs of a group and an item that at least one of its records shows, group by group.

    group, item : which pair
    edges : records of the group that show the item, at least 1
    raters : users of the group who rated it
    """

    group: Ints
    item: Int32s
    edges: Ints
    raters: Ints


def members_of(group: Ints, n_groups: int) -> Members:
    """Sort rows or users by their group; -1 is in none."""
    members = np.argsort(group, kind="stable")[int((group < 0).sum()) :]
    counts = np.bincount(group[group >= 0], minlength=n_groups)
    return Members(np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), members)


def count_edges(
    start: int,
    stop: int,
    rows_of: Members,
    users_of: Members,
    rows: Rows,
    sizes: Ints,
    rated: Bools,
    truth: Truth,
    n_items: int,
) -> Edges:
    """Count edges and original raters in the groups start…stop-1."""
    announce("the link-existence attack", _count_edges)
    ours = rows_of.members[rows_of.indptr[start] : rows_of.indptr[stop]]
    at_most = int((rows.indptr[ours + 1] - rows.indptr[ours]).sum())
    out = Edges(
        np.empty(at_most, np.int64),
        np.empty(at_most, np.int32),
        np.empty(at_most, np.int64),
        np.empty(at_most, np.int64),
    )
    n = _count_edges(start, stop, rows_of, users_of, rows, sizes, rated, truth, n_items, out)
    return Edges(out.group[:n], out.item[:n], out.edges[:n], out.raters[:n])


@njit(cache=True, nogil=True)
def _count_edges(start, stop, rows_of, users_of, rows, sizes, rated, truth, n_items, out):  # type: ignore[no-untyped-def]
    edges = np.zeros(n_items, np.int64)
    raters = np.zeros(n_items, np.int64)
    n = 0
    for group in range(start, stop):
        for user in users_of.members[users_of.indptr[group] : users_of.indptr[group + 1]]:
            for p in range(truth.indptr[user], truth.indptr[user + 1]):
                raters[truth.columns[p]] += 1
        first = n
        for row in rows_of.members[rows_of.indptr[group] : rows_of.indptr[group + 1]]:
            for p in range(rows.indptr[row], rows.indptr[row + 1]):
                if rated[rows.codes[p]]:
                    item = rows.columns[p]
                    if edges[item] == 0:
                        out.item[n] = item
                        n += 1
                    edges[item] += sizes[row]
        for i in range(first, n):
            item = out.item[i]
            out.group[i] = group
            out.edges[i] = edges[item]
            out.raters[i] = raters[item]
            edges[item] = 0
        for user in users_of.members[users_of.indptr[group] : users_of.indptr[group + 1]]:
            for p in range(truth.indptr[user], truth.indptr[user + 1]):
                raters[truth.columns[p]] = 0
    return n


@njit(cache=True, nogil=True)
def rated_unreleased(rows, rated, row_of_user, truth):  # type: ignore[no-untyped-def]
    """Count the original ratings, of users with a record, that their record does not show."""
    hidden = 0
    for user in range(len(row_of_user)):
        row = row_of_user[user]
        if row < 0:
            continue
        q, q_end = rows.indptr[row], rows.indptr[row + 1]
        for p in range(truth.indptr[user], truth.indptr[user + 1]):
            while q < q_end and rows.columns[q] < truth.columns[p]:
                q += 1
            if q == q_end or rows.columns[q] != truth.columns[p] or not rated[rows.codes[q]]:
                hidden += 1
    return hidden
