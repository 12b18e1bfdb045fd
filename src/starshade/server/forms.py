"""Forms: their settings, the values that a browser sends, and the errors in them.

A form is declared as a tuple of `Setting`; `read` turns what a browser sent into values and says
at which field something is wrong, and `fields` makes its controls, with what was sent in them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from starshade.errors import ConfigError

#: what a browser sent: every value of every name
Sent = Mapping[str, Sequence[str]]

_LONGEST = 4000  # characters of one value
_MOST = 2**53  # whole numbers beyond are not told apart
#: digits, a comma before every three of them or nowhere, a point, and a power of ten
_WRITTEN = re.compile(
    r"[+-]?(([0-9]+|[0-9]{1,3}(,[0-9]{3})+)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?"
)


@dataclass(frozen=True)
class Setting:
    """A setting, shown as a field."""

    name: str  # as it is sent. The control's id is the form's id, a dash, and this.
    label: str
    help: str  # what it does, and what is usual
    # ``choice``: one of `choices` (radio buttons or a list); ``choices``: any of them (boxes of one
    # name); ``yes-no``: one box, sent as ``yes``
    kind: Literal["integer", "number", "text", "choice", "choices", "yes-no"]
    # what stands in it at first; of ``choices`` the values that are chosen
    default: str | tuple[str, ...] = ""
    choices: tuple[Choice, ...] = ()
    # `least`, `most`: of a number
    least: float | None = None
    most: float | None = None
    # `above`, `below`: a number must be greater than `least`, or less than `most`, not just as
    # great
    above: bool = False
    below: bool = False
    allowed: str = "Enter a text."  # of a text what it must be, in a sentence
    required: bool = False
    under: str = ""  # of what is rarely needed: the fold that it stands under; empty: the usual
    more: bool = False  # rarely needed: may be folded away (open it if it has an error)
    # applies only while the form's `chooser` has one of these values; empty: always
    only_for: tuple[str, ...] = ()
    listed: bool = False  # a ``choice`` in a list that opens, however few there are
    suggestions: tuple[str, ...] = ()  # values offered with free input (a datalist)
    # `value`, `error`: what was sent, and what is wrong with it
    value: str = ""
    error: str = ""


def prefilled(settings: Sequence[Setting], given: Sent) -> dict[str, list[str]]:
    """Return the initial values of the fields: the defaults, or those of an address."""
    start = {
        s.name: list((s.default,) if isinstance(s.default, str) else s.default) for s in settings
    }
    return start | {name: list(given[name]) for name in start if given.get(name)}


def read(
    settings: Sequence[Setting], sent: Sent, chooser: str = ""
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the values that were sent, and the errors, by name.

    Values are int, float, str, bool, or a tuple of str; None where nothing was sent. A setting
    that does not apply to the chosen value of `chooser` is left out.
    """
    chosen = (sent.get(chooser) or [""])[0]
    values: dict[str, Any] = {}
    errors: dict[str, str] = {}
    for setting in settings:
        if setting.only_for and chosen not in setting.only_for:
            continue
        try:
            values[setting.name] = _value(setting, sent.get(setting.name) or [])
        except ConfigError as error:
            errors[setting.name] = str(error)
    return values, errors


def fields(
    settings: Sequence[Setting], sent: Sent, errors: Mapping[str, str] | None = None
) -> tuple[Setting, ...]:
    """Return the settings with the sent values and their errors."""
    made = []
    for setting in settings:
        values = sent.get(setting.name) or []
        shown = (values[0] if values else "")[:_LONGEST]
        made.append(
            replace(
                setting,
                value=("yes" if shown else "") if setting.kind == "yes-no" else shown,
                choices=tuple(replace(c, chosen=c.value in values) for c in setting.choices),
                error=(errors or {}).get(setting.name, ""),
            )
        )
    return tuple(made)


