"""How a setting is named on the page of a job: by the label of the field that sets it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache, partial

from starshade.naming import Speller, Value
from starshade.server.ask.again import field_of
from starshade.server.ask.asking import Asking
from starshade.server.ask.attack import ATTACK
from starshade.server.ask.compare import COMPARE
from starshade.server.ask.data import MAPPING
from starshade.server.ask.release import RELEASE
from starshade.server.forms import Setting
from starshade.server.jobs.rows import JobKind

__all__ = ["ASKINGS", "ELSEWHERE", "as_field", "settings_of"]

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
    >>> as_field("read")("on_duplicate", None), as_field("release")("rare_items", "keep")
    ('“When somebody rated an item twice”', '“Items that fewer than k people rated”: keep them')
    >>> as_field("release")("memory", None), as_field("release")("private", "FILE")
    ('the option --memory of starshade studio', '')
    """
    return partial(_field, kind)


@lru_cache(maxsize=8)
def settings_of(kind: JobKind) -> Mapping[str, Setting]:
    """Return all that a job's form can set, by name."""
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
