"""Types of a kernel's arguments as text, and back."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from numba import types
from numba.np.numpy_support import as_dtype, from_dtype

__all__ = ["read_types", "write_types"]


def write_types(arguments: tuple[types.Type, ...]) -> str:
    """Write down types, so that `read_types` finds the same.

    >>> from numba import int64, types
    >>> write_types((int64, types.Array(int64, 1, "C", readonly=True)))
    "int64, Array(int64, 1, 'C', True)"
    """
    return ", ".join(map(_write, arguments))


def read_types(text: str) -> tuple[types.Type, ...]:
    """Return the types of a text from our own list."""
    return tuple(eval(f"[{text}]", _NAMES))


def _write(one: Any) -> str:
    match one:
        case types.Literal():  # before the type that it is one of
            return f"literal({one.literal_value!r})"
        case types.Boolean():
            return "boolean"
        case types.Number():
            return str(one.name)
        case types.Array():
            fixed = "" if one.mutable else ", True"
            return f"Array({_write(one.dtype)}, {one.ndim}, {one.layout!r}{fixed})"
        case types.NamedTuple() | types.NamedUniTuple():
            name = f"{one.instance_class.__module__}:{one.instance_class.__name__}"
            return f"named({name!r}, {write_types(one.types)})"
        case types.UniTuple() | types.Tuple():
            return f"Tuple([{write_types(one.types)}])"
        case types.Record():
            dtype = as_dtype(one)
            return f"record({dtype.descr!r}, {dtype.isalignedstruct})"
    raise TypeError(f"{one}: no way to write it down")


def _named(name: str, *fields: types.Type) -> types.BaseTuple:
    module, _, attribute = name.partition(":")
    found: types.BaseTuple = types.BaseTuple.from_types(  # type: ignore[no-untyped-call]
        fields, getattr(importlib.import_module(module), attribute)
    )
    return found


def _record(fields: list[Any], align: bool) -> types.Type:
    found: types.Type = from_dtype(np.dtype(fields, align=align))
    return found


_NAMES = {**vars(types), "named": _named, "record": _record}
