"""Which records must go so that the others meet (k, ε) or (k, ε, l) (SR §8; SPEC §3.4).

**(k, ε)** asks that every ball hold k records. Whoever has fewer proximate records can be in no
solution; with them gone, their neighbours may have fewer too, and so on. What is left when
nobody else must go is the (k-1)-core of the proximity graph (Seidman 1983): it contains every
other set of records that meets the requirement, so the number deleted is the least possible,
and the result depends on no order.

**(k, ε, l)** asks besides that the sensitive ratings of every ball spread by l. That is not
monotone: deleting somebody may lower or raise the spread of a neighbour's ball, so solutions do
not add up to a largest one, and the number deleted here is not proven to be the least. Balls
that are too small are emptied first, as before. Of the records whose ball spreads too little,
the worst eighth goes, which gives the others a chance to recover, and so on; in the end records
that fit in again are taken back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.ratings.proximity.balls import ball_members, ball_sizes, ball_sums
from starshade.ratings.proximity.space import Space
from starshade.ratings.proximity.spread import spreads, too_low
from starshade.ratings.scale import Scale

__all__ = ["Deletion", "Round", "largest_core", "spread_out"]

_MEMBERS = 1 << 23  # members of balls that are held at once
_PART = 8  # of those whose ball spreads too little, one in so many goes per round
_PASSES = 8  # over those who might be taken back


@dataclass(frozen=True)
class Round:
    """Records deleted together.

    Attributes
    ----------
    reason : {"few", "spread"}
        Too few proximate records, or sensitive ratings that spread too little.
    deleted : int
    """

    reason: str
    deleted: int


@dataclass(frozen=True, eq=False)
class Deletion:
    """Who stays, and how that came about.

    Attributes
    ----------
    stays : ndarray of bool, shape (n_records,)
    rounds : tuple of Round
    taken_back : int
        Records deleted in one of the rounds that fitted in again.
    least : bool
        Whether it is proven that no fewer could be deleted.
    """

    stays: NDArray[np.bool_]
    rounds: tuple[Round, ...]
    taken_back: int = 0
    least: bool = True

    def then(self, further: Deletion) -> Deletion:
        """Return this deletion followed by one among those who stayed."""
        stays = self.stays.copy()
        stays[stays] = further.stays
        return Deletion(
            stays,
            self.rounds + further.rounds,
            further.taken_back,
            self.least and further.least,
        )


def largest_core(space: Space, k: int) -> Deletion:
    """Delete the fewest records so that every ball holds k.

    Parameters
    ----------
    space : Space
    k : int

    Returns
    -------
    Deletion
        `stays` is the largest set that meets (k, ε), and it is the only one of that size.
    """
    n = space.n_records
    stays, rounds = np.ones(n, dtype=np.bool_), []
    lost = np.zeros(n, dtype=np.int64)  # members of each ball that were deleted
    # all balls are counted up to k, those that lose members further; a count below its limit
    # is exact
    limit = np.full(n, k)
    counted = ball_sizes(space, stop_at=k)
    while True:
        few = stays & (counted - lost < k)
        unsure = np.flatnonzero(few & (counted >= limit))
        if len(unsure):
            enough = 2 * (k + int(lost[unsure].max()))
            limit[unsure] = enough
            counted[unsure] = ball_sizes(space, rows=unsure, stop_at=enough)
            continue
        gone = np.flatnonzero(few)
        if not len(gone):
            return Deletion(stays, tuple(rounds))
        stays[gone] = False
        rounds.append(Round("few", len(gone)))
        lost += _share(space, gone, np.ones((n, 1), dtype=np.int64), counted)[:, 0]


def _share(
    space: Space, rows: NDArray[np.int64], columns: NDArray[Any], sizes: NDArray[np.int64]
) -> NDArray[Any]:
    """Return the part of the sums over every ball that these rows make up.

    `sizes` are those of the balls of `rows`, at least.
    """
    n = space.n_records
    if int(sizes[rows].sum()) > max(_MEMBERS, 64 * n):  # more than all balls cost to look up
        own = np.zeros_like(columns)
        own[rows] = columns[rows]
        return ball_sums(space, own)
    out = np.zeros_like(columns)
    for part in _parts(rows, sizes):
        indptr, members = ball_members(space, part)
        source = np.repeat(part, np.diff(indptr))
        for c in range(columns.shape[1]):
            # float64 is exact for integers of this size
            weights = columns[source, c].astype(np.float64)
            out[:, c] += np.bincount(members, weights, minlength=n).astype(out.dtype)
    return out


def _parts(rows: NDArray[np.int64], sizes: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Cut rows where the members of their balls would be too many to hold."""
    before = np.cumsum(sizes[rows]) // _MEMBERS
    return np.split(rows, np.flatnonzero(np.diff(before)) + 1)