def _value(setting: Setting, sent: Sequence[str]) -> Any:
    if setting.kind == "yes-no":
        return bool(sent and sent[0])
    if setting.kind == "choices":
        return _several(setting, sent)
    if len(sent) > 1:
        raise ConfigError(f"This value was sent {len(sent)} times. Send it once.")
    text = sent[0].strip() if sent else ""
    if len(text) > _LONGEST:
        raise ConfigError(f"This text is too long: at most {_LONGEST:,} characters.")
    if not text:
        if setting.required:
            raise ConfigError(f"A value is required. {_wanted(setting)}")
        return None
    if setting.kind == "text":
        if "\0" in text:
            raise ConfigError("This text contains a null character. Remove it.")
        return text
    if setting.kind == "choice":
        return _one(setting, text)
    return _number(setting, text)


def _one(setting: Setting, text: str) -> str:
    if text not in {c.value for c in setting.choices}:
        raise ConfigError(f"{_quoted(text)} is not one of the choices. {_wanted(setting)}")
    return text


def _several(setting: Setting, sent: Sequence[str]) -> tuple[str, ...]:
    chosen = tuple(dict.fromkeys(_one(setting, text) for text in sent if text))
    if setting.required and not chosen:
        raise ConfigError("Nothing is chosen. Choose at least one.")
    return chosen


def _number(setting: Setting, text: str) -> int | float:
    value = float(text.replace(",", "")) if _WRITTEN.fullmatch(text) else math.nan
    whole = setting.kind == "integer"
    if not math.isfinite(value) or (whole and not value.is_integer()):
        kind = "a whole number" if whole else "a number"
        raise ConfigError(f"{_quoted(text)} is not {kind}. {_wanted(setting)}")
    low, high = setting.least, _MOST if setting.most is None else setting.most
    if low is not None and (value < low or (setting.above and value == low)):
        raise ConfigError(f"{_quoted(text)} is too small. {_wanted(setting)}")
    if value > high or (setting.below and value == high):
        raise ConfigError(f"{_quoted(text)} is too large. {_wanted(setting)}")
    return int(value) if whole else value


def _wanted(setting: Setting) -> str:
    if setting.kind in ("choice", "choices"):
        return f"Choose one of: {', '.join(c.label for c in setting.choices)}."
    if setting.kind == "text":
        return setting.allowed
    kind = "a whole number" if setting.kind == "integer" else "a number"
    bounds = []
    if setting.least is not None:
        start = "above" if setting.above else "from" if setting.most is not None else "of at least"
        bounds.append(f"{start} {_shown(setting.least)}")
    if setting.most is not None:
        to = "below" if setting.below else "at most" if setting.above or not bounds else "to"
        bounds.append(f"{to} {_shown(setting.most)}")
    between = ", " if setting.above or setting.below else " "
    return " ".join([f"Give {kind}", between.join(bounds)]).strip() + "."


def _shown(bound: float) -> str:
    return f"{int(bound):,}" if float(bound).is_integer() and bound < _MOST else f"{bound:,.15g}"


def _quoted(text: str) -> str:
    return f"“{text if len(text) <= 40 else text[:40] + '…'}”"


@dataclass(frozen=True)
class Choice:
    """A choice of a setting."""

    value: str
    label: str
    help: str = ""  # one line; may be empty
    chosen: bool = False


@dataclass(frozen=True)
class Form:
    """A form; sent by POST as ``application/x-www-form-urlencoded``."""

    id: str  # also the anchor of its section (``#attack``)
    title: str
    intro: str  # what will be done, in a sentence or two, and how to choose
    submit: str  # words on the button
    # name of the field on whose value others depend (`Setting.only_for`); empty: none
    chooser: str = ""
    action: str = ""  # where it is sent
    fields: tuple[Any, ...] = ()  # `starshade.server.forms.Setting`, with what is in them
    error: str = ""  # what is wrong with the whole; empty: nothing
    advice: str = ""  # what to do about it
    # it is what to do next, was sent and refused, or is in the address: show it unfolded
    open: bool = False
