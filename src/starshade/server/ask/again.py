"""What a job was asked for, as its form would have been filled in: to be changed and sent again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from starshade.server.ask.data import values_before
from starshade.server.ask.declared import name_of
from starshade.server.ask.release import ASKED, GROUPING, METHODS, PREDICTIVE_ITEMS
from starshade.server.jobs.rows import JobKind

__all__ = ["FORM_OF", "address", "field_of", "form_values"]

#: kind of job → its form
FORM_OF: Mapping[JobKind, str] = {
    "read": "mapping",
    "attack": "attack",
    "compare": "compare",
    "release": "release",
}


def address(
    data_id: int, kind: JobKind, values: Mapping[str, Any], *, failed: int | None = None
) -> str:
    """Return the address of a form that is filled in.

    A value of None leaves a field as it is offered; of the job that `failed` with them the form
    says why, and at which field.
    """
    form = FORM_OF[kind]
    given = {name: value for name, value in values.items() if value is not None}
    given |= {} if failed is None else {"failed": failed}
    return f"/data/{data_id}?{urlencode({'form': form, **given}, doseq=True)}#{form}"


def field_of(kind: JobKind, setting: str, settings: Mapping[str, Any]) -> str:
    """Return the name of the field that says a setting, in the form of a job of these settings.

    Examples
    --------
    >>> field_of("compare", "k", {}), field_of("release", "items", {"method": "predictive"})
    ('ks', 'items_predictive')
    """
    method = settings.get("method")
    if (kind, setting) == ("compare", "k"):
        return "ks"
    if (kind, setting, method) == ("release", "items", "predictive"):
        return PREDICTIVE_ITEMS
    if (kind, setting) == ("release", "l") and method in GROUPING:
        return "distinct"
    entry = next((e for e in METHODS if kind == "release" and e.name == method), None)
    if entry is None or setting not in entry.names or setting in ASKED[entry.name]:
        return setting
    return name_of(entry, setting, METHODS)


def form_values(kind: JobKind, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return what stands in the form of a job, by the job's settings."""
    if kind == "read":
        return dict(values_before(settings))
    values = {"attack": _attack, "compare": _compare, "release": _release}[kind](settings)
    values |= {name: settings.get(name) for name in ("targets", "seed")}
    return {name: _written(value) for name, value in values.items()}


def _attack(settings: Mapping[str, Any]) -> dict[str, Any]:
    knowledge = dict(settings.get("knowledge") or {})
    if not knowledge.pop("dates", True):
        knowledge["day_error"] = ""  # how they are known not to be known
    return {"attack": settings.get("attack"), **(settings.get("config") or {}), **knowledge}


def _compare(settings: Mapping[str, Any]) -> dict[str, Any]:
    names = ("methods", "eps", "profile", "known", "held_out")
    return {
        **{name: settings.get(name) for name in names},
        "ks": ", ".join(map(str, settings.get("ks") or ())),
        "items": _items(settings),
    }


def _release(settings: Mapping[str, Any]) -> dict[str, Any]:
    config = dict(settings.get("config") or {})
    if "sensitive" in config:
        config["sensitive"] = ", ".join(config["sensitive"])
    if config.get("biases") is False:
        config["biases"] = "no"  # not as if nothing was said
    return {
        "method": settings.get("method"),
        **{field_of("release", name, settings): value for name, value in config.items()},
        field_of("release", "items", settings): _items(settings),
        "known": ", ".join(map(str, settings.get("known") or ())),
        "held_out": settings.get("held_out"),
    }


def _items(settings: Mapping[str, Any]) -> str:
    return str(settings.get("items") or "").removeprefix("top:")


def _written(value: Any) -> Any:
    if isinstance(value, bool):
        return "yes" if value else ""
    return f"{value:.15g}" if isinstance(value, float) else value
