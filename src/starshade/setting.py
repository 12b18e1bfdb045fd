"""`Setting`: what can be set, declared once, on the field of a frozen dataclass.

::

    @dataclass(frozen=True)
    class PaddingSettings:
        top: float = field(
            default=0.01,
            metadata=declared("Cells called the highest", "…", least=0, above=True, most=1),
        )

The annotation says the type and whether None is allowed, the field its default, `declared` the
rest. From it come the check of a value and its message, the option of the command line, the
reference and the JSON Schema. A declaration imports nothing but the standard library, so that
doors read it without the class that works with it; that class inherits it, and with it the fields.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

from starshade.errors import ConfigError

__all__ = ["Setting", "check", "declared", "json_schema", "settings_of"]

Kind = Literal["integer", "number", "flag", "choice", "text", "texts", "places"]
_KINDS: Mapping[Any, Kind] = {
    bool: "flag",
    int: "integer",
    float: "number",
    str: "text",
    Sequence[str]: "texts",
    Sequence[int]: "places",
}
_KEPT: Mapping[Kind, Callable[[Any], Any]] = {
    "integer": int,
    "number": float,
    "flag": bool,
    "choice": str,
    "text": str,
    "texts": lambda value: tuple(map(str, value)),
    "places": lambda value: tuple(map(int, value)),
}
_IN_JSON = {
    "integer": "integer",
    "number": "number",
    "flag": "boolean",
    "texts": "array",
    "places": "array",
}


@dataclass(frozen=True)
class Setting:
    """One thing that can be set.

    Attributes
    ----------
    name : str
        As Python spells it.
    kind : {"integer", "number", "flag", "choice", "text", "texts", "places"}
        Lists are of texts, or of places: whole numbers from 0.
    default : object
        `dataclasses.MISSING` where it must be given.
    optional : bool
        None is allowed, and means `unset`.
    label : str
        A few plain words, without a period.
    help : str
        What it means, in one sentence.
    least, most : float or None
        Bounds of a number.
    above, below : bool
        A bound itself is not allowed.
    endless : bool
        Infinity is allowed.
    choices : tuple of str
        What a choice is made from.
    unset : str
        What None stands for.
    unit, source : str
    """

    name: str
    kind: Kind
    default: Any
    optional: bool
    choices: tuple[str, ...]
    label: str
    help: str
    least: float | None = None
    most: float | None = None
    above: bool = False
    below: bool = False
    endless: bool = False
    unset: str = ""
    unit: str = ""
    source: str = ""

    @property
    def allowed(self) -> str:
        """What is allowed, in words."""
        if self.kind == "choice":
            return f"allowed are {' and '.join(self.choices)}"
        if self.kind == "flag":
            return "True or False"
        if self.kind not in ("integer", "number"):
            return {"text": "a text", "texts": "a list of texts"}.get(self.kind, "a list of places")
        what = "a whole number" if self.kind == "integer" else "a finite number"
        what = "a number" if self.endless else what
        if self.least is not None and self.most is not None and not (self.above or self.below):
            return f"{what} from {self.least:,} to {self.most:,}"
        bounds = (
            ("above" if self.above else "at least", self.least),
            ("below" if self.below else "at most", self.most),
        )
        said = [f"{word} {bound:,}" for word, bound in bounds if bound is not None]
        return ", ".join([what, *said])

    @property
    def default_told(self) -> str:
        """The default in words; empty where there is nothing to say, or it must be given."""
        told = self.unset if self.default is None else self.default
        if told in (MISSING, (), False):
            return ""
        return f"{told:,}" if isinstance(told, int | float) else str(told)

    def checked(self, value: Any) -> Any:
        """Return a value as its kind has it: int, float, bool, str, or a tuple of such.

        Raises
        ------
        ConfigError
            It is not allowed.
        """
        if value is None and self.optional:
            return None
        if not self._allows(value):
            shown = repr(value) if isinstance(value, str) else value
            raise ConfigError(f"{self.name} {shown}: {self.allowed}", setting=self.name)
        return _KEPT[self.kind](value)

    def _allows(self, value: Any) -> bool:
        if self.kind in ("texts", "places"):
            listed = isinstance(value, Collection) and not isinstance(value, str)
            return listed and all(map(_is_text if self.kind == "texts" else _is_place, value))
        if self.kind in ("text", "choice"):
            return _is_text(value) and (self.kind == "text" or value in self.choices)
        if self.kind == "flag":
            return _is_flag(value)
        return isinstance(value, numbers.Real) and not _is_flag(value) and self._spans(value)

    def _spans(self, value: Any) -> bool:
        if math.isnan(value):
            return False
        if math.isinf(value):
            return self.endless and value > 0
        whole = self.kind == "number" or float(value).is_integer()
        low = self.least is None or (value > self.least if self.above else value >= self.least)
        high = self.most is None or (value < self.most if self.below else value <= self.most)
        return whole and low and high


def _is_flag(value: Any) -> bool:
    return type(value).__name__ in ("bool", "bool_")  # NumPy's too


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_place(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not _is_flag(value) and int(value) >= 0


def declared(label: str, help: str, **more: Any) -> dict[str, Any]:  # noqa: A002
    """Return a field's ``metadata``; `more` as `Setting` names it, but for what the field says."""
    return {"setting": {"label": label, "help": help, **more}}


