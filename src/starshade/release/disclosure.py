"""What a release tells about single users however many they hide among (DESIGN §4).

"Hides among k" is not "hides what you rated": when all members of a class rated an item alike,
the class shows the rating of each of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from starshade.release.cells import Cells

__all__ = ["users_rating_disclosed", "users_rating_exists"]


def users_rating_disclosed(classes: Cells) -> float:
    """Return the share of users whose class has a cell with one single member, a rating.

    Parameters
    ----------
    classes : Cells
        One row per class.

    Returns
    -------
    float
        In [0, 1]; 0 without records.
    """
    return _share_with_a_cell(classes, classes.symbols.is_single)


def users_rating_exists(classes: Cells) -> float:
    """Return the share of users whose class has a cell without a null member.

    Such a cell says of every user of the class that they rated the item, if not how.
    """
    return _share_with_a_cell(classes, ~classes.symbols.null)


def _share_with_a_cell(classes: Cells, telling: NDArray[np.bool_]) -> float:
    """Share of records in rows with a cell whose symbol is marked."""
    before = np.concatenate([[0], np.cumsum(telling[classes.codes])])
    hit = before[classes.indptr[1:]] > before[classes.indptr[:-1]]
    return int(classes.sizes[hit].sum()) / max(classes.n_records, 1)
