"""What every reader hands to `build`: blocks of rows, still in file order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["NO_DAY", "Batch"]

NO_DAY = -(2**31)  # a day number that says "no date in this row"


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows as read, nothing sorted, nothing dropped.

    `users`, `items`: int64 where the reader has *proved* every id of this block to be a canonical
    integer (no sign, no leading zero); otherwise an object array of str. `ratings` (n,): NaN where
    the cell was empty, null or no number (the reader reports those itself or leaves them to
    `build`, which refuses them). `days`: days since 1970-01-01 (UTC); `NO_DAY` where the row has
    none. None: no date column. `first_row`: number of the first row, counted from 0 over the whole
    input.
    """

    users: NDArray[np.int64] | NDArray[np.object_]
    items: NDArray[np.int64] | NDArray[np.object_]
    ratings: NDArray[np.float64]
    days: NDArray[np.int32] | None
    first_row: int

    def __len__(self) -> int:
        return len(self.ratings)