@dataclass(eq=False)
class _Spreading:
    """Records on their way to (k, ε, l): who stays, and the sums over those in each ball."""

    space: Space
    scale: Scale
    k: int
    l: float  # noqa: E741
    columns: NDArray[Any]  # 1 and the moments of each record
    stays: NDArray[np.bool_]
    sizes: NDArray[np.int64]  # of the balls among all records
    sums: NDArray[Any]
    spread: NDArray[np.float64]  # the least of each ball; inf where nothing is disclosed

    def measure(self, rows: NDArray[np.int64]) -> None:
        self.spread[rows] = self.least_spread(self.sums[rows])

    def least_spread(self, sums: NDArray[Any]) -> NDArray[np.float64]:
        found = spreads(sums[:, 0].astype(np.int64), sums[:, 1:], self.scale)
        return np.where(np.isnan(found), np.inf, found).min(axis=1)

    def count_anew(self) -> None:
        self.sums = ball_sums(self.space, self.columns * self.stays[:, None])
        self.measure(np.arange(len(self.stays)))

    def delete(self, rows: NDArray[np.int64]) -> None:
        self.stays[rows] = False
        share = _share(self.space, rows, self.columns, self.sizes)
        self.sums -= share
        self.measure(np.flatnonzero(share[:, 0]))


def spread_out(
    space: Space,
    columns: NDArray[Any],
    scale: Scale,
    k: int,
    l: float,  # noqa: E741
    order: NDArray[np.int64],
) -> Deletion:
    """Delete records until every ball holds k and its sensitive ratings spread by l.

    Parameters
    ----------
    space : Space
        Best of the `largest_core` alone: nobody else can stay.
    columns : ndarray, shape (n_records, 3q)
        `starshade.ratings.proximity.spread.moments`.
    scale : Scale
    k : int
    l : float
    order : ndarray of int64, shape (n_records,)
        A permutation that settles ties: who comes first in it goes first.

    Returns
    -------
    Deletion
        Possibly of everybody.
    """
    n = space.n_records
    columns = np.hstack([np.ones((n, 1), dtype=columns.dtype), columns])
    every = np.ones(n, dtype=np.bool_)
    state = _Spreading(
        space, scale, k, l, columns, every, np.empty(0, np.int64), columns, np.empty(n)
    )
    state.count_anew()
    state.sizes = state.sums[:, 0].astype(np.int64)
    place = np.empty(n, dtype=np.int64)
    place[order] = np.arange(n)
    rounds: list[Round] = []
    gone: list[NDArray[np.int64]] = []
    fresh = True
    while True:
        reason, rows = "few", np.flatnonzero(state.stays & (state.sums[:, 0] < k))
        if not len(rows):
            reason = "spread"
            low = np.flatnonzero(state.stays & too_low(state.spread, l))
            rows = _worst(state, low, place)
        if len(rows):
            state.delete(rows)
            rounds.append(Round(reason, len(rows)))
            gone.append(rows)
            fresh = scale.step is not None
        elif fresh:
            break
        else:  # what rounding left behind in sums of real numbers
            state.count_anew()
            fresh = True
    back = _take_back(state, gone[::-1], place) if state.stays.any() else 0
    return Deletion(state.stays, tuple(rounds), back, least=not rounds)


def _worst(
    state: _Spreading, low: NDArray[np.int64], place: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return those of `low` whose balls spread least.

    Of balls that spread equally, the record goes first that adds least to the spread.
    """
    if not len(low):
        return low
    spread = np.round(state.spread[low], 9)  # equal ones are equal
    order = np.lexsort([place[low], np.round(_distinct(state, low), 9), spread])
    return low[order[: -(-len(low) // _PART)]]


def _distinct(state: _Spreading, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return how far a record's ratings are from the means of its ball, squared and summed."""
    shape = (len(rows), -1, 3)
    sums = state.sums[rows, 1:].reshape(shape).astype(np.float64)
    own = state.columns[rows, 1:].reshape(shape).astype(np.float64)
    mean = sums[..., 1] / np.maximum(sums[..., 0], 1)
    return np.asarray((own[..., 0] * (own[..., 1] - mean) ** 2).sum(axis=1))


def _take_back(state: _Spreading, gone: list[NDArray[np.int64]], place: NDArray[np.int64]) -> int:
    """Let those who were deleted in again, one at a time, where all still holds."""
    rows = np.concatenate([*(r[np.argsort(place[r])] for r in gone), np.empty(0, np.int64)])
    back = 0
    for _ in range(_PASSES):
        if not len(rows):
            break
        own = state.sums[rows] + state.columns[rows]
        fits = (own[:, 0] >= state.k) & ~too_low(state.least_spread(own), state.l)
        found = 0
        for part in _parts(rows[fits], state.sizes):
            indptr, members = ball_members(state.space, part)
            for i, row in enumerate(part.tolist()):
                found += _try(state, row, members[indptr[i] : indptr[i + 1]])
        back += found
        rows = rows[~state.stays[rows]]
        if not found:
            break
    return back


def _try(state: _Spreading, row: int, ball: NDArray[np.int64]) -> bool:
    """Take one record back if its ball and those it would be in still meet the requirement."""
    sums = state.sums[ball] + state.columns[row]
    state.stays[row] = True
    stay = sums[state.stays[ball]]
    if (stay[:, 0] < state.k).any() or too_low(state.least_spread(stay), state.l).any():
        state.stays[row] = False
        return False
    state.sums[ball] = sums
    return True
