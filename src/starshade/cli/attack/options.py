"""What ``starshade attack`` lets one set: the attacks' own settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from starshade.cli.options.settings import Command, gathered
from starshade.errors import ConfigError

if TYPE_CHECKING:
    from starshade.ratings.table import Ratings

__all__ = ["attacking", "rows_of"]


def _names(context: click.Context, option: click.Parameter, said: tuple[str, ...]) -> list[str]:
    """Take lists of names apart."""
    return [name.strip() for text in said for name in text.split(",") if name.strip()]


_SETTINGS = [
    click.option("--absent", is_flag=True, help="Attack also with each target's record removed."),
    click.option(
        "--phi", type=float, help="scoreboard-rh: least eccentricity of a match. [default: 1.5]"
    ),
    click.option(
        "--rho0", type=float, help="scoreboard-rh: decay of ratings. [default: 0.375 of the width]"
    ),
    click.option("--d0", type=float, help="scoreboard-rh: decay of days. [default: 30]"),
    click.option("--theta", type=float, help="Record similarity that agrees. [default: 1]"),
    click.option("--alpha", type=float, help="scoreboard: a score above it fits. [default: 0.5]"),
    click.option(
        "--tolerance",
        type=float,
        help="label: how far ratings may be off. [default: 0; 0.5 on averaged profiles]",
    ),
    click.option(
        "--by",
        type=click.Choice(["label", "structure"]),
        help="homogeneity: candidates by ratings or by items alone. [default: label]",
    ),
    click.option(
        "--sensitive", metavar="ITEM", multiple=True, help="homogeneity: an item id; repeatable."
    ),
    click.option(
        "--prior",
        type=float,
        help="link-existence: chance that a user rated an item. [default: its popularity]",
    ),
    click.option(
        "--rank", type=int, help="padding: rank of the part that is taken out. [default: by rule]"
    ),
    click.option(
        "--top", type=float, help="padding: share of the cells called the highest. [default: 0.01]"
    ),
    click.option(
        "--groups", type=int, help="padding: groups looked at. [default: a million cells]"
    ),
    click.option("--k", type=int, help="Count targets with fewer candidates. [default: 5]"),
    click.option(
        "--conditions", type=int, help="tracker: conditions joined by AND at most. [default: 4]"
    ),
    click.option(
        "--background",
        metavar="NAMES",
        multiple=True,
        callback=_names,
        help="tracker: personal attributes known of the target, e.g. Age,City.",
    ),
    click.option(
        "--queries", type=int, help="tracker: COUNT queries at most. [default: 5,000,000]"
    ),
]


def attacking(command: Command) -> Command:
    """Give a command the attacks' settings and pass it ``settings``, a dict."""
    return gathered(command, _SETTINGS, "settings", dict)


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
