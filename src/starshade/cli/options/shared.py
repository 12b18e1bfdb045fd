"""Options that several commands share."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from starshade.cli.options.declared import options_of
from starshade.cli.options.help import OWN, READING, grouped
from starshade.cli.options.project import of_project, without_its_columns
from starshade.cli.options.spelling import as_option, words_of
from starshade.errors import ConfigError, OutputError
from starshade.plain import join_list
from starshade.ratings.readers.addresses.address import hidden, is_table
from starshade.ratings.settings import ReadingSettings
from starshade.registry import Entry
from starshade.setting import settable, settings_of

if TYPE_CHECKING:
    from starshade.ratings.places.place import Place, Where
    from starshade.ratings.select import ItemSelection
    from starshade.ratings.table import Ratings
    from starshade.release.manifest import Claim


@dataclass(frozen=True)
class Reading(ReadingSettings):
    """How ratings are to be read: what the reading options said."""

    items: str | None = settable(
        "Items",
        "The N most rated items, or a file of item ids.",
        default=None,
        kind="file",
        usual="top:N|FILE",
    )

    @classmethod
    def of(cls, **options: Any) -> Reading:
        """Take what options said; nothing is said where one was not given."""
        options = without_its_columns(options)
        return cls(**{name: value for name, value in options.items() if value not in (None, ())})

    def arguments(self) -> list[str]:
        """Return the options that say the same to another command, but for the items.

        A statement may name people: QUERY stands for it.
        """
        options: list[str] = []
        for setting in settings_of(ReadingSettings):
            value = getattr(self, setting.name)
            if value == setting.default:
                continue
            if setting.name == "query" and not is_table(value):
                value = "QUERY"
            if setting.kind == "flag":
                options.append(as_option(setting.name, value))
            else:
                joined = join_list(value) if setting.commas else value
                options += words_of(as_option(setting.name), joined)
        return options

    def selection(self) -> ItemSelection | None:
        """Return the selected items; None: all."""
        from starshade.ratings.select import parse_items

        return None if self.items is None else parse_items(self.items, show_values=self.show_values)

    def settings(self) -> dict[str, Any]:
        """Return what `read_ratings` is to be told."""
        return {each.name: getattr(self, each.name) for each in settings_of(ReadingSettings)}

    def read(self, source: str, *, dates: bool = True, select: bool = True) -> Ratings:
        """Read `source`, with its dates; `select` keeps only the selected items."""
        if is_release(source):
            raise ConfigError(
                f"{hidden(source)}: is a release; ratings are required",
                advice="Give the original ratings of the release.",
            )
        from starshade.ratings.read import read_ratings

        items = self.selection() if select else None  # a bad list is refused before the long work
        ratings = read_ratings(source, **self.settings() | {"dates": dates and self.dates})
        return ratings if items is None else items.apply(ratings, show_values=self.show_values)

    def refuse_for_release(self, release: str) -> None:
        """Refuse reading options where a release is read, which says all that itself."""
        own = {setting.name for setting in settings_of(Reading)} - {"dates"}
        if given() & own:
            raise ConfigError(
                f"{release}: is a release; options for reading ratings do not apply",
                advice="Omit them: a release defines its scale, items and columns.",
            )


def is_release(source: str) -> bool:
    """Tell whether a path is a folder that says that it is a release."""
    return (Path(source) / "release.json").is_file()


def reading(*, items: bool = True, dates: bool = False) -> Callable[[Command], Command]:
    """Give a command the reading options (with --items, --no-dates) and pass it ``reading``."""
    left = {*([] if items else ["items"]), *([] if dates else ["dates"])}
    names = [setting.name for setting in settings_of(Reading) if setting.name not in left]
    return functools.partial(
        gathered,
        options=options_of(Reading, *names),
        name="reading",
        kind=Reading.of,
        title=READING,
    )


def ensure_free(out: Where, *, option: str = "--out", resumed: bool = False) -> Place:
    """Refuse a place for output that is taken or cannot be written to, before the long work.

    `resumed`: a run that is gone on with may have made it; whoever goes on with it finds out.
    """
    from starshade.ratings.places.atomic import vacant
    from starshade.ratings.places.place import Place

    try:
        return Place.of(out) if resumed else vacant(out)
    except OutputError as error:
        raise OutputError(f"{option} {error.message}", advice=error.advice) from error


Command = Callable[..., Any]


def gathered(
    command: Command,
    options: list[Any],
    name: str,
    kind: Callable[..., Any] = dict,
    title: str = OWN,
) -> Command:
    """Give a command some options and pass it all their values as one argument, `name`.

    `title`: under which its help has them.
    """
    probe: Any = functools.reduce(lambda f, option: option(f), options, lambda: None)
    names = [parameter.name for parameter in probe.__click_params__]

    @functools.wraps(command)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        chosen = kind(**{each: kwargs.pop(each) for each in names})
        return command(*args, **{name: chosen}, **kwargs)

    return grouped(title, *options)(wrapper)


def given() -> set[str]:
    """Return the names of the parameters that stood on the command line."""
    context = click.get_current_context()
    names = context.params
    source = context.get_parameter_source
    return {name for name in names if source(name) is ParameterSource.COMMANDLINE}


def said(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of the values that stood on the command line, or in the project file."""
    names = given() | of_project(click.get_current_context())
    return {name: values[name] for name in names & values.keys()}


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
    for key in list(values):
        if key not in own and key not in given():
            del values[key]  # of the method that the project file chose
        elif key not in own:
            has = ", ".join(option(each) for each in sorted(own) if each in settings)
            raise ConfigError(
                f"{option(key)}: {name} has no such setting",
                advice=f"Omit it; settings of {name}: {has}." if has else "Omit it.",
            )
    values = {**(also or {}), **values}
    lacking = [s for s in own.values() if s.default is MISSING and s.name not in values]
    if lacking:
        missing = [option(setting.name) for setting in lacking]
        usual = " ".join(f"{option(s.name)} {s.usual or 'VALUE'}" for s in lacking)
        help_ = f"`{_chosen(entry)} --help` explains each setting"
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
        raise ConfigError(f"{named}: not applicable {what}", advice=advice)


