"""A table as the interval anonymizer moves it: codes or ratings, and what changes cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from starshade import budget
from starshade.errors import ConfigError
from starshade.kernels.arrays import Array, Bools, Bytes, Floats, Int32s, Ints, Words
from starshade.kernels.interval.interval import clip_groups, clip_groups_real
from starshade.naming import named
from starshade.plain import counted
from starshade.ratings.levels import code_type, level_table
from starshade.ratings.proximity.settings import NullRule
from starshade.ratings.proximity.space import Rule, rule_of
from starshade.ratings.scale import SLACK
from starshade.ratings.table import Ratings

_FINE = 16  # more levels than this are joined for the search of groups, never for clipping
_CHUNK = 1 << 20  # cells that are worked on at once where a table of its own is not worth it
_PER_RATING = 32  # bytes: where it goes, and its place in the released table
_PER_RECORD = 200  # bytes: orders, groups, patterns
_DECIMALS = 10  # of a released rating: what is behind them is rounding, far below `SLACK`
_LARGEST = 1e5  # ratings that a float holds with so many decimals


@dataclass(frozen=True, eq=False)
class Coarse:
    """What groups are searched on: at most `_FINE` levels a rating.

    `codes` (n, n_items): 0 is null. `exact`: whether these are the levels themselves, so that costs
    here are the true ones.
    """

    codes: Bytes
    n_levels: int
    width: int
    null_cost: float
    exact: bool


@dataclass(frozen=True, eq=False)
class IntervalTable:
    """The items that the distance is taken over, record by record.

    `cells` (n, n_items): on a stepped scale codes, unsigned, 0 for null; on a real one ratings, NaN
    for null. `n_levels`, `width`: stepped scales: the levels, and the steps that ε allows. `unit`:
    what a unit of cost is in ratings: the step, or 1. `null_cost`: of a filled or suppressed cell,
    in units; below 0: nulls cost nothing and stay. `numbers` (n,): a random number for each record.
    """

    cells: Array
    n_levels: int
    width: int
    eps: float
    unit: float
    null_cost: float
    rule: Rule
    numbers: Words

    @classmethod
    def of(
        cls, ratings: Ratings, items: Ints, eps: float, nulls: NullRule, numbers: Words
    ) -> IntervalTable:
        """Make a table ready."""
        rule = rule_of(ratings.scale, ratings.levels, eps, nulls)
        scale, n_levels = ratings.scale, len(ratings.levels)
        stepped = scale.step is not None
        kind = np.dtype(code_type(n_levels + 1)) if stepped else np.dtype(np.float64)
        _check_budget(ratings, len(items), kind, rule)
        cells = np.full((ratings.n_users, len(items)), 0 if stepped else np.nan, dtype=kind)
        place = np.full(ratings.n_items, -1, dtype=np.int32)
        place[items] = np.arange(len(items))
        at = place[ratings.columns]
        own = np.flatnonzero(at >= 0)
        users = np.repeat(np.arange(ratings.n_users, dtype=np.int32), ratings.user_support)
        codes = ratings.codes[own]
        cells[users[own], at[own]] = (
            codes.astype(kind) + kind.type(1) if stepped else ratings.levels[codes]
        )
        unit = float(scale.step) if scale.step is not None else 1.0
        free = nulls == "ignore" or rule.everybody
        return cls(
            cells=cells,
            n_levels=n_levels,
            width=_steps(rule) if stepped else 0,
            eps=float(eps),
            unit=unit,
            null_cost=-1.0 if free else scale.cost_of_null / unit,
            rule=rule,
            numbers=numbers,
        )

    @property
    def stepped(self) -> bool:
        """Whether the scale has steps."""
        return self.cells.dtype != np.float64

    def rated(self) -> Bools:
        """Tell which cells hold a rating."""
        return np.asarray(self.cells != 0 if self.stepped else ~np.isnan(self.cells))

    def cost(self, groups: Ints) -> float:
        """Return what clipping these groups would cost in all, in units."""
        return float(self._clip(groups, None).sum())

    def clip(self, groups: Ints) -> tuple[float, Array]:
        """Clip each group as one; return the distortion, in units, and the moved cells."""
        out = np.empty_like(self.cells)
        cost = float(self._clip(groups, out).sum())
        if (
            not self.stepped
            and max(np.nanmax(out, initial=0), -np.nanmin(out, initial=0)) < _LARGEST
        ):
            # x - eps as computed (-1.8600000000000003) would show which ratings were moved
            np.round(out, _DECIMALS, out=out)
            out += 0.0  # no -0.0
        return cost, out

    def _clip(self, groups: Ints, out: Array | None) -> Floats:
        order = np.argsort(groups, kind="stable")
        indptr = np.concatenate([[0], np.cumsum(np.bincount(groups))]).astype(np.int64)
        numbers = np.minimum.reduceat(self.numbers[order], indptr[:-1])
        both: dict[str, Any] = {"null_cost": self.null_cost, "numbers": numbers, "out": out}
        if self.stepped:
            return clip_groups(
                self.cells, order, indptr, n_levels=self.n_levels, width=self.width, **both
            )
        return clip_groups_real(self.cells, order, indptr, eps=self.eps, **both)

    def coarse(self) -> Coarse:
        """Return the table that groups are searched on; it may share the memory of this one."""
        if self.stepped and self.n_levels <= _FINE:
            codes = self.cells.astype(np.uint8, copy=False)
            return Coarse(codes, self.n_levels, self.width, self.null_cost, True)
        if self.stepped:
            low, high, reach = 1.0, float(self.n_levels), float(self.width)
        else:
            # perhaps nobody rated any of these items
            low = float(np.nanmin(self.cells, initial=np.inf))
            high = float(np.nanmax(self.cells, initial=-np.inf))
            reach = self.eps
        bin_width = max((high - low) / (_FINE - 1), SLACK)
        codes = np.zeros(self.cells.shape, dtype=np.uint8)
        for rows in _chunks(self.cells.shape):
            ratings = self.cells[rows]
            rated = ratings != 0 if self.stepped else ~np.isnan(ratings)
            codes[rows][rated] = np.round((ratings[rated] - low) / bin_width) + 1
        null_cost = self.null_cost if self.null_cost < 0 else self.null_cost / bin_width
        width = min(int((reach + SLACK) / bin_width), _FINE)
        return Coarse(codes, _FINE, width, null_cost, False)


def moved_ratings(ratings: Ratings, items: Ints, table: IntervalTable, cells: Array) -> Ratings:
    """Return the table with these cells on these items, all other items as they were."""
    full_row = np.arange(ratings.n_items)
    changed = np.zeros(ratings.n_items, dtype=np.bool_)
    changed[items] = True
    other = np.flatnonzero(~changed[ratings.columns])
    other_user = np.repeat(np.arange(ratings.n_users), ratings.user_support)[other]
    given = cells[:0] if table.stepped else ratings.levels
    null = 0 if table.stepped else np.nan
    support, columns, own = [], [], []
    for rows in _chunks((ratings.n_users, ratings.n_items)):
        shown = np.full((len(cells[rows]), ratings.n_items), null, dtype=cells.dtype)
        shown[:, items] = cells[rows]
        part = slice(*np.searchsorted(other_user, [rows.start, rows.stop]).tolist())
        codes = ratings.codes[other[part]]
        shown[other_user[part] - rows.start, ratings.columns[other[part]]] = (
            codes.astype(cells.dtype) + cells.dtype.type(1) if table.stepped else given[codes]
        )
        rated = shown != 0 if table.stepped else ~np.isnan(shown)
        support.append(rated.sum(axis=1))
        columns.append(np.broadcast_to(full_row, rated.shape)[rated].astype(np.int32))
        own.append(shown[rated])
    return _with_cells(ratings, table, *map(np.concatenate, (support, columns, own)))


def _with_cells(
    ratings: Ratings, table: IntervalTable, support: Ints, columns: Int32s, own: Array
) -> Ratings:
    levels = ratings.levels
    if table.stepped:
        codes = own.astype(ratings.codes.dtype) - ratings.codes.dtype.type(1)
    else:
        distinct, inverse = np.unique(own, return_inverse=True)
        levels, positions = level_table(distinct, ratings.scale)
        codes = positions[inverse].astype(code_type(len(levels)))
    indptr = np.concatenate([[0], np.cumsum(support)]).astype(np.int64)
    return replace(ratings, indptr=indptr, columns=columns, codes=codes, levels=levels, days=None)


def _chunks(shape: tuple[int, ...]) -> Iterator[slice]:
    """Yield runs of rows of about `_CHUNK` cells; one empty run of an empty table."""
    n, m = shape
    rows = max(1, _CHUNK // max(1, m))
    for first in range(0, max(1, n), rows):
        yield slice(first, min(n, first + rows))


def _steps(rule: Rule) -> int:
    """Return the steps between two codes that are always near each other."""
    low, high = rule.low.tolist(), rule.high.tolist()
    n_levels = len(high) - 1
    reach = []
    for code in range(1, n_levels + 1):
        end = high[code]
        while low[end] > code:  # rounding may let one see the other and not be seen
            end -= 1
        if end < n_levels:
            reach.append(end - code)
    return min(reach, default=n_levels)


def _check_budget(ratings: Ratings, m: int, kind: np.dtype[Any], rule: Rule) -> None:
    """Refuse what would not fit: all that is held at once in the worst of the steps.

    Cells are held as they are and, where levels are joined, as `Coarse`. Besides come, one after
    the other: what tells whether the requirement holds already; which cells are rated, in bytes
    and in bits; the codes in the order of their groups, and room to reorder them; the moved cells.
    """
    n, size = ratings.n_users, kind.itemsize
    exact = kind != np.float64 and len(ratings.levels) <= _FINE
    search = 0.0 if rule.by_pattern or rule.everybody else 2 * (1 if size == 1 else 4) + 8 / 3
    per_cell = size + max(search, (not exact) + max(2, size))
    rest = n * _PER_RECORD + ratings.n_ratings * _PER_RATING
    rest += min(_CHUNK, n * ratings.n_items) * (3 * size + 9)
    held = ratings.indptr.nbytes + ratings.columns.nbytes + ratings.codes.nbytes
    needed, allowed = n * m * per_cell + rest, budget.left(held)
    if needed <= allowed:
        return
    fits = int(max(0, allowed - rest) / (n * per_cell))
    raise ConfigError(
        f"{counted(n, 'record')} x {counted(m, 'item')} as full tables take about "
        f"{budget.amount(needed)}; {budget.amount(max(0, allowed))} may be used",
        advice=(
            f"Choose fewer items, e.g. {named('items', f'top:{fits}')}, or allow"
            if fits
            else "Allow"
        )
        + f" more with {named('memory')}.",
    )
