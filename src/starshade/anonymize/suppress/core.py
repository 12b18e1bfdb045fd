"""Who must go so that every record has enough others within ε (SR §8; definitions, "suppress").

Whoever has too few proximate records can be in no solution; with them gone, their neighbours may
have too few, and so on. What is left when nobody else must go is the (k-1)-core of the proximity
graph (Seidman 1983): it contains every other set of records that meets the requirement, so the
number deleted is the least possible, and the result depends on no order.

Equal records have equal balls, so all of a kind stay or go together, and balls are looked up
once for each kind (`Space.kinds`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from starshade.kernels.arrays import Array, Bools, Ints
from starshade.ratings.proximity.balls import ball_members, ball_sizes, ball_sums
from starshade.ratings.proximity.space import Space

__all__ = ["Deletion", "Round", "largest_core", "near_kinds", "parts", "sums_of_deleted"]

_MEMBERS = 1 << 23  # members of balls that are held at once
_FULL = 64  # times as many members as there are kinds: looking up all balls costs less


@dataclass(frozen=True)
class Round:
    """Records deleted together.

    `reason` ({"few", "spread"}): too few proximate records, or sensitive ratings that spread too
    little.
    """

    reason: str
    deleted: int


@dataclass(frozen=True, eq=False)
class Deletion:
    """Who stays, and how that came about.

    `taken_back`: records deleted in one of the rounds that fitted in again. `least`: whether it is
    proven that no fewer could be deleted.
    """

    stays: Bools
    rounds: tuple[Round, ...]
    taken_back: int = 0
    least: bool = True

    def then(self, further: Deletion) -> Deletion:
        """Return this deletion followed by one among those who stayed."""
        stays = self.stays.copy()
        stays[stays] = further.stays
        return Deletion(
            stays, self.rounds + further.rounds, further.taken_back, self.least and further.least
        )


def largest_core(space: Space, k: int) -> Deletion:
    """Delete the fewest records so that every ball holds k: who stays is the only largest set."""
    kinds = space.kinds
    size = kinds.size[:, None].astype(np.int64)
    stays = np.ones(len(kinds.row), dtype=np.bool_)
    rounds: list[Round] = []
    lost = np.zeros(len(kinds.row), dtype=np.int64)  # members of each ball that were deleted
    # all balls are counted up to k, those that lose members further; a count below its limit
    # is exact
    limit = np.full(len(kinds.row), k)
    counted = ball_sizes(space, rows=kinds.row, stop_at=k)
    while True:
        lonely = stays & (counted - lost < k)
        unsure = np.flatnonzero(lonely & (counted >= limit))
        if len(unsure):
            enough = 2 * (k + int(lost[unsure].max()))
            limit[unsure] = enough
            counted[unsure] = ball_sizes(space, rows=kinds.row[unsure], stop_at=enough)
            continue
        gone = np.flatnonzero(lonely)
        if not len(gone):
            return Deletion(stays[kinds.of_record], tuple(rounds))
        stays[gone] = False
        rounds.append(Round("few", int(size[gone].sum())))
        touched, share = sums_of_deleted(space, gone, size[gone], counted[gone])
        lost[touched] += share[:, 0]


def sums_of_deleted(space: Space, gone: Ints, columns: Array, sizes: Ints) -> tuple[Ints, Array]:
    """Sum the columns of deleted records over every ball that they were in.

    `columns` (d, q): summed over the records deleted of each kind. Returns `touched` (t,): kinds
    whose balls they were in. `share` (t, q).
    """
    kinds = space.kinds
    n, q = len(kinds.row), columns.shape[1]
    if int(sizes.sum()) > max(_MEMBERS, _FULL * n):
        own = np.zeros((space.n_records, q), dtype=columns.dtype)
        own[kinds.row[gone]] = columns
        share = ball_sums(space, own)[kinds.row]
        touched = np.flatnonzero(share.any(axis=1))
        return touched, share[touched]
    shares: list[tuple[Ints, Array]] = []
    for part in parts(sizes):
        indptr, neighbours = near_kinds(space, gone[part])
        source = np.repeat(part, np.diff(indptr))
        touched, place = np.unique(neighbours, return_inverse=True)
        share = np.empty((len(touched), q), dtype=columns.dtype)
        for c in range(q):  # float64 is exact for integers of this size
            share[:, c] = np.bincount(place, columns[source, c].astype(np.float64))
        shares.append((touched, share))
    if len(shares) == 1:
        return shares[0]
    total = np.zeros((n, q), dtype=columns.dtype)
    for touched, share in shares:
        total[touched] += share
    touched = np.unique(np.concatenate([t for t, _ in shares]))
    return touched, total[touched]


def parts(sizes: Ints) -> list[Ints]:
    """Cut positions into runs whose balls, of these sizes, can be held in memory."""
    full = np.cumsum(sizes) // _MEMBERS
    return np.split(np.arange(len(sizes)), np.flatnonzero(np.diff(full)) + 1)


def near_kinds(space: Space, kinds: Ints) -> tuple[Ints, Ints]:
    """Return the kinds in the balls of some kinds: CSR ``indptr, near``."""
    every = space.kinds
    indptr, members = ball_members(space, every.row[kinds])
    first = np.zeros(space.n_records, dtype=np.bool_)
    first[every.row] = True
    chosen = first[members]  # one of each kind
    before = np.concatenate([[0], np.cumsum(chosen)])
    return before[indptr], every.of_record[members[chosen]]
