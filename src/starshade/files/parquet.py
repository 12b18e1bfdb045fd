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

#: bytes that all texts of a column may take; more only where there are very many of usual length
MOST_TEXT = 2**28
LONGEST_TEXT = 2**20  # bytes of one text
_USUAL = 2**8  # bytes of a text on average
_ENCODINGS = frozenset({"PLAIN", "RLE", "RLE_DICTIONARY", "PLAIN_DICTIONARY", "BIT_PACKED"})


def open_texts(
    file: IO[bytes], name: str, error: type[UserError]
) -> tuple[pq.ParquetFile, pa.Schema]:
    """Open Parquet so that texts are read as dictionaries; return it with the schema as stored.

    `error`: raised where the texts of a column, each of them once, are too large.
    """
    import pyarrow.parquet as pq

    stored = pq.ParquetFile(file)
    texts: dict[str, list[Any]] = {}
    for group in range(stored.metadata.num_row_groups):
        chunks = stored.metadata.row_group(group)
        for i in range(chunks.num_columns):
            chunk = chunks.column(i)
            if chunk.physical_type == "BYTE_ARRAY":
                texts.setdefault(chunk.path_in_schema, []).append(chunk)
    for of in texts.values():
        _refuse_many(sum(each.total_uncompressed_size for each in of), _values(of), name, error)
        if unknown := {kind for each in of for kind in each.encodings} - _ENCODINGS:
            raise error(f"{name}: texts in the encoding {', '.join(sorted(unknown))}")
    again = pq.ParquetFile(file, read_dictionary=list(texts), metadata=stored.metadata)
    return again, stored.schema_arrow


def read_texts(stored: pq.ParquetFile, schema: pa.Schema, name: str, error: Any) -> pa.Table:
    """Read all that `open_texts` opened, with its texts written out."""
    import pyarrow as pa

    table = stored.read()
    for column in table.columns:
        n, size = 0, 0
        for texts in (each for chunk in column.chunks for each in _dictionaries(chunk)):
            n, size = n + len(texts), size + _bytes_of(texts, name, error)
        _refuse_many(size, n, name, error)
    try:
        return table.cast(schema)
    except pa.ArrowNotImplementedError:
        raise error(f"{name}: a column of a type that starshade does not write") from None


def _values(chunks: list[Any]) -> int:
    return sum(each.num_values for each in chunks)


def _refuse_many(size: int, n: int, name: str, error: type[UserError]) -> None:
    most = max(MOST_TEXT, _USUAL * n)
    if size > most:
        raise error(f"{name}: {size:,} bytes of texts in a column; at most {most:,} are read")


def _bytes_of(texts: pa.DictionaryArray, name: str, error: type[UserError]) -> int:
    """Return the bytes that texts take when they are written out."""
    import pyarrow.compute as pc

    lengths = pc.binary_length(texts.dictionary).fill_null(0).to_numpy().astype(np.int64)
    if (longest := int(lengths.max(initial=0))) > LONGEST_TEXT:
        raise error(f"{name}: a text of {longest:,} bytes; at most {LONGEST_TEXT:,} are read")
    return int(lengths[texts.indices.drop_null().to_numpy()].sum())


def _dictionaries(array: pa.Array) -> Iterator[pa.DictionaryArray]:
    """Yield the texts of a column, which may lie in lists and structs."""
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        yield array
    elif pa.types.is_struct(array.type):
        for i in range(array.type.num_fields):
            yield from _dictionaries(array.field(i))
    elif pa.types.is_map(array.type):
        yield from (*_dictionaries(array.keys), *_dictionaries(array.items))
    elif pa.types.is_nested(array.type):
        yield from _dictionaries(array.flatten())
