"""What is worked out once for a table and used by every query on it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from starshade.errors import ConfigError, ReleaseError
from starshade.query.blocks import Blocks, blocks_of
from starshade.query.columns import Column, check_released, column_of
from starshade.query.names import Names
from starshade.ratings.table import Ratings
from starshade.release.cells import Cells, cells_of
from starshade.release.content import code_type
from starshade.release.table import Release

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Prepared", "prepared"]

_KEPT = 64  # columns of items that are kept unpacked


@dataclass(frozen=True, eq=False)
class Prepared:
    """A table that queries can be asked of.

    `cells`: a row per class; of an original, a row per user. `attributes`: a row per record, in the
    order of the classes. `k`: what the guard holds to; None: an original, which only its owner
    asks. `shared`: attributes that are the same for a whole class.
    """

    cells: Cells
    names: Names
    attributes: pa.Table | None
    k: int | None
    shared: tuple[str, ...] = ()
    _codes: dict[int, NDArray[Any]] = field(default_factory=dict)
    _columns: dict[tuple[str, tuple[float, float] | None], Column] = field(default_factory=dict)
    _blocks: dict[str, Blocks] = field(default_factory=dict)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """First record of each class."""
        sizes = self.cells.sizes
        return np.concatenate([[0], np.cumsum(sizes)])[:-1].astype(np.int64)

    def codes(self, item: int) -> NDArray[Any]:
        """Return the symbol of each class on one item; one past the last where it is null."""
        codes = self._codes.get(item)
        if codes is None:
            alone = len(self.cells.symbols)
            by_item = self.cells.by_item
            cells = slice(by_item.indptr[item], by_item.indptr[item + 1])
            codes = np.full(self.cells.n_groups, alone, dtype=code_type(alone + 1))
            codes[by_item.users[cells]] = by_item.codes[cells]
            for oldest in list(self._codes)[: max(0, len(self._codes) - _KEPT + 1)]:
                self._codes.pop(oldest, None)
            self._codes[item] = codes
        return codes

    def column(self, name: str, bounds: tuple[float, float] | None = None) -> Column:
        """Return a personal attribute, sorted and added up; `bounds` end open ranges."""
        assert self.attributes is not None
        table = self.attributes
        if (name, bounds) not in self._columns:
            data = table.column(name)
            if self.k is not None:
                check_released(name, data, name in self.shared)
            self._columns[name, bounds] = column_of(name, data, self.starts, bounds)
        return self._columns[name, bounds]

    def blocks(self, name: str) -> Blocks:
        """Return the blocks of classes that strict mode looks at."""
        assert self.k is not None
        if name not in self._blocks:
            self._blocks[name] = blocks_of(self.column(name), self.cells.sizes, self.k)
        return self._blocks[name]


_PREPARED: WeakKeyDictionary[Ratings | Release, Prepared] = WeakKeyDictionary()


def prepared(data: Ratings | Release) -> Prepared:
    """Prepare a table on its first query."""
    if not isinstance(data, (Ratings, Release)):
        raise ConfigError(f"a query of a {type(data).__name__}: give a release, or ratings")
    table = _PREPARED.get(data)
    if table is None:
        table = _PREPARED[data] = _prepare(data)
    return table


def _prepare(data: Ratings | Release) -> Prepared:
    attributes = data.attributes
    named = () if attributes is None else tuple(attributes.column_names)
    if isinstance(data, Ratings):
        names = Names(data.items, data.item_names, named, suggest=False)
        return Prepared(cells_of(data), names, attributes, None)
    k = _claimed_k(data)
    names = Names(data.classes.items, data.item_names, named, suggest=True)
    return Prepared(data.cells(), names, attributes, k, data.manifest.quasi_identifiers)


_CELLS = {
    "record": "cells are single ratings that need not be the true ones, so no bound would hold, "
    "and its records need not be equal to others, so no answer would be guarded",
    "profile": "cells are means or predictions and not the ratings of anybody, so no bound would "
    "hold",
}


def _claimed_k(release: Release) -> int:
    """Return the k that every class must have; only equal records hide one another."""
    manifest = release.manifest
    if manifest.layout != "generalized":
        raise ConfigError(
            f"a release of layout {manifest.layout!r} ({manifest.method}) cannot be queried: its "
            f"{_CELLS[manifest.layout]}",
            advice="Make a release by a method that generalizes, e.g. k-likeness.",
        )
    claimed = [
        k
        for claim in manifest.claims
        if claim.model == "k-anonymity" and isinstance(k := claim.parameters.get("k"), int)
    ]
    if not claimed or max(claimed) < 2:
        raise ConfigError(
            "this release claims no k-anonymity with a k of 2 or more: nothing guards its answers",
            advice="Make one that does, e.g. starshade anonymize --method k-likeness --k 5.",
        )
    k = max(claimed)
    smallest = int(release.classes.sizes.min(initial=k))
    if smallest < k:
        raise ReleaseError(
            f"the release claims k = {k}, but has a class of {smallest} records",
            advice="It cannot be queried; look at it with `starshade check`.",
        )
    return k
