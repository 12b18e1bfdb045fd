"""What ``starshade attack`` lets one set: the attacks' own settings."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from starshade.attack.registry import ENTRIES
from starshade.attack.settings import KnowledgeSettings
from starshade.cli.options.declared import declared_options
from starshade.cli.options.settings import Command, gathered
from starshade.errors import ConfigError

if TYPE_CHECKING:
    from starshade.ratings.table import Ratings

__all__ = ["attacking", "rows_of"]


_OWN = {field.name for field in fields(KnowledgeSettings)}  # options of what is known come first


def attacking(command: Command) -> Command:
    """Give a command the attacks' settings and pass it ``settings``, a dict."""
    return gathered(command, declared_options(ENTRIES, besides=_OWN), "settings", dict)


def rows_of(items: tuple[str, ...], ratings: Ratings, *, show_values: bool) -> tuple[int, ...]:
    """Return where items given by id are among those of the ratings.

    Raises
    ------
    ConfigError
        An unknown id.
    """
    places = [ratings.items.index(item) for item in items]
    if -1 in places:
        position = places.index(-1)
        named = f" ({items[position]!r})" if show_values else ""
        raise ConfigError(
            f"--sensitive: item {position + 1} of those given is not in the ratings{named}",
            advice="Give ids as the ratings have them, not names.",
        )
    return tuple(places)
