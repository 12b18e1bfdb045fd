"""Options made of what is declared (`starshade.setting`), and help on what was chosen alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from importlib import import_module
from itertools import pairwise
from typing import Any

import click

from starshade.cli.options.spelling import as_option
from starshade.errors import ConfigError
from starshade.registry import Entry, find
from starshade.setting import Setting, settings_of

__all__ = ["Choosing", "declared_options", "option_of", "options_of"]

Command = Callable[..., Any]

_NUMBERS = {"integer", "number"}
_TYPES = {"integer": int, "number": float, "text": str, "file": str}


class Declared(click.Option):
    """An option that sets what is declared."""


class Choosing(click.Command):
    """A command that chooses one of a registry, and shows the settings of the chosen alone.

    Without a choice its help has what all of them let one set, and a line for each.
    """

    def __init__(self, *args: Any, chooser: str, room: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.chooser, self.room = chooser, room
        shared = [option for option in self.params if not isinstance(option, Declared)]
        taken = {"--help", "-h"}.union(*(option.opts for option in shared))
        for option in self.params:
            if isinstance(option, Declared) and taken.intersection(option.opts):
                raise TypeError(
                    f"{self.name}: a setting is called {option.name}, as an option that all share; "
                    "give it another name"
                )

    @property
    def entries(self) -> Sequence[Entry]:
        """What there is to choose from."""
        entries: Sequence[Entry] = import_module(f"starshade.{self.room}.registry").ENTRIES
        return entries

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Look for the choice first: help, which is answered at once, wants to know it."""
        for word, following in pairwise([*args, ""]):
            option, equals, value = word.partition("=")
            if option == self.chooser and (name := value if equals else following):
                ctx.meta[self.chooser] = find(self.entries, name, self.chooser.strip("-"))
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options that all share, then the chosen one's settings or what there is."""
        shared = [each for each in self.get_params(ctx) if not isinstance(each, Declared)]
        with formatter.section("Options"):
            formatter.write_dl([record for o in shared if (record := o.get_help_record(ctx))])
        beside = {option.name for option in shared}
        chosen = ctx.meta.get(self.chooser)
        told = self.entries if chosen is None else [chosen]
        first, *rest = (settings_of(each.declaration()) for each in told)
        common = [s for s in first if s.name not in beside and all(s in each for each in rest)]
        options = map(_told, common)
        records = [Declared(names, **how).get_help_record(ctx) for names, how in options]
        if records:
            with formatter.section(f"Settings of {chosen.name if chosen else 'all'}"):
                formatter.write_dl([record for record in records if record])
        if chosen:
            return
        with formatter.section(f"What there is ({self.chooser} NAME --help shows its settings)"):
            formatter.write_dl([(each.name, each.summary) for each in self.entries])


def declared_options(entries: Iterable[Entry], besides: Iterable[str] = ()) -> list[Any]:
    """Return an option for everything that these let one set; `besides` are there already.

    A setting of the same name in several is one option, which takes what any of them may.
    """
    found: dict[str, Setting] = {}
    for entry in entries:
        for setting in settings_of(entry.declaration()):
            before = found.get(setting.name, setting)
            if before.kind != setting.kind and {before.kind, setting.kind} != _NUMBERS:
                raise TypeError(
                    f"{entry.name}: its setting {setting.name} is a {setting.kind}, that of "
                    f"another one a {before.kind}; give it another name"
                )
            found[setting.name] = _joined(before, setting)
    kept = [setting for name, setting in found.items() if name not in set(besides)]
    return [click.option(*names, cls=Declared, **how) for names, how in map(_told, kept)]


def options_of(declaration: type, *only: str) -> list[Any]:
    """Return an option, of those that all share, for what a dataclass declares: all, or some."""
    kept = [setting for setting in settings_of(declaration) if setting.name in only or not only]
    return list(map(option_of, kept))


def option_of(setting: Setting) -> Callable[[Command], Command]:
    """Return the option that all share for one setting."""
    names, how = _told(setting)
    return click.option(*names, **how)


def _joined(one: Setting, other: Setting) -> Setting:
    """Take whole numbers for numbers, and every choice; each class refuses what it does not."""
    kind = one.kind if one.kind == other.kind else "number"
    return replace(one, kind=kind, choices=tuple(dict.fromkeys([*one.choices, *other.choices])))


def _told(setting: Setting) -> tuple[list[str], dict[str, Any]]:
    """Return what makes an option of a setting: how it is written, and what else there is."""
    told = setting.default_told
    several = setting.kind in ("texts", "places", "integers", "files") and not setting.commas
    said = f"{setting.help.removesuffix('.')}; repeatable." if several else setting.help
    how: dict[str, Any] = {"help": f"{said} [default: {told}]" if told else said}
    if setting.kind == "flag" and setting.optional and not setting.off:
        how |= {"is_flag": True, "default": None}
        return [f"{as_option(setting.name)}/{as_option(setting.name, False)}", setting.name], how
    if setting.kind == "flag":
        off = setting.default is not False
        how = {"is_flag": True, "flag_value": not off, "default": None, "type": bool}
        how["help"] = setting.off if off else setting.help
        return [as_option(setting.name, not off), setting.name], how
    if setting.kind == "choice":
        how["type"] = click.Choice(list(setting.choices))
    elif setting.kind in _TYPES:
        how["type"] = _TYPES[setting.kind]
    elif setting.commas:
        how["callback"] = lambda _context, _option, told: told and _apart(told)
    else:
        how |= {"type": int if setting.kind == "integers" else str, "multiple": True}
    if setting.kind == "files":
        how["callback"] = lambda _context, option, told: _pairs(option, setting, told)
    if setting.kind not in ("integer", "number", "choice"):
        how["metavar"] = setting.usual or "NAME"
    return [as_option(setting.name), setting.name], how


def _apart(told: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in told.split(",") if part.strip())


def _pairs(option: click.Option, setting: Setting, told: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    # a path may have the sign in it; where the value is a range, only the name may
    split = str.rpartition if ":" in setting.usual else str.partition
    for text in told:
        name, _, value = split(text, "=")
        if not name or not value:
            raise ConfigError(f"{option.opts[0]} {text}: expected {setting.usual}")
        if name in found:
            raise ConfigError(
                f"{option.opts[0]} {text}: this name is given twice", advice="Give it once."
            )
        found[name] = value
    return found
