"""What ``starshade attack`` lets one set: the attacks' own settings."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from starshade.errors import ConfigError

if TYPE_CHECKING:
    from starshade.ratings.table import Ratings

__all__ = ["Command", "attacking", "configured", "gathered", "given", "refuse_beside", "rows_of"]

Command = Callable[..., Any]

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
    click.option("--tolerance", type=float, help="label: how far ratings may be off. [default: 0]"),
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
    click.option("--k", type=int, help="Count targets with fewer candidates. [default: 5]"),
]


def attacking(command: Command) -> Command:
    """Give a command the attacks' settings and pass it ``settings``, a dict."""
    return gathered(command, _SETTINGS, "settings", dict)


def gathered(command: Command, options: list[Any], name: str, kind: Callable[..., Any]) -> Command:
    """Give a command some options and pass it all their values as one argument, `name`."""
    probe: Any = functools.reduce(lambda f, option: option(f), options, lambda: None)
    names = [parameter.name for parameter in probe.__click_params__]

    @functools.wraps(command)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        chosen = kind(**{each: kwargs.pop(each) for each in names})
        return command(*args, **{name: chosen}, **kwargs)

    return functools.reduce(lambda f, option: option(f), reversed(options), wrapper)


def given() -> set[str]:
    """Return the names of the parameters that stood on the command line."""
    context = click.get_current_context()
    names = context.params
    source = context.get_parameter_source
    return {name for name in names if source(name) is ParameterSource.COMMANDLINE}


def option(name: str) -> str:
    """Return how a parameter is written on the command line."""
    parameters = click.get_current_context().command.params
    return next(p.opts[0] for p in parameters if p.name == name)


def configured(cls: Any, name: str, settings: Mapping[str, Any]) -> Any:
    """Make an attack with those settings that were given; the others have its defaults.

    Raises
    ------
    ConfigError
        A setting that this attack does not have, or a value out of range.
    """
    asked = {key: settings[key] for key in given() & settings.keys()}
    own = {field.name for field in fields(cls)} & settings.keys()
    for key in asked:
        if key not in own:
            raise ConfigError(
                f"{option(key)}: the attack {name} has no such setting",
                advice=f"Leave it out; it has {', '.join(map(option, sorted(own)))}.",
            )
    return cls(**asked)


def refuse_beside(what: str, names: set[str], advice: str) -> None:
    """Refuse options that stood on the command line but mean nothing beside another one.

    Raises
    ------
    ConfigError
    """
    useless = given() & names
    if useless:
        named = ", ".join(sorted(map(option, useless)))
        raise ConfigError(f"{named}: of no use {what}", advice=advice)


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
