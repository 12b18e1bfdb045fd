"""What is counted of original ratings beside a release, and the figures that follow from it.

Of each rating only the content of its cell and its own level count, and its item and its level:
pairs of small numbers, of which whole numbers are counted. So parts of a table add up to the same
in any order, and sums of real numbers are taken once, over the pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np
from numpy.typing import NDArray

from starshade.kernels.arrays import find_cells
from starshade.ratings.scale import SLACK
from starshade.ratings.table import Ratings
from starshade.release.cells import Cells, Symbols
from starshade.release.table import Release
from starshade.scratch import put_down
from starshade.utility.held_out.probe import expected_ratings

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_BLOCK = 2**20  # ratings looked at together
_COUNTED = 2**22  # pairs that are counted one by one; of more those that are there are sorted

#: each rating is one of these, and which of them there can be in a layout
_KINDS = ("exact", "half_step", "one_step", "wider", "existence_only", "ambiguous", "suppressed")
_OF_LAYOUT = {
    "generalized": {"exact", "one_step", "wider", "existence_only", "ambiguous", "suppressed"},
    "record": {"exact", "one_step", "wider", "suppressed"},
    "profile": {"half_step", "one_step", "wider", "suppressed"},
}
_EXACT, _HALF, _NEAR, _FARTHER, _OPEN, _PERHAPS, _GONE = range(len(_KINDS))


@dataclass(frozen=True, eq=False)
class Pairs:
    """How often each pair of numbers is there: keys ascending, ``first * n + second``."""

    keys: Indices
    counts: Indices

    @classmethod
    def of(cls, keys: Indices, most: int) -> Pairs:
        """Count keys below `most`."""
        if most <= _COUNTED:
            counts = np.bincount(keys, minlength=most)
            there = np.flatnonzero(counts)
            return cls(there, counts[there])
        return cls(*np.unique(keys, return_counts=True))

    def __add__(self, other: Pairs) -> Pairs:
        both = np.concatenate([self.keys, other.keys])
        keys, place = np.unique(both, return_inverse=True)
        counts = np.zeros(len(keys), dtype=np.int64)
        np.add.at(counts, place, np.concatenate([self.counts, other.counts]))
        return Pairs(keys, counts)


@dataclass(frozen=True, eq=False)
class Tally:
    """What is counted of some of the ratings.

    `cells`: content of the cell, from 1, 0 where there is none, and level. `items`: item and level.
    `left_out`: ratings on items, or of people, that are not released though the method leaves
    nobody out. `users`: all, and `people`: those who have a row; `said_rated`: the cells of these
    that say that there is a rating.
    """

    cells: Pairs
    items: Pairs
    left_out: int
    users: int
    people: int
    said_rated: int

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.cells + other.cells,
            self.items + other.items,
            self.left_out + other.left_out,
            self.users + other.users,
            self.people + other.people,
            self.said_rated + other.said_rated,
        )


def tally_of(said: Said, ratings: Ratings, row_of_user: Indices) -> Tally:
    """Count ratings; `row_of_user`: the released row of each of their users, -1 for none."""
    column = said.release.classes.items.indices(ratings.items)
    nobody_deleted = said.release.manifest.users_deleted == "none"  # by the method
    n = len(ratings.levels)
    none = Pairs(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
    cells, items, left_out = [none], [none], 0
    for users, columns, codes in _blocks(ratings):
        rows, shown = row_of_user[users], column[columns]
        left_out += int(((shown < 0) | ((rows < 0) & nobody_deleted)).sum())
        content = said.code(rows, shown) + 1
        cells.append(Pairs.of(content * n + codes, len(said.mean) * n))
        items.append(Pairs.of(columns.astype(np.int64) * n + codes, ratings.n_items * n))
        put_down()
    there = row_of_user[row_of_user >= 0]
    return Tally(
        reduce(Pairs.__add__, cells),
        reduce(Pairs.__add__, items),
        left_out,
        ratings.n_users,
        len(there),
        int(said.surely_rated[there].sum()),
    )


def figures_of(
    said: Said, tally: Tally, levels: Floats, n_items: int
) -> dict[str, float | int | None]:
    """Return the figures of `starshade.utility.what_remains.WhatRemains`; none without ratings.

    `levels`, `n_items`: of the ratings that were counted.
    """
    n = int(tally.cells.counts.sum())
    if not n:
        return {}
    code, level = np.divmod(tally.cells.keys, len(levels))
    code, true, times = code - 1, levels[level], tally.cells.counts
    kinds = np.zeros(len(_KINDS), dtype=np.int64)
    np.add.at(kinds, said.kind(code, true), times)
    counts = dict(zip(_KINDS, kinds.tolist(), strict=True))
    error = float((times * (said.mean[code] - true) ** 2).sum())
    averages_near, averages_error = _by_averages(said, tally.items, levels)
    empty = tally.users * n_items - n
    surely = int(times[said.sure[code]].sum())
    close = said.rated[code] & (np.abs(said.mean[code] - true) <= said.step + SLACK)
    of_layout = _OF_LAYOUT[said.release.manifest.layout]
    return {
        **{f"utility_{kind}": counts[kind] / n for kind in of_layout},
        "utility_left_out": tally.left_out / n,
        "recoverable_within_step": int(times[close].sum()) / n,
        "item_means_within_step": averages_near / n,
        "improvement_over_item_means": 1 - error / averages_error
        if averages_error > n * SLACK**2
        else None,
        "imputed_share": (tally.said_rated - surely) / empty if empty else None,
    }


def _by_averages(said: Said, items: Pairs, levels: Floats) -> tuple[int, float]:
    """Return how many ratings are within a step of their item's average, and the squared error."""
    item, level = np.divmod(items.keys, len(levels))
    true = levels[level]
    times = np.bincount(item, weights=items.counts)
    sums = np.bincount(item, weights=items.counts * true)
    off = np.abs((sums / np.maximum(times, 1))[item] - true)
    return int(items.counts[off <= said.step + SLACK].sum()), float((items.counts * off**2).sum())


