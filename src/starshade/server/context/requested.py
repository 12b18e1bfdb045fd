"""The settings of a job, in the words of its form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from starshade.plain import counted
from starshade.server.ask.data import SYNTHETIC
from starshade.server.ask.labels import settings_of
from starshade.server.context.parts import Figure
from starshade.server.jobs.rows import JobKind

__all__ = ["requested"]

#: what a form says by another field
_LABELS = {setting.name: setting.label for setting in SYNTHETIC.settings({})}
_LABELS |= {"dates": "The attacker knows dates"}
_HIDDEN = (None, False, "", 0, 0.0)


def requested(kind: JobKind, settings: Mapping[str, Any]) -> tuple[Figure, ...]:
    """Return what was set; what was left alone is left out."""
    return tuple(
        Figure(_label(kind, name), _written(kind, name, value))
        for name, value in _flat(settings)
        if value not in _HIDDEN and value != []
    )


def _flat(settings: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Return what is set; without what has no meaning beside the rest."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flat(value)
        elif name == "wrong_kind" and not settings.get("wrong"):
            continue
        elif name == "l" and settings.get("attributes"):  # of attributes: the form's other field
            yield "distinct", value
        else:
            yield name, value


def _label(kind: JobKind, name: str) -> str:
    setting = settings_of(kind).get(name)
    return setting.label if setting else _LABELS.get(name, name.replace("_", " ").capitalize())


def _written(kind: JobKind, name: str, value: Any) -> str:
    if value is True:
        return "yes"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    if name == "items" and isinstance(value, str) and value.startswith("top:"):
        return f"the {counted(int(value[4:]), 'most rated item')}"
    if name == "day_error":
        return counted(int(value), "day")
    setting = settings_of(kind).get(name)
    words = {choice.value: choice.label for choice in setting.choices} if setting else {}
    return words.get(str(value)) or (f"{value:g}" if isinstance(value, float) else str(value))
