"""What a command's options said, and which of them stood on the command line."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import MISSING
from typing import Any

import click
from click.core import ParameterSource

from starshade.errors import ConfigError
from starshade.registry import Entry
from starshade.setting import settings_of

__all__ = ["Command", "configured", "gathered", "given", "option", "refuse_beside", "said"]

Command = Callable[..., Any]


def gathered(
    command: Command, options: list[Any], name: str, kind: Callable[..., Any] = dict
) -> Command:
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


def said(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of the values that stood on the command line."""
    return {name: values[name] for name in given() & values.keys()}


def option(name: str) -> str:
    """Return how a parameter is written on the command line."""
    parameters = click.get_current_context().command.params
    return next(p.opts[0] for p in parameters if p.name == name)


def configured(
    entry: Entry, name: str, settings: Mapping[str, Any], also: Mapping[str, Any] | None = None
) -> Any:
    """Make an attack, model or method with the settings given; others have its defaults.

    `name`: as messages call it, "the attack scoreboard". Of the `settings` those that did not stand
    on the command line are not used; those that did win over `also`.
    """
    values = said(settings)
    own = {setting.name: setting for setting in settings_of(entry.declaration())}
    for key in values:
        if key not in own:
            has = ", ".join(option(each) for each in sorted(own) if each in settings)
            raise ConfigError(
                f"{option(key)}: {name} has no such setting",
                advice=f"Leave it out; it has {has}." if has else "Leave it out.",
            )
    values = {**(also or {}), **values}
    lacking = [s for s in own.values() if s.default is MISSING and s.name not in values]
    if lacking:
        missing = [option(setting.name) for setting in lacking]
        usual = " ".join(f"{option(s.name)} {s.usual or 'VALUE'}" for s in lacking)
        help_ = f"`{_chosen(entry)} --help` says what each means"
        raise ConfigError(
            f"{name}: {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing",
            advice=f"Add {usual}, for example; {help_}.",
        )
    return entry.load()(**values)


def _chosen(entry: Entry) -> str:
    context = click.get_current_context()
    chooser = getattr(context.command, "chooser", None)
    return f"{context.command_path} {chooser} {entry.name}" if chooser else context.command_path


def refuse_beside(what: str, names: set[str], advice: str) -> None:
    """Refuse options that stood on the command line but mean nothing beside another one."""
    useless = given() & names
    if useless:
        named = ", ".join(sorted(map(option, useless)))
        raise ConfigError(f"{named}: of no use {what}", advice=advice)
