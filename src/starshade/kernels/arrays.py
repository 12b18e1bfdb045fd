"""Short names of the arrays that kernels take and give."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array", "Bools", "Bytes", "Floats", "Int32s", "Ints", "Words"]

Array = NDArray[Any]
Bools = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
Floats = NDArray[np.float64]
Int32s = NDArray[np.int32]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
