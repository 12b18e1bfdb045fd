"""Cells in Parquet: one row per cell with a possible rating.

On a stepped scale a cell's ``members`` are a fixed-size bit mask: bit 0 is null, bit j the j-th
level, least significant bit of the first byte first. On a real scale a cell is a range
(``low``, ``high``) or a sorted list of ``values``, and a flag for ``null``. Layout
"profile" has a row per class and in it a byte per item.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from starshade.errors import ReleaseError
from starshade.ratings.scale import SLACK, Scale
from starshade.release.cells import Cells, Symbols
from starshade.release.profiles import Profiles

if TYPE_CHECKING:
    import pyarrow as pa

PROFILE_BYTES = 2**25  # of profiles that are written, and read, together: a fixed cut


def mask_bytes(scale: Scale) -> int:
    """Return the width of a mask over {null} ∪ levels."""
    return len(scale.levels) // 8 + 1


def content_fields(scale: Scale) -> list[tuple[str, pa.DataType]]:
    """Return name and type of the columns with the content of a cell."""
    import pyarrow as pa

    if scale.step is not None:
        return [("members", pa.binary(mask_bytes(scale)))]
    return [
        ("low", pa.float64()),
        ("high", pa.float64()),
        ("values", pa.list_(pa.float64())),
        ("null", pa.bool_()),
    ]


def cells_table(classes: Cells, groups: NDArray[np.int64] | None = None) -> pa.Table:
    """Return the rows of ``cells.parquet`` for canonical cells, by group, then item.

    `groups` (n_groups,): layout "record": the group of each row, which is then a record.
    """
    import pyarrow as pa

    row = np.repeat(np.arange(classes.n_groups, dtype=np.int32), np.diff(classes.indptr))
    own = {"group": row} if groups is None else {"group": groups.astype(np.int32)[row]}
    if groups is not None:
        own["record"] = row
    keys = pa.array(list(classes.items), pa.string())
    item = pa.DictionaryArray.from_arrays(pa.array(classes.columns), keys)
    contents = _encode(classes.symbols).take(pa.array(classes.codes))
    return pa.table(
        {**own, "item": item} | {name: contents.column(name) for name in contents.column_names}
    )


def _encode(symbols: Symbols) -> pa.Table:
    import pyarrow as pa

    fields = content_fields(symbols.scale)
    if symbols.scale.step is not None:
        packed = np.packbits(symbols.mask(), axis=1, bitorder="little")
        buffer = pa.py_buffer(packed.tobytes())
        arrays = [pa.Array.from_buffers(fields[0][1], len(symbols), [None, buffer])]
    else:
        ranged = symbols.is_range
        values = pa.ListArray.from_arrays(
            pa.array(symbols.offsets, pa.int32()), pa.array(symbols.members), mask=pa.array(ranged)
        )
        low = pa.array(symbols.low, mask=~ranged)
        high = pa.array(symbols.high, mask=~ranged)
        arrays = [low, high, values, pa.array(symbols.null)]
    return pa.table(arrays, names=[name for name, _ in fields])


def profiles_table(profiles: Profiles, rows: slice) -> pa.Table:
    """Return some rows of ``profiles.parquet``; the levels are not copied."""
    import pyarrow as pa

    levels = profiles.levels[rows]
    buffer = pa.py_buffer(np.ascontiguousarray(levels))
    kind = pa.binary(profiles.n_items)
    return pa.table(
        {
            "group": pa.array(np.arange(rows.start, rows.stop, dtype=np.int32)),
            "size": pa.array(profiles.sizes[rows].astype(np.int32)),
            "profile": pa.Array.from_buffers(kind, len(levels), [None, buffer]),
        }
    )


def decode_profiles(column: pa.Array, n_items: int) -> NDArray[np.uint8]:
    """Return the levels of some profiles, shape (n_rows, n_items), read-only."""
    import pyarrow as pa

    column = column.cast(pa.binary(n_items))
    if column.null_count:
        raise ReleaseError("profiles.parquet: a null in the column profile")
    raw = np.frombuffer(column.buffers()[1] or b"", np.uint8)[column.offset * n_items :]
    return raw[: len(column) * n_items].reshape(len(column), n_items)


def decode_content(table: pa.Table, scale: Scale) -> tuple[Symbols, NDArray[np.uint32]]:
    """Return symbols in no particular order (contents may repeat), and which one each row has."""
    if scale.step is not None:
        return _decode_masks(table, scale)
    symbols = _decode_real(table, scale)
    return symbols, np.arange(len(symbols), dtype=np.uint32)


def _decode_masks(table: pa.Table, scale: Scale) -> tuple[Symbols, NDArray[np.uint32]]:
    if table.column("members").null_count:
        raise ReleaseError("a cell without members")
    coded = table.column("members").combine_chunks().dictionary_encode()
    masks = coded.dictionary
    width = mask_bytes(scale)
    start = masks.offset * width
    packed = np.frombuffer(masks.buffers()[1] or b"", np.uint8)[start : start + len(masks) * width]
    bits = np.unpackbits(packed.reshape(-1, width), axis=1, bitorder="little").astype(np.bool_)
    n_bits = 1 + len(scale.levels)
    if bits[:, n_bits:].any():
        raise ReleaseError(f"a cell with members beyond the {n_bits - 1} levels of the scale")
    if not bits[:, 1:n_bits].any(axis=1).all():
        raise ReleaseError("a cell without a rating; a cell that can only be null has no row")
    members = [scale.levels[row[1:n_bits]] for row in bits]
    symbols = Symbols.sets(scale, members, bits[:, 0])
    return symbols, coded.indices.to_numpy().astype(np.uint32)


def _decode_real(table: pa.Table, scale: Scale) -> Symbols:
    values = table.column("values").combine_chunks()
    low, high = (
        table.column(name).cast("float64").fill_null(np.nan).to_numpy() for name in ("low", "high")
    )
    null = table.column("null")
    if null.null_count:
        raise ReleaseError("a cell does not state whether null is possible")
    null = null.to_numpy()
    ranged = values.is_null().to_numpy(zero_copy_only=False)
    if not (np.isfinite(low) == ranged).all() or not (np.isfinite(high) == ranged).all():
        raise ReleaseError("a cell must be a range (low and high) or a list of values")
    lengths = values.value_lengths().fill_null(0).to_numpy()
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    members = values.flatten().cast("float64").fill_null(np.nan).to_numpy()
    if not scale.contains(members).all():
        raise ReleaseError(f"a cell with a value outside the scale {scale}")
    falls = np.flatnonzero(np.diff(members) <= 0) + 1  # allowed where a new list starts
    if not np.isin(falls, offsets).all():
        raise ReleaseError("a list of values is not sorted")
    if (low > high).any() or not scale.contains(high[ranged]).all():
        raise ReleaseError(f"a range does not end on the scale {scale}")
    if not ((low < scale.minimum - SLACK) == null)[ranged].all():
        raise ReleaseError("the null flag of a range contradicts its part below the scale")
    if (lengths[~ranged] == 0).any():
        raise ReleaseError("a cell without a rating; a cell that can only be null has no row")
    return Symbols(scale, offsets, members, null, low, high)
