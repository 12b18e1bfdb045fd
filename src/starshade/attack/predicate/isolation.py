"""People who satisfy predicates, and the baseline by chance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from starshade.attack.view import NO_DAYS, contents_of, rows_of, truth_of
from starshade.kernels.arrays import fixed
from starshade.kernels.attack.agreement import Truth
from starshade.kernels.attack.satisfying import Predicates, count_members, count_satisfying
from starshade.ratings.table import Ratings
from starshade.release.cells import Cells

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class People:
    """People by their true ratings on the released items, numbered as there."""

    table: Ratings

    def satisfying(self, predicates: Predicates, classes: Cells) -> tuple[Ints, Ints]:
        """Count for each predicate who satisfies it, and who holds its value at all."""
        rows = rows_of(classes)._replace(days=NO_DAYS)
        truth = truth_of(self.table)._replace(days=NO_DAYS)
        return count_satisfying(
            predicates, rows, contents_of(classes.symbols), truth, self._by_item
        )

    def chance(self, predicates: Predicates, holders: Ints, classes: Cells) -> Floats:
        """Return the chance to satisfy each predicate of a row whose items are independent.

        `holders`: as `satisfying` counts them. Each item's shares are those of these people.
        """
        rows, n = predicates.row, self.table.n_users
        part = classes.keep_rows(rows)
        of = np.repeat(np.arange(len(rows)), np.diff(part.indptr))
        counts = self._members(part)
        chosen = part.columns == predicates.item[of]
        counts[chosen] = holders[of[chosen]]
        nulls = n - np.diff(self._by_item.indptr)
        # a sum of logarithms over all items, of which a row has only some
        told = np.bincount(of, _log(counts, n) - _log(nulls[part.columns], n), len(rows))
        never = np.bincount(of, nulls[part.columns] == 0, len(rows))
        impossible = np.bincount(of, counts == 0, len(rows)) > 0
        impossible |= (nulls == 0).sum() > never
        return np.where(impossible, 0.0, np.exp(told + _log(nulls, n).sum()))

    @cached_property
    def _by_item(self) -> Truth:
        by_item, levels = self.table.by_item, fixed(self.table.levels)
        users, codes = fixed(by_item.users), fixed(by_item.codes)
        return Truth(fixed(by_item.indptr), users, codes, levels, fixed(NO_DAYS))

    def _members(self, part: Cells) -> Ints:
        """Count for each cell the people whose rating, or null, is a member of it."""
        n = max(len(part.symbols), 1)
        pairs, place = np.unique(
            part.columns.astype(np.int64) * n + part.codes, return_inverse=True
        )
        items, symbols = np.divmod(pairs, n)
        counts = count_members(
            fixed(items),
            fixed(symbols),
            contents_of(part.symbols),
            self._by_item,
            self.table.n_users,
        )
        return counts[place]


def _log(counts: Ints, n: int) -> Floats:
    """Return the logarithms of shares of n; 0 of none, which is counted apart."""
    return np.log(np.where(counts > 0, counts, n) / n)


def blind(weight: Floats, n: int) -> Floats:
    """Return the chance that exactly one of n people satisfies a predicate of such a weight.

    Cohen & Nissim (2020), section 2: the baseline without a release.

    >>> blind(np.array([0.0, 0.5, 1.0]), 2).tolist()
    [0.0, 0.5, 0.0]
    """
    return np.asarray(n * weight * (1 - weight) ** (n - 1))
