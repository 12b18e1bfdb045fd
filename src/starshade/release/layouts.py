"""The cells of each layout, read into the one view that everything runs on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from starshade.errors import ReleaseError
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.cells import Cells
from starshade.release.columns import content_fields, decode_content
from starshade.release.content import canonical, class_numbers, code_type
from starshade.release.manifest import Manifest
from starshade.release.symbols import Symbols

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["read_cells", "read_profiles", "read_table"]


def read_table(path: Path, fields: list[tuple[str, Any]], *, more: bool = False) -> pa.Table:
    """Read a Parquet file that must have these columns (and, if `more`, others behind).

    Raises
    ------
    ReleaseError
        Other columns, other types, no Parquet, or a null in a key.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = [name for name, _ in fields]
    try:
        with path.open("rb") as file:  # Python's: a name need not be UTF-8
            table = pq.ParquetFile(file).read()
        if table.column_names[: len(names)] != names or (
            not more and len(table.column_names) > len(names)
        ):
            raise ReleaseError(f"{path.name}: its columns are not {', '.join(names)}")
        for i, (name, kind) in enumerate(fields):
            table = table.set_column(i, name, table.column(name).cast(kind))
    except (pa.ArrowException, OSError):
        raise ReleaseError(f"{path.name}: no Parquet file as a release has it") from None
    for name in ("record", "group", "item", "size", "profile"):
        if name in names and table.column(name).null_count:
            raise ReleaseError(f"{path.name}: a null in the column {name}")
    return table


def read_cells(
    path: Path, manifest: Manifest, items: Vocabulary, group: NDArray[np.int64]
) -> Cells:
    """Layouts "generalized" (a row per class) and "record" (a row per record)."""
    import pyarrow as pa

    scale = manifest.scale.to_scale()
    by_record = manifest.layout == "record"
    keys = [("group", pa.int64())] + ([("record", pa.int64())] if by_record else [])
    fields = [*keys, ("item", pa.string()), *content_fields(scale)]
    table = read_table(path / "cells.parquet", fields)
    sizes = np.ones(len(group), np.int64) if by_record else np.bincount(group).astype(np.int64)
    row = table.column("record" if by_record else "group").to_numpy()
    if len(row) and not 0 <= row.min() <= row.max() < len(sizes):
        raise ReleaseError("cells.parquet: a row that records.parquet does not know")
    if by_record and not np.array_equal(group[row], table.column("group").to_numpy()):
        raise ReleaseError("cells.parquet: the groups are not those of records.parquet")
    coded = table.column("item").combine_chunks().dictionary_encode()
    at = items.indices(coded.dictionary.to_pylist())
    if (at < 0).any():
        raise ReleaseError("cells.parquet: an item that items.parquet does not list")
    column = at[coded.indices.to_numpy()]
    if (np.diff(row * len(items) + column) <= 0).any():
        raise ReleaseError("cells.parquet: not sorted by group and item, or a cell twice")
    symbols, codes = decode_content(table, scale)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(sizes)))])
    cells = canonical(
        Cells(items, sizes, indptr.astype(np.int64), column.astype(np.int32), codes, symbols)
    )
    if by_record:
        _check_records(cells, group)
    return cells


def _check_records(cells: Cells, group: NDArray[np.int64]) -> None:
    """Check that every cell is one rating, and that groups are classes in their order."""
    if not cells.symbols.is_single.all() or cells.symbols.is_range.any():
        raise ReleaseError("cells.parquet: a cell that is not one single rating")
    if not np.array_equal(class_numbers(cells), group):
        raise ReleaseError("records.parquet: the groups are not the classes of equal records")


def read_profiles(
    path: Path, manifest: Manifest, items: Vocabulary, group: NDArray[np.int64]
) -> Cells:
    """Layout "profile": every cell one level or null."""
    import pyarrow as pa

    step = manifest.profile_step
    if step is None or not step > 0:
        raise ReleaseError("release.json: a profile layout needs a profile_step above 0")
    n = len(items)
    fields = [("group", pa.int64()), ("size", pa.int64()), ("profile", pa.binary(n))]
    table = read_table(path / "profiles.parquet", fields)
    sizes = table.column("size").to_numpy()
    if not np.array_equal(table.column("group").to_numpy(), np.arange(len(table))):
        raise ReleaseError("profiles.parquet: the groups are not 0, 1, 2, …")
    if not np.array_equal(np.bincount(group, minlength=len(table)), sizes):
        raise ReleaseError("profiles.parquet: sizes are not those of records.parquet")
    scale = manifest.scale.to_scale()
    levels = np.round(scale.minimum + step * np.arange(int(scale.width / step + 1e-6) + 1), 9)
    if len(levels) > 255:
        raise ReleaseError("release.json: the profile_step gives more than 255 levels")
    indptr, columns, codes = [0], [], []
    for chunk in table.column("profile").chunks:
        raw = np.frombuffer(chunk.buffers()[1] or b"", np.uint8)[chunk.offset * n :]
        dense = raw[: len(chunk) * n].reshape(len(chunk), n)
        if dense.max(initial=0) > len(levels):
            raise ReleaseError("profiles.parquet: a level beyond the scale")
        rows, at = np.nonzero(dense)
        indptr += (indptr[-1] + np.cumsum(np.bincount(rows, minlength=len(chunk)))).tolist()
        columns.append(at.astype(np.int32))
        codes.append((dense[rows, at] - 1).astype(code_type(len(levels))))
    return Cells(
        items,
        sizes,
        np.array(indptr, dtype=np.int64),
        np.concatenate([np.empty(0, np.int32), *columns]),
        np.concatenate([np.empty(0, np.uint8), *codes]),
        Symbols.exact(scale, levels),
    )
