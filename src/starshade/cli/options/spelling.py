"""How a setting is written on the command line."""

from __future__ import annotations

import re
from typing import Any

import click

from starshade.audit.compare.settings import CompareSettings
from starshade.naming import Value
from starshade.plain import join_list
from starshade.ratings.settings import ReadingSettings
from starshade.setting import is_plain, settings_of

#: options that are not called as the setting is
_CALLED = {
    "attribute_hierarchies": "--attribute",
    "aux.aux_col": "--aux-map-from",
    "aux.data_col": "--aux-map-to",
    "aux.day_col": "--aux-date-col",
    "aux.mapping": "--aux-items",
    "null_values": "--null",
    "original.items": "--items",
    "out.format": "--to",
    "quasi_identifiers": "--quasi",
    "sensitive_attributes": "--sensitive-attribute",
    "step": "--profile-step",
}
_SAFE = re.compile(r"[A-Z0-9,]+")
#: other lists are given by repeating the option
_WITH_COMMAS = {
    setting.name
    for declaration in (CompareSettings, ReadingSettings)
    for setting in settings_of(declaration)
    if setting.commas
}


def as_option(setting: str, value: Value = None) -> str:
    """Write a setting, with a value if one is given, as `starshade.naming.named` asks for it.

    Examples
    --------
    >>> as_option("on_duplicate"), as_option("null_values", ["98", "99"])
    ('--on-duplicate', '--null 98 --null 99')
    >>> as_option("items", "top:50"), as_option("full", True), as_option("dates", False)
    ('--items top:50', '--full', '--no-dates')
    """
    dashed = setting.replace(".", "-").replace("_", "-")
    if value is False:
        return f"--no-{dashed}"
    option = _CALLED.get(setting, f"--{dashed}")
    if value is None or value is True:
        return option
    if isinstance(value, list | tuple):
        if setting not in _WITH_COMMAS:
            return " ".join(f"{option} {each}" for each in value)
        joined = join_list(value)
        in_shell = "'" + joined.replace("'", "'\"'\"'") + "'"
        return f"{option} {joined if _SAFE.fullmatch(joined) else in_shell}"
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return f"{option} '{text}'" if text == "#" else f"{option} {text}"


class Whole(click.IntRange):
    """A whole number within bounds."""

    name = "integer"

    def _describe_range(self) -> str:
        """Write the bounds for help, as those of settings are written."""
        if self.min is None or self.max is None or self.max >= 2**63 - 1:
            return "" if self.min is None else f"{self.min:,} or more"
        return f"{self.min:,} to {self.max:,}"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read a text."""
        if isinstance(value, str) and not is_plain(value):
            self.fail(f"{value!r} is not a whole number in plain digits", param, ctx)
        return super().convert(value, param, ctx)


def words_of(option: str, value: object) -> list[str]:
    """Return the words of a command that give an option a value, or each of several."""
    several = value if isinstance(value, list | tuple) else [value]
    texts = [f"{one:g}" if isinstance(one, float) else str(one) for one in several]
    # what begins with a dash would be taken for an option
    pairs = ([f"{option}={text}"] if text.startswith("-") else [option, text] for text in texts)
    return [word for words in pairs for word in words]
