"""`Setting`: what can be set, declared once, on the field of a frozen dataclass.

::

    @dataclass(frozen=True)
    class PaddingSettings:
        top: float = settable(
            "Cells called the highest", "…", default=0.01, least=0, above=True, most=1
        )

The annotation says the type and whether None is allowed, `settable` the rest; what several fields
have in common is `declared` once. From it come the check of a value and its message, the option
of the command line, the reference and the JSON Schema. A declaration imports nothing but the
standard library, so that doors read it without the class that works with it; that class inherits
it, and with it the fields.
"""

from __future__ import annotations

import datetime
import math
import numbers
import re
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import cache
from inspect import get_annotations
from types import SimpleNamespace
from typing import Any, Literal, get_args, get_origin, get_type_hints

from starshade.errors import ConfigError
from starshade.naming import called

Kind = Literal[
    "integer", "number", "flag", "choice", "text", "texts", "places", "integers", "numbers", "file",
    "files", "releases", "amount", "date",
]  # fmt: skip
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
    "number": lambda value: float(value) + 0.0,  # never -0
    "flag": bool,
    "choice": str,
    "text": str,
    "texts": lambda value: tuple(map(str, value)),
    "places": lambda value: tuple(map(int, value)),
    "integers": lambda value: tuple(map(int, value)),
    "numbers": lambda value: tuple(float(each) + 0.0 for each in value),
    "file": lambda value: value,
    "files": lambda value: value,
    "releases": tuple,
    "amount": lambda value: _amount(value),
    "date": lambda value: str(date_of(value)),  # as ISO 8601 has it
}
_IN_WORDS = {
    "flag": "True or False",
    "text": "a text",
    "texts": "a list of texts",
    "places": "a list of places",
    "file": "a name or a file",
    "files": "a text for each name",
    "releases": "a list of releases",
    "amount": "a whole number, 1 or more, or a percentage above 0% and at most 100%, such as 10%",
    "date": "a date such as 2027-06-30",
}
_LISTED = {"integers": "one or more whole numbers", "numbers": "one or more numbers"}
_MOST = 2**63 - 1  # kernels count with 64 bits


