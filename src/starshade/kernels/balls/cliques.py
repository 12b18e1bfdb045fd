"""Graphs given as neighbour lists: connected components, and greedy searches for cliques.

A graph is CSR ``indptr, members``: the neighbours of v are ``members[indptr[v]:indptr[v + 1]]``,
v itself among them, ascending; the relation is symmetric.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from starshade.kernels.arrays import Ints, inner


@njit(cache=True, nogil=True)
def components(indptr: Ints, members: Ints) -> Ints:
    """Find the connected components, numbered in the order of their first vertices."""
    n = len(indptr) - 1
    label = np.full(n, -1, np.int64)
    waiting = np.empty(n, np.int64)
    found = 0
    for root in range(n):
        if label[root] >= 0:
            continue
        label[root] = found
        waiting[0] = root
        left = 1
        while left > 0:
            left -= 1
            v = waiting[left]
            for p in range(indptr[v], indptr[v + 1]):
                w = members[p]
                if label[w] < 0:
                    label[w] = found
                    waiting[left] = w
                    left += 1
        found += 1
    return label


@njit(cache=True, nogil=True)
def grow_cliques(indptr: Ints, members: Ints, order: Ints, k: int) -> Ints:
    """Partition vertices into cliques of k or more, as far as one pass gets.

    The vertices of `order` are taken one after the other. One that is still free begins a
    clique, to which its free neighbours are added, those first in `order` first, as long as they
    are near all of it, until it has k; if it does not get there, all of it stays free. In the
    end each free vertex joins the first clique that is near it as a whole.

    Returns (n,): the clique of each vertex, numbered as they were formed; -1: free, or not in
    `order`.
    """
    n = len(indptr) - 1
    rank = np.zeros(n, np.int64)
    for place in range(len(order)):
        rank[order[place]] = place
    clique = np.full(n, -1, np.int64)
    size = np.zeros(len(order) // k + 1, np.int64)
    near = np.full(n, -1, np.int64)  # the vertex whose neighbour this was found to be last
    candidates = np.empty(n, np.int64)
    grown = np.empty(k, np.int64)
    found = 0
    for seed in order:
        if clique[seed] >= 0:
            continue
        grown[0] = seed
        n_grown = 1
        n_candidates = 0
        for p in range(indptr[seed], indptr[seed + 1]):
            if members[p] != seed and clique[members[p]] < 0:
                candidates[n_candidates] = members[p]
                n_candidates += 1
        while n_grown < k and n_candidates >= k - n_grown:
            best = candidates[0]
            for c in range(1, n_candidates):
                if rank[candidates[c]] < rank[best]:
                    best = candidates[c]
            grown[n_grown] = best
            n_grown += 1
            n_candidates = _keep_near(best, indptr, members, near, candidates, n_candidates)
        if n_grown == k:
            for v in grown:
                clique[v] = found
            size[found] = k
            found += 1
    _join(indptr, members, order, clique, size, found)
    return clique


@njit(cache=True, nogil=True)
def seek_cliques(indptr: Ints, members: Ints, k: int) -> tuple[Ints, Ints]:
    """Seek for each vertex a clique of k or more that it is in, in the order of their numbers.

    Whoever is in one that was found does not ask. Who asks, and has k - 1 neighbours, lets them
    join, one after the other, as long as they are near all who did: a clique that cannot grow,
    and not always the largest.

    Returns ``size, asked`` (n,): vertices of the largest clique found that each is in, 1 where
    none was; and 1 for who asked, else 0.
    """
    n = len(indptr) - 1
    size, asked = np.ones(n, np.int64), np.zeros(n, np.int64)
    near = np.full(n, -1, np.int64)
    candidates, grown = np.empty(n, np.int64), np.empty(n, np.int64)
    for seed in range(n):
        if size[seed] >= k:
            continue
        asked[seed] = 1
        if indptr[seed + 1] - indptr[seed] < k:
            continue
        grown[0] = seed
        n_grown, n_candidates = np.int64(1), np.int64(0)
        for p in range(indptr[seed], indptr[seed + 1]):
            if members[p] != seed:
                candidates[n_candidates] = members[p]
                n_candidates += 1
        while n_candidates > 0:
            added = candidates[0]
            grown[n_grown] = added
            n_grown += 1
            n_candidates = _keep_near(added, indptr, members, near, candidates, n_candidates)
        for i in range(n_grown):
            size[grown[i]] = max(size[grown[i]], n_grown)
    return size, asked


@inner
def _keep_near(added, indptr, members, near, candidates, n_candidates):  # type: ignore[no-untyped-def]
    """Keep the candidates that are near the one added; return how many are left."""
    for p in range(indptr[added], indptr[added + 1]):
        near[members[p]] = added
    kept = 0
    for c in range(n_candidates):
        w = candidates[c]
        if w != added and near[w] == added:
            candidates[kept] = w
            kept += 1
    return kept


@inner
def _join(indptr, members, order, clique, size, found):  # type: ignore[no-untyped-def]
    """Let each free vertex join the first clique all of whose members are near it."""
    count = np.zeros(found + 1, np.int64)
    for v in order:
        if clique[v] >= 0:
            continue
        best = found
        for p in range(indptr[v], indptr[v + 1]):
            g = clique[members[p]]
            if g >= 0:
                count[g] += 1
                if count[g] == size[g] and g < best:
                    best = g
        for p in range(indptr[v], indptr[v + 1]):
            g = clique[members[p]]
            if g >= 0:
                count[g] = 0
        if best < found:
            clique[v] = best
            size[best] += 1
