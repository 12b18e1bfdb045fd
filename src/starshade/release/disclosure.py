"""What a release tells about single users however many they hide among.

"Hides among k" is not "hides what you rated": when all members of a class rated an item alike,
the class shows the rating of each of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from starshade.release.attributes import ranks
from starshade.release.cells import Cells

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["records_alone_with_sensitive", "users_rating_disclosed", "users_rating_exists"]


def users_rating_disclosed(classes: Cells) -> float:
    """Return the share of users whose class has a cell with one single member, a rating."""
    return _share_with_a_cell(classes, classes.symbols.is_single)


def users_rating_exists(classes: Cells) -> float:
    """Return the share of users whose class has a cell without a null member.

    Such a cell says of every user of the class that they rated the item, if not how.
    """
    return _share_with_a_cell(classes, ~classes.symbols.null)


def records_alone_with_sensitive(
    class_of_record: NDArray[np.int64], sensitive: pa.Table
) -> float | None:
    """Return the share of records that are alone with their class and their sensitive values.

    By ratings and quasi-identifiers the records of a class are equal. With the attributes that
    are released as they are they differ: whoever knows these of a person, too, finds one record.

    `sensitive`: a row per record, as `plain_attributes` returns it; null is a value of its own.
    """
    if not sensitive.num_columns:
        return None
    keys = np.stack([class_of_record, *ranks(sensitive)], axis=1)
    counts = np.unique(keys, axis=0, return_counts=True)[1]
    return int((counts == 1).sum()) / max(len(keys), 1)


def _share_with_a_cell(classes: Cells, telling: NDArray[np.bool_]) -> float:
    """Share of records in rows with a cell whose symbol is marked; 0 without records."""
    before = np.concatenate([[0], np.cumsum(telling[classes.codes])])
    hit = before[classes.indptr[1:]] > before[classes.indptr[:-1]]
    return int(classes.sizes[hit].sum()) / max(classes.n_records, 1)