@dataclass(frozen=True)
class Setting:
    """One thing that can be set.

    Lists are of texts, of places (whole numbers from 0, which stand for items), or of one or more
    numbers, or whole numbers, within bounds. What stands for a file, or for one for each of several
    names, may be a name or an object too: its class checks it. An amount is a number of people or
    things, or a text such as ``10%``: a share of them (`count_of`). A date is
    kept as a text.
    """

    name: str  # as Python spells it
    kind: Kind
    default: Any  # `dataclasses.MISSING` where it must be given
    optional: bool  # None is allowed, and means `unset`
    choices: tuple[str, ...]
    label: str  # a few plain words, without a period
    help: str  # what it means, in one sentence
    least: float | None = None
    most: float | None = None
    above: bool = False  # `least` itself is not allowed
    below: bool = False  # `most` itself is not allowed
    endless: bool = False  # infinity is allowed
    unset: str = ""
    usual: str = ""  # for whoever has no value in mind, or in capitals what stands for one
    advice: str = ""  # what to do instead of what is not allowed
    off: str = ""  # what it means that a flag is off, for an option that turns it off
    unit: str = ""  # what a number counts
    commas: bool = False  # on the command line a list is one text; others repeat the option
    # another setting and the choice of it that this one is only for; its help begins with that
    beside: tuple[str, str] | None = None
    private: bool = False  # the owner's receipt records it, the manifest does not
    formerly: str = ""  # an older name, taken with a note

    def renamed(self, before: str, now: str) -> str:
        """Say that an older name was used."""
        return f"{before} is now called {now}: {self.help[:1].lower()}{self.help[1:]}"

    @property
    def bounds(self) -> str:
        """What of a number is allowed, in words; empty: all of them."""
        if self._ranges:
            return f"{self.least:,} to {self.most:,}"
        bounds = (
            ("above {:,}" if self.above else "{:,} or more", self.least),
            ("below {:,}" if self.below else "at most {:,}", self.most),
        )
        return " and ".join(words.format(bound) for words, bound in bounds if bound is not None)

    @property
    def _ranges(self) -> bool:
        return None not in (self.least, self.most) and not (self.above or self.below)

    @property
    def allowed(self) -> str:
        """What is allowed, in words."""
        if self.kind == "choice":
            *most, last = self.choices
            return f"{', '.join(most)} or {last}" if most else last
        if self.kind in _LISTED:
            return ", ".join(filter(None, (_LISTED[self.kind], self.bounds)))
        if self.kind not in ("integer", "number"):
            return _IN_WORDS[self.kind]
        what = "a whole number" if self.kind == "integer" else "a finite number"
        what = "a number" if self.endless else what
        if self._ranges:
            return f"{what.replace('finite ', '')} from {self.bounds}"
        return f"{what}, {self.bounds}" if self.bounds else what

    @property
    def default_text(self) -> str:
        """The default in words; empty where there is nothing to say, or it must be given."""
        default = self.unset if self.default is None else self.default
        if default is MISSING or default is False or default == ():
            return ""
        if isinstance(default, tuple):
            return ("," if self.commas else ", ").join(map(str, default))
        numeric = isinstance(default, int | float) and not isinstance(default, bool)
        return f"{default:,}" if numeric else str(default)

    def applies(self, configured: Any) -> bool:
        """Whether it means something beside the other settings of an object."""
        return self.beside is None or getattr(configured, self.beside[0]) == self.beside[1]

    def checked(self, value: Any) -> Any:
        """Return a value as its kind has it, a list as a tuple; ConfigError if not allowed."""
        if value is None and self.optional:
            return None
        if not self.allows(value):
            raise ConfigError(
                f"{called(self.name)} = {self.value_text(value)}: must be {self.allowed}",
                advice=_beyond(self.kind, value) or self.advice,
                setting=self.name,
            )
        return _KEPT[self.kind](value)

    def value_text(self, value: Any) -> str:
        """Write a value for a message; of lists only numbers, as texts may be ids."""
        if self.kind in _LISTED and is_list(value):
            return ", ".join(map(shown, value)) or "nothing"
        return shown(value)

    def allows(self, value: Any) -> bool:
        """Whether a value is of its kind and within its bounds; None is not."""
        if self.kind in ("file", "files"):
            return True
        if self.kind == "releases":
            return is_list(value)
        if self.kind in _LISTED:
            fits = _is_place if self.kind == "integers" else _is_number
            return (
                is_list(value)
                and len(value) > 0
                and all(fits(each) and self._spans(each) for each in value)
            )
        if self.kind in ("texts", "places"):
            fits = _is_text if self.kind == "texts" else _is_place
            return is_list(value) and all(map(fits, value))
        if self.kind in ("text", "choice"):
            return _is_text(value) and (self.kind == "text" or value in self.choices)
        if self.kind == "flag":
            return _is_flag(value)
        if self.kind == "date":
            return date_of(value) is not None
        if self.kind == "amount":
            value = _amount(value)
            if isinstance(value, str):
                share = _share(value)
                return share is not None and 0 < share[0] <= share[1]
            return _is_number(value) and self._spans(value) and value >= 1
        return _is_number(value) and self._spans(value)

    def _spans(self, value: Any) -> bool:
        try:
            number = float(value)
        except OverflowError:
            return False
        if math.isnan(number):
            return False
        if math.isinf(number):
            return self.endless and number > 0
        exact = int(value) if number.is_integer() else 0
        whole = self.kind in ("number", "numbers") or (number.is_integer() and abs(exact) <= _MOST)
        value = value if isinstance(value, int) else number  # float16 knows no large bounds
        low = self.least is None or (value > self.least if self.above else value >= self.least)
        high = self.most is None or (value < self.most if self.below else value <= self.most)
        return whole and low and high


