"""What one released cell can say: a *symbol* is a set of members or a range (KL Def 7, 8).

Cells repeat a few distinct contents millions of times, so each content is held once here and
cells are positions in the list. A member is a rating; null may be a member too. On a real-valued
scale a symbol can be a range of ratings, whose part below the scale's minimum stands for null.
The empty symbol "null alone" is never listed: such a cell has no row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from starshade.ratings.scale import SLACK, Scale

__all__ = ["Symbols"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Symbols:
    """The distinct contents of cells.

    `scale`: of the ratings that the cells stand for. `offsets` (n + 1,): symbol s has the members
    ``members[offsets[s]:offsets[s + 1]]`` (none for a range). `members` (float64): ratings,
    ascending within a symbol. `null` (bool (n,)): whether null is a member too. `low`, `high`
    (float64 (n,)): bounds of a range on a real scale; NaN for a set. A range's `low` may lie below
    the scale's minimum: that part stands for null, and `null` is then True.
    """

    scale: Scale
    offsets: NDArray[np.int64]
    members: Floats
    null: Bools
    low: Floats
    high: Floats

    @classmethod
    def exact(cls, scale: Scale, levels: Floats) -> Symbols:
        """One symbol per rating: the contents of an ungeneralized table."""
        n = len(levels)
        nan = np.full(n, np.nan)
        return cls(scale, np.arange(n + 1), levels, np.zeros(n, dtype=np.bool_), nan, nan)

    @classmethod
    def sets(cls, scale: Scale, members: Sequence[Floats], null: Bools) -> Symbols:
        """One symbol per set of ratings."""
        lengths = [len(m) for m in members]
        nan = np.full(len(members), np.nan)
        flat = np.concatenate(members) if len(members) else np.empty(0)
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return cls(scale, offsets, flat.astype(np.float64), np.asarray(null, np.bool_), nan, nan)

    @classmethod
    def ranges(cls, scale: Scale, low: Floats, high: Floats) -> Symbols:
        """One symbol per closed range on a real scale."""
        n = len(low)
        return cls(
            scale,
            np.zeros(n + 1, dtype=np.int64),
            np.empty(0),
            np.asarray(low < scale.minimum - SLACK),
            np.asarray(low, dtype=np.float64),
            np.asarray(high, dtype=np.float64),
        )

    def __len__(self) -> int:
        return len(self.null)

    @property
    def is_range(self) -> Bools:
        """Which symbols are ranges, shape (n,)."""
        return ~np.isnan(self.low)

    @property
    def n_members(self) -> NDArray[np.int64]:
        """Members of each symbol, null not counted (0 for a range), shape (n,)."""
        return np.diff(self.offsets)

    @cached_property
    def has_rating(self) -> Bools:
        """Which symbols have a non-null member, shape (n,)."""
        return (self.n_members > 0) | (self.is_range & ~(self.high < self.scale.minimum - SLACK))

    @cached_property
    def is_single(self) -> Bools:
        """Which symbols have one single member, a rating (``users_rating_disclosed``)."""
        point = self.is_range & (self.high - self.low <= SLACK)
        return np.asarray(((self.n_members == 1) | point) & ~self.null)

    @cached_property
    def bounds(self) -> tuple[Floats, Floats]:
        """Least and greatest member of each symbol, null counting as its level."""
        low, high = self.low.copy(), self.high.copy()
        filled = np.flatnonzero(self.n_members > 0)
        low[filled] = self.members[self.offsets[filled]]
        high[filled] = self.members[self.offsets[filled + 1] - 1]
        sets_with_null = self.null & ~self.is_range
        low[sets_with_null] = self.scale.null_level
        only_null = sets_with_null & (self.n_members == 0)
        high[only_null] = self.scale.null_level
        return low, high

    def mask(self) -> Bools:
        """Return sets on a stepped scale as masks over {null} ∪ levels, shape (n, 1 + levels)."""
        out = np.zeros((len(self), 1 + len(self.scale.levels)), dtype=np.bool_)
        out[:, 0] = self.null
        step = self.scale.step or 1.0
        level = np.round((self.members - self.scale.minimum) / step).astype(np.int64)
        out[np.repeat(np.arange(len(self)), self.n_members), 1 + level] = True
        return out

    def similarity(self, ratings: Floats, rho0: float) -> Floats:
        """Mean over each symbol's members v of exp(−|rating − v|/ρ0), null adding 0, shape (q, n).

        `rho0`: above 0; infinity makes every rating alike.
        """
        closeness = np.exp(_exponent(ratings[:, None] - self.members[None, :], rho0))
        sums = np.concatenate([np.zeros((len(ratings), 1)), np.cumsum(closeness, axis=1)], axis=1)
        total = sums[:, self.offsets[1:]] - sums[:, self.offsets[:-1]]
        single = np.flatnonzero(self.n_members == 1)  # exactly, without the cumulative dust
        total[:, single] = closeness[:, self.offsets[single]]
        out = total / np.maximum(self.n_members + self.null, 1)
        for s in np.flatnonzero(self.is_range):
            out[:, s] = self._range_mean(ratings, float(self.low[s]), float(self.high[s]), rho0)
        return np.asarray(out)

    def _range_mean(self, ratings: Floats, low: float, high: float, rho0: float) -> Floats:
        """Integral mean of exp(−|x − v|/ρ0) over [low, high], null's part adding 0."""
        start = max(low, self.scale.minimum)
        if high < start:
            return np.zeros(len(ratings))
        if high - low <= SLACK:
            return np.asarray(np.exp(_exponent(ratings - high, rho0)))
        if np.isinf(rho0):
            return np.full(len(ratings), (high - start) / (high - low))

        def primitive(v: float) -> Floats:
            d = v - ratings
            side = rho0 * np.expm1(_exponent(d, rho0))
            return np.asarray(np.where(d < 0, side, -side))

        return np.asarray((primitive(high) - primitive(start)) / (high - low))

    def contains(self, ratings: Floats) -> Bools:
        """Tell whether each rating is a member (within 1e-9); a NaN is null; shape (q, n)."""
        ratings = np.asarray(ratings, dtype=np.float64)
        hit = np.abs(ratings[:, None] - self.members[None, :]) <= SLACK
        count = np.concatenate(
            [np.zeros((len(ratings), 1), np.int64), np.cumsum(hit, axis=1)], axis=1
        )
        out = count[:, self.offsets[1:]] > count[:, self.offsets[:-1]]
        with np.errstate(invalid="ignore"):
            above = ratings[:, None] >= np.maximum(self.low, self.scale.minimum)[None, :] - SLACK
            below = ratings[:, None] <= self.high[None, :] + SLACK
        out |= above & below & self.is_range[None, :]
        out[np.isnan(ratings)] = self.null[None, :]
        return np.asarray(out)


def _exponent(difference: Floats, rho0: float) -> Floats:
    """Return −|difference|/ρ0; a tiny ρ0 may make it −∞, whose exp is the 0 that it should be."""
    with np.errstate(over="ignore"):
        return np.asarray(-np.abs(difference) / rho0)
