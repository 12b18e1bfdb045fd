"""Kernels that only kernels call."""

from __future__ import annotations

from typing import Any

from numba import njit

__all__ = ["inner"]

_NO_WAY_IN: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
#: As ``njit(cache=True, nogil=True)``, without the way in from Python: that would be a quarter of
#: all compiling. Called from Python such a kernel ends the process (tests/house/test_inner.py).
inner = njit(cache=True, nogil=True, **_NO_WAY_IN)
