"""What can be set, as a JSON Schema."""

from __future__ import annotations

from dataclasses import MISSING
from typing import Any

from starshade.setting import Setting, settings_of

__all__ = ["json_schema"]

_IN_JSON = {
    "integer": "integer",
    "number": "number",
    "flag": "boolean",
    "texts": "array",
    "places": "array",
    "integers": "array",
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
    schema: dict[str, Any] = {
        "title": setting.label,
        "description": setting.help,
        "type": [kind, "null"] if setting.optional else kind,
    }
    if kind == "object":
        schema["additionalProperties"] = {"type": "string"}
    if kind == "array":
        whole = {"type": "integer", "minimum": setting.least or 0}
        schema["items"] = {"type": "string"} if setting.kind == "texts" else whole
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
