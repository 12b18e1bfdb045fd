"""A table as the interval anonymizer moves it: codes or ratings, and what changes cost."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade import budget
from starshade.errors import ConfigError
from starshade.kernels.interval import clip_groups, clip_groups_real
from starshade.ratings.levels import code_type, level_table
from starshade.ratings.proximity.rule import NullRule, Rule, rule_of
from starshade.ratings.scale import SLACK
from starshade.ratings.table import Ratings

__all__ = ["Coarse", "IntervalTable", "moved_ratings"]

_FINE = 16  # more levels than this are joined for the search of groups, never for clipping
_COPIES = 4  # of the table: as it is, moved, coarse, and in the order of its groups


@dataclass(frozen=True, eq=False)
class Coarse:
    """What groups are searched on: at most `_FINE` levels a rating.

    Attributes
    ----------
    codes : ndarray of uint8, shape (n, n_items)
        0 is null.
    n_levels, width : int
    null_cost : float
        In steps between coarse levels; below 0: nulls cost nothing.
    exact : bool
        Whether these are the levels themselves, so that costs here are the true ones.
    """

    codes: NDArray[np.uint8]
    n_levels: int
    width: int
    null_cost: float
    exact: bool


@dataclass(frozen=True, eq=False)
class IntervalTable:
    """The items that the distance is taken over, record by record.

    Attributes
    ----------
    cells : ndarray, shape (n, n_items)
        On a stepped scale codes, unsigned, 0 for null; on a real one ratings, NaN for null.
    n_levels, width : int
        Stepped scales: the levels, and the steps that ε allows.
    eps : float
    unit : float
        What a unit of cost is in ratings: the step, or 1.
    null_cost : float
        Of a filled or suppressed cell, in units; below 0: nulls cost nothing and stay.
    rule : Rule
    numbers : ndarray of uint64, shape (n,)
        A random number for each record.
    """

    cells: NDArray[Any]
    n_levels: int
    width: int
    eps: float
    unit: float
    null_cost: float
    rule: Rule
    numbers: NDArray[np.uint64]

    @classmethod
    def of(
        cls,
        ratings: Ratings,
        items: NDArray[np.int64],
        eps: float,
        nulls: NullRule,
        numbers: NDArray[np.uint64],
    ) -> IntervalTable:
        """Make a table ready.

        Raises
        ------
        ConfigError
            It does not fit the memory budget.
        """
        rule = rule_of(ratings.scale, ratings.levels, eps, nulls)
        scale, n_levels = ratings.scale, len(ratings.levels)
        stepped = scale.step is not None
        kind = np.dtype(code_type(n_levels + 1)) if stepped else np.dtype(np.float64)
        _check_budget(ratings.n_users, ratings.n_items, kind.itemsize)
        cells = np.full((ratings.n_users, ratings.n_items), 0 if stepped else np.nan, dtype=kind)
        users = np.repeat(np.arange(ratings.n_users), ratings.user_support)
        cells[users, ratings.columns] = (
            ratings.codes.astype(kind) + kind.type(1) if stepped else ratings.values()
        )
        unit = float(scale.step) if scale.step is not None else 1.0
        free = nulls == "ignore" or rule.everybody
        return cls(
            cells=np.ascontiguousarray(cells[:, items]),
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

    def rated(self) -> NDArray[np.bool_]:
        """Tell which cells hold a rating."""
        return np.asarray(self.cells != 0 if self.stepped else ~np.isnan(self.cells))

    def cost(self, groups: NDArray[np.int64]) -> float:
        """Return what clipping these groups would cost in all, in units."""
        return float(self._clip(groups, None).sum())

    def clip(self, groups: NDArray[np.int64]) -> tuple[float, NDArray[Any]]:
        """Clip each group as one.

        Parameters
        ----------
        groups : ndarray of int64, shape (n,)
            0…G−1, none empty.

        Returns
        -------
        cost : float
            Distortion, in units.
        cells : ndarray
            The moved table, as `cells`.
        """
        out = np.empty_like(self.cells)
        return float(self._clip(groups, out).sum()), out

    def _clip(self, groups: NDArray[np.int64], out: NDArray[Any] | None) -> NDArray[np.float64]:
        order = np.argsort(groups, kind="stable")
        indptr = np.concatenate([[0], np.cumsum(np.bincount(groups))]).astype(np.int64)
        numbers = np.minimum.reduceat(self.numbers[order], indptr[:-1])
        if self.stepped:
            return clip_groups(
                self.cells,
                order,
                indptr,
                n_levels=self.n_levels,
                width=self.width,
                null_cost=self.null_cost,
                numbers=numbers,
                out=out,
            )
        return clip_groups_real(
            self.cells,
            order,
            indptr,
            eps=self.eps,
            null_cost=self.null_cost,
            numbers=numbers,
            out=out,
        )

    def coarse(self) -> Coarse:
        """Return the table that groups are searched on."""
        if self.stepped and self.n_levels <= _FINE:
            codes = self.cells.astype(np.uint8)
            return Coarse(codes, self.n_levels, self.width, self.null_cost, True)
        if self.stepped:
            low, high = 1.0, float(self.n_levels)
            ratings, reach = self.cells.astype(np.float64), float(self.width)
        else:
            low, high = float(np.nanmin(self.cells)), float(np.nanmax(self.cells))
            ratings, reach = self.cells, self.eps
        bin_width = max((high - low) / (_FINE - 1), SLACK)
        place = np.round((ratings - low) / bin_width)
        codes = np.where(self.rated(), np.nan_to_num(place) + 1, 0).astype(np.uint8)
        null_cost = self.null_cost if self.null_cost < 0 else self.null_cost / bin_width
        width = min(int((reach + SLACK) / bin_width), _FINE)
        return Coarse(codes, _FINE, width, null_cost, False)


def moved_ratings(
    ratings: Ratings, items: NDArray[np.int64], table: IntervalTable, cells: NDArray[Any]
) -> Ratings:
    """Return the table with these cells on these items, all other items as they were.

    Parameters
    ----------
    ratings : Ratings
        What was anonymized.
    items : ndarray of int64
        Columns of `cells`, as item indices.
    table : IntervalTable
    cells : ndarray
        As `table.clip` returned them.
    """
    changed = np.zeros(ratings.n_items, dtype=np.bool_)
    changed[items] = True
    other = np.flatnonzero(~changed[ratings.columns])
    users = np.repeat(np.arange(ratings.n_users), ratings.user_support)[other]
    rated = cells != 0 if table.stepped else ~np.isnan(cells)
    row, place = np.nonzero(rated)
    all_users = np.concatenate([users, row])
    columns = np.concatenate([ratings.columns[other], items[place].astype(np.int32)])
    levels = ratings.levels
    if table.stepped:
        own = cells[rated].astype(ratings.codes.dtype) - ratings.codes.dtype.type(1)
        codes = np.concatenate([ratings.codes[other], own])
    else:
        values = np.concatenate([ratings.levels[ratings.codes[other]], cells[rated]])
        distinct, inverse = np.unique(values, return_inverse=True)
        levels, positions = level_table(distinct, ratings.scale)
        codes = positions[inverse].astype(code_type(len(levels)))
    order = np.lexsort([columns, all_users])
    return replace(
        ratings,
        indptr=np.searchsorted(all_users[order], np.arange(ratings.n_users + 1)).astype(np.int64),
        columns=columns[order].astype(np.int32),
        codes=codes[order],
        levels=levels,
        days=None,
    )


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


def _check_budget(n: int, m: int, itemsize: int) -> None:
    needed = n * m * (itemsize * _COPIES + 1)
    if needed > budget.memory():
        raise ConfigError(
            f"{n:,} records x {m:,} items as full tables take {needed / 1e9:.1f} GB; the budget is "
            f"{budget.memory() / 1e9:.1f} GB",
            advice="Choose fewer items, e.g. --items top:100, or allow more with --memory.",
        )
