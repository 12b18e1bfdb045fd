"""Personal attributes on their way into a release: written plainly, one order."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from starshade.errors import ConfigError, ReleaseError
from starshade.naming import aside
from starshade.ratings.table import Ratings
from starshade.release import FIXED_INTERVALS
from starshade.release.cells import Cells

if TYPE_CHECKING:
    import pyarrow as pa

    from starshade.release.table import Release


def check_attributes(original: Ratings, attributes: str) -> None:
    """Refuse personal attributes that are not there or would hide a column of the release."""
    if attributes == "exact":
        check_names(attributes_of(original, attributes).column_names, attributes)


def attributes_of(original: Ratings, attributes: str) -> pa.Table:
    """Return the personal attributes to release; refuse data without any."""
    if original.attributes is None:
        raise ConfigError(
            f"attributes {attributes}: the data have no personal attributes",
            advice=f"Give a file of them{aside('users', 'FILE')}, or choose attributes none.",
        )
    return original.attributes


def check_names(names: Sequence[str], attributes: str) -> None:
    """Refuse names of columns that repeat or would hide a column of the release."""
    if len(set(names)) < len(names) or {"record", "group"} & set(names):
        raise ConfigError(
            f"attributes {attributes}: a column name repeats, or is record or group, which are "
            "columns of the release",
            advice="Rename the column in the file of personal attributes.",
        )


def attribute_called(name: str, names: Sequence[str]) -> str | None:
    """Return the attribute of a name; without one, the only one that differs in case alone.

    >>> attribute_called("age", ["Age", "City"]), attribute_called("age", ["Age", "AGE"])
    ('Age', None)
    """
    if name in names:
        return name
    alike = [each for each in names if each.casefold() == name.casefold()]
    return alike[0] if len(alike) == 1 else None


def did_you_mean(name: str, names: Sequence[str]) -> str:
    """Ask whether another attribute was meant; empty where none is close.

    >>> did_you_mean("agee", ["Age", "City"]), did_you_mean("age", ["Age", "AGE"])
    ('Did you mean Age? ', 'Did you mean Age or AGE? ')
    """
    close = get_close_matches(name.casefold(), {each.casefold() for each in names}, n=1)
    meant = [each for each in names if each.casefold() in close]
    return f"Did you mean {' or '.join(meant)}? " if meant else ""


def in_order(
    class_of_user: NDArray[np.int64], attributes: pa.Table | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sort users by class, then by released attributes; users without a difference need no order.

    Returns `order, record` (n_users,): the user of each record, and the record of each user.
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
        try:
            columns.append(_plain(table.column(name)))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise ConfigError(
                f"attribute {name!r}: must be text, or numbers that 64-bit floats hold exactly "
                f"(type {table.column(name).type})",
                advice="Give it as text, or whole numbers up to 2**53.",
            ) from None
        if not _is_finite(columns[-1]):
            raise ConfigError(f"attribute {name!r}: a number is not finite")
    return pa.table(columns, names=table.column_names)


def _plain(column: pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Return a column as float64 without NaN and -0.0, or as string."""
    import pyarrow as pa

    if not (pa.types.is_floating(column.type) or pa.types.is_integer(column.type)):
        return column.cast(pa.string())
    null = column.is_null(nan_is_null=True).to_numpy()
    values = column.cast(pa.float64()).fill_null(0.0).to_numpy() + 0.0  # no -0.0
    return pa.array(values, mask=null)


def _is_finite(column: pa.Array | pa.ChunkedArray) -> bool:
    return str(column.type) != "double" or bool(np.isfinite(column.fill_null(0.0).to_numpy()).all())


def check_plain(table: pa.Table, names: Sequence[str]) -> None:
    """Check that unchanged attributes of a folder are as `plain_attributes` returns them."""
    for name in names:
        column = table.column(name)
        if str(column.type) not in ("double", "string"):
            raise ReleaseError("records.parquet: a personal attribute is neither number nor text")
        if not _is_finite(column):
            raise ReleaseError("records.parquet: a personal attribute is not finite")


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