def _blocks(ratings: Ratings) -> Iterator[tuple[Indices, NDArray[np.int32], Indices]]:
    """Yield users, items and levels of some ratings after the other."""
    for start in range(0, ratings.n_ratings, _BLOCK):
        stop = min(start + _BLOCK, ratings.n_ratings)
        users = np.searchsorted(ratings.indptr, np.arange(start, stop), side="right") - 1
        codes = ratings.codes[start:stop].astype(np.int64)
        yield users.astype(np.int64), ratings.columns[start:stop], codes


@dataclass(frozen=True, eq=False)
class Said:
    """What each content of a cell says of a rating; the last one, -1, is no cell at all.

    `low`, `high`, `mean` (n + 1,): of the ratings that it leaves possible. `rated`, `sure`,
    `whole` (bool (n + 1,)): a rating is possible; and null is not; and it is any of the scale.
    """

    release: Release
    low: Floats
    high: Floats
    mean: Floats
    rated: NDArray[np.bool_]
    sure: NDArray[np.bool_]
    whole: NDArray[np.bool_]

    @classmethod
    def of(cls, release: Release) -> Said:
        """Read a release."""
        classes, scale = release.classes, release.scale
        symbols = (
            classes.symbols if isinstance(classes, Cells) else Symbols.exact(scale, classes.ratings)
        )
        rated = np.append(symbols.has_rating, False)
        sure = rated & ~np.append(symbols.null, True)
        low, high = np.maximum(symbols.low, scale.minimum), symbols.high.copy()
        filled = np.flatnonzero(symbols.n_members)
        low[filled] = symbols.members[symbols.offsets[filled]]
        high[filled] = symbols.members[symbols.offsets[filled + 1] - 1]
        if scale.step is None:
            ends = (low <= scale.minimum + SLACK) & (high >= scale.maximum - SLACK)
            every = symbols.is_range & ends
        else:
            every = symbols.n_members == len(scale.levels)
        middle = (scale.minimum + scale.maximum) / 2
        mean = np.append(expected_ratings(symbols), middle)
        return cls(
            release,
            low=np.append(low, np.nan),
            high=np.append(high, np.nan),
            mean=np.where(rated, mean, middle),
            rated=rated,
            sure=sure,
            whole=sure & np.append(every, False),
        )

    @property
    def step(self) -> float:
        """The scale's; on a real one a twentieth of its width."""
        scale = self.release.scale
        return scale.minimum - scale.null_level if scale.step is None else scale.step

    def code(self, rows: Indices, columns: Indices) -> Indices:
        """Return the content of each cell, -1 where there is none; -1 are no rows, no columns."""
        classes, out = self.release.classes, np.full(len(rows), -1, dtype=np.int64)
        there = np.flatnonzero((rows >= 0) & (columns >= 0))
        rows, columns = rows[there], columns[there]
        if isinstance(classes, Cells):
            place = find_cells(classes.indptr, classes.columns, rows, columns)
            present = place >= 0
            out[there[present]] = classes.codes[place[present]]
        else:
            out[there] = classes.levels[rows, columns].astype(np.int64) - 1
        return out

    def read(self, rows: Indices, columns: Indices) -> Floats:
        """Return each cell's reading: the mean of the ratings that it leaves possible.

        NaN where it leaves none.
        """
        code = self.code(rows, columns)
        return np.where(self.rated[code], self.mean[code], np.nan)

    def item_means(self, items: Indices) -> Floats:
        """Return the mean reading of some released items over all records, cells without one apart.

        The middle of the scale where no cell of the item has one.
        """
        release = self.release
        classes, weight, total = release.classes.keep_items(items), *np.zeros((2, len(items)))
        if isinstance(classes, Cells):
            size = np.repeat(classes.sizes, np.diff(classes.indptr)) * self.rated[classes.codes]
            weight += np.bincount(classes.columns, size, len(items))
            total += np.bincount(classes.columns, size * self.mean[classes.codes], len(items))
        else:
            for rows in classes.blocks(_COUNTED):
                code = classes.levels[rows].astype(np.int64) - 1
                size = classes.sizes[rows, None] * self.rated[code]
                weight += size.sum(axis=0)
                total += (size * self.mean[code]).sum(axis=0)
        return np.where(weight > 0, total / np.where(weight > 0, weight, 1), self.mean[-1])

    def kind(self, code: Indices, true: Floats) -> Indices:
        """Return the place of each rating among `_KINDS`."""
        profile = self.release.manifest.layout == "profile"
        away = np.maximum(np.abs(self.low[code] - true), np.abs(self.high[code] - true))
        close = self.step / 2 if profile else 0.0
        cases = (
            (~self.rated[code], _GONE),
            (~self.sure[code], _PERHAPS),
            (away <= close + SLACK, _HALF if profile else _EXACT),
            (self.whole[code], _OPEN),
            (away <= self.step + SLACK, _NEAR),
        )
        return np.select([case for case, _ in cases], [kind for _, kind in cases], _FARTHER)

    @cached_property
    def surely_rated(self) -> Indices:
        """Count the cells of each row that say that there is a rating, shape (n_rows,)."""
        classes = self.release.classes
        if not isinstance(classes, Cells):
            return classes.n_rated()
        counts = np.append(0, np.cumsum(self.sure[classes.codes], dtype=np.int64))
        return np.asarray(np.diff(counts[classes.indptr]))
