"""k-Likeness's distance pass: group records around nuclei, the least L1 distance first.

The method is sequential: each nucleus chooses among the records that earlier ones left. It is
made parallel by guessing that neighbours in time do not want the same records: for a *batch* of
coming nuclei the nearest records are listed, a few more of them than needed, and the lists are
then worked through in order. As long as a list still holds k−1 records that are free, they are
exactly those that the nucleus would have chosen alone, because whatever is not on the list is
further away. A list that ran short is made anew, from who is free by then. So the batch's size
changes the time, never the groups.

How the lists are made depends on the table::

    likeness.py ──full table──▶ blocks.py ──▶ search.py
        └───────sparse rows───▶ sparse.py

Records are known by their *position* in the permutation, so a tie goes to the lower position.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit

from starshade.kernels import small
from starshade.kernels.arrays import Array, Bools, Int32s, Ints
from starshade.kernels.likeness.blocks import BLOCK, directions, lay_out
from starshade.kernels.likeness.search import fill_sums, nearest, thermometers
from starshade.kernels.warm import announce
from starshade.progress import task

_BATCH = 256  # nuclei listed together, at most
_SPARE = 64  # neighbours listed beyond those needed, at most; k where that is less
_STALE = 0.6  # share of free records below which they are laid out anew


class Lists(NamedTuple):
    """A way to list neighbours among the records that were free when it was made.

    `nearest`: (nuclei, wanted) → their nearest free records; see `search.nearest`. `alive`
    (n_blocks,): free records in each block; `form_groups` keeps count.
    """

    nearest: Callable[[Ints, int], Ints]
    block: Int32s
    alive: Ints


def distances(table: Array, query: Array) -> Array:
    """L1 distance of one record to every record."""
    if small.is_small(table.shape[1], len(table)):
        return small.distances(table, query)
    out = np.empty(table.shape[1], table.dtype)
    fill_sums(table, 0, table.shape[1], query, out)
    return out


def nucleus_groups(table: Array, k: int) -> tuple[Ints, int]:
    """Form groups of k while at least k records are left.

    `table` (uint8, uint16 or float64 (n_items, n)): records in the order of the permutation. Its
    dtype holds every distance that can occur. Returns `group` (n,): groups are numbered as they are
    formed; −1 for the fewer than k records left over.
    """
    if small.is_small(table.shape[1], len(table)):
        return small.nucleus_groups(table, k)
    announce("k-Likeness", _resolve)
    words = thermometers(table)
    cells = table if words is None else words
    along, slack = directions(table)

    def arrange(free: Bools) -> Lists:
        blocks = lay_out(cells, along, np.flatnonzero(free), slack)
        block = blocks.slot // BLOCK
        alive = np.bincount(block[free], minlength=len(blocks.first))
        return Lists(lambda nuclei, n: nearest(blocks, alive, free, nuclei, n), block, alive)

    return form_groups(table.shape[1], k, arrange)


def form_groups(n: int, k: int, arrange: Callable[[Bools], Lists]) -> tuple[Ints, int]:
    """Form groups from lists, wherever they come from.

    `arrange`: given which positions are free (the same array every time, changed in between),
    prepares to list neighbours among them. Called again when many of them have left.
    """
    group = np.full(n, -1, np.int64)
    free = np.ones(n, np.bool_)
    kept = laid_out = n
    lists = arrange(free)
    formed, start, batch = 0, 0, _BATCH
    with task("grouping records", n) as step:
        while kept >= k:
            if kept < _STALE * laid_out:
                lists, laid_out = arrange(free), kept
            before = kept
            # lists of a batch that is small beside who is left seldom run short
            nuclei = _first_free(free, start, max(1, min(batch, kept // (8 * k))))
            near = lists.nearest(nuclei, min(k - 1 + min(k, _SPARE), kept - 1))
            done = 0
            while done < len(nuclei) and kept >= k:
                new, done = _resolve(near, nuclei, done, k, free, group, formed, *lists[1:])
                formed += new
                kept -= k * new
                if done < len(nuclei) and kept >= k:  # a list ran short
                    near[done] = -1
                    near[done, : k - 1] = lists.nearest(nuclei[done : done + 1], k - 1)
            # equal records want the same: most nuclei of a batch are taken by the first of them
            used = (before - kept) // k
            if 2 * used < len(nuclei):
                batch = len(nuclei) // 2
            elif used == len(nuclei):
                batch = min(_BATCH, 2 * batch)
            start = nuclei[-1]
            step(before - kept)
    return group, formed


@njit(cache=True, nogil=True)
def _first_free(free, start, count):  # type: ignore[no-untyped-def]
    out = np.empty(count, np.int64)
    found = 0
    for i in range(start, len(free)):
        if found == count:
            break
        if free[i]:
            out[found] = i
            found += 1
    return out


@njit(cache=True, nogil=True)
def _resolve(near, nuclei, start, k, free, group, formed, block, alive):  # type: ignore[no-untyped-def]
    """Work through lists from `start` on; return (groups formed, where a list ran short)."""
    new = 0
    chosen = np.empty(k, np.int64)
    for b in range(start, len(nuclei)):
        if not free[nuclei[b]]:
            continue  # an earlier nucleus took it
        chosen[0] = nuclei[b]
        found = 1
        for p in near[b]:
            if found < k and p >= 0 and free[p]:
                chosen[found] = p
                found += 1
        if found < k:
            return new, b
        for p in chosen:
            free[p] = False
            alive[block[p]] -= 1
            group[p] = formed + new
        new += 1
    return new, len(nuclei)
