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

from starshade.anonymize.order import put_back
from starshade.kernels.arrays import Array, Bools, Floats, Ints
from starshade.ratings.proximity.balls import ball_members, ball_sizes, ball_sums
from starshade.ratings.proximity.sensitive import spreads, too_low
from starshade.ratings.proximity.space import Space
from starshade.ratings.scale import Scale

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