def disclosure_shares(release: Release) -> dict[str, float | None]:
    """Count of how many people the cells and attributes of a release show what.

    Returns: ``users_rating_disclosed``, ``users_exact_values_listed``, ``users_rating_exists``, all
    None on layout "profile", and ``records_alone_with_sensitive``, None without such attributes.
    """
    cells, manifest = release.classes, release.manifest
    disclosed = listed = exists = alone = None
    if isinstance(cells, Cells):
        of = release.groups  # of records: which are equal
        sizes = None if of is None else np.bincount(of)[of]
        disclosed, exists = users_rating_disclosed(cells), users_rating_exists(cells)
        listed = users_exact_values_listed(cells, manifest.config.get("hierarchy"), sizes)
    if release.attributes is not None:
        sensitive = release.attributes.select(list(manifest.sensitive_attributes))
        alone = records_alone_with_sensitive(release.class_of_record, sensitive)
    return {
        "users_rating_disclosed": disclosed,
        "users_exact_values_listed": listed,
        "users_rating_exists": exists,
        "records_alone_with_sensitive": alone,
    }


def users_rating_disclosed(classes: Cells) -> float:
    """Return the share of users whose class has a cell with one single member, a rating."""
    return _share(classes, rating_disclosed(classes))


def rating_disclosed(classes: Cells) -> NDArray[np.bool_]:
    """Mark the rows that have a cell with one single member, a rating."""
    return _has_cell(classes, classes.symbols.is_single[classes.codes])


def users_exact_values_listed(
    rows: Cells, hierarchy: object = None, sizes: NDArray[np.int64] | None = None
) -> float:
    """Return the share of users whose class has a cell that lists exact ratings of its members."""
    return _share(rows, exact_values_listed(rows, hierarchy, sizes))


def exact_values_listed(
    rows: Cells, hierarchy: object = None, sizes: NDArray[np.int64] | None = None
) -> NDArray[np.bool_]:
    """Mark the rows that have a cell which lists exact ratings of its members.

    On a real scale, or one of more than 20 levels, such a cell names ratings that members gave: a
    list, the ends of a range, a single rating. On any scale it lists as many values, null counted,
    as the class has members, each of which is then held once.

    `hierarchy`: as the manifest names it; None: a record's own ratings. `sizes` (n_groups,): of
    the class of each row, where rows are records.
    """
    symbols = rows.symbols
    if hierarchy == FIXED_INTERVALS:
        return np.zeros(rows.n_groups, dtype=np.bool_)
    values = np.where(symbols.is_range, 0, symbols.n_members + symbols.null)
    # of a set that is no list only two values are known to be held: it would say one otherwise
    values[(values > 2) & (hierarchy not in (None, "ndgh"))] = 0
    each = np.repeat(rows.sizes if sizes is None else sizes, np.diff(rows.indptr))
    marked = values[rows.codes] == each
    if symbols.scale.fine:
        marked |= symbols.names_ratings(hierarchy)[rows.codes]
    return _has_cell(rows, marked)


def users_rating_exists(classes: Cells) -> float:
    """Return the share of users whose class has a cell without a null member.

    Such a cell says of every user of the class that they rated the item, if not how.
    """
    return _share(classes, _has_cell(classes, ~classes.symbols.null[classes.codes]))


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


def _has_cell(classes: Cells, marked: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Mark the rows with a marked cell."""
    before = np.zeros(len(marked) + 1, dtype=np.int64)
    np.cumsum(marked, out=before[1:])
    return np.asarray(before[classes.indptr[1:]] > before[classes.indptr[:-1]])


def _share(classes: Cells, rows: NDArray[np.bool_]) -> float:
    """Return the share of records in marked rows; 0 without records."""
    return int(classes.sizes[rows].sum()) / max(classes.n_records, 1)
