"""Validation of job settings: known names, values of the right type."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import MISSING
from difflib import get_close_matches
from typing import Any

from starshade.errors import ConfigError
from starshade.setting import settings_of


def built(cls: Any, what: str, values: Mapping[str, Any], **given: Any) -> Any:
    """Build an attack, a method or knowledge from settings.

    `what`: as messages call it, "the attack scoreboard"; `values`: as JSON has them; `given`: what
    is made in another way and is not among `values`.
    """
    own = [setting for setting in settings_of(cls) if setting.name not in given]
    _refuse_unknown(what, values, [setting.name for setting in own])
    for setting in own:
        if setting.default is MISSING and setting.name not in values:
            advice = f"Typical: {setting.usual}." if setting.usual else "Give a value."
            raise ConfigError(
                f"{what}: {setting.name} is missing", advice=advice, setting=setting.name
            )
    return cls(**values, **given)


def checked(what: str, values: Mapping[str, Any], hints: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values, converted to their types.

    `what`: as messages call the whole; `hints`: the allowed names, with their types.
    """
    _refuse_unknown(what, values, hints)
    return {name: _typed(what, name, value, hints[name]) for name, value in values.items()}


def _refuse_unknown(what: str, values: Any, names: Collection[str]) -> None:
    allowed = f"It has {', '.join(names)}." if names else "It has none."
    if not isinstance(values, Mapping):
        raise ConfigError(f"{what}: settings must be given by name", advice=allowed)
    for name in values:
        if name not in names:
            close = get_close_matches(str(name), names, n=1)
            hint = f" Did you mean {close[0]}?" if close else ""
            raise ConfigError(f"{what} has no setting {name!r}", advice=f"{allowed}{hint}")


def _typed(what: str, name: str, value: Any, hint: Any) -> Any:
    from pydantic import ConfigDict, TypeAdapter, ValidationError

    config: ConfigDict = {"arbitrary_types_allowed": True}
    try:
        return TypeAdapter(hint, config=config).validate_python(value)
    except ValidationError as error:
        reason = error.errors()[0]["msg"].removeprefix("Input should be ").partition(", unable")[0]
        # of a list the entries may be ids, which no message names
        text = f" {value!r}" if isinstance(value, int | float | str) else ""
        raise ConfigError(f"{what}: {name}{text} should be {reason}", setting=name) from None
