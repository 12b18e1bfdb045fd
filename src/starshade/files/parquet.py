"""Parquet that may come from anybody: a few bytes of it can stand for gigabytes of texts.

A text that is repeated stands in the file once. So texts are read as dictionaries, what they would
take is counted, and only then is each row given its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from starshade.errors import UserError

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

#: bytes that all texts of a column, and a file unpacked, may take; more only where there are very
#: many values of usual length
MOST_TEXT = 2**28
LONGEST_TEXT = 2**20  # bytes of one text
_USUAL = 2**8  # bytes of a text on average
_TEXTS = ("string", "large_string", "binary", "large_binary")


def open_texts(
    file: IO[bytes], name: str, error: type[UserError]
) -> tuple[pq.ParquetFile, pa.Schema]:
    """Open Parquet so that texts are read as dictionaries; return it with the schema as stored.

    `error`: raised where the texts of a column, each of them once, are too large.
    """
    import pyarrow.parquet as pq

    stored = pq.ParquetFile(file)
    rows, groups = stored.metadata.num_rows, range(stored.metadata.num_row_groups)
    columns = [stored.schema.column(i) for i in range(len(stored.schema))]
    texts = [each.path for each in columns if each.physical_type == "BYTE_ARRAY"]
    # of a column alone Arrow ends the process where a forger has changed what stands of it
    size = sum(stored.metadata.row_group(group).total_byte_size for group in groups)
    _refuse_many(size, rows * len(columns), name, error)
    again = pq.ParquetFile(file, read_dictionary=texts, metadata=stored.metadata)
    return again, stored.schema_arrow


def read_texts(stored: pq.ParquetFile, schema: pa.Schema, name: str, error: Any) -> pa.Table:
    """Read all that `open_texts` opened, with its texts written out."""
    table = stored.read()
    refuse_long_texts(table, name, error)
    return table.cast(schema)


def refuse_long_texts(table: pa.Table, name: str, error: type[UserError]) -> None:
    """Refuse a table with texts that `read_texts` would not read."""
    for column in table.columns:
        n, size = 0, 0
        for texts in (each for chunk in column.chunks for each in _texts(chunk)):
            n, size = n + len(texts), size + _bytes_of(texts, name, error)
        _refuse_many(size, n, name, error)


def _refuse_many(size: int, n: int, name: str, error: type[UserError]) -> None:
    most = max(MOST_TEXT, _USUAL * n)
    if size > most:
        raise error(f"{name}: {size:,} bytes of texts in a column; at most {most:,} are read")


def _bytes_of(texts: pa.Array, name: str, error: type[UserError]) -> int:
    """Return the bytes that texts take when they are written out."""
    import pyarrow as pa
    import pyarrow.compute as pc

    repeated = isinstance(texts, pa.DictionaryArray)
    each = texts.dictionary if repeated else texts
    lengths = pc.binary_length(each).fill_null(0).to_numpy().astype(np.int64)
    if (longest := int(lengths.max(initial=0))) > LONGEST_TEXT:
        raise error(f"{name}: a text of {longest:,} bytes; at most {LONGEST_TEXT:,} are read")
    return int((lengths[texts.indices.drop_null().to_numpy()] if repeated else lengths).sum())


def _texts(array: pa.Array) -> Iterator[pa.Array]:
    """Yield the texts of a column, which may lie in lists and structs."""
    import pyarrow as pa

    own = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    if str(own) in _TEXTS:
        yield array
    elif pa.types.is_struct(array.type):
        for i in range(array.type.num_fields):
            yield from _texts(array.field(i))
    elif pa.types.is_nested(array.type):
        yield from _texts(array.flatten())
