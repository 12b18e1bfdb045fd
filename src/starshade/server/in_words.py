"""Messages for a page: an option of the command line becomes the field of the form that sets it.

What goes wrong is said once, for everybody who may have asked, and names options. A page has none:
there it must be the label that its reader sees, and of a file the name that they know.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from starshade.server.ask.asking import Asking
from starshade.server.ask.attack import ATTACK
from starshade.server.ask.compare import COMPARE
from starshade.server.ask.data import MAPPING
from starshade.server.ask.release import RELEASE
from starshade.server.forms import Setting
from starshade.server.jobs.rows import JobKind

__all__ = ["ELSEWHERE", "for_page", "form_of", "settings_of"]

#: what reading finds that changes which fields there are, so that there are all of them
_ALL = {"first_day": "2000-01-01", "attributes": ("…",)}
_FORMS: Mapping[JobKind, Asking] = {
    "read": MAPPING,
    "attack": ATTACK,
    "compare": COMPARE,
    "release": RELEASE,
}
#: options that are not called as the field is
_NAMES = {
    "null": "null_values",
    "sensitive-attribute": "sensitive_attributes",
    "method": "method",
    "k": "k",
    "ks": "ks",
}
#: options of the command that starts the studio
ELSEWHERE = {
    name: f"the option --{name} of starshade studio"
    for name in ("max-upload", "memory", "port", "threads", "work")
}
_LISTED = re.compile(r"(”(?:: [^\s“]+)?)(?= “)")  # one label after the other
_DASH = "\0"  # of an option that stays one
#: where uploads lie: nobody brought a file under this name
_INSIDE = re.compile(r"(?:/[^\s:]*)?/uploads/[0-9]+/")
_COMMAND_LINE = "a setting that only the command line has"
_OPTION = r"--(?P<option>[a-z][a-z-]*[a-z]|[a-z])"
_VALUE = (
    r"(?:[ =](?P<value>[A-Z]+(?:,[A-Z]+)*\b|-?[0-9#][\w.:#-]*|top:(?:N|[0-9]+)|'[^']*'"
    r"|[a-z][a-z-]*\b))?"
)
_SAID = re.compile(_OPTION + _VALUE)
# “known (--known)”, “(--users FILE, users=FILE)”, “(on the command line --items, in Python …)”
_ASIDE = re.compile(
    r"(?:\b(?P<before>[a-z][a-z_]*) )?"
    r"\((?:on the command line )?" + _OPTION + r"(?P<rest>(?:[^()]|\([^()]*\))*)\)"
)
_PYTHON = re.compile(r" ?\((?:in Python )?[a-z_]+=[^()]*\)|, in Python [a-z_]+(?:=[^\s,.;()]+)?")


def for_page(text: str, kind: JobKind, files: Mapping[str, str] | None = None) -> str:
    """Say a message as the page of a job says it.

    Parameters
    ----------
    text : str
    kind : {"read", "attack", "compare", "release"}
    files : mapping, optional
        Path → the name by which the page calls the file.

    Examples
    --------
    >>> for_page("Say which to keep with on_duplicate (--on-duplicate): first.", "read")
    'Say which to keep with “When somebody rated an item twice”: first.'
    >>> for_page("Keep rare items (--rare-items keep).", "release")
    'Keep rare items (“Items that fewer than k people rated”: keep them).'
    """
    for path, name in (files or {}).items():
        text = text.replace(path, name)
    text = _INSIDE.sub("", text)
    text = _ASIDE.sub(lambda found: _aside(found, kind), text)
    text = _SAID.sub(lambda found: _option(found, kind), text)
    text = _LISTED.sub(r"\1,", _PYTHON.sub("", text))
    return re.sub(r" +(?=[.,;:)])", "", text).replace(_DASH, "-")


def form_of(kind: JobKind) -> Asking:
    """Return the form that asks for a job."""
    return _FORMS[kind]


@lru_cache(maxsize=8)
def settings_of(kind: JobKind) -> Mapping[str, Setting]:
    """Return all that a job's form can set, by name."""
    return {setting.name: setting for setting in _FORMS[kind].settings(_ALL)}


def _aside(found: re.Match[str], kind: JobKind) -> str:
    """Say what stands in brackets; drop it where no form has it."""
    before, option = found["before"] or "", found["option"]
    if _label(option, kind) is None and option not in ELSEWHERE:
        return before
    inner = re.split(r", (?:in Python|[a-z_]+=)", f"--{option}{found['rest']}")[0]
    said = _SAID.sub(lambda one: _option(one, kind), inner)
    if "_" in before and before.replace("_", "-") == option:  # the same, as Python spells it
        return said
    return f"{before} ({said})" if before else f"({said})"


def _option(found: re.Match[str], kind: JobKind) -> str:
    option, value = found["option"], found["value"] or ""
    label = _label(option, kind)
    setting = _setting(option, kind)
    words = {} if setting is None else {c.value: c.label for c in setting.choices}
    follows = f" {value}" if value else ""
    if value.isupper() and value.isascii():  # NAME, FILE: what stands for a value
        follows = ""
    elif value in words:
        follows = f": {words[value]}"
    elif value == "top:N":
        follows = ""
    elif value and not value.replace("-", "").isalpha():
        follows = f": {value.removeprefix('top:')}"
    elif option == "format" and value not in ("", "out"):
        follows = f": {value}"
    if label is None:
        label = ELSEWHERE.get(option, _COMMAND_LINE).replace("-", _DASH)
    return label + follows


def _label(option: str, kind: JobKind) -> str | None:
    """Return the label of the field, and where it stands if that is another form."""
    setting = _setting(option, kind)
    if setting is None:
        return None
    own = settings_of(kind).get(setting.name)
    quoted = setting.label.replace("“", "‘").replace("”", "’")
    return f"“{quoted}”" + ("" if own else f" under “{MAPPING.title}”")


def _setting(option: str, kind: JobKind) -> Setting | None:
    name = _NAMES.get(option, option.replace("-", "_"))
    if kind == "compare" and name == "k":
        name = "ks"
    return settings_of(kind).get(name) or settings_of("read").get(name)
