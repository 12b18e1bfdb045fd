"""Keywords of a method and of a layout, told apart."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from starshade.release.making import Making

_OWN = {field.name for field in fields(Making)}


def made_and_rest(arguments: dict[str, Any]) -> tuple[Making, dict[str, Any]]:
    """Return the `Making` that these keywords say, and those that are not its own."""
    own = {key: value for key, value in arguments.items() if key in _OWN}
    return Making(**own), {key: value for key, value in arguments.items() if key not in _OWN}
