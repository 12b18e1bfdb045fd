"""JSON that is whole or refused: a SHA-256 over the content, whatever its layout.

Canonical content is what a reader gets: keys sorted, no spaces, ASCII, numbers as Python writes
them. The checksum catches damage, not malice: whoever changes a fact on purpose can compute it
anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Listed:
    """A list that is written some entries at a time; `parts` yields them anew each time."""

    parts: Callable[[], Iterable[list[Any]]]


def texts_with_checksum(facts: dict[str, Any]) -> Iterator[str]:
    """Yield the JSON of `with_checksum`, of which a value may be `Listed`, piece by piece.

    Examples
    --------
    >>> facts = {"k": 5, "users": Listed(lambda: [["a"], [], ["b", "c"]])}
    >>> told = json.loads("".join(texts_with_checksum(facts)))
    >>> told == with_checksum({"k": 5, "users": ["a", "b", "c"]})
    True
    """
    digest = hashlib.sha256()
    for text in _texts(facts, sorted(facts), (",", ":"), sort_keys=True):
        digest.update(text.encode("ascii"))
    told = {**facts, CHECKSUM: digest.hexdigest()}
    yield from _texts(told, told, (", ", ": "))


def _texts(
    facts: dict[str, Any], names: Iterable[str], marks: tuple[str, str], **how: Any
) -> Iterator[str]:
    before = "{"
    for name in names:
        yield f"{before}{json.dumps(name)}{marks[1]}"
        value, before = facts[name], marks[0]
        if not isinstance(value, Listed):
            # what a reader will make of it
            value = json.loads(json.dumps(value)) if how else value
            yield json.dumps(value, separators=marks, allow_nan=not how, **how)
            continue
        between = "["
        for part in value.parts():
            if part:
                yield between + json.dumps(part, separators=marks)[1:-1]
                between = marks[0]
        yield "[]" if between == "[" else "]"
    yield "}"


def without_checksum(facts: dict[str, Any]) -> dict[str, Any]:
    """Return facts as they were given to `with_checksum`; else ValueError."""
    content = {name: value for name, value in facts.items() if name != CHECKSUM}
    if CHECKSUM not in facts:
        raise ValueError("it has no checksum")
    if facts[CHECKSUM] != _checksum(content):
        raise ValueError("its checksum does not fit its content")
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
        raise ValueError("a key repeats")
    return facts


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number")
