"""JSON that is whole or refused: a SHA-256 over the content, whatever its layout.

Canonical content is what a reader gets: keys sorted, no spaces, ASCII, numbers as Python writes
them. The checksum catches damage, not malice: whoever changes a fact on purpose can compute it
anew.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, NoReturn

CHECKSUM = "checksum"


def parse(raw: bytes) -> Any:
    """Read JSON that can be read in one way only: UTF-8, no key twice, no NaN; else ValueError."""
    try:
        text = raw.decode("utf-8")
        return json.loads(text, object_pairs_hook=_no_key_twice, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def with_checksum(facts: dict[str, Any]) -> dict[str, Any]:
    """Return facts with the checksum over what a reader will make of them, as their last key.

    Examples
    --------
    >>> without_checksum(with_checksum({"k": 5}))
    {'k': 5}
    """
    return {**facts, CHECKSUM: _checksum(json.loads(json.dumps(facts)))}


def without_checksum(facts: dict[str, Any]) -> dict[str, Any]:
    """Return facts as they were given to `with_checksum`; else ValueError."""
    content = {name: value for name, value in facts.items() if name != CHECKSUM}
    if CHECKSUM not in facts:
        raise ValueError("it has no checksum")
    if facts[CHECKSUM] != _checksum(content):
        raise ValueError("its checksum is that of other content")
    return content


def _checksum(content: dict[str, Any]) -> str:
    try:
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    facts = dict(pairs)
    if len(facts) != len(pairs):
        raise ValueError("a key stands twice")
    return facts


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number")
