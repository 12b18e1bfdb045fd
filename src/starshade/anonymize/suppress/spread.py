"""Who goes so that the sensitive ratings of every ball spread by l (SR §4.2, §8).

This is not monotone: deleting somebody may lower or raise the spread of a neighbour's ball, so
solutions do not add up to a largest one, and the number deleted here is not proven to be the
least. Balls that are too small are emptied first. Of the records whose ball spreads too little,
the worst eighth goes, which gives the others a chance to recover, and so on; in the end records
that fit in again are taken back, one at a time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from starshade.anonymize.order import put_back
from starshade.anonymize.suppress.core import Deletion, Round, near_kinds, parts, sums_of_deleted
from starshade.kernels.arrays import Array, Bools, Floats, Ints
from starshade.ratings.proximity.balls import ball_sums
from starshade.ratings.proximity.space import Space
from starshade.ratings.proximity.spread import spreads, too_low
from starshade.ratings.scale import Scale

__all__ = ["spread_out"]

_PART = 8  # of those whose ball spreads too little, one in so many goes per round
_PASSES = 8  # over those who might be taken back


@dataclass(eq=False)
class _State:
    """Who stays, and the sums over those who do in the ball of each kind.

    `columns` (n_records, 1 + 3q): 1, and the moments of a record's sensitive ratings. `sums`
    (n_kinds, 1 + 3q): `columns`, summed over the ball. `spread` (n_kinds,): the least of the ball's
    spreads; inf where nothing is disclosed.
    """

    space: Space
    scale: Scale
    k: int
    l: float  # noqa: E741
    columns: Array
    stays: Bools
    sums: Array
    sizes: Ints
    spread: Floats

    @classmethod
    def of(cls, space: Space, moments: Array, scale: Scale, k: int, l: float) -> _State:  # noqa: E741
        n = space.n_records
        columns = np.hstack([np.ones((n, 1), dtype=moments.dtype), moments])
        stays = np.ones(n, dtype=np.bool_)
        nothing = np.empty(0, dtype=np.int64)
        state = cls(space, scale, k, l, columns, stays, columns, nothing, np.empty(0))
        state.count_anew()
        state.sizes = state.sums[:, 0].astype(np.int64)
        return state

    def least_spread(self, sums: Array) -> Floats:
        if not len(sums):
            return np.empty(0)
        deviations = spreads(sums[:, 0].astype(np.int64), sums[:, 1:], self.scale)
        return np.asarray(np.where(np.isnan(deviations), np.inf, deviations).min(axis=1))

    def count_anew(self) -> None:
        kinds = self.space.kinds
        self.sums = ball_sums(self.space, self.columns * self.stays[:, None])[kinds.row]
        self.spread = self.least_spread(self.sums)

    def delete(self, rows: Ints) -> None:
        self.stays[rows] = False
        gone, place = np.unique(self.space.kinds.of_record[rows], return_inverse=True)
        total = np.zeros((len(gone), self.columns.shape[1]), dtype=self.columns.dtype)
        np.add.at(total, place, self.columns[rows])
        touched, share = sums_of_deleted(self.space, gone, total, self.sizes[gone])
        self.sums[touched] -= share
        self.spread[touched] = self.least_spread(self.sums[touched])

    def holds(self, kinds: Bools) -> Bools:
        """Tell which records are of these kinds, given as a mask, and stay."""
        return self.stays & kinds[self.space.kinds.of_record]


def spread_out(
    space: Space,
    moments: Array,
    scale: Scale,
    k: int,
    l: float,  # noqa: E741
    order: Ints,
) -> Deletion:
    """Delete records until every ball holds k and its sensitive ratings spread by l.

    `space`: best of the `largest_core` alone: nobody else can stay. `order` (n_records,): a
    permutation that settles ties: who comes first in it goes first.
    """
    state = _State.of(space, moments, scale, k, l)
    place = put_back(order, np.arange(len(order)))
    rounds: list[Round] = []
    gone: list[Ints] = []
    fresh = True
    while True:
        reason, rows = "few", np.flatnonzero(state.holds(state.sums[:, 0] < k))
        if not len(rows):
            reason, rows = "spread", _worst(state, place)
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
    candidates = [rows[np.argsort(place[rows])] for rows in gone[::-1]]
    back = _take_back(state, np.concatenate(candidates)) if state.stays.any() and gone else 0
    return Deletion(state.stays, tuple(rounds), back, least=not rounds)


def _worst(state: _State, place: Ints) -> Ints:
    """Return, of those whose balls spread too little, the part whose balls spread least.

    Of balls that spread equally, the record goes first that adds least to the spread.
    """
    low = np.flatnonzero(state.holds(too_low(state.spread, state.l)))
    if not len(low):
        return low
    spread = np.round(state.spread[state.space.kinds.of_record[low]], 9)  # equal ones are equal
    order = np.lexsort([place[low], np.round(_distinct(state, low), 9), spread])
    return low[order[: -(-len(low) // _PART)]]


def _distinct(state: _State, rows: Ints) -> Floats:
    """Return how far a record's ratings are from the means of its ball, squared and summed."""
    shape = (len(rows), -1, 3)
    sums = state.sums[state.space.kinds.of_record[rows], 1:].reshape(shape).astype(np.float64)
    own = state.columns[rows, 1:].reshape(shape).astype(np.float64)
    mean = sums[..., 1] / np.maximum(sums[..., 0], 1)
    return np.asarray((own[..., 0] * (own[..., 1] - mean) ** 2).sum(axis=1))


def _take_back(state: _State, rows: Ints) -> int:
    """Let those who were deleted in again, in this order, where all still holds."""
    kind = state.space.kinds.of_record
    here = np.bincount(kind[state.stays], minlength=len(state.sums))
    back = 0
    for _ in range(_PASSES):
        own = state.sums[kind[rows]] + state.columns[rows]
        fits = rows[(own[:, 0] >= state.k) & ~too_low(state.least_spread(own), state.l)]
        taken = 0
        for part in parts(state.sizes[kind[fits]]):
            kinds, place = np.unique(kind[fits[part]], return_inverse=True)
            indptr, neighbours = near_kinds(state.space, kinds)
            for row, i in zip(fits[part].tolist(), place.tolist(), strict=True):
                taken += _try(state, row, neighbours[indptr[i] : indptr[i + 1]], here)
        back += taken
        rows = rows[~state.stays[rows]]
        if not taken:
            break
    return back


def _try(state: _State, row: int, ball: Ints, here: Ints) -> bool:
    """Take one record back if its ball and those it would be in still meet the requirement."""
    own = state.space.kinds.of_record[row]
    here[own] += 1
    sums = state.sums[ball] + state.columns[row]
    touched = sums[here[ball] > 0]
    if (touched[:, 0] < state.k).any() or too_low(state.least_spread(touched), state.l).any():
        here[own] -= 1
        return False
    state.stays[row] = True
    state.sums[ball] = sums
    return True
