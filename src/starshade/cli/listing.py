"""``starshade list``."""

from __future__ import annotations

from dataclasses import MISSING
from importlib import import_module
from typing import Any

import click

from starshade.cli.options.declared import option_of
from starshade.cli.running.run import Run, running
from starshade.cli.show import columns, page
from starshade.setting import Setting

__all__ = ["listing"]

_ROOMS = {
    "attacks": "starshade.attack.registry",
    "models": "starshade.privacy.registry",
    "methods": "starshade.anonymize.registry",
    "measures": "starshade.utility.registry",
}
_WITHOUT_OPTIONS = {"measures"}


@click.command(name="list")
@click.argument("kind", type=click.Choice([*_ROOMS, "settings"]))
@running()
def listing(kind: str, run: Run) -> None:
    """Show what there is: attacks, privacy models, methods, measures, or what can be set.

    With --json the settings of each are a JSON Schema.
    """
    if kind == "settings":
        _list_settings(run)
        return
    entries = [entry.to_dict() for entry in import_module(_ROOMS[kind]).ENTRIES]
    run.emit({kind: entries}, lambda: _summary(entries))


def _list_settings(run: Run) -> None:
    from starshade.schema import json_schema
    from starshade.setting import settings_of

    entries = {room: import_module(module).ENTRIES for room, module in _ROOMS.items()}
    schemas = {
        room: {entry.name: json_schema(entry.declaration()) for entry in of}
        for room, of in entries.items()
    }
    tables = [
        columns(
            ("setting", "default", "allowed", "meaning"),
            [_row(setting, options=room not in _WITHOUT_OPTIONS) for setting in settings],
            title=entry.name,
            align="left",
            names=True,
        )
        for room, of in entries.items()
        for entry in of
        if (settings := settings_of(entry.declaration()))
    ]
    run.emit({"settings": schemas}, lambda: page(*tables))


def _row(setting: Setting, *, options: bool) -> tuple[str, ...]:
    """Write a setting as Python spells it, and below as the command line does."""
    names = f"{setting.name}\n{option_of(setting)}" if options else setting.name
    default = "required" if setting.default is MISSING else setting.default_text
    return names, default, setting.allowed, setting.help


def _summary(entries: list[dict[str, str]]) -> Any:
    return columns(
        ("name", "what it does", "source"),
        [(entry["name"], entry["summary"], entry["source"]) for entry in entries],
        align="left",
        names=True,
    )