def shown(value: Any) -> str:
    """Write a value for a message: also what is of a wrong type, or too long."""
    if isinstance(value, str) or value is None or _is_flag(value):
        return repr(value) if isinstance(value, str) else str(value)
    if not isinstance(value, numbers.Real):
        kind = type(value).__name__
        return f"a {kind}" if kind in ("list", "tuple", "dict") else f"something of type {kind}"
    try:
        number = float(value)
    except OverflowError:
        return "a number too large for a float"
    if abs(number) > _MOST or not isinstance(value, numbers.Integral):
        return f"{number:.12g}"
    return str(value)


def _beyond(kind: Kind, value: Any) -> str:
    """Say why a whole number is none that can be used."""
    number = value if kind == "integer" and isinstance(value, int | float) else 0
    return "The largest allowed number is 2**63 - 1." if number > _MOST else ""


def is_plain(number: str) -> bool:
    """Whether a number is written as people write one: Python also reads 1_000 and ٥."""
    return number.isascii() and "_" not in number


_PERCENTAGE = re.compile(r"([0-9]{1,3})(?:\.([0-9]{1,12}))? ?%")


def _share(text: str) -> tuple[int, int] | None:
    """Return a percentage as a numerator and a denominator; None where a text is none."""
    parts = _PERCENTAGE.fullmatch(text)
    if parts is None:
        return None
    whole, decimals = parts[1], parts[2] or ""
    return int(whole + decimals), 100 * 10 ** len(decimals)


def _amount(value: Any) -> Any:
    """Return an amount in its shortest form: a text of digits as a number, "10.0 %" as "10%"."""
    if not isinstance(value, str):
        return int(value) if _is_number(value) and value % 1 == 0 else value
    if value.isdecimal() and is_plain(value) and len(value) < len(str(_MOST)):
        return int(value)
    if _share(value) is None:
        return value
    whole, _, decimals = value.rstrip("% ").partition(".")
    return f"{int(whole)}.{decimals.rstrip('0')}".rstrip(".") + "%"


_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def date_of(value: Any) -> datetime.date | None:
    """Return a date, or the date that a text such as 2027-06-30 states; None: neither.

    >>> date_of("2027-06-30"), date_of("2027-6-30"), date_of("2027-02-30")
    (datetime.date(2027, 6, 30), None, None)
    """
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return value
    if not isinstance(value, str) or not _DATE.fullmatch(value):
        return None
    try:
        return datetime.date.fromisoformat(value)
    except ValueError:
        return None


