"""How a setting is named in a message: in the way of the door through which the process came in.

In Python a setting is an argument, on the command line an option, in the studio a field of a
form. What is said below the doors asks here, at the moment at which it is said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

#: a list is of texts; ``top:N`` stands for the N most rated items, ``KEY=VALUE`` for an entry of a
#: mapping, and a placeholder for whatever fits there
Value = str | int | float | Sequence[str] | None

#: setting, value → how it is written; empty where this door has no such setting
Speller = Callable[[str, Value], str]

_ELSEWHERE = "a setting of the command line only"
#: what is no argument of the function that was called
_IN_PYTHON = {
    "memory": "budget.limits(memory=…)",
    "original.items": "original=top_items(n).apply(ratings)",
}
_PLACEHOLDERS = {"FILE", "HIGH", "LOW", "NAME", "RATINGS", "RECIPE", "TABLE"}
_NUMBER = re.compile(r"-?[0-9][0-9.]*")


def named(setting: str, value: Value = None, *, otherwise: str = _ELSEWHERE) -> str:
    """Name a setting, perhaps with a value; `otherwise` where this door does not have it.

    Where one name is two settings of one command, what stands before a dot says which is meant:
    ``aux.item_col`` (of public ratings), ``out.format``.

    >>> named("on_duplicate"), named("rare_items", "keep"), named("full", True)
    ('on_duplicate', 'rare_items="keep"', 'full=True')
    >>> named("items", "top:50"), named("users", "FILE"), named("null_values", ["98", "99"])
    ('items=top_items(50)', 'users=FILE', 'null_values=[98, 99]')
    """
    return _speller(setting, value) or otherwise


def called(setting: str) -> str:
    """Name a setting where a message begins; by its own name where this door does not have it.

    >>> f"{called('risk.draws')} 0: at least 1"
    'draws 0: at least 1'
    """
    return named(setting, otherwise=setting.rpartition(".")[2])


def aside(setting: str, value: Value = None, rest: str = "") -> str:
    """Name a setting in brackets, with a space before; nothing where this door does not have it.

    >>> "Without the receipt" + aside("private") + " nobody can tell."
    'Without the receipt (private) nobody can tell.'
    """
    name = _speller(setting, value)
    return f" ({name}{rest and f' {rest}'})" if name else ""


def together(*settings: tuple[str, Value]) -> str:
    """Name settings that are to be given at once, each with a value.

    >>> together(("user_col", 1), ("item_col", 2))
    'user_col=1, item_col=2'
    """
    return _between.join(named(setting, value) for setting, value in settings)


@dataclass(frozen=True)
class Advice:
    """A sentence that names a setting in the way of the door where it is shown, not before.

    `text`: with ``{}`` where the setting is named. `bracketed`: in brackets, with a space before,
    or not at all (`aside`).

    >>> str(Advice("Make shadow releases: {}.", "shadows", 16))
    'Make shadow releases: shadows=16.'
    """

    text: str
    setting: str
    value: Value = None
    bracketed: bool = False

    def __str__(self) -> str:
        name = (aside if self.bracketed else named)(self.setting, self.value)
        return self.text.format(name)


@contextmanager
def speak(speller: Speller, between: str = ", ") -> Iterator[None]:
    """Name settings in a door's own way, in all threads, until the end of the block.

    `between` stands between several that are given at once.
    """
    global _between, _speller
    before = _speller, _between
    _speller, _between = speller, between
    try:
        yield
    finally:
        _speller, _between = before


def spoken() -> tuple[Speller, str]:
    """Return how settings are named here, for another process to `speak` so."""
    return _speller, _between


def _in_python(setting: str, value: Value) -> str:
    name = setting.rpartition(".")[2]
    return _IN_PYTHON.get(setting, name) if value is None else f"{name}={_literal(value)}"


def _literal(value: object) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_number_or_text, value))}]"
    if not isinstance(value, str):
        return f"{value:g}" if isinstance(value, float) else str(value)
    if value.startswith("top:"):
        return f"top_items({value.removeprefix('top:')})"
    key, is_entry, rest = value.partition("=")
    if is_entry:
        low, is_range, high = rest.partition(":")
        inside = (
            f"({_number_or_text(low)}, {_number_or_text(high)})" if is_range else _literal(rest)
        )
        return f"{{{_literal(key)}: {inside}}}"
    written = value in _PLACEHOLDERS or (value.startswith('"') and value.endswith('"'))
    return value if written else f'"{value}"'


def _number_or_text(value: object) -> str:
    is_number = isinstance(value, str) and _NUMBER.fullmatch(value)
    return str(value) if is_number else _literal(value)


_speller: Speller = _in_python
_between = ", "
