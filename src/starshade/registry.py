"""The lists behind ``starshade list``: what each room offers, without loading it.

Each of the four verbs' rooms has a ``registry.py`` with one tuple of entries; reading it costs
nothing, and `Entry.load` imports the class only when somebody wants to use it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from starshade.errors import ConfigError
from starshade.setting import settings_of


@dataclass(frozen=True)
class Entry:
    """One attack, model, method or measure."""

    name: str  # as the command line spells it
    module: str  # its dotted path
    cls: str
    summary: str
    source: str  # paper and section
    title: str = ""  # in a few plain words, for who does not know the name
    # dotted path of the module that declares its settings, in a class called as it is with
    # ``Settings`` behind; empty: the class itself declares them
    settings: str = ""

    def load(self) -> Any:
        """Import and return the class."""
        return getattr(import_module(self.module), self.cls)

    def declaration(self) -> type:
        """Return the dataclass that declares its settings; light where a module of its own does."""
        cls = f"{self.cls}Settings" if self.settings else self.cls
        declaration: type = getattr(import_module(self.settings or self.module), cls)
        return declaration

    @property
    def names(self) -> set[str]:
        """The names of its settings."""
        return {setting.name for setting in settings_of(self.declaration())}

    def to_dict(self) -> dict[str, str]:
        """Return ``{"name", "summary", "source"}``."""
        return {"name": self.name, "summary": self.summary, "source": self.source}


def find(entries: Iterable[Entry], name: str, kind: str) -> Entry:
    """Return the entry of this name, or raise a ConfigError that lists those there are.

    Examples
    --------
    >>> find([Entry("k-likeness", "m", "C", "", "")], "k-likeness", "method").name
    'k-likeness'
    """
    by_name = {entry.name: entry for entry in entries}
    if name in by_name:
        return by_name[name]
    close = get_close_matches(name, by_name, n=1)
    hint = f" Did you mean {close[0]}?" if close else ""
    raise ConfigError(
        f"{kind} {name!r}: unknown",
        advice=f"Known: {', '.join(sorted(by_name))}.{hint}",
    )
