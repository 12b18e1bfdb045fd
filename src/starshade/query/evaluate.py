"""Carry out a plan: the share and the status of every class."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import or_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.query.plan import Leaf, Plan, Product, Step
from starshade.query.regions import NEVER, PERHAPS, SURELY, Located, Regions
from starshade.release.symbols import Symbols

__all__ = ["evaluate"]

Floats = NDArray[np.float64]
States = NDArray[np.uint8]
_Judged = tuple[Floats, States]

_BLOCK = 1 << 15  # classes at a time: what is in between stays in the cache


def evaluate(
    plan: Plan, n_classes: int, symbols: Symbols, column: Callable[[int], NDArray[Any]]
) -> _Judged:
    """Work out how likely it is that a record of each class satisfies.

    `column`: item index → the symbol of each class, ``len(symbols)`` where it is null alone.
    Returns `share` (float64 (n_classes,)): exactly 0 where the status is NEVER, exactly 1 where it
    is SURELY. `status` (uint8 (n_classes,)).
    """
    if isinstance(plan.root, bool):
        state = SURELY if plan.root else NEVER
        return np.full(n_classes, float(plan.root)), np.full(n_classes, state, np.uint8)
    work = _Work(symbols, plan.regions, column)
    work.prepare(plan.root)
    share, status = np.empty(n_classes), np.empty(n_classes, np.uint8)
    for first in range(0, n_classes, _BLOCK):
        rows = slice(first, min(first + _BLOCK, n_classes))
        share[rows], status[rows] = work.judge(plan.root, rows)
    share[status == NEVER], share[status == SURELY] = 0.0, 1.0
    return share, status


class _Work:
    """The tables of one evaluation: each set of regions is judged once per symbol."""

    def __init__(
        self,
        symbols: Symbols,
        regions: dict[int, Regions],
        column: Callable[[int], NDArray[Any]],
    ) -> None:
        self._symbols, self._regions, self._column = symbols, regions, column
        self._located: dict[int, Located] = {}
        self._tables: dict[tuple[int, int], _Judged] = {}
        self._columns: dict[int, NDArray[Any]] = {}

    def prepare(self, step: Step) -> None:
        """Judge every set that the plan needs."""
        if isinstance(step, Product):
            for part in step.parts:
                self.prepare(part)
        elif isinstance(step, Leaf):
            self._prepare(step.item, step.regions)
        else:
            self._prepare(step.item, _union(step.cases))
            for case, rest in step.cases:
                self._prepare(step.item, case)
                if rest is not None:
                    self.prepare(rest)

    def _prepare(self, item: int, regions: int) -> None:
        if (item, regions) not in self._tables:
            if item not in self._located:
                self._located[item] = self._regions[item].locate(self._symbols)
                self._columns[item] = self._column(item)
            self._tables[item, regions] = self._located[item].judge(regions)

    def judge(self, step: Step, rows: slice) -> _Judged:
        """Return share and status of a block of classes."""
        if isinstance(step, Leaf):
            return self._leaf(step.item, step.regions, rows)
        if isinstance(step, Product):
            all_of = step.operator == "and"
            share, status = self.judge(step.parts[0], rows)
            missed = 1.0 - share
            for part in step.parts[1:]:
                next_share, next_status = self.judge(part, rows)
                if all_of:
                    share = share * next_share
                    status = np.minimum(status, next_status)
                else:
                    missed = missed * (1.0 - next_share)
                    status = np.maximum(status, next_status)
            return (share if all_of else 1.0 - missed), status
        return self._cases(step.item, step.cases, rows)

    def _leaf(self, item: int, regions: int, rows: slice) -> _Judged:
        share, status = self._tables[item, regions]
        codes = self._columns[item][rows]
        return share[codes], status[codes]

    def _cases(self, item: int, cases: tuple[tuple[int, Step | None], ...], rows: slice) -> _Judged:
        """Weigh what is left in each case; cases that are not listed are false."""
        n = rows.stop - rows.start
        share, some = np.zeros(n), np.zeros(n, np.bool_)
        doubtful = self._leaf(item, _union(cases), rows)[1] < SURELY
        for case, rest in cases:
            chance, state = self._leaf(item, case, rows)
            if rest is None:
                share, some = share + chance, some | (state > NEVER)
                continue
            then, after = self.judge(rest, rows)
            share = share + chance * then
            some |= (state > NEVER) & (after > NEVER)
            doubtful |= (state > NEVER) & (after < SURELY)
        status = np.where(some, np.where(doubtful, PERHAPS, SURELY), NEVER).astype(np.uint8)
        return np.minimum(share, 1.0), status


def _union(cases: tuple[tuple[int, Step | None], ...]) -> int:
    return reduce(or_, (case for case, _ in cases), 0)
