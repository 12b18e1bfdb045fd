"""`Cells`: groups × items with multiplicity, the one view that attacks and measures run on.

An original table is the case "every group has one record, every cell one member"; a release with
a hundred thousand records in twenty thousand classes is twenty thousand rows. What runs on a
block of rows can be merged exactly, so the same code serves blocks, threads and clusters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from starshade.kernels.arrays import cut
from starshade.kernels.csr import keep_columns, keep_rows, transpose
from starshade.kernels.fingerprint import first_equal_row
from starshade.ratings.scale import SLACK, Scale
from starshade.ratings.table import ByItem, Ratings
from starshade.ratings.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows over items, each standing for one or more identical records: `sizes` (n_groups,)."""

    items: Vocabulary
    sizes: NDArray[np.int64]

    @property
    def n_groups(self) -> int:
        """Rows."""
        return len(self.sizes)

    @property
    def n_records(self) -> int:
        """Records that the rows stand for."""
        return int(self.sizes.sum())

    @property
    def n_items(self) -> int:
        """Columns."""
        return len(self.items)


@dataclass(frozen=True, eq=False)
class Cells(Rows):
    """Rows of cells.

    `indptr` (n_groups + 1,). `columns` (n_cells,): item indices, strictly ascending within a row; a
    cell that is null alone has no entry. `codes` (uint8, uint16 or uint32 (n_cells,)): positions in
    `symbols`. `days`: as in `Ratings`; always None on a release.
    """

    indptr: NDArray[np.int64]
    columns: NDArray[np.int32]
    codes: NDArray[Any]
    symbols: Symbols
    days: NDArray[np.uint16] | None = None
    first_day: int = 0

    @cached_property
    def by_item(self) -> ByItem:
        """The same cells item by item (its `users` are row indices)."""
        return ByItem(*transpose(self.indptr, self.columns, self.codes, self.days, self.n_items))

    @cached_property
    def support(self) -> NDArray[np.int64]:
        """|supp(i)| as the adversary sees it: records whose cell has a non-null member."""
        out, lengths = np.zeros(self.n_items), np.diff(self.indptr)
        for start, stop in cut(lengths):
            here = slice(self.indptr[start], self.indptr[stop])
            records = np.repeat(self.sizes[start:stop], lengths[start:stop])
            weight = records * self.symbols.has_rating[self.codes[here]]
            # integers below 2**53 are exact in float64, which is what bincount sums in
            out += np.bincount(self.columns[here], weights=weight, minlength=self.n_items)
        return out.astype(np.int64)

    @property
    def arrays(self) -> list[NDArray[Any] | None]:
        """What is held of them in memory."""
        by_item = list(vars(self.by_item).values()) if "by_item" in vars(self) else []
        return [self.indptr, self.columns, self.codes, self.days, self.sizes, *by_item]

    @property
    def n_cells(self) -> int:
        """Cells that have an entry."""
        return len(self.codes)

    @property
    def n_listed(self) -> int:
        """Cells that are listed item by item at once, at most."""
        return len(self.codes)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Cells of each row that may hold a rating."""
        rated, lengths = self.symbols.has_rating, np.diff(self.indptr)
        if rated.all():
            return lengths
        of_row = np.repeat(np.arange(self.n_groups), lengths)
        held = np.bincount(of_row, weights=rated[self.codes], minlength=self.n_groups)
        return held.astype(np.int64)

    @cached_property
    def often(self) -> NDArray[np.int64]:
        """Records' cells of each content."""
        out, lengths = np.zeros(len(self.symbols)), np.diff(self.indptr)
        for start, stop in cut(lengths):
            each = np.repeat(self.sizes[start:stop], lengths[start:stop])
            here = slice(self.indptr[start], self.indptr[stop])
            out += np.bincount(self.codes[here], each, minlength=len(self.symbols))
        return out.astype(np.int64)

    @cached_property
    def first_equal(self) -> NDArray[np.int64]:
        """For each row the first that equals it."""
        return first_equal_row(self.indptr, self.columns, self.codes, self.days)

    def held(self, items: NDArray[np.integer]) -> ByItem:
        """List the cells of these items; others are there as well."""
        return self.by_item

    def batches(self, items: NDArray[np.integer], most: int) -> Iterator[slice]:
        """Cut targets, of whom `items` (targets, known) are known, into so many at once."""
        for start in range(0, len(items), most):
            yield slice(start, start + most)

    def keep_items(self, indices: NDArray[np.integer]) -> Cells:
        """Return the view of these items (ascending order); rows stay, even if they empty."""
        keep = np.zeros(self.n_items, dtype=np.bool_)
        keep[indices] = True
        indptr, columns, codes, days = keep_columns(
            self.indptr, self.columns, self.codes, self.days, keep
        )
        return replace(
            self,
            items=self.items.take(np.flatnonzero(keep)),
            indptr=indptr,
            columns=columns,
            codes=codes,
            days=days,
        )

    def keep_rows(self, indices: NDArray[np.integer]) -> Cells:
        """Return the view of these rows, in the order given."""
        rows = np.asarray(indices, dtype=np.int64)
        indptr, columns, codes, days = keep_rows(
            self.indptr, self.columns, self.codes, self.days, rows
        )
        return replace(
            self, sizes=self.sizes[rows], indptr=indptr, columns=columns, codes=codes, days=days
        )


def cells_of(ratings: Ratings) -> Cells:
    """View an original table as cells: one record a row, one member a cell; nothing is copied.

    The same table gives the same cells, with what was found of them.
    """
    found = _CELLS.get(ratings)
    if found is None:
        found = _CELLS[ratings] = _cells_of(ratings)
    return found


_CELLS: WeakKeyDictionary[Ratings, Cells] = WeakKeyDictionary()


def _cells_of(ratings: Ratings) -> Cells:
    return Cells(
        items=ratings.items,
        sizes=np.ones(ratings.n_users, dtype=np.int64),
        indptr=ratings.indptr,
        columns=ratings.columns,
        codes=ratings.codes,
        symbols=Symbols.exact(ratings.scale, ratings.levels),
        days=ratings.days,
        first_day=ratings.first_day,
    )


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

    def names_ratings(self, hierarchy: object) -> Bools:
        """Which symbols name ratings that members gave: lists, ends of a range, single ratings.

        `hierarchy`: what a manifest names; the ends of other hierarchies are fixed beforehand.
        """
        if hierarchy in (None, "ndgh", "range"):
            return self.has_rating
        point = self.is_range & (self.high - self.low <= SLACK)
        return np.asarray(((self.n_members == 1) | point) & self.has_rating)

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
