"""What is worked out once for a table and used by every query on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from starshade.errors import ConfigError, ReleaseError
from starshade.progress import note
from starshade.query.columns import Column, check_released, column_of
from starshade.query.statement import Name, shown
from starshade.query.strict import Blocks, blocks_of
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.band import in_words
from starshade.release.cells import Cells, cells_of
from starshade.release.content import code_type
from starshade.release.table import Release

if TYPE_CHECKING:
    import pyarrow as pa


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
        raise ConfigError(f"cannot query a {type(data).__name__}: give a release or ratings")
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
    k, nobodys = _claimed_k(data), data.manifest.dummy_records
    if nobodys not in (None, "none"):
        note(f"the counts include dummy records ({in_words(nobodys)} of the records)")
    names = Names(data.classes.items, data.item_names, named, suggest=True)
    return Prepared(data.cells(), names, attributes, k, data.manifest.quasi_identifiers)


_CELLS = {
    "record": "cells are single ratings that may be shifted, so no bounds hold, and its records "
    "need not be equal, so no guard holds",
    "profile": "cells are means or predictions, so no bounds hold",
}


def _claimed_k(release: Release) -> int:
    """Return the k that every class must have; the guard needs equal records."""
    manifest = release.manifest
    if manifest.layout != "generalized":
        raise ConfigError(
            f"a release of layout {manifest.layout!r} ({manifest.method}) cannot be queried: its "
            f"{_CELLS[manifest.layout]}",
            advice="Make a release by a method that generalizes, e.g. k-exchange.",
        )
    claimed = [
        k
        for claim in manifest.claims
        if claim.model == "k-anonymity" and isinstance(k := claim.parameters.get("k"), int)
    ]
    if not claimed or max(claimed) < 2:
        raise ConfigError(
            "the release claims no k-anonymity with k of 2 or more, which the guard needs",
            advice="Make one that does, e.g. starshade anonymize --k 5.",
        )
    k = max(claimed)
    smallest = int(release.classes.sizes.min(initial=k))
    if smallest < k:
        raise ReleaseError(
            f"the release claims k = {k}, but has a class of {smallest} records",
            advice="It cannot be queried; inspect it with `starshade check`.",
        )
    return k


_COMPARED = 5_000  # names looked through for one that is close
_LISTED = 5
_ATTRIBUTES_LISTED = 20
_PLAIN = "Put names with blanks or signs in double quotes, exactly as written."


@dataclass(frozen=True, eq=False)
class Names:
    """The columns of a table.

    `item_names`: one per item. `suggest`: whether messages may suggest names; on a
    release they are public.
    """

    items: Vocabulary
    item_names: tuple[str, ...] | None
    attributes: tuple[str, ...]
    suggest: bool

    def item(self, name: Name, clause: str = "WHERE") -> int:
        """Return the index of an item."""
        index = self.items.index(name.text)
        if index >= 0:
            return index
        items = self._items_by_name.get(name.text, [])
        if not items and not name.quoted:
            items = self._items_by_folded.get(name.text.casefold(), [])
            if items and self._attribute(name) is not None:
                raise ConfigError(
                    f"{clause} {name}: ambiguous; without case it matches an item and a personal "
                    "attribute",
                    advice="Write the exact name of the item in double quotes; conditions take "
                    "items only.",
                )
        if len(items) == 1:
            return items[0]
        if items:
            choices = ", ".join(f'"{shown(self.items[i])}"' for i in items[:_LISTED])
            raise ConfigError(
                f"{clause} {name}: {len(items):,} items have this name",
                advice="Use the item's key"
                + (f": {choices}{' …' if len(items) > _LISTED else ''}." if self.suggest else "."),
            )
        if self._attribute(name) is not None:
            raise ConfigError(
                f"{clause} {name}: a personal attribute; conditions take items only",
                advice="Conditions on personal attributes would allow singling out. Use conditions "
                "on items and aggregates of attributes.",
            )
        raise ConfigError(
            f"{clause} {name}: no item has this key or name",
            advice=self._close_item(name),
        )

    def attribute(self, name: Name, clause: str) -> str:
        """Return the column name of a personal attribute."""
        attribute = self._attribute(name)
        if attribute is not None:
            if attribute != name.text and name.text.casefold() in self._items_by_folded:
                raise ConfigError(
                    f"{clause}: {name} is ambiguous; without case it matches an item and a "
                    "personal attribute",
                    advice="Write the exact name of the attribute in double quotes.",
                )
            return attribute
        if self.items.index(name.text) >= 0 or name.text in self._items_by_name:
            raise ConfigError(
                f"{clause}: {name} is an item; aggregates take personal attributes only",
                advice=f"Use the item in a condition: SELECT COUNT(*) WHERE {name} >= 4.",
            )
        raise self._no_attribute(name, clause)

    def bounded(self, name: Name) -> str:
        """Return the personal attribute that bounds are declared for."""
        attribute = self._attribute(name)
        if attribute is None:
            raise self._no_attribute(name, "bounds")
        return attribute

    def _no_attribute(self, name: Name, clause: str) -> ConfigError:
        if not self.attributes:
            advice = "There are no personal attributes; only COUNT(*) is possible."
        elif self.suggest:
            listed = _listed(self.attributes[:_ATTRIBUTES_LISTED])
            more = " …" if len(self.attributes) > _ATTRIBUTES_LISTED else ""
            advice = f"Personal attributes: {listed}{more}."
        else:
            advice = _PLAIN
        return ConfigError(f"{clause}: no personal attribute {name}", advice=advice)

    def _attribute(self, name: Name) -> str | None:
        if name.text in self.attributes:
            return name.text
        folded = name.text.casefold()
        matches = [] if name.quoted else [a for a in self.attributes if a.casefold() == folded]
        return matches[0] if len(matches) == 1 else None

    @cached_property
    def _items_by_name(self) -> dict[str, list[int]]:
        return _positions(self.item_names or ())

    @cached_property
    def _items_by_folded(self) -> dict[str, list[int]]:
        known = [*self.items, *(self.item_names or ())]
        positions = _positions([text.casefold() for text in known])
        n = len(self.items)
        return {text: sorted({i % n for i in places}) for text, places in positions.items()}

    def _close_item(self, name: Name) -> str:
        """Suggest names, but no numbers."""
        if not self.suggest:
            return _PLAIN
        known = [text for text in (*(self.item_names or ()), *self.items) if not _is_number(text)]
        wanted = name.text.casefold()
        close: list[str] = []
        if wanted and not _is_number(wanted):
            inside = [text for text in known if wanted in text.casefold()]
            close = inside or get_close_matches(name.text, known[:_COMPARED], n=3)
        if close:
            return f"Did you mean {_listed(list(dict.fromkeys(close))[:_LISTED])}?"
        n = len(self.items)
        return f"The release has {n:,} item{'s' * (n != 1)}, listed in items.parquet. {_PLAIN}"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _listed(texts: Sequence[str]) -> str:
    return ", ".join(f'"{shown(text)}"' for text in texts)


def _positions(texts: Sequence[str]) -> dict[str, list[int]]:
    positions: dict[str, list[int]] = {}
    for place, text in enumerate(texts):
        positions.setdefault(text, []).append(place)
    return positions
