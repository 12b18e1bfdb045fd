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
@click.argument("kind", type=click.Choice(list(_ROOMS)))
@running()
def listing(kind: str, run: Run) -> None:
    """Show what there is: attacks, privacy models, methods or measures."""
    entries = [entry.to_dict() for entry in import_module(_ROOMS[kind]).ENTRIES]
    run.emit({kind: entries}, lambda: _summary(entries))


def _summary(entries: list[dict[str, str]]) -> Any:
    return columns(
        ("name", "what it does", "source"),
        [(entry["name"], entry["summary"], entry["source"]) for entry in entries],
        align="left",
    )
