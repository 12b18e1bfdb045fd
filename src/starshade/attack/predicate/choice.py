"""From released cells to one predicate per class, by what cells promise and likelihood."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from starshade.kernels.arrays import fixed
from starshade.kernels.attack.agreement import NO_LEVELS, Rows
from starshade.kernels.attack.predicate import Chances, Kinds, Named, choose, weigh
from starshade.kernels.attack.satisfying import Predicates
from starshade.kernels.fingerprint import first_equal_row
from starshade.ratings.scale import SLACK
from starshade.release import FIXED_INTERVALS
from starshade.release.cells import Cells, Symbols

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_ROUNDS = 8  # of estimating how often each value is held


def distinct(cells: Cells) -> Cells:
    """Return the classes: of rows that are equal cell by cell one, with all their records."""
    first = first_equal_row(cells.indptr, cells.columns, cells.codes, None)
    # whole numbers below 2**53 are exact in float64, which is what bincount sums in
    records = np.bincount(first, weights=cells.sizes, minlength=cells.n_groups).astype(np.int64)
    rows = np.flatnonzero(first == np.arange(cells.n_groups))
    return replace(cells.keep_rows(rows), sizes=records[rows], days=None)


@dataclass(frozen=True, eq=False)
class Levels:
    """The values that a release names: null is level 0, `ratings` (n_levels,) follow."""

    ratings: Floats
    named: Named

    def rating_of(self, level: Ints) -> Floats:
        """Return ratings of levels, NaN for null."""
        return np.concatenate([[np.nan], self.ratings])[level]


def levels_of(symbols: Symbols, promise: str) -> Levels:
    """Say which values cells name, and which of them somebody in the class must hold.

    A single value is held, and so are both of a set of two, as the cell would say one otherwise.
    `promise`: "ndgh" (every value of a set is held), "range" (both ends are), "fixed-intervals"
    (neither of two need be); else nothing more.
    """
    ratings = _named(symbols)
    levels: list[int] = []
    held: list[bool] = []
    ends, inside = [0], np.tile([[0], [-1]], len(symbols)).astype(np.int64)
    for s, is_range in enumerate(symbols.is_range.tolist()):
        if is_range:
            own = _ends(symbols, s, ratings)
            inside[:, s] = own[0] + 1, own[-1] - 1
        else:
            members = symbols.members[symbols.offsets[s] : symbols.offsets[s + 1]]
            own = [0] * int(symbols.null[s]) + _levels(members, ratings)
        two = len(own) == 2 and not is_range and promise != FIXED_INTERVALS
        every = promise == "ndgh" or len(own) == 1 or two
        held += [every or (promise == "range" and e in (0, len(own) - 1)) for e in range(len(own))]
        levels += own
        ends.append(len(levels))
    arrays = (np.array(ends, np.int64), np.array(levels, np.int64), np.array(held, np.bool_))
    return Levels(ratings, Named(*map(fixed, (*arrays, *inside))))


def _named(symbols: Symbols) -> Floats:
    if symbols.scale.step is not None:
        return np.asarray(symbols.scale.levels)
    rated = symbols.is_range & symbols.has_rating
    low = symbols.low[rated & ~symbols.null]
    values = np.unique(np.concatenate([symbols.members, low, symbols.high[rated]]))
    return values[np.diff(values, prepend=-np.inf) > SLACK]


def _levels(values: Floats, ratings: Floats) -> list[int]:
    levels: list[int] = (1 + np.searchsorted(ratings, np.asarray(values) - SLACK)).tolist()
    return levels


def _ends(symbols: Symbols, s: int, ratings: Floats) -> list[int]:
    if not symbols.has_rating[s]:
        return [0]
    high = _levels(symbols.high[s : s + 1], ratings)
    low = [0] if symbols.null[s] else _levels(symbols.low[s : s + 1], ratings)
    return low if low == high else low + high


@dataclass(frozen=True, eq=False)
class Chosen:
    """One predicate for each of some classes: "fits all its cells, and rated the item so".

    `predicates`: by row of the classes. `chance`: that exactly one person satisfies it, as the
    adversary sees it.
    """

    predicates: Predicates
    chance: Floats


def choose_predicates(classes: Cells, levels: Levels, rows: Ints) -> Chosen:
    """Choose a predicate for each of `rows`, from the classes alone."""
    kinds, kind_of_cell = _kinds(classes)
    chances = _estimated(classes, levels, kinds, kind_of_cell)
    table = Rows(
        fixed(classes.indptr),
        fixed(classes.columns),
        fixed(kind_of_cell),
        fixed(np.empty(0)),
        NO_LEVELS,
    )
    item, level, chance = choose(
        fixed(rows), table, fixed(classes.sizes), kinds, levels.named, chances, classes.n_items
    )
    return Chosen(Predicates(fixed(rows), fixed(item), fixed(levels.rating_of(level))), chance)


def _kinds(classes: Cells) -> tuple[Kinds, Ints]:
    """Give cells that are alike one number, so that each kind is weighed once."""
    size = np.repeat(classes.sizes, np.diff(classes.indptr))
    sizes, place = np.unique(size, return_inverse=True)
    n = max(len(classes.symbols), 1)
    key = (classes.columns.astype(np.int64) * n + classes.codes) * max(len(sizes), 1) + place
    alike, kind = np.unique(key, return_inverse=True)
    item, symbol = np.divmod(alike // max(len(sizes), 1), n)
    last = sizes[alike % len(sizes)] if len(sizes) else alike
    return Kinds(fixed(item), fixed(symbol), fixed(last)), kind.astype(np.int64)


def _estimated(classes: Cells, levels: Levels, kinds: Kinds, kind_of_cell: Ints) -> Chances:
    """Estimate how often each value of an item is held, and what that says of each kind of cell.

    From evenly on, members are weighed by the estimate and counted anew (expectation and
    maximization). On a real scale null is told from ratings alone, which are evenly likely.
    """
    real, n = classes.symbols.scale.step is None, len(levels.ratings)
    bins = np.minimum(np.arange(n + 1), 1 if real else n)
    unit = np.concatenate([[1.0], np.full(n, 1 / n if real and n else 1.0)])
    n_bins = int(bins.max(initial=0)) + 1
    named = levels.named
    values = np.diff(named.offsets)[kinds.symbol]
    of_value = np.repeat(np.arange(len(kinds.item)), values)
    start = np.repeat(named.offsets[kinds.symbol] - np.cumsum(values) + values, values)
    bin_of = bins[named.levels[start + np.arange(len(start))]]
    people = np.bincount(kind_of_cell, minlength=len(kinds.item)) * kinds.size
    shown = np.bincount(kinds.item, weights=people, minlength=classes.n_items)
    prior = np.full((classes.n_items, n_bins), 1 / n_bins)
    for _ in range(_ROUNDS):
        chances = weigh(kinds, named, fixed(prior), fixed(bins), fixed(unit))
        held = np.zeros((classes.n_items, n_bins))
        held[:, 0] = classes.n_records - shown  # whose class shows nothing of the item
        np.add.at(held, (kinds.item[of_value], bin_of), people[of_value] * chances.share)
        held[:, -1] += np.bincount(
            kinds.item, weights=people * chances.inside, minlength=classes.n_items
        )
        prior = held / classes.n_records
    return weigh(kinds, named, fixed(prior), fixed(bins), fixed(unit))
