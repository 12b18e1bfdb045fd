"""What a job was asked for, checked: every name is known, every value of its kind."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import MISSING, fields
from difflib import get_close_matches
from typing import Any, get_type_hints

from starshade.errors import ConfigError

__all__ = ["built", "checked", "hints_of"]


def built(cls: Any, what: str, values: Mapping[str, Any], **given: Any) -> Any:
    """Make an attack, a method or knowledge; what was not set has its own default.

    Parameters
    ----------
    cls : class
        A dataclass.
    what : str
        What messages call it: "the attack scoreboard".
    values : mapping
        Field → value, as JSON has it; a number may be text.
    **given
        Fields that are set in another way; they are not among `values`.

    Raises
    ------
    ConfigError
        A field that it does not have, one that is missing, a value of another kind or out of range.
    """
    hints = {name: hint for name, hint in hints_of(cls).items() if name not in given}
    asked = checked(what, values, hints)
    for field in fields(cls):
        required = field.default is MISSING and field.default_factory is MISSING
        if required and field.name not in {*asked, *given}:
            advice = "5 is usual." if field.name == "k" else "Say what it is to be."
            raise ConfigError(f"{what}: {field.name} is missing", advice=advice, setting=field.name)
    return cls(**asked, **given)


def hints_of(cls: Any) -> dict[str, Any]:
    """Return the fields of a dataclass and their types."""
    hints = get_type_hints(cls)
    return {field.name: hints[field.name] for field in fields(cls)}


def checked(what: str, values: Mapping[str, Any], hints: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values in their types.

    Parameters
    ----------
    what : str
        What messages call the whole.
    values : mapping
    hints : mapping of str to type
        The names that are allowed.

    Raises
    ------
    ConfigError
        An unknown name, or a value of another kind.
    """
    if not isinstance(values, Mapping):
        raise ConfigError(f"{what}: settings have names", advice=_allowed(hints))
    for name in values:
        if name not in hints:
            close = get_close_matches(str(name), hints, n=1)
            hint = f" Did you mean {close[0]}?" if close else ""
            raise ConfigError(f"{what} has no setting {name!r}", advice=f"{_allowed(hints)}{hint}")
    return {name: _typed(what, name, value, hints[name]) for name, value in values.items()}


def _typed(what: str, name: str, value: Any, hint: Any) -> Any:
    from pydantic import ConfigDict, TypeAdapter, ValidationError

    config: ConfigDict = {"arbitrary_types_allowed": True}
    try:
        return TypeAdapter(hint, config=config).validate_python(value)
    except ValidationError as error:
        reason = error.errors()[0]["msg"].removeprefix("Input should be ").partition(", unable")[0]
        # of a list the entries may be ids, which no message names
        said = f" {value!r}" if isinstance(value, int | float | str) else ""
        raise ConfigError(f"{what}: {name}{said} should be {reason}", setting=name) from None


def _allowed(hints: Collection[str]) -> str:
    return f"It has {', '.join(hints)}." if hints else "It has none."
