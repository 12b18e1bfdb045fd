"""Generalized personal attributes on their way into a release: checked, written plainly, ordered.

A numeric quasi-identifier is a range with a flag for null, from its low end to below its high one,
either of which may be open (infinite); a categorical one is the list of the values that occur, null
first and then by code point. Every record of a class has the same.
The order of two contents: a range by its low end, its high end, then the flag, one of nulls alone
before all others; a list value by value, null before every text, a list before its continuations.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from starshade.errors import ConfigError, InternalError, ReleaseError
from starshade.ratings.table import Ratings
from starshade.release.attributes import attributes_of, check_names, check_plain, plain_attributes
from starshade.release.manifest import Manifest

if TYPE_CHECKING:
    import pyarrow as pa


def _types() -> tuple[pa.DataType, pa.DataType]:
    import pyarrow as pa

    ends = [("low", pa.float64()), ("high", pa.float64()), ("null", pa.bool_())]
    return pa.struct(ends), pa.list_(pa.string())


def is_range(kind: pa.DataType) -> bool:
    """Tell whether a column's type is that of a numeric quasi-identifier."""
    import pyarrow.types as types

    return bool(types.is_struct(kind)) and [field.name for field in kind] == ["low", "high", "null"]


def _is_list(kind: pa.DataType) -> bool:
    import pyarrow.types as types

    listed = types.is_list(kind) or types.is_large_list(kind)
    return listed and str(kind.value_type) in ("string", "large_string")


def quasi_table(
    original: Ratings,
    groups: NDArray[np.int64],
    table: pa.Table | None,
    quasi: Sequence[str],
    sensitive: Sequence[str],
) -> pa.Table:
    """Check generalized attributes and write equal contents equally.

    `groups` (n_users,). `table`: a row per user, the columns of `quasi` and then those of
    `sensitive`. Returns: the same columns in one type for each kind, sensitive ones as float64 or
    string.
    """
    names = [*quasi, *sensitive]
    known = attributes_of(original, "generalized").column_names
    if table is None or table.column_names != names or table.num_rows != original.n_users:
        raise InternalError("generalized attributes: not a row per user of the columns named")
    if not names:
        raise ConfigError("attributes generalized: no quasi-identifier and no sensitive attribute")
    if set(names) - set(known):
        raise InternalError("generalized attributes: one that the data do not have")
    check_names(names, "generalized")
    columns = [_plain(table.column(name)) for name in quasi]
    first = np.unique(groups, return_index=True)[1]
    for column in columns:
        if not column.equals(column.take(first[groups])):
            raise InternalError("generalized attributes: members of one group differ")
    exact = plain_attributes(table.select(list(sensitive)))
    assert exact is not None
    columns += [exact.column(name) for name in sensitive]
    import pyarrow as pa

    return pa.table(columns, names=names)


def _plain(column: pa.ChunkedArray) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    column, (ranges, lists) = column.combine_chunks(), _types()
    if isinstance(column, pa.ChunkedArray):  # of no chunk, or of several
        column = pa.concat_arrays(column.chunks) if column.chunks else pa.array([], column.type)
    if column.null_count:
        raise InternalError("generalized attributes: a record without any content")
    if _is_list(column.type):
        return column.cast(lists)
    if not is_range(column.type):
        raise InternalError(f"generalized attributes: a quasi-identifier of type {column.type}")
    ends = []
    for name in ("low", "high"):
        end = pc.struct_field(column, name)
        missing = end.is_null(nan_is_null=True).to_numpy(zero_copy_only=False)
        values = end.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False) + 0.0
        ends.append(pa.array(values, mask=missing))  # adding 0.0: no -0.0
    null = pc.struct_field(column, "null")
    return pa.StructArray.from_arrays([*ends, null], fields=list(ranges))


def split_classes(
    class_of_group: NDArray[np.int64],
    groups: NDArray[np.int64],
    table: pa.Table,
    quasi: Sequence[str],
) -> NDArray[np.int64]:
    """Give groups numbers by their cells, then by their quasi-identifiers.

    `class_of_group` (n_groups,): numbers of the groups' cells, in content order. `groups`
    (n_users,). `table`: as `quasi_table` returns it. Returns (n_groups,): 0…C-1, none left out;
    equal where cells and quasi-identifiers are.
    """
    first = np.unique(groups, return_index=True)[1]
    keys = [class_of_group]
    for name in quasi:
        contents = content_keys(table.column(name).take(first))
        rank = {key: r for r, key in enumerate(sorted(set(contents)))}
        keys.append(np.array([rank[key] for key in contents], dtype=np.int64))
    if not len(first):
        return class_of_group
    rows = np.stack(keys, axis=1)
    return np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)


def content_keys(column: pa.Array | pa.ChunkedArray) -> list[tuple[Any, ...]]:
    """Return a key for each content of a quasi-identifier; keys compare as contents do."""
    if is_range(column.type):
        return [
            (v["low"] is not None, v["low"] or 0.0, v["high"] or 0.0, v["null"])
            for v in column.to_pylist()
        ]
    return [tuple((v is not None, v or "") for v in values) for values in column.to_pylist()]


def read_quasi(table: pa.Table, manifest: Manifest, group: NDArray[np.int64]) -> pa.Table:
    """Check the personal attributes of a folder that has generalized ones.

    `table`: the attributes of the records, of the names that the manifest has. `group`
    (n_records,): classes, 0, 0, …, 1, 1, …. Returns: as `quasi_table` returns it.
    """
    first = np.flatnonzero(np.diff(group, prepend=-1))
    for name in manifest.quasi_identifiers:
        place = table.column_names.index(name)
        column = table.column(place)
        ranged = is_range(column.type)
        if not ranged and not _is_list(column.type):
            raise ReleaseError("records.parquet: a quasi-identifier is neither range nor list")
        column = column.cast(_types()[0 if ranged else 1])
        if not column.equals(column.take(first[group])):
            raise ReleaseError("records.parquet: quasi-identifiers differ within a class")
        if not all(map(_says_something, column.take(first).to_pylist())):
            raise ReleaseError("records.parquet: a quasi-identifier is empty or not sorted")
        table = table.set_column(place, name, column)
    check_plain(table, manifest.sensitive_attributes)
    return table


def _says_something(content: Any) -> bool:
    if isinstance(content, dict):
        low, high, null = content["low"], content["high"], content["null"]
        if low is None or high is None:
            return low is None and high is None and null is True
        return null is not None and low < high  # an end may be open; NaN is below nothing
    keys = [(v is not None, v or "") for v in content or ()]
    return bool(keys) and all(a < b for a, b in pairwise(keys))