def models_to_check(
    claims: tuple[Claim, ...], model: str | None, parameters: dict[str, Any]
) -> list[Any]:
    """Make the models to check: the one that is named, or all that a release claims.

    What the command line leaves open is as claimed. Where several models are checked, a
    parameter is for those that have it. Ratings have no claims: their model is k-anonymity
    unless another one is named.
    """
    from starshade.privacy.registry import ENTRIES
    from starshade.registry import find

    chosen = [claim for claim in claims if model in (None, claim.model)]
    if "attribute" in given():
        own = parameters["attribute"]
        chosen = [claim for claim in chosen if claim.parameters.get("attribute", own) == own]
    if len(chosen) < 2:
        claimed = dict(chosen[0].parameters) if chosen else {}
        name = model or (chosen[0].model if chosen else "k-anonymity")
        entry = find(ENTRIES, name, "model")
        named = [k for claim in claims if (k := claim.parameters.get("k")) is not None]
        if not chosen and named and "k" in entry.names:
            claimed["k"] = max(named)  # of another model
        return [configured(entry, f"the model {name}", parameters, also=claimed)]
    entries = [find(ENTRIES, claim.model, "model") for claim in chosen]
    for useless in given() & parameters.keys() - set().union(*(e.names for e in entries)):
        names = ", ".join(dict.fromkeys(claim.model for claim in chosen))
        raise ConfigError(
            f"{option(useless)}: no claimed model has such a setting",
            advice=f"Omit it, or choose a model with --model; claimed models: {names}.",
        )
    return [
        configured(
            entry,
            f"the model {claim.model}",
            {key: value for key, value in parameters.items() if key in entry.names},
            also=dict(claim.parameters),
        )
        for entry, claim in zip(entries, chosen, strict=True)
    ]


def to_options(parameters: dict[str, Any]) -> list[str]:
    """Return the options that say these parameters to another command."""
    return [word for name, value in parameters.items() for word in words_of(f"--{name}", value)]
