"""Personal attributes on their way into a release: written plainly, one order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from starshade.errors import ConfigError
from starshade.ratings.table import Ratings

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["check_attributes", "check_names", "in_order", "plain_attributes", "ranks"]


def check_attributes(original: Ratings, attributes: str) -> None:
    """Refuse personal attributes that are not there or would hide a column of the release.

    Raises
    ------
    ConfigError
        ``attributes="exact"`` and there are none, or their names do not fit.
    """
    if attributes == "exact" and original.attributes is None:
        raise ConfigError(
            "attributes exact: the data have no personal attributes",
            advice="Give a file of them (--users FILE), or release without (--attributes none).",
        )
    if attributes == "exact" and original.attributes is not None:
        check_names(original.attributes.column_names, attributes)


def check_names(names: Sequence[str], attributes: str) -> None:
    """Refuse names of columns that repeat or would hide a column of the release.

    Raises
    ------
    ConfigError
    """
    if len(set(names)) < len(names) or {"record", "group"} & set(names):
        raise ConfigError(
            f"attributes {attributes}: a column of this name already exists, or it is called "
            "record or group, which a release has columns of its own for",
            advice="Rename the column in the file of personal attributes.",
        )


def in_order(
    class_of_user: NDArray[np.int64], attributes: pa.Table | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sort users by class, then by released attributes; users without a difference need no order.

    Returns
    -------
    order, record : ndarray of int64, shape (n_users,)
        The user of each record, and the record of each user.
    """
    order = np.lexsort([*reversed(ranks(attributes)), class_of_user])
    record = np.empty(len(order), dtype=np.int64)
    record[order] = np.arange(len(order))
    return order, record


def plain_attributes(table: pa.Table | None) -> pa.Table | None:
    """Return the table with equal values written equally: float64 or string, no metadata."""
    if table is None:
        return None
    import pyarrow as pa

    columns = []
    for name in table.column_names:
        column = table.column(name)
        if pa.types.is_floating(column.type) or pa.types.is_integer(column.type):
            null = column.is_null(nan_is_null=True).to_numpy()
            values = column.cast(pa.float64()).fill_null(0.0).to_numpy() + 0.0  # no -0.0
            columns.append(pa.array(values, mask=null))
        else:
            columns.append(column.cast(pa.string()))
    return pa.table(columns, names=table.column_names)


def ranks(table: pa.Table | None) -> list[NDArray[np.int64]]:
    """Return the ranks of each column's values: null 0, others from 1, strings by code point.

    The columns are those of `plain_attributes`; every rank from 1 on occurs.
    """
    if table is None:
        return []
    out = []
    for column in table.columns:
        coded = column.combine_chunks().dictionary_encode()
        values = coded.dictionary.to_pylist()
        rank = np.zeros(len(values) + 1, dtype=np.int64)  # the last one is null's
        rank[sorted(range(len(values)), key=values.__getitem__)] = 1 + np.arange(len(values))
        out.append(rank[coded.indices.fill_null(len(values)).to_numpy()])
    return out
