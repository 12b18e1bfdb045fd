"""What a project file says, as the defaults of every command that is asked the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import click
from click.core import ParameterSource

from starshade.cli.options.help import Explained
from starshade.ratings.settings import ReadingSettings
from starshade.setting import settings_of

#: which sections a command takes besides the data's; those not named take no project file
_TAKES: Mapping[str, tuple[str, ...]] = {
    "data": (),
    "attack": (),
    "check": (),
    "anonymize": ("release",),
    "measure": (),
    "audit": ("audit",),
    "report": ("audit",),
    "compare": (),
}
#: those that choose items as the release does
_CHOOSES = {"attack", "anonymize", "check", "compare"}
#: those that take a release in place of ratings
_OF_DATA = {"attack", "check"}


class Defaults(Mapping[str, Any]):
    """A click `default_map`, read when it is first asked: help is there without.

    `command`: the one whose defaults these are; empty: the outermost, which has them by command.
    """

    def __init__(self, command: str = "") -> None:
        self.command = command

    @cached_property
    def _values(self) -> dict[str, Any]:
        from starshade.project.file import NAME, read_project

        project = read_project() if self.command in _TAKES else None
        if project is None:
            return {}
        values = dict(project.data)
        if self.command in _OF_DATA:
            values["data"] = values.pop("ratings", None)
        if "items" in project.release and self.command in _CHOOSES:
            values["items"] = project.release["items"]
        if self.command == "report" and (project.context or project.accepted):
            values["context"] = NAME
        for section in _TAKES[self.command]:
            values |= getattr(project, section)
        return {name: _as_option(value) for name, value in values.items() if value is not None}

    def __getitem__(self, name: str) -> Any:
        if not self.command:
            return Defaults(name)
        own = self._values
        return self if name not in own and self.command == "data" else own[name]

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return 1  # click takes what is empty for none


def _as_option(value: Any) -> Any:
    """Write a mapping as its option repeats it."""
    return [f"{k}={v}" for k, v in value.items()] if isinstance(value, dict) else value


def of_project(context: click.Context) -> set[str]:
    """Return the names of the parameters of a command that the project file has set.

    How its ratings are read, and what is stated on them, is no matter of other ratings.
    """
    source = context.get_parameter_source
    taken = {name for name in context.params if source(name) is ParameterSource.DEFAULT_MAP}
    its = context.lookup_default("ratings") or context.lookup_default("data")
    chosen = context.params.get("ratings"), context.params.get("data")
    how = {setting.name for setting in settings_of(ReadingSettings)} | {"items", "context"}
    return taken if its in chosen else taken - how


class OfRatings(Explained):
    """A command on ratings and something made of them, alone where the project says the ratings."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse; if one place too few is given, take the project's ratings for the first."""
        try:
            return super().parse_args(ctx, list(args))
        except click.MissingParameter as error:
            ratings = ctx.lookup_default("ratings")
            if ratings is None or getattr(error.param, "name", "") != "release":
                raise
            ctx.params.clear()
            return super().parse_args(ctx, [ratings, *args])


def without_its_columns(values: dict[str, Any]) -> dict[str, Any]:
    """Leave out what the project file says of how its ratings are read, if these are others."""
    context = click.get_current_context(silent=True)
    if context is None:
        return values
    source, taken = context.get_parameter_source, of_project(context)
    return {
        name: value
        for name, value in values.items()
        if name in taken or source(name) is not ParameterSource.DEFAULT_MAP
    }
