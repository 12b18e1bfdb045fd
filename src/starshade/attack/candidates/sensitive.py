"""Disclosure of sensitive items by homogeneous classes (SR §4; definitions, "homogeneity")."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from starshade.attack.view import Groups
from starshade.figure import Renamed
from starshade.ratings.table import Ratings


@dataclass(frozen=True)
class SensitiveItem(Renamed):
    """Share of classes that disclose one item: all their users rated it the same.

    `item`: position in the original. `classes`, `users`: share of the classes, and of the records
    in them.
    """

    item: int
    classes: float
    users: float


@dataclass(frozen=True, eq=False)
class Alike:
    """Raters of an item in each class, and their least and greatest code; (items, groups)."""

    raters: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]

    @classmethod
    def of(cls, original: Ratings, items: Sequence[int], groups: Groups) -> Alike:
        """Count some items over the users of a table."""
        shape, by_item = (len(items), len(groups)), original.by_item
        out = cls(
            np.zeros(shape, np.int64), np.full(shape, np.iinfo(np.int64).max), np.full(shape, -1)
        )
        for i, item in enumerate(items):
            cells = slice(by_item.indptr[item], by_item.indptr[item + 1])
            group = groups.of_user[by_item.users[cells]]
            code = by_item.codes[cells][group >= 0].astype(np.int64)
            group = group[group >= 0]
            out.raters[i] = np.bincount(group, minlength=len(groups))
            np.minimum.at(out.low[i], group, code)
            np.maximum.at(out.high[i], group, code)
        return out

    def __add__(self, other: Alike) -> Alike:
        """Add the counts of the users of two tables, by the same groups."""
        return Alike(
            self.raters + other.raters,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )

    def given_away(
        self, items: Sequence[int], sizes: NDArray[np.int64]
    ) -> tuple[SensitiveItem, ...]:
        """Return how often each item is disclosed; `sizes`: records of each group."""
        alike = (self.raters == sizes) & (self.low == self.high)
        return tuple(
            SensitiveItem(
                item=item,
                classes=float(each.mean()),
                users=float(sizes[each].sum() / sizes.sum()),
            )
            for item, each in zip(items, alike, strict=True)
        )
