"""Contents that remain possible in the intersection of several releases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from starshade.ratings.scale import SLACK, Scale
from starshade.release.cells import Symbols

Changes = Literal["none", "added", "revised"]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Pool:
    """The contents of several releases in one row, and two more.

    Code `offsets[j]` + c is content c of release j; `nothing` is null alone, `anything` any rating
    or null.
    """

    symbols: Symbols
    offsets: tuple[int, ...]

    @classmethod
    def of(cls, scale: Scale, parts: Sequence[Symbols]) -> Pool:
        """Put the contents of several releases of one scale together."""
        if scale.step is None:
            more = Symbols(
                scale, np.zeros(3, np.int64), np.empty(0), np.array([True, True]),
                np.array([np.nan, scale.null_level]), np.array([np.nan, scale.maximum]),
            )  # fmt: skip
        else:
            more = Symbols.sets(scale, [np.empty(0), scale.levels], np.array([True, True]))
        every = [*parts, more]
        lengths = np.concatenate([each.n_members for each in every])
        joined = Symbols(
            scale,
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            np.concatenate([each.members for each in every]),
            np.concatenate([each.null for each in every]),
            np.concatenate([each.low for each in every]),
            np.concatenate([each.high for each in every]),
        )
        starts = np.cumsum([0, *map(len, parts)]).tolist()
        return cls(joined, tuple(starts[:-1]))

    def __len__(self) -> int:
        return len(self.symbols)

    @property
    def nothing(self) -> int:
        """The content that is null alone."""
        return len(self) - 2

    @property
    def anything(self) -> int:
        """The content that says nothing."""
        return len(self) - 1

    @cached_property
    def least(self) -> NDArray[np.float64]:
        """The least rating of each range."""
        return np.maximum(self.symbols.low, self.symbols.scale.minimum)

    @cached_property
    def one_rating(self) -> Bools:
        """Which contents have one single rating, null or not."""
        point = self.symbols.is_range & (np.abs(self.symbols.high - self.least) <= SLACK)
        return np.asarray((self.symbols.n_members == 1) | point)

    @cached_property
    def _level_of(self) -> Ints:
        """A number for each member; equal ratings have equal numbers."""
        values, number = np.unique(self.symbols.members, return_inverse=True)
        level = np.cumsum(np.diff(values, prepend=values[:1]) > SLACK)
        return np.asarray(level[number], dtype=np.int64)

    @cached_property
    def _keys(self) -> tuple[Ints, int]:
        """(content, level) of each member as one number, ascending; how many levels there are."""
        levels = int(self._level_of.max(initial=-1)) + 1
        content = np.repeat(np.arange(len(self)), self.symbols.n_members)
        return content * levels + self._level_of, levels

    def holds(self, codes: Ints, members: Ints) -> Bools:
        """Tell whether each content has a rating, given as a place among all members."""
        symbols, rating = self.symbols, self.symbols.members[members]
        keys, levels = self._keys
        key = codes * levels + self._level_of[members]
        at = np.minimum(np.searchsorted(keys, key), max(0, len(keys) - 1))
        with np.errstate(invalid="ignore"):
            inside = (self.least[codes] - SLACK <= rating) & (rating <= symbols.high[codes] + SLACK)
        return np.where(symbols.is_range[codes], inside, keys[at] == key)

    def meet(self, codes: Ints, null: Bools) -> Symbols:
        """Intersect the ratings of contents, row by row; shape (n, releases).

        `null` (n,): whether null is a member of each intersection.
        """
        symbols = self.symbols
        length = np.where(symbols.is_range, len(symbols.members) + 1, symbols.n_members)[codes]
        rows = np.arange(len(codes))
        shortest = codes[rows, np.argmin(length, axis=1)]
        counts = symbols.n_members[shortest]
        row = np.repeat(rows, counts)
        starts = np.cumsum(counts) - counts
        member = np.arange(len(row)) - np.repeat(starts - symbols.offsets[shortest], counts)
        kept = np.ones(len(row), dtype=np.bool_)
        for j in range(codes.shape[1]):
            kept &= self.holds(codes[row, j], member)
        found = np.bincount(row[kept], minlength=len(codes))
        ranged = symbols.is_range[shortest]
        low, high = self._common_range(codes, null, ranged)
        return Symbols(
            symbols.scale,
            np.concatenate([[0], np.cumsum(found)]).astype(np.int64),
            symbols.members[member[kept]],
            null,
            low,
            high,
        )

    def _common_range(
        self, codes: Ints, null: Bools, ranged: Bools
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the ends of what ranges have in common; NaN where they are none."""
        low, high = np.full((2, len(codes)), np.nan)
        some = codes[ranged]
        low[ranged] = self.symbols.low[some].max(axis=1)
        high[ranged] = self.symbols.high[some].min(axis=1)
        without = ranged & ~null
        low[without] = np.maximum(low[without], self.symbols.scale.minimum)
        touching = ranged & (low > high) & (low - high <= SLACK)
        low[touching] = high[touching]
        return low, high


@dataclass(frozen=True, eq=False)
class Possible:
    """What is possible of cells that have these contents in one release after the other.

    `last`: their contents at the time of the last release. `pinned` (n,): whether one rating alone
    is possible at the time of some release. `impossible` (n,): no history fits.
    """

    last: Symbols
    pinned: Bools
    impossible: Bools


def possible(pool: Pool, codes: Ints, changes: Changes) -> Possible:
    """Say what is possible of cells with these contents, shape (n, releases), oldest first.

    `changes`: what may have happened to a rating from one release to the next.
    """
    last, nulls = codes.shape[1] - 1, pool.symbols.null[codes]
    if changes == "none":
        null: Bools = np.asarray(nulls.all(axis=1))
        met = pool.meet(codes, null)
        return Possible(met, _is_one(met), _is_none(met) & ~null)
    # rated from the first release on that does not allow null, or earlier
    unrated = np.where(nulls.all(axis=1), last + 1, np.argmin(nulls, axis=1))
    null = np.asarray(unrated > last)
    place = np.arange(last + 1)
    since = np.minimum(unrated, last)[:, None] if changes == "added" else last
    met = pool.meet(np.where(place < since, pool.anything, codes), np.asarray(null))
    if changes == "added":
        return Possible(met, _is_one(met), _is_none(met) & ~null)
    rated = place >= unrated[:, None]
    one, some = pool.one_rating[codes], pool.symbols.has_rating[codes]
    impossible = (rated & ~some).any(axis=1)
    return Possible(met, (rated & one).any(axis=1) & ~impossible, impossible)


def _is_one(symbols: Symbols) -> Bools:
    point = symbols.is_range & (np.abs(symbols.high - symbols.low) <= SLACK)
    return np.asarray(((symbols.n_members == 1) | point) & ~symbols.null)


def _is_none(symbols: Symbols) -> Bools:
    """Tell which contents have no rating; a range may end before it begins."""
    with np.errstate(invalid="ignore"):
        empty = symbols.high < np.maximum(symbols.low, symbols.scale.minimum) - SLACK
    return np.asarray(np.where(symbols.is_range, empty, symbols.n_members == 0))
