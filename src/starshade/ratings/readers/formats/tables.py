"""Parquet files and frames as sources of rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from starshade.errors import InputError
from starshade.ratings.readers.recognise.aliases import refuse_repeated
from starshade.ratings.readers.recognise.inputs import Input, reading

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["FrameSource", "ParquetSource", "is_frame"]

_ROWS = 1 << 18
_INDEX = re.compile(r"__index_level_\d+__")  # how pandas exports its index


class ParquetSource:
    """Parquet files with the same columns, one behind the other."""

    def __init__(self, files: Sequence[Input]) -> None:
        self.files = tuple(files)
        self.shown = self.files[0].shown
        self._counts: list[int] = []
        schemas = []
        for file in self.files:
            with _parquet(file) as opened:
                schemas.append(tuple(n for n in opened.schema_arrow.names if not _INDEX.match(n)))
                self._counts.append(opened.metadata.num_rows)
        self.columns: tuple[str, ...] = schemas[0]
        refuse_repeated(self.columns, self.shown)
        for file, names in zip(self.files, schemas, strict=True):
            if set(names) != set(self.columns):
                raise InputError(
                    f"{file.shown}: its columns are not those of {self.shown}",
                    advice="Name only files of one table.",
                )

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield these columns; see `Source.batches`."""
        import pyarrow as pa

        for file in self.files:
            with _parquet(file) as opened:
                try:
                    for block in opened.iter_batches(_ROWS, columns=list(columns)):
                        yield block.select(list(columns))
                except (pa.ArrowException, OSError, ValueError):
                    raise _damaged(file) from None

    def locate(self, row: int) -> str:
        """Name file and row (from 1)."""
        for file, count in zip(self.files, self._counts, strict=True):
            if row < count:
                return f"{file.shown}, row {row + 1}"
            row -= count
        return f"{self.files[-1].shown}, after its last row"


class FrameSource:
    """Any object that exports Arrow columns (pandas, Polars, PyArrow, DuckDB)."""

    def __init__(self, frame: Any) -> None:
        import pyarrow as pa

        self.shown = type(frame).__module__.split(".")[0] + " table"
        try:
            self._reader = pa.RecordBatchReader.from_stream(frame)
        except (pa.ArrowException, TypeError, ValueError) as error:
            raise InputError(
                f"{self.shown}: cannot be read as Arrow columns ({error})",
                advice="A column must hold values of one type.",
            ) from None
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
                    arrays = [part.column(place) for place in places]
                    yield pa.RecordBatch.from_arrays(arrays, names=list(columns))
        except pa.ArrowException as error:
            raise InputError(f"{self.shown}: cannot be read to its end ({error})") from None

    def locate(self, row: int) -> str:
        """Name the row (from 1)."""
        return f"{self.shown}, row {row + 1}"


def is_frame(source: object) -> bool:
    """Tell whether an object exports Arrow columns."""
    return hasattr(source, "__arrow_c_stream__")


def _parquet(file: Input) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with reading(file):
        try:
            return pq.ParquetFile(str(file.path))
        except (pa.ArrowException, ValueError):
            raise _damaged(file) from None


def _damaged(file: Input) -> InputError:
    return InputError(
        f"{file.shown}: no whole Parquet file (damaged or truncated)", advice="Fetch it again."
    )
