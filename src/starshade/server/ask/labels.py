"""Names of settings on the pages of jobs: the labels of their fields."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Any
from urllib.parse import urlencode

from starshade.naming import Speller, Value
from starshade.server.ask.asking import Asking, name_of
from starshade.server.ask.attack import ATTACK
from starshade.server.ask.compare import COMPARE
from starshade.server.ask.data import MAPPING, values_before
from starshade.server.ask.release import ASKED, GROUPING, METHODS, PREDICTIVE_ITEMS, RELEASE
from starshade.server.forms import Setting
from starshade.server.jobs.store import JobKind

#: what reading finds that changes which fields there are, so that there are all of them
_ALL = {"first_day": "2000-01-01", "attributes": ("…",)}
ASKINGS: Mapping[JobKind, Asking] = {
    "read": MAPPING,
    "attack": ATTACK,
    "compare": COMPARE,
    "release": RELEASE,
}
#: settings of the command that starts the studio
ELSEWHERE = {
    name: f"the option --{name.replace('_', '-')} of starshade studio"
    for name in ("max_upload", "memory", "port", "threads", "work")
}
_CAPITALS = re.compile(r"[A-Z]+|top:N")  # what stands for a value


def as_field(kind: JobKind | None = None) -> Speller:
    """Return how `starshade.naming.named` is to name settings on the pages of a kind of job.

    None: of no job, where only the options of ``starshade studio`` can be set.

    Examples
    --------
    >>> as_field("read")("scale", None), as_field("release")("rare_items", "keep")
    ('“Scale of the ratings”', '“Items that fewer than k people rated”: keep them')
    >>> as_field("release")("memory", None), as_field("release")("private", "FILE")
    ('the option --memory of starshade studio', '')
    """
    return partial(_field, kind)


@lru_cache(maxsize=8)
def settings_of(kind: JobKind) -> Mapping[str, Setting]:
    """Return the settings of a job's form by name."""
    return {setting.name: setting for setting in ASKINGS[kind].settings(_ALL)}


def _field(kind: JobKind | None, setting: str, value: Value) -> str:
    name = setting.removeprefix("original.")
    field = None if kind is None else _find(kind, f"no_{name}" if value is False else name)
    if kind is None or field is None:
        return ELSEWHERE.get(name, "")
    quoted = field.label.replace("“", "‘").replace("”", "’")
    where = "" if field.name in settings_of(kind) else f" under “{MAPPING.title}”"
    text = "" if field.kind == "yes-no" else _text(field, value)
    return f"“{quoted}”{where}{text and f': {text}'}"


def _find(kind: JobKind, name: str) -> Setting | None:
    name = field_of(kind, name, {})
    for known in (name, name.removeprefix("no_")):
        for form in (kind, "read"):
            if known in settings_of(form):
                return settings_of(form)[known]
    return None


def _text(field: Setting, value: Value) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(filter(None, (_text(field, each) for each in value)))
    if isinstance(value, bool):
        value = "yes" if value else "no"
    text = "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
    if _CAPITALS.fullmatch(text):
        return ""
    words = {choice.value: choice.label for choice in field.choices}
    return words.get(text, text.removeprefix("top:"))


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
    """Return the address of a filled-in form.

    A value of None leaves the default. `failed`: the job that failed with these values; the form
    shows the reason at the field.
    """
    form = FORM_OF[kind]
    given = {name: value for name, value in values.items() if value is not None}
    given |= {} if failed is None else {"failed": failed}
    return f"/data/{data_id}?{urlencode({'form': form, **given}, doseq=True)}#{form}"


def field_of(kind: JobKind, setting: str, settings: Mapping[str, Any]) -> str:
    """Return the name of the field of a setting, in the form of a job with these settings.

    Examples
    --------
    >>> field_of("release", "items", {"method": "predictive"})
    'items_predictive'
    """
    method = settings.get("method")
    if (kind, setting, method) == ("release", "items", "predictive"):
        return PREDICTIVE_ITEMS
    if (kind, setting) == ("release", "l") and method in GROUPING:
        return "distinct"
    entry = next((e for e in METHODS if kind == "release" and e.name == method), None)
    if entry is None or setting not in entry.names or setting in ASKED[entry.name]:
        return setting
    return name_of(entry, setting, METHODS)


def form_values(kind: JobKind, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a job's form, from the job's settings."""
    if kind == "read":
        return dict(values_before(settings))
    values = {"attack": _attack, "compare": _compare, "release": _release}[kind](settings)
    values |= {name: settings.get(name) for name in ("targets", "seed")}
    return {name: _written(value) for name, value in values.items()}


def _attack(settings: Mapping[str, Any]) -> dict[str, Any]:
    knowledge = dict(settings.get("knowledge") or {})
    if not knowledge.pop("dates", True):
        knowledge["day_error"] = ""  # empty: dates are not known
    return {"attack": settings.get("attack"), **(settings.get("config") or {}), **knowledge}


def _compare(settings: Mapping[str, Any]) -> dict[str, Any]:
    names = ("methods", "eps", "profile", "known", "held_out")
    return {
        **{name: settings.get(name) for name in names},
        **{
            name: ", ".join(f"{value:.15g}" for value in settings.get(name) or ())
            for name in ("k", "disclosure_weights")
        },
        "items": _items(settings),
    }


def _release(settings: Mapping[str, Any]) -> dict[str, Any]:
    config = dict(settings.get("config") or {})
    if "sensitive" in config:
        config["sensitive"] = ", ".join(config["sensitive"])
    if config.get("biases") is False:
        config["biases"] = "no"  # differs from the default
    return {
        "method": settings.get("method"),
        **{field_of("release", name, settings): value for name, value in config.items()},
        field_of("release", "items", settings): _items(settings),
        "known": ", ".join(map(str, settings.get("known") or ())),
        "held_out": settings.get("held_out"),
        "threshold": ", ".join(settings.get("threshold") or settings.get("limit") or ()),
        "policy": settings.get("policy"),
        **(settings.get("context") or {}),
    }


def _items(settings: Mapping[str, Any]) -> str:
    return str(settings.get("items") or "").removeprefix("top:")


def _written(value: Any) -> Any:
    if isinstance(value, bool):
        return "yes" if value else ""
    return f"{value:.15g}" if isinstance(value, float) else value