def count_of(amount: int | str | None, whole: int) -> int:
    """Return how many of `whole` an amount asks for; None asks for none.

    A percentage asks for the least whole number that is no smaller a share.

    >>> count_of("10%", 943), count_of("0.1%", 943), count_of(20, 943), count_of(None, 943)
    (95, 1, 20, 0)
    """
    share = _share(amount) if isinstance(amount, str) else None
    if share is None:
        return int(amount or 0)
    return -(-share[0] * whole // share[1])


def is_list(value: Any) -> bool:
    """Whether it is a collection of values, and no text."""
    alone = getattr(value, "ndim", 1) == 0  # NumPy's arrays of one number
    return isinstance(value, Collection) and not isinstance(value, str | bytes) and not alone


def _is_flag(value: Any) -> bool:
    return type(value).__name__ in ("bool", "bool_")  # NumPy's too


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not _is_flag(value)


def _is_place(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not _is_flag(value) and int(value) >= 0


def declared(label: str, help: str, **more: Any) -> dict[str, Any]:  # noqa: A002
    """Return the ``metadata`` of fields; `more` as `Setting` names it, but for what they say."""
    return {"setting": {"label": label, "help": help, **more}}


def settable(label: str, help: str, *, default: Any, **more: Any) -> Any:  # noqa: A002
    """Return a field with a default that is declared; one without is a `field` itself."""
    return field(default=default, metadata=declared(label, help, **more))


@cache
def settings_of(declaration: type) -> tuple[Setting, ...]:
    """Return what a dataclass declares, in the order of its fields; others of its fields not.

    >>> @dataclass(frozen=True)
    ... class Some:
    ...     top: float = settable("Share", "The share.", default=0.01, least=0)
    >>> [(setting.name, setting.kind, setting.allowed) for setting in settings_of(Some)]
    [('top', 'number', 'a finite number, 0 or more')]
    """
    return tuple(
        _setting(each, declaration) for each in fields(declaration) if "setting" in each.metadata
    )


def setting_of(declaration: type, name: str) -> Setting:
    """Return one of `settings_of`."""
    return next(setting for setting in settings_of(declaration) if setting.name == name)


def _setting(described: Field[Any], declaration: type) -> Setting:
    metadata = described.metadata["setting"]
    if "beside" in metadata:
        text = f"{metadata['help'][0].lower()}{metadata['help'][1:]}"
        metadata = {**metadata, "help": f"With {' '.join(metadata['beside'])}: {text}"}
    if "kind" in metadata:
        return Setting(
            name=described.name,
            default=described.default,
            optional=described.default is None,
            **({"choices": ()} | metadata),
        )
    hint = _hint(described.name, declaration)
    parts = [part for part in get_args(hint) if part is not type(None)]
    optional = type(None) in get_args(hint)
    base = parts[0] if optional and len(parts) == 1 else hint
    choices = get_args(base) if get_origin(base) is Literal else ()
    if not choices and base not in _KINDS:
        raise TypeError(
            f"{declaration.__name__}.{described.name}: {hint} is no type of a setting; those are "
            "bool, int, float, str, Literal, and Sequence of str or int, each with None if need "
            'be; another one says its kind: declared(…, kind="file")'
        )
    return Setting(
        name=described.name,
        kind="choice" if choices else _KINDS[base],
        default=described.default,
        optional=optional,
        choices=choices,
        **metadata,
    )


def _hint(name: str, declaration: type) -> Any:
    """Return what a field is annotated with; other annotations may name what is not imported."""
    holder = next(c for c in declaration.__mro__ if name in get_annotations(c))
    alone = SimpleNamespace(__annotations__={name: get_annotations(holder)[name]})
    return get_type_hints(alone, vars(sys.modules[holder.__module__]))[name]


def check(configured: Any) -> None:
    """Check every setting of a frozen dataclass, and keep it as its kind has it."""
    for setting in settings_of(configured.__class__):
        value = setting.checked(getattr(configured, setting.name))
        object.__setattr__(configured, setting.name, value)


_IN_JSON = {
    "integer": "integer",
    "number": "number",
    "flag": "boolean",
    "texts": "array",
    "places": "array",
    "integers": "array",
    "numbers": "array",
    "releases": "array",
    "files": "object",
}


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
    kinds = ["integer", "string"] if setting.kind == "amount" else [kind]
    kinds += ["null"] if setting.optional else []
    schema: dict[str, Any] = {
        "title": setting.label,
        "description": setting.help,
        "type": kinds if len(kinds) > 1 else kind,
    }
    if setting.kind == "date":
        schema["format"] = "date"
    if setting.kind == "amount":
        schema |= {"minimum": 1, "pattern": f"^{_PERCENTAGE.pattern}$"}
    if kind == "object":
        schema["additionalProperties"] = {"type": "string"}
    if kind == "array":
        number = {"integers": "integer", "places": "integer", "numbers": "number"}.get(setting.kind)
        numeric = {"type": number, "minimum": setting.least or 0}
        schema["items"] = numeric if number else {"type": "string"}
    if setting.choices:
        schema["enum"] = [*setting.choices, *([None] if setting.optional else [])]
    if setting.least is not None and kind != "array":
        schema["exclusiveMinimum" if setting.above else "minimum"] = setting.least
    if setting.most is not None:
        schema["exclusiveMaximum" if setting.below else "maximum"] = setting.most
    if setting.default is not MISSING:
        default = setting.default
        listed = list(default) if isinstance(default, tuple) else default
        schema["default"] = {} if kind == "object" else listed
    return schema
