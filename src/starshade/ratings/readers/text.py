"""Delimited text: split by Arrow, kept honest by a strict scan of its structure.

Every column is read as text, so that no value is guessed from a sample. Arrow's splitter is fast
and lenient; where a file has quotes, and whenever Arrow refuses a file, `scan_structure` looks at
every byte and names the lines.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from starshade import budget
from starshade.errors import InputError
from starshade.kernels.text import delimited
from starshade.kernels.text.delimited import NO_QUOTE, Structure, scan_structure
from starshade.kernels.warm import announce
from starshade.ratings.readers.recognise.inputs import Input, reading

if TYPE_CHECKING:
    import pyarrow as pa

_BLOCK = 1 << 24  # bytes handled at once; no row may be longer
_UNPACKED = (".gz", ".bz2", ".zst", ".lz4", ".br", ".snappy")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Dialect:
    """How a text file is written.

    `delimiter`: one ASCII character, or ``::``. `header`: whether the first record names the
    columns. `quoted`: whether a field may stand in double quotes, a quote within it doubled (RFC
    4180).
    """

    delimiter: str
    header: bool
    quoted: bool = True


class TextSource:
    """Text files of one dialect and the same columns, one behind the other.

    `files`: plain UTF-8 files (`plain_text`). `columns`: the columns' names, each once.
    """

    def __init__(self, files: Sequence[Input], dialect: Dialect, columns: tuple[str, ...]) -> None:
        self.files = tuple(files)
        self.dialect = dialect
        self.columns = columns
        # `::` is split at each colon: every second field is then empty
        self._stride = len(dialect.delimiter)
        self._n_fields = (len(columns) - 1) * self._stride + 1

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield these columns as text; see `Source.batches`."""
        for file in self.files:
            if self.dialect.quoted and _has_quote(file):
                self._refuse_unsound(file, self._scan(file))
            yield from self._split(file, columns)

    def locate(self, row: int) -> str:
        """Name file and line (from 1); a record of several lines by its first."""
        for file in self.files:
            wanted = row + self.dialect.header
            structure = self._scan(file, np.array([wanted]))
            if structure.lines[0]:
                return f"{file.shown}, line {structure.lines[0]}"
            row = wanted - structure.records
        return f"{self.files[-1].shown}, after its last line"

    def lines(self, n_rows: int) -> NDArray[np.int64]:
        """Return the line (from 1) that each row of a single file begins on."""
        header = int(self.dialect.header)
        return self._scan(self.files[0], np.arange(header, header + n_rows)).lines

    def _split(self, file: Input, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        places = [self.columns.index(name) * self._stride for name in columns]
        gaps = [] if self._stride == 1 else list(range(1, self._n_fields, 2))
        skip = int(self.dialect.header)
        try:
            with reading(file):
                for batch in self._open(file, sorted({*places, *gaps})):
                    rows = batch.slice(skip)
                    skip = max(0, skip - len(batch))
                    if any(rows.column(str(gap)).to_numpy(False).any() for gap in gaps):
                        raise InputError(
                            f"{file.shown}: a single ':' among the '::'",
                            advice="Name the delimiter if it is another one.",
                        )
                    arrays = [rows.column(str(place)) for place in places]
                    yield pa.RecordBatch.from_arrays(arrays, names=list(columns))
        except pa.ArrowInvalid:
            self._refuse_unsound(file, self._scan(file))
            self._refuse_encoding(file)
            raise InputError(
                f"{file.shown}: a row is longer than {_BLOCK >> 20} MB",
                advice="This is not a table of ratings, or the delimiter or the quote is wrong.",
            ) from None

    def _open(self, file: Input, places: list[int]) -> Iterator[pa.RecordBatch]:
        """Open a file with fields named by place; a file without a record has no batches."""
        import pyarrow as pa
        from pyarrow import csv

        if self._scan(file, np.array([0])).lines[0] == 0:
            return
        names = [str(place) for place in range(self._n_fields)]
        path = str(file.path)
        named = path.isascii() or path == path.encode(errors="replace").decode()
        named &= file.path.suffix not in _UNPACKED
        # Arrow opens no file whose name is not UTF-8, and unpacks by the name
        with nullcontext(path) if named else file.path.open("rb") as place:
            yield from csv.open_csv(
                place,
                read_options=csv.ReadOptions(
                    column_names=names, block_size=_BLOCK, use_threads=budget.threads() > 1
                ),
                parse_options=csv.ParseOptions(
                    delimiter=self.dialect.delimiter[0],
                    quote_char='"' if self.dialect.quoted else False,
                    newlines_in_values=self.dialect.quoted,
                ),
                convert_options=csv.ConvertOptions(
                    include_columns=[str(place) for place in places],
                    column_types={str(place): pa.string() for place in places},
                    strings_can_be_null=False,
                ),
            )

    def _scan(self, file: Input, wanted: NDArray[np.int64] | None = None) -> Structure:
        announce("the text reader", delimited._scan)
        return scan_structure(
            _blocks(file),
            delimiter=ord(self.dialect.delimiter[0]),
            quote=ord('"') if self.dialect.quoted else NO_QUOTE,
            n_fields=self._n_fields,
            wanted=wanted,
        )

    def _refuse_unsound(self, file: Input, structure: Structure) -> None:
        if structure.is_sound:
            return
        parts, advice = [], []
        if structure.ragged:
            expected = f"expected {len(self.columns)}, as in "
            expected += "the header" if self.dialect.header else "the first row"
            lines = [
                f"  {file.shown}, line {line}: {_fields(1 + (count - 1) // self._stride)}"
                for line, count in zip(structure.ragged_lines, structure.ragged_fields, strict=True)
            ]
            every = self.dialect.header and structure.ragged == structure.records - 1
            if every and structure.ragged_fields[0] == self._n_fields - self._stride:
                advice.append(
                    "The header has one field more than these rows: remove it, perhaps an empty "
                    "one at its end."
                )
            if every and structure.ragged_fields[0] == self._n_fields + self._stride:
                advice.append(
                    "Every row ends with a delimiter, unlike the header: remove it from the rows, "
                    "or add one to the header."
                    if self._all_end_empty(file)
                    else "These rows have one field more than the header: add a name for their "
                    "first column there, perhaps row numbers."
                )
            parts.append(f"rows with a wrong number of fields ({expected})")
            parts += [*lines, *_more(structure.ragged, len(lines))]
            advice.append("Correct those rows, or name the delimiter if it is another one.")
        if structure.loose:
            lines = [f"  {file.shown}, line {line}" for line in structure.loose_lines]
            parts.append("a closing quote is followed by more text")
            parts += [*lines, *_more(structure.loose, len(lines))]
        if structure.open_line:
            parts.append(
                f"{file.shown}, line {structure.open_line}: an opening quote is never closed"
            )
        if structure.loose or structure.open_line:
            advice.append('Within a quoted field, double each quote: "".')
        raise InputError("\n".join(parts), advice=" ".join(advice))

    def _all_end_empty(self, file: Input) -> bool:
        """Tell whether a delimiter ends every line below the header."""
        end = self.dialect.delimiter.encode()
        with file.path.open("rb") as handle:
            handle.readline()
            return all(line.rstrip(b"\r\n").endswith(end) for line in handle if line.strip())

    def _refuse_encoding(self, file: Input) -> None:
        with file.path.open("rb") as handle:
            for line, raw in enumerate(handle, 1):
                try:
                    raw.decode()
                except UnicodeDecodeError:
                    raise InputError(
                        f"{file.shown}, line {line}: not UTF-8 text",
                        advice="Save the file as UTF-8 (it may be Latin-1 or Windows-1252).",
                    ) from None


def _has_quote(file: Input) -> bool:
    """Tell whether a quote stands anywhere; a search over the whole file costs next to nothing."""
    with reading(file), open(file.path, "rb") as handle:
        try:
            with mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ) as content:
                return content.find(b'"') >= 0
        except ValueError:  # an empty file cannot be mapped
            return False


def _blocks(file: Input) -> Iterator[NDArray[np.uint8]]:
    with reading(file), open(file.path, "rb") as handle:
        first = handle.read(len(_BOM))
        for block in chain(
            [b"" if first == _BOM else first], iter(lambda: handle.read(_BLOCK), b"")
        ):
            yield np.frombuffer(block, dtype=np.uint8)


def _fields(count: int) -> str:
    return f"{count} field{'s' * (count != 1)}"


def _more(total: int, named: int) -> list[str]:
    return [f"  … {total:,} rows in all"] if total > named else []