@cache
def settings_of(declaration: type) -> tuple[Setting, ...]:
    """Return what a dataclass declares, in the order of its fields; others of its fields not.

    Examples
    --------
    >>> from dataclasses import field
    >>> @dataclass(frozen=True)
    ... class Some:
    ...     top: float = field(default=0.01, metadata=declared("Share", "The share.", least=0))
    >>> [(setting.name, setting.kind, setting.allowed) for setting in settings_of(Some)]
    [('top', 'number', 'a finite number, at least 0')]
    """
    hints = get_type_hints(declaration)
    return tuple(
        _setting(field, hints[field.name])
        for field in fields(declaration)
        if "setting" in field.metadata
    )


def _setting(field: Field[Any], hint: Any) -> Setting:
    parts = [part for part in get_args(hint) if part is not type(None)]
    optional = type(None) in get_args(hint)
    base = parts[0] if optional else hint
    choices = get_args(base) if get_origin(base) is Literal else ()
    return Setting(
        name=field.name,
        kind="choice" if choices else _KINDS[base],
        default=field.default,
        optional=optional,
        choices=choices,
        **field.metadata["setting"],
    )


def check(configured: Any) -> None:
    """Check every setting of a frozen dataclass, and keep it as its kind has it.

    Raises
    ------
    ConfigError
        A value that is not allowed; the message says what is.
    """
    for setting in settings_of(configured.__class__):
        value = setting.checked(getattr(configured, setting.name))
        object.__setattr__(configured, setting.name, value)


def json_schema(declaration: type) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of what a dataclass declares."""
    settings = settings_of(declaration)
    return {
        "type": "object",
        "properties": {setting.name: _property(setting) for setting in settings},
        "required": [setting.name for setting in settings if setting.default is MISSING],
        "additionalProperties": False,
    }


def _property(setting: Setting) -> dict[str, Any]:
    kind: Any = _IN_JSON.get(setting.kind, "string")
    found: dict[str, Any] = {
        "title": setting.label,
        "description": setting.help,
        "type": [kind, "null"] if setting.optional else kind,
    }
    if kind == "array":
        texts = setting.kind == "texts"
        found["items"] = {"type": "string"} if texts else {"type": "integer", "minimum": 0}
    if setting.choices:
        found["enum"] = [*setting.choices, *([None] if setting.optional else [])]
    if setting.least is not None:
        found["exclusiveMinimum" if setting.above else "minimum"] = setting.least
    if setting.most is not None:
        found["exclusiveMaximum" if setting.below else "maximum"] = setting.most
    if setting.default is not MISSING:
        listed = isinstance(setting.default, tuple)
        found["default"] = list(setting.default) if listed else setting.default
    return found
