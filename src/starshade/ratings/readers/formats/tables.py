"""Parquet files, frames and sparse matrices as sources of rows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from starshade.errors import InputError
from starshade.plain import counted
from starshade.ratings.build import build
from starshade.ratings.readers.columns import shortest
from starshade.ratings.readers.recognise.aliases import refuse_repeated
from starshade.ratings.readers.recognise.inputs import Input, reading
from starshade.ratings.scale import Scale
from starshade.ratings.settings import OnDuplicate
from starshade.ratings.staging import Batch
from starshade.ratings.table import Ratings, ReadReport

if TYPE_CHECKING:
    import pyarrow as pa


_ROWS = 1 << 18
_INDEX = re.compile(r"__index_level_\d+__")  # how pandas exports an index without a name


class ParquetSource:
    """Parquet files with the same columns, one behind the other."""

    format: ClassVar[str] = "parquet"

    def __init__(self, files: Sequence[Input]) -> None:
        self.files = tuple(files)
        self.shown = self.files[0].shown
        self._counts: list[int] = []
        schemas = []
        for file in self.files:
            with _parquet(file) as opened:
                schema = opened.schema_arrow
                schemas.append(tuple(n for n in schema.names if not _INDEX.match(n)))
                self.index = _index(schema)
                self._counts.append(opened.metadata.num_rows)
        self.columns: tuple[str, ...] = schemas[0]
        refuse_repeated(self.columns, self.shown)
        for file, names in zip(self.files, schemas, strict=True):
            if set(names) != set(self.columns):
                raise InputError(
                    f"{file.shown}: its columns differ from those of {self.shown}",
                    advice="Name only files of one table.",
                )

    @property
    def first_rows(self) -> list[int]:
        """The number of each file's first row."""
        return [0, *accumulate(self._counts)][:-1]

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield these columns; see `Source.batches`."""
        import pyarrow as pa

        for file in self.files:
            with _parquet(file) as opened:
                try:
                    # group by group: what is fetched ahead is held until the last one asked for
                    for group in range(opened.num_row_groups):
                        for block in opened.iter_batches(_ROWS, [group], columns=list(columns)):
                            yield block.select(list(columns))
                except (pa.ArrowException, OSError, ValueError) as error:
                    if file.remote:
                        with file.remote.bucket.trying(file.shown):
                            raise error
                    raise _damaged(file) from None
            if file.remote:
                file.remote.refuse_changed()

    def locate(self, row: int) -> str:
        """Name file and row (from 1)."""
        for file, count in zip(self.files, self._counts, strict=True):
            if row < count:
                return f"{file.shown}, row {row + 1}"
            row -= count
        return f"{self.files[-1].shown}, after its last row"


class FrameSource:
    """Any object that exports Arrow columns (pandas, Polars, PyArrow, DuckDB)."""

    format: ClassVar[str] = "frame"

    def __init__(self, frame: Any) -> None:
        import pyarrow as pa

        self.shown = type(frame).__module__.split(".")[0] + " table"
        try:
            self._reader = pa.RecordBatchReader.from_stream(frame)
        except (pa.ArrowException, TypeError, ValueError) as error:
            raise InputError(
                f"{self.shown}: cannot be read as Arrow columns ({error})",
                advice="A column must contain values of one type.",
            ) from None
        self.index = _index(self._reader.schema)
        names = [str(name) for name in self._reader.schema.names]
        self.columns = tuple(name for name in names if not _INDEX.match(name))
        refuse_repeated(self.columns, self.shown)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield these columns; see `Source.batches`."""
        import pyarrow as pa

        places = [self._reader.schema.get_field_index(name) for name in columns]
        try:
            for batch in self._reader:
                for start in range(0, len(batch), _ROWS):
                    part = batch.slice(start, _ROWS)
                    arrays = [_without_views(part.column(place)) for place in places]
                    yield pa.RecordBatch.from_arrays(arrays, names=list(columns))
        except pa.ArrowException as error:
            raise InputError(f"{self.shown}: reading stopped before the end ({error})") from None

    def locate(self, row: int) -> str:
        """Name the row (from 1)."""
        return f"{self.shown}, row {row + 1}"


