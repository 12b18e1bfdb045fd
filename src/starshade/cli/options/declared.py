"""Options made of what is declared (`starshade.setting`), and help on what was chosen alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import MISSING, replace
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import click

from starshade.cli.options.common import MOST, READ
from starshade.cli.options.help import CHOSEN, Completed, Explained, Named, common_options
from starshade.cli.options.spelling import as_option
from starshade.errors import ConfigError
from starshade.plain import split_list
from starshade.registry import Entry, find
from starshade.setting import Setting, is_plain, settings_of

if TYPE_CHECKING:
    _Type = click.ParamType[Any]
else:
    _Type = click.ParamType  # no generic before click 8.4

_NUMBERS = {"integer", "number"}
_FILES = {"file", "files", "releases"}
_SEVERAL = {"texts", "places", "integers", "numbers", "files", "releases"}
_TYPES: dict[str, _Type] = {
    "integer": click.INT,
    "integers": click.INT,
    "number": click.FLOAT,
    "numbers": click.FLOAT,
}


class Written(Completed):
    """What a text sets: a number is read, or refused as none; its class says what is allowed."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(None if setting.kind in _FILES else tuple)
        self.setting = setting
        self.plain = _TYPES.get(setting.kind, click.STRING)
        self.name = self.plain.name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read a text, of a list with commas each of its parts."""
        if not isinstance(value, str):
            return value
        try:
            if not self.setting.commas:
                return self._read(value)
            read = tuple(map(self._read, split_list(value)))
            return self.setting.checked(read)
        except click.BadParameter:
            meant = _meant(self.setting, ctx)
            option = as_option(meant.name)
            listed = f"Separate values by commas, e.g. {option} {meant.default_text}."
            found = f" {value}:" if value.strip() else ": empty;"
            raise ConfigError(
                f"{option}{found} must be {meant.allowed}",
                advice=listed if meant.commas else meant.advice,
                setting=meant.name,
            ) from None

    def _read(self, text: str) -> Any:
        if self.plain is not click.STRING and not is_plain(text):
            raise click.BadParameter(text)
        return self.plain.convert(text, None, None)


def _meant(setting: Setting, context: click.Context | None) -> Setting:
    """Return what the chosen one calls so; others may mean something else by the name."""
    chooser = getattr(context and context.command, "chooser", None)
    entry = context.meta.get(chooser) if context and chooser else None
    own = settings_of(entry.declaration()) if entry else ()
    return next((each for each in own if each.name == setting.name), setting)


class Declared(Named):
    """An option that sets what is declared."""


class Choosing(Explained):
    """A command that chooses one of a registry; with a choice its help has those settings alone.

    Without a choice ``--help-all`` has a line for each, and the settings of each.
    """

    def __init__(self, *args: Any, chooser: str, room: str, usual: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.chooser, self.room, self.usual = chooser, room, usual
        shared = [option for option in self.params if not isinstance(option, Declared)]
        taken = {"--help", "-h"}.union(*(option.opts for option in shared))
        for option in self.params:
            if chooser in option.opts:
                option.type = Completed(lambda: (entry.name for entry in self.entries))
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
        """Write settings, the options that all share and, of all options, what may be chosen."""
        shared = [each for each in self.get_params(ctx) if not isinstance(each, Declared)]
        taken = {option.name for option in shared}
        own = {
            entry: [s for s in settings_of(entry.declaration()) if s.name not in taken]
            for entry in self.entries
        }
        if chosen := ctx.meta.get(self.chooser):
            self._write_settings(ctx, formatter, chosen.name, own[chosen])
            if self.shortened(ctx):
                shared = self._fewest(ctx, shared, MOST - len(own[chosen]))
        elif self.shortened(ctx):
            usual = own[find(self.entries, self.usual, "choice")]
            common = [s for s in usual if s.name in common_options(ctx)]
            self._write_settings(ctx, formatter, f"{self.usual} (default)", common)
        self.format_grouped(ctx, formatter, shared)
        if chosen or self.shortened(ctx):
            return
        with formatter.section(f"Choices of {self.chooser} ({self.chooser} NAME --help: one)"):
            formatter.write_dl([(each.name, each.summary) for each in self.entries])
        first, *rest = own.values()
        common = [each for each in first if all(each in others for others in rest)]
        self._write_settings(ctx, formatter, "all", common)
        for entry, settings in own.items():
            self._write_settings(
                ctx, formatter, entry.name, [s for s in settings if s not in common]
            )

    def _fewest(
        self, ctx: click.Context, shared: list[click.Parameter], most: int
    ) -> list[click.Parameter]:
        """Return the common options that have room next to the settings; reading goes first."""
        names = common_options(ctx)
        common = sorted((p for p in shared if p.name in names), key=lambda p: p.name in READ)
        helps = [p for p in shared if "--help" in p.opts]
        return [p for p in shared if p in common[: max(0, most - len(helps))] or p in helps]

    def _write_settings(
        self,
        ctx: click.Context,
        formatter: click.HelpFormatter,
        of: str,
        settings: Iterable[Setting],
    ) -> None:
        options = [Declared(names, **how) for names, how in map(_option, settings)]
        records = [record for each in options if (record := each.get_help_record(ctx))]
        if records:
            with formatter.section(f"{CHOSEN} of {of}"):
                formatter.write_dl(records)


def declared_options(entries: Iterable[Entry], besides: Iterable[str] = ()) -> list[Any]:
    """Return an option for everything that these let one set; `besides` are there already.

    A setting of the same name in several is one option, which takes what any of them may.
    """
    by_name: dict[str, Setting] = {}
    for entry in entries:
        for setting in settings_of(entry.declaration()):
            before = by_name.get(setting.name, setting)
            if before.kind != setting.kind and {before.kind, setting.kind} != _NUMBERS:
                raise TypeError(
                    f"{entry.name}: its setting {setting.name} is a {setting.kind}, that of "
                    f"another one a {before.kind}; give it another name"
                )
            by_name[setting.name] = _joined(before, setting)
    kept = [setting for name, setting in by_name.items() if name not in set(besides)]
    return [click.option(*names, cls=Declared, **how) for names, how in map(_option, kept)]


def options_of(declaration: type, *only: str, **otherwise: Any) -> list[Any]:
    """Return an option, of those that all share, for what a dataclass declares: all, or some.

    `otherwise` as `Setting` names it.
    """
    declared = settings_of(declaration)
    kept = [replace(each, **otherwise) for each in declared if each.name in only or not only]
    return [click.option(*names, cls=Named, **how) for names, how in map(_option, kept)]


def _joined(one: Setting, other: Setting) -> Setting:
    """Take whole numbers for numbers, and every choice; each class refuses what it does not."""
    kind = one.kind if one.kind == other.kind else "number"
    choices = tuple(dict.fromkeys([*one.choices, *other.choices]))
    apart: dict[str, Any] = {} if one.bounds == other.bounds else {"least": None, "most": None}
    advice = one.advice if one.advice == other.advice else ""
    return replace(one, kind=kind, choices=choices, advice=advice, **apart)


def option_of(setting: Setting) -> str:
    """Return how an option is written: one of a flag that is on turns it off."""
    on = setting.kind != "flag" or setting.default is False or _both(setting)
    return as_option(setting.name, on)


def _both(setting: Setting) -> bool:
    """Whether a flag may be turned on and off: it is found out where nothing is set."""
    return setting.kind == "flag" and setting.optional and not setting.off


def _option(setting: Setting) -> tuple[list[str], dict[str, Any]]:
    names = [option_of(setting), setting.name]
    formerly = as_option(setting.formerly) if setting.formerly else ""
    if _both(setting):
        names[0] += f"/{as_option(setting.name, False)}"
        text = _help(setting, several=False)
        return names, {"is_flag": True, "default": None, "help": text, "formerly": formerly}
    if setting.kind == "flag":
        off = setting.default is not False
        text = (setting.off if off else setting.help).removesuffix(".")
        return names, {
            "is_flag": True, "flag_value": not off, "default": None, "type": bool, "help": text,
            "formerly": formerly,
        }  # fmt: skip
    several = setting.kind in _SEVERAL and not setting.commas
    how: dict[str, Any] = {
        "help": _help(setting, several), "type": Written(setting), "formerly": formerly
    }  # fmt: skip
    if setting.kind == "choice":
        how["type"] = click.Choice(list(setting.choices))
    if several:
        how["multiple"] = True
    if setting.kind == "files":
        how["callback"] = lambda _context, option, text: _pairs(option, setting, text)
    if setting.kind not in ("integer", "number", "choice"):
        how["metavar"] = (setting.usual or "NAME") + (",…" if setting.commas else "")
    return names, how


def _help(setting: Setting, several: bool) -> str:
    text = setting.help.removesuffix(".") + "; repeatable" * several
    else_ = setting.default_text and f"default: {setting.default_text}"
    if setting.default is MISSING:
        else_ = "required"
    return " ".join([text, *(f"[{each}]" for each in (else_, setting.bounds) if each)])


def _pairs(option: click.Option, setting: Setting, texts: Sequence[str]) -> dict[str, str]:
    pairs: dict[str, str] = {}
    # a path may have the sign in it; where the value is a range, only the name may
    split = str.rpartition if ":" in setting.usual else str.partition
    for text in texts:
        name, _, value = split(text, "=")
        if not name or not value:
            raise ConfigError(f"{option.opts[0]} {text}: expected {setting.usual}")
        if name in pairs:
            raise ConfigError(
                f"{option.opts[0]} {text}: the same name is given twice", advice="Give it once."
            )
        pairs[name] = value
    return pairs
