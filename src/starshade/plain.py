"""Results as what JSON knows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["plain"]


def plain(value: Any) -> Any:
    """Return a result as JSON knows it: NaN and infinity become null, NumPy becomes Python.

    Raises
    ------
    TypeError
        Something is in it that JSON has no word for.

    Examples
    --------
    >>> plain({"rate": float("nan"), "known": (2, 4)})
    {'rate': None, 'known': [2, 4]}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, Path):
        return str(value)
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    raise TypeError(f"{type(value).__name__} in a result")
