"""Look up the names of a query: artifacts by key or by name, personal attributes by name.

A name in double quotes is meant as it is written. One without may differ in upper and lower case,
if only one column then fits, attributes counted too. A key goes before a name: keys are unique, so
whatever is ambiguous can be said by key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property

from starshade.errors import ConfigError
from starshade.query.statement import Name, shown
from starshade.ratings.vocabulary import Vocabulary

__all__ = ["Names"]

_COMPARED = 5_000  # names looked through for one that is close
_LISTED = 5
_ATTRIBUTES_LISTED = 20
_PLAIN = "Names with blanks or signs stand in double quotes, and there are as written."


@dataclass(frozen=True, eq=False)
class Names:
    """The columns of a table.

    `item_names`: one per item. `suggest`: whether messages may tell names that were not asked for;
    on a release they are public.
    """

    items: Vocabulary
    item_names: tuple[str, ...] | None
    attributes: tuple[str, ...]
    suggest: bool

    def item(self, name: Name, clause: str = "WHERE") -> int:
        """Return the index of an artifact."""
        index = self.items.index(name.text)
        if index >= 0:
            return index
        items = self._items_by_name.get(name.text, [])
        if not items and not name.quoted:
            items = self._items_by_folded.get(name.text.casefold(), [])
            if items and self._attribute(name) is not None:
                raise ConfigError(
                    f"{clause} {name}: fits an item and a personal attribute, when upper and "
                    "lower case make no difference",
                    advice="Write the item exactly as it is called, in double quotes; conditions "
                    "are on artifacts only.",
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
                f"{clause} {name}: a personal attribute; conditions are on artifacts only",
                advice="Whoever may choose people by their attributes can single them out: here "
                "conditions speak of what was rated, answers of the people who did.",
            )
        raise ConfigError(
            f"{clause} {name}: there is no item of this key or name",
            advice=self._close_item(name),
        )

    def attribute(self, name: Name, clause: str) -> str:
        """Return a personal attribute as its column is called."""
        attribute = self._attribute(name)
        if attribute is not None:
            if attribute != name.text and name.text.casefold() in self._items_by_folded:
                raise ConfigError(
                    f"{clause}: {name} fits an item and a personal attribute, when upper and "
                    "lower case make no difference",
                    advice="Write the attribute exactly as it is called, in double quotes.",
                )
            return attribute
        if self.items.index(name.text) >= 0 or name.text in self._items_by_name:
            raise ConfigError(
                f"{clause}: {name} is an artifact; answers come from personal attributes only",
                advice="What was rated can be asked for in a condition: "
                f"SELECT COUNT(*) WHERE {name} >= 4.",
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
            advice = "There are no personal attributes here: only COUNT(*) can be answered."
        elif self.suggest:
            listed = _listed(self.attributes[:_ATTRIBUTES_LISTED])
            more = " …" if len(self.attributes) > _ATTRIBUTES_LISTED else ""
            advice = f"There are: {listed}{more}."
        else:
            advice = _PLAIN
        return ConfigError(f"{clause}: there is no personal attribute {name}", advice=advice)

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
        """Suggest names; that a number is close to another says nothing."""
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
