"""RecBole's atomic files: a header that names the type of every column."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["is_typed", "untyped"]

_TYPES = ("token", "token_seq", "float", "float_seq")


def is_typed(columns: Sequence[str]) -> bool:
    """Tell whether every column is written ``name:type``.

    >>> is_typed(["user_id:token", "rating:float"]), is_typed(["user_id", "rating:float"])
    (True, False)
    """
    return all(name.rpartition(":")[2] in _TYPES and ":" in name for name in columns)


def untyped(columns: Sequence[str]) -> tuple[str, ...]:
    """Take the types off, where the columns have any.

    >>> untyped(["user_id:token", "a:b:float"])
    ('user_id', 'a:b')
    """
    return tuple(name.rpartition(":")[0] if is_typed(columns) else name for name in columns)
