"""Fields of a form made of what is declared (`starshade.setting`)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import MISSING, replace
from functools import cache
from typing import Any

from starshade.registry import Entry
from starshade.server.context.forms import Choice
from starshade.server.forms import Setting
from starshade.setting import Setting as Declared
from starshade.setting import setting_of, settings_of

__all__ = ["config_of", "field_from", "having", "name_of", "others"]

_KINDS: Mapping[str, Any] = {
    "integer": "integer",
    "number": "number",
    "flag": "yes-no",
    "choice": "choice",
    "text": "text",
}
_REQUIRED = ("integer", "number", "choice", "integers")
_YES_NO = {"yes": True, "no": False}


def having(entries: Sequence[Entry], *settings: str) -> tuple[str, ...]:
    """Return the names of those that let one set all of these."""
    return tuple(entry.name for entry in entries if entry.names.issuperset(settings))


def field_from(declaration: type, name: str, **otherwise: Any) -> Setting:
    """Make a field of one setting of a declaration; `otherwise` as `Setting` names it."""
    return replace(_field(setting_of(declaration, name)), **otherwise)


def others(entries: Sequence[Entry], besides: Mapping[str, Collection[str]]) -> tuple[Setting, ...]:
    """Make a field for everything that can be set of these and has none of its own.

    `besides`: by the name of the entry, the settings that are set in another way.
    """
    having: dict[str, list[Entry]] = {}
    made: dict[str, Setting] = {}
    for entry in entries:
        for declared in settings_of(entry.declaration()):
            if declared.name in besides[entry.name] or declared.kind not in _KINDS:
                continue
            name = name_of(entry, declared.name, entries)
            having.setdefault(name, []).append(entry)
            made[name] = replace(_field(declared), name=name, more=True, required=False)
    return tuple(
        replace(field, only_for=tuple(entry.name for entry in having[name]))
        for name, field in made.items()
    )


@cache
def name_of(entry: Entry, setting: str, entries: Sequence[Entry]) -> str:
    """Return what the field of a setting is called: as the setting, where all mean the same by it.

    Examples
    --------
    >>> from starshade.anonymize.registry import ENTRIES
    >>> from starshade.registry import find
    >>> predictive = find(ENTRIES, "predictive", "method")
    >>> name_of(predictive, "factors", ENTRIES), name_of(predictive, "l", ENTRIES)
    ('factors', 'l_predictive')
    """
    meant = {
        declared
        for each in entries
        for declared in settings_of(each.declaration())
        if declared.name == setting
    }
    return setting if len(meant) == 1 else f"{setting}_{entry.name.replace('-', '_')}"


def config_of(
    entry: Entry, entries: Sequence[Entry], besides: Collection[str], values: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what was said in the fields of `others`, but for what is so anyway."""
    config = {}
    for declared in settings_of(entry.declaration()):
        if declared.name not in besides:
            value = values.get(name_of(entry, declared.name, entries))
            value = _YES_NO.get(str(value), value) if declared.kind == "flag" else value
            if value is not None and value != declared.default:
                config[declared.name] = value
    return config


def _field(declared: Declared) -> Setting:
    default = "" if declared.default in (MISSING, None) else declared.default
    if isinstance(default, tuple):
        default = ", ".join(map(str, default))
    if isinstance(default, bool):
        default = "yes" if default else ""
    otherwise = declared.default_text if declared.default is None and not declared.choices else ""
    return Setting(
        declared.name,
        declared.label,
        f"{declared.help} Else: {otherwise}." if otherwise else declared.help,
        _kind(declared),
        f"{default:.15g}" if isinstance(default, int | float) else str(default),
        choices=_choices(declared),
        least=declared.least,
        most=declared.most,
        above=declared.above,
        below=declared.below,
        allowed=f"Give whole numbers with commas between, for example {default}."
        if declared.kind == "integers"
        else "Type something.",
        required=not declared.optional and declared.kind in _REQUIRED,
    )


def _kind(declared: Declared) -> Any:
    if declared.optional and declared.kind == "flag":
        return "choice"
    return _KINDS.get(declared.kind, "text")


def _choices(declared: Declared) -> tuple[Choice, ...]:
    offered = declared.choices
    if declared.optional and declared.kind == "flag":
        offered = tuple(_YES_NO)
    left = (Choice("", declared.unset or "as is usual"),) if declared.optional and offered else ()
    return (*left, *(Choice(choice, choice) for choice in offered))
