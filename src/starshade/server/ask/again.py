"""What a job was asked for, as its form would have been filled in: to be changed and sent again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from starshade.server.ask.data import said_before
from starshade.server.ask.release import GROUPING, PREDICTIVE_ITEMS
from starshade.server.jobs.rows import JobKind

__all__ = ["address", "said"]

_FORMS = {"read": "mapping", "attack": "attack", "compare": "compare", "release": "release"}


def address(data_id: int, kind: JobKind, told: Mapping[str, Any]) -> str:
    """Return the address of a form that is filled in.

    Parameters
    ----------
    data_id : int
    kind : {"read", "attack", "compare", "release"}
    told : mapping
        What stands in its fields; None leaves one as it is offered.
    """
    form = _FORMS[kind]
    given = {name: value for name, value in told.items() if value is not None}
    return f"/data/{data_id}?{urlencode({'form': form, **given}, doseq=True)}#{form}"


def said(kind: JobKind, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the form of a job said, from the job's settings."""
    if kind == "read":
        return dict(said_before(settings))
    if kind == "attack":
        told = _attack(settings)
    else:
        told = _compare(settings) if kind == "compare" else _release(settings)
    told |= {name: settings.get(name) for name in ("targets", "seed")}
    return {name: _written(value) for name, value in told.items()}


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
    method, config = settings.get("method"), dict(settings.get("config") or {})
    if method in GROUPING and "l" in config:
        config["distinct"] = config.pop("l")
    if "sensitive" in config:
        config["sensitive"] = ", ".join(config["sensitive"])
    return {
        "method": method,
        **config,
        PREDICTIVE_ITEMS if method == "predictive" else "items": _items(settings),
        "known": ", ".join(map(str, settings.get("known") or ())),
        "held_out": settings.get("held_out"),
    }


def _items(settings: Mapping[str, Any]) -> str:
    return str(settings.get("items") or "").removeprefix("top:")


def _written(value: Any) -> Any:
    if isinstance(value, bool):
        return "yes" if value else ""
    return f"{value:.15g}" if isinstance(value, float) else value
