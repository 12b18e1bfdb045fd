"""Kernels that only kernels call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit

__all__ = ["copy_to", "inner"]

_NO_WAY_IN: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def inner(function: Callable[..., Any]) -> Any:
    """Declare a kernel without a way in from Python, which is a quarter of all compiling.

    Otherwise as ``njit(cache=True, nogil=True)``. Called from Python it raises TypeError.
    """
    kernel: Any = njit(cache=True, nogil=True, **_NO_WAY_IN)(function)
    if kernel is function:  # interpreted
        return kernel

    def refuse(*_: object, **__: object) -> None:
        raise TypeError(f"{function.__qualname__} is called by kernels only: declare it with njit")

    # Numba would jump to where the way in is missing: it is not told of what was compiled
    kernel._insert = lambda *_, **__: None
    kernel._compile_for_args = refuse
    return kernel


@inner
def copy_to(target, source):  # type: ignore[no-untyped-def]
    """Copy a row number by number; into itself only from further back.

    ``target[:] = source`` would have Numba compile the words of an error about shapes as well,
    which takes seconds; the machine code of the copy is the same.
    """
    for i in range(len(source)):
        target[i] = source[i]
