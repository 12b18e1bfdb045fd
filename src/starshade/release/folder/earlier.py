"""Keys of ``release.json`` and of key files that earlier formats named otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: of ``release.json`` and of key files; format 4 of both
_KEYS = {"invented_cells": "imputed_cells", "invented_records": "dummy_records"}
_VERIFIED = {
    "smallest_group": "smallest_class",
    "smallest_group_at_least": "smallest_class_at_least",
    "fewest_groups": "fewest_classes",
}
_KEY_FILE = _KEYS | {"receipt": "key_file", "forgotten": "erased"}
_CHAIN = {
    "gone": "left_before",
    "gone_groups": "left_before_groups",
    "invented": "dummies",
    "forgotten": "erased",
}


def release_facts(facts: dict[str, Any]) -> dict[str, Any]:
    """Return what ``release.json`` says, by the keys of today's format; else ValueError.

    Examples
    --------
    >>> release_facts({"format": 3, "invented_cells": "none"})
    {'format': 3, 'imputed_cells': 'none'}
    """
    if facts.get("format") != 3:
        return facts
    facts = _settled(_renamed(facts, _KEYS))
    claims = facts.get("claims")
    if isinstance(claims, list):
        facts["claims"] = [_within(claim, "verified", _VERIFIED) for claim in claims]
    return facts


def key_file_facts(facts: dict[str, Any]) -> dict[str, Any]:
    """Return what a key file says, by the keys of today's format; else ValueError."""
    if "receipt" not in facts:
        return facts
    return _settled(_within(_renamed(facts, _KEY_FILE), "chain", _CHAIN))


def _settled(facts: dict[str, Any]) -> dict[str, Any]:
    """Return facts whose settings have today's values."""
    config = facts.get("config")
    if isinstance(config, dict) and config.get("shortfall") == "invent":
        return facts | {"config": config | {"shortfall": "dummies"}}
    return facts


def _within(facts: Any, key: str, names: Mapping[str, str]) -> Any:
    inner = facts.get(key) if isinstance(facts, dict) else None
    return facts | {key: _renamed(inner, names)} if isinstance(inner, dict) else facts


def _renamed(facts: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    if later := set(names.values()) & set(facts):
        raise ValueError(f"it has a key of a later format ({', '.join(sorted(later))})")
    return {names.get(key, key): value for key, value in facts.items()}
