"""Options made of what is declared (`starshade.setting`), and help on what was chosen alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any

import click

from starshade.registry import Entry
from starshade.setting import Setting, settings_of

__all__ = ["Choosing", "declared_options"]

_TYPES = {"integer": int, "number": float, "text": str}


class Declared(click.Option):
    """An option that sets what is declared."""


class Choosing(click.Command):
    """A command that chooses one of a registry, and shows the settings of the chosen alone.

    Without a choice its help has a line for each, and the settings of none.
    """

    def __init__(self, *args: Any, chooser: str, room: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.chooser, self.room = chooser, room

    @property
    def entries(self) -> Sequence[Entry]:
        """What there is to choose from."""
        entries: Sequence[Entry] = import_module(f"starshade.{self.room}.registry").ENTRIES
        return entries

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Look for the choice first: help, which is answered at once, wants to know it."""
        for word, following in zip(args, [*args[1:], ""], strict=True):
            option, equals, value = word.partition("=")
            if option == self.chooser:
                ctx.meta[self.chooser] = value if equals else following
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options that all share, then the chosen one's settings or what there is."""
        options = [each for each in self.get_params(ctx) if isinstance(each, click.Option)]
        shared = [each for each in options if not isinstance(each, Declared)]
        with formatter.section("Options"):
            formatter.write_dl([record for o in shared if (record := o.get_help_record(ctx))])
        chosen = [each for each in self.entries if each.name == ctx.meta.get(self.chooser)]
        if chosen:
            own = {str(o.name): o.get_help_record(ctx) for o in options if isinstance(o, Declared)}
            records = [own.get(s.name) for s in settings_of(chosen[0].declaration())]
            with formatter.section(f"Settings of {chosen[0].name}"):
                formatter.write_dl([record for record in records if record])
            return
        with formatter.section(f"What there is ({self.chooser} NAME --help shows its settings)"):
            formatter.write_dl([(each.name, each.summary) for each in self.entries])


def declared_options(entries: Iterable[Entry], besides: Iterable[str] = ()) -> list[Any]:
    """Return an option for everything that these let one set; `besides` are there already.

    A setting of the same name in several is one option; its help is that of the first.
    """
    found: dict[str, Setting] = {}
    for entry in entries:
        for setting in settings_of(entry.declaration()):
            found.setdefault(setting.name, setting)
    return [_option(setting) for name, setting in found.items() if name not in set(besides)]


def _option(setting: Setting) -> Any:
    name = setting.name.replace("_", "-")
    told = "" if setting.kind == "flag" else setting.default_told
    said = f"{setting.help} [default: {told}]" if told else setting.help
    how: dict[str, Any] = {"cls": Declared, "help": said}
    if setting.kind == "flag":
        how["is_flag"] = True
        if setting.default is True:
            return click.option(f"--no-{name}", setting.name, flag_value=False, default=True, **how)
    elif setting.kind == "choice":
        how["type"] = click.Choice(list(setting.choices))
    elif setting.kind in ("texts", "places"):
        how |= {"multiple": True, "metavar": "NAME"}
        how["help"] = how["help"].removesuffix(".") + "; repeatable."
    else:
        how["type"] = _TYPES[setting.kind]
    return click.option(f"--{name}", setting.name, **how)
