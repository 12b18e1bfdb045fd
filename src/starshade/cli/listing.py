"""``starshade list``."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

from starshade.cli.running.run import Run, running
from starshade.cli.show import columns

__all__ = ["listing"]

_ROOMS = {
    "attacks": "starshade.attack.registry",
    "models": "starshade.privacy.registry",
    "methods": "starshade.anonymize.registry",
    "measures": "starshade.utility.registry",
}


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
    from starshade.setting import json_schema, settings_of

    declared = {
        room: {entry.name: entry.declaration() for entry in import_module(module).ENTRIES}
        for room, module in _ROOMS.items()
    }
    rows = [
        (name, setting.name, setting.default_told, setting.allowed, setting.help)
        for room in declared.values()
        for name, declaration in room.items()
        for setting in settings_of(declaration)
    ]
    schemas = {
        room: {name: json_schema(declaration) for name, declaration in of.items()}
        for room, of in declared.items()
    }
    run.emit(
        {"settings": schemas},
        lambda: columns(("of", "setting", "default", "allowed", "meaning"), rows, align="left"),
    )


def _summary(entries: list[dict[str, str]]) -> Any:
    return columns(
        ("name", "what it does", "source"),
        [(entry["name"], entry["summary"], entry["source"]) for entry in entries],
        align="left",
    )
