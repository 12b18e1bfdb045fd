"""What ``starshade attack`` lets one set: the attacks' own settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from starshade.attack.registry import ENTRIES
from starshade.attack.settings import KnowledgeSettings
from starshade.cli.options.declared import declared_options, options_of
from starshade.cli.options.settings import Command, gathered, said
from starshade.errors import ConfigError
from starshade.setting import settings_of

if TYPE_CHECKING:
    from starshade.attack.knowledge import Knowledge
    from starshade.ratings.table import Ratings

__all__ = ["attacking", "knowledge_of", "rows_of"]

_KNOWN = [setting.name for setting in settings_of(KnowledgeSettings)]


def attacking(command: Command) -> Command:
    """Give a command what can be set of an attack, as two dicts.

    ``known`` is what the adversary knows (see `knowledge_of`), ``settings`` are the attacks' own.
    """
    own = gathered(command, declared_options(ENTRIES, besides=_KNOWN), "settings")
    return gathered(own, options_of(KnowledgeSettings), "known")


def knowledge_of(known: Mapping[str, Any]) -> Knowledge:
    """Build the `Knowledge` that the options said."""
    from starshade.attack.knowledge import Knowledge

    return Knowledge(**said(known))


def rows_of(items: tuple[str, ...], ratings: Ratings, *, show_values: bool) -> tuple[int, ...]:
    """Return where items given by id are among those of the ratings."""
    places = [ratings.items.index(item) for item in items]
    if -1 in places:
        position = places.index(-1)
        named = f" ({items[position]!r})" if show_values else ""
        raise ConfigError(
            f"--sensitive: item {position + 1} of those given is not in the ratings{named}",
            advice="Give ids as the ratings have them, not names.",
        )
    return tuple(places)