def _index(schema: pa.Schema) -> tuple[str, ...]:
    """Return the columns that are the index of a frame of pandas."""
    try:
        described = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
        names = described.get("index_columns", [])
    except (ValueError, AttributeError):
        return ()
    return tuple(n for n in names if isinstance(n, str) and not _INDEX.match(n))


def _without_views(column: pa.Array) -> pa.Array:
    """Return texts as plain ones: few of Arrow's functions know views, which Polars hands out."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type) and pa.types.is_string_view(column.type.value_type):
        texts = column.dictionary.cast(pa.string())
        return pa.DictionaryArray.from_arrays(column.indices, texts)
    return column.cast(pa.string()) if pa.types.is_string_view(column.type) else column


def is_frame(source: object) -> bool:
    """Tell whether an object exports Arrow columns."""
    return hasattr(source, "__arrow_c_stream__")


def _parquet(file: Input) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with reading(file):
        try:
            return pq.ParquetFile(file.remote.open() if file.remote else str(file.path))
        except (pa.ArrowException, ValueError):
            raise _damaged(file) from None


def _damaged(file: Input) -> InputError:
    return InputError(
        f"{file.shown}: damaged or truncated Parquet file", advice="Download or copy it again."
    )


class Source(Protocol):
    """Columns of rows, read once from first to last.

    `columns`: names, each once.
    """

    columns: tuple[str, ...]

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield these columns in file order, nothing dropped; text columns as text."""

    def locate(self, row: int) -> str:
        """Say where a row (from 0, over all files) stands."""


class Table(Source, Protocol):
    """A source whose columns have names and types. `format`: as a report names it."""

    format: ClassVar[str]
    shown: str


def ratings_from_scipy(
    matrix: Any, *, scale: Scale | str | None = None, on_duplicate: OnDuplicate = "error"
) -> Ratings:
    """Build a table from a sparse matrix of users × items.

    Ids are the indices as text; an explicit zero is a rating. Rows and columns without a rating
    are left out and counted.

    >>> from scipy.sparse import csr_array
    >>> ratings_from_scipy(csr_array([[5.0, 0], [3, 4]]), scale="1:5:1").users[1]
    '1'
    """
    # COO keeps every stored entry: a conversion to CSR would add up repeated ones
    sparse = matrix.tocoo()
    if len(sparse.shape) != 2:
        raise InputError("sparse array: it must have two axes, users and items")
    n_users, n_items = sparse.shape
    users = np.asarray(sparse.row, dtype=np.int64)
    items = np.asarray(sparse.col, dtype=np.int64)
    if sparse.data.dtype.kind not in "iufb":
        raise InputError(f"sparse matrix: ratings of type {sparse.data.dtype} (allowed: numbers)")
    values = shortest(sparse.data) if sparse.data.dtype.kind == "f" else sparse.data.astype(float)

    dropped_users = n_users - len(np.unique(users))
    dropped_items = n_items - len(np.unique(items))
    notes = []
    if dropped_users:
        notes.append(f"{counted(dropped_users, 'user')} without a rating dropped")
    if dropped_items:
        notes.append(f"{counted(dropped_items, 'item')} without a rating left out")
    return build(
        [Batch(users, items, values, None, 0)],
        scale=Scale.parse(scale) if isinstance(scale, str) else scale,
        on_duplicate=on_duplicate,
        locate=lambda row: f"sparse matrix, entry {row + 1}",
        report=ReadReport(
            source="sparse matrix",
            format="scipy",
            mapping={"user": "row index", "item": "column index"},
            dropped_users=dropped_users,
            dropped_items=dropped_items,
            notes=tuple(notes),
        ),
    )
