"""Target records and candidate rows: from a view to the arrays of a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.attack.view import View, contents_of, postings_of, rows_of, truth_of
from starshade.kernels.arrays import fixed
from starshade.kernels.attack.candidates import Postings
from starshade.kernels.attack.posterior import Goal, Pools, Sums
from starshade.kernels.attack.summary import mass_unit
from starshade.release.cells import Cells
from starshade.release.columns import Columns

_NO_SUMS, _NO_POOLS = Sums.of_nobody(0, 0), Pools.none()


@dataclass(frozen=True, eq=False)
class Sought:
    """Rows that are weighed, and what of them is looked for.

    `class_of` (n_rows,): classes whose masses are summed; None: equal rows. `absent`: a target's
    record is not there, and they may be a stranger. `start`, `stop`: rows that are looked at.
    `greatest`: of each target the greatest chance in all blocks, and its exponent. `masses`
    (targets, classes): zeros, to be filled with the masses of classes. `sums`: what the chance of a
    stranger is found of; with `greatest` over all blocks, else to be filled; None: these rows are
    all. `pools`: to be filled, of all targets; None: there are none.
    """

    view: View
    class_of: NDArray[np.int64] | None = None
    absent: bool = False
    strangers: bool = False
    start: int = 0
    stop: int | None = None
    greatest: tuple[NDArray[Any], NDArray[Any]] | None = None
    masses: NDArray[np.int64] | None = None
    sums: Sums | None = None
    pools: Pools | None = None

    @cached_property
    def cells(self) -> Cells | Columns:
        """The rows."""
        cells = self.view.cells
        stop = cells.n_groups if self.stop is None else self.stop
        if (self.start, stop) == (0, cells.n_groups):
            return cells
        return cells.keep_rows(np.arange(self.start, stop))

    def held(self, items: NDArray[np.int32]) -> Postings:
        """Lay the rows out item by item, of these items at least."""
        whole = self.cells is self.view.cells
        return postings_of(self.view.held(items) if whole else self.cells.held(items))

    def _pools(self, pools: Pools, targets: slice) -> Pools:
        stop = self.start + self.cells.n_groups
        return pools._replace(
            place=fixed(pools.place[self.start : stop]),
            own=fixed(pools.own[targets]),
            chance=fixed(pools.chance[targets]),
            power=fixed(pools.power[targets]),
            found=pools.found[targets],
        )

    def of(self, users: NDArray[np.int64], targets: slice) -> Goal:
        """Lay out whose record is right; `targets`: where these users are among all."""
        view, cells = self.view, self.cells
        stop = self.start + cells.n_groups
        again = np.zeros(view.cells.n_groups, np.bool_)
        again[view.repeats] = True
        own_only = self.class_of is not None or view.ungeneralized
        chance, power = self.greatest or (np.empty(0), np.empty(0, np.int64))
        class_of, own = self.class_of, view.row_of_user[users]
        none = np.empty(0, np.int64)
        return Goal(
            fixed(cells.sizes),
            fixed(view.copies[self.start : stop]),
            fixed(again[self.start : stop]),
            fixed(none if class_of is None else class_of),
            fixed(own),
            fixed(users),
            fixed(none if class_of is None else np.where(own < 0, -1, class_of[own])),
            none.reshape(0, 0) if self.masses is None else self.masses[targets],
            rows_of(cells),
            truth_of(view.truth()),
            contents_of(cells.symbols),
            own_only,
            self.absent,
            self.strangers,
            _NO_SUMS if self.sums is None else Sums(*(each[targets] for each in self.sums)),
            fixed(chance[targets] if len(chance) else chance),
            fixed(power[targets] if len(power) else power),
            _NO_POOLS if self.pools is None else self._pools(self.pools, targets),
            self.start,
            mass_unit(view.cells.n_records),
        )
