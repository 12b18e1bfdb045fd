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

    Attributes
    ----------
    items : Vocabulary
    item_names : tuple of str or None
        One per item.
    attributes : tuple of str
    suggest : bool
        Whether messages may tell names that were not asked for; on a release they are public.
    """

    items: Vocabulary
    item_names: tuple[str, ...] | None
    attributes: tuple[str, ...]
    suggest: bool

    def item(self, name: Name, clause: str = "WHERE") -> int:
        """Return the index of an artifact.

        Raises
        ------
        ConfigError
            Unknown, ambiguous, or a personal attribute.
        """
        index = self.items.index(name.text)
        if index >= 0:
            return index
        found = self._items_by_name.get(name.text, [])
        if not found and not name.quoted:
            found = self._items_by_folded.get(name.text.casefold(), [])
            if found and self._attribute(name) is not None:
                raise ConfigError(
                    f"{clause} {name}: fits an item and a personal attribute, when upper and "
                    "lower case make no difference",
                    advice="Write the item exactly as it is called, in double quotes; conditions "
                    "are on artifacts only.",
                )
        if len(found) == 1:
            return found[0]
        if found:
            told = ", ".join(f'"{shown(self.items[i])}"' for i in found[:_LISTED])
            raise ConfigError(
                f"{clause} {name}: {len(found):,} items have this name",
                advice="Use the item's key"
                + (f": {told}{' …' if len(found) > _LISTED else ''}." if self.suggest else "."),
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
        """Return a personal attribute as its column is called.

        Raises
        ------
        ConfigError
            Unknown, ambiguous, or an artifact.
        """
        found = self._attribute(name)
        if found is not None:
            if found != name.text and name.text.casefold() in self._items_by_folded:
                raise ConfigError(
                    f"{clause}: {name} fits an item and a personal attribute, when upper and "
                    "lower case make no difference",
                    advice="Write the attribute exactly as it is called, in double quotes.",
                )
            return found
        if self.items.index(name.text) >= 0 or name.text in self._items_by_name:
            raise ConfigError(
                f"{clause}: {name} is an artifact; answers come from personal attributes only",
                advice="What was rated can be asked for in a condition: "
                f"SELECT COUNT(*) WHERE {name} >= 4.",
            )
        raise self._no_attribute(name, clause)

    def bounded(self, name: Name) -> str:
        """Return the personal attribute that bounds are declared for.

        Raises
        ------
        ConfigError
            Unknown, or ambiguous.
        """
        found = self._attribute(name)
        if found is None:
            raise self._no_attribute(name, "bounds")
        return found

    def _no_attribute(self, name: Name, clause: str) -> ConfigError:
        if not self.attributes:
            advice = "There are no personal attributes here: only COUNT(*) can be answered."
        elif self.suggest:
            told = _listed(self.attributes[:_ATTRIBUTES_LISTED])
            more = " …" if len(self.attributes) > _ATTRIBUTES_LISTED else ""
            advice = f"There are: {told}{more}."
        else:
            advice = _PLAIN
        return ConfigError(f"{clause}: there is no personal attribute {name}", advice=advice)

    def _attribute(self, name: Name) -> str | None:
        if name.text in self.attributes:
            return name.text
        folded = name.text.casefold()
        found = [] if name.quoted else [a for a in self.attributes if a.casefold() == folded]
        return found[0] if len(found) == 1 else None

    @cached_property
    def _items_by_name(self) -> dict[str, list[int]]:
        return _positions(self.item_names or ())

    @cached_property
    def _items_by_folded(self) -> dict[str, list[int]]:
        known = [*self.items, *(self.item_names or ())]
        found = _positions([text.casefold() for text in known])
        n = len(self.items)
        return {text: sorted({i % n for i in places}) for text, places in found.items()}

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
    found: dict[str, list[int]] = {}
    for place, text in enumerate(texts):
        found.setdefault(text, []).append(place)
    return found
