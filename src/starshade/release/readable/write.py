"""The rows of a release as a file that people open, and those that lie in its folder."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starshade.errors import ConfigError
from starshade.progress import task
from starshade.ratings.frames import ROWS
from starshade.ratings.places.atomic import atomic_file
from starshade.ratings.places.place import Where
from starshade.ratings.readers.formats.dialects import DIALECTS
from starshade.ratings.write import write_table
from starshade.release.profiles import Profiles
from starshade.release.readable.inter import write_inter
from starshade.release.readable.rows import people_of, rows_of

if TYPE_CHECKING:
    import pyarrow as pa

    from starshade.release.table import Release

FORMATS = {".csv": "csv", ".parquet": "parquet", ".inter": "recbole"}
#: the tables of a release folder, and up to how many rows they are there: CSV up to what a
#: spreadsheet opens under a head
MOST_ROWS = {"table.parquet": 10_000_000, "table.csv": 2**20 - 1}
PEOPLE = "records.csv"
#: Parquet whose bytes depend on the rows alone
PARQUET: dict[str, Any] = {
    "version": "2.6",
    "data_page_version": "1.0",
    "compression": "zstd",
    "store_schema": False,
}
#: what a spreadsheet may run begins so, perhaps behind what nobody sees: white space and Unicode's
#: default ignorable characters. What begins with an apostrophe gets one too: so that an
#: apostrophe in front is always ours
_FORMULA = re.compile(
    r"['\t\r\n]|[\s\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    r"\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]*"
    r"[=+\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b\u2212]"
)


class _Harmless:
    """Puts an apostrophe before each text that a spreadsheet would alter, and keeps which."""

    def __init__(self) -> None:
        self.altered = set[str]()

    def __call__(self, texts: Sequence[str]) -> list[str]:
        self.altered.update(filter(_FORMULA.match, texts))
        return [f"'{text}" if _FORMULA.match(text) else text for text in texts]


def format_of(path: Where, kind: str | None = None) -> str:
    """Return the format of a release file: as given, or by the ending."""
    kind = FORMATS.get(Path(path).suffix.lower()) if kind is None else kind
    if kind is None or kind not in FORMATS.values():
        raise ConfigError(
            f"{path}: a release is converted to {' or '.join(FORMATS.values())}",
            advice=f"Name a file that ends in {' or '.join(FORMATS)}.",
        )
    return kind


def write_readable(release: Release, path: Where, kind: str | None = None) -> tuple[int, int]:
    """Write the rows of a release (`starshade.release.readable.rows`) block by block.

    In CSV a text that a spreadsheet would run as a formula, or that begins with an apostrophe, gets
    one in front; the others hold all as it is. What may only stand behind a query service is
    readable by its owner only.

    Parameters
    ----------
    release : Release
    path : path
        A file that does not exist yet.
    kind : {"csv", "parquet", "recbole"}, optional
        None: by the path's ending. "recbole": `starshade.release.readable.inter`.

    Returns
    -------
    tuple of int
        Rows written, and how many different texts were made harmless.

    Raises
    ------
    OutputError
        The file exists or cannot be written.
    ConfigError
        Another kind.
    """
    kind, harmless = format_of(path, kind), _Harmless()
    mode = 0o600 if release.manifest.audience == "query" else 0o666
    with atomic_file(path, mode) as temporary:
        if kind == "recbole":
            write_inter(release, temporary, n_rows(release))
        else:
            _write(release, temporary, kind, harmless)
    return n_rows(release), len(harmless.altered)


def write_beside(release: Release, folder: Path) -> int:
    """Write the readable tables of a release folder; return how many texts were made harmless.

    Personal attributes are of records: they have a table of their own.
    """
    harmless, n = _Harmless(), n_rows(release)
    for name, most in MOST_ROWS.items():
        if n <= most:
            _write(release, folder / name, FORMATS[Path(name).suffix], harmless)
    if release.attributes is not None and release.n_records <= MOST_ROWS["table.csv"]:
        write_table(folder / PEOPLE, DIALECTS["csv"], *people_of(release, harmless))
    return len(harmless.altered)


def count_harmless(release: Release, names: Collection[str]) -> int:
    """Return how many texts were made harmless in those of the CSV files that are in `names`."""
    harmless = _Harmless()
    if "table.csv" in names:
        rows_of(release, harmless)  # its texts pass at once, its rows when they are read
    if PEOPLE in names:
        people_of(release, harmless)
    return len(harmless.altered)


def _write(release: Release, path: Path, kind: str, harmless: _Harmless) -> None:
    rows = rows_of(release, harmless if kind == "csv" else list)
    schema = _plain(rows.schema)
    with (
        path.open("wb") as file,
        _WRITERS[kind](file, schema) as out,
        task("writing rows", n_rows(release)) as advance,
    ):
        for block in rows:
            out.write_batch(block.cast(schema))
            advance(block.num_rows)


def n_rows(release: Release) -> int:
    """Return how many rows there are."""
    classes = release.classes
    return int(classes.n_rated().sum()) if isinstance(classes, Profiles) else len(classes.codes)


def _plain(schema: pa.Schema) -> pa.Schema:
    """Return a schema without categories, which readers of Parquet take for another type."""
    import pyarrow as pa

    texts = [pa.types.is_dictionary(field.type) for field in schema]
    return pa.schema(
        [
            field.with_type(pa.string()) if text else field
            for field, text in zip(schema, texts, strict=True)
        ]
    )


def _csv(file: Any, schema: pa.Schema) -> Any:
    from pyarrow.csv import CSVWriter, WriteOptions

    return CSVWriter(file, schema, write_options=WriteOptions(batch_size=ROWS))


def _parquet(file: Any, schema: pa.Schema) -> Any:
    from pyarrow.parquet import ParquetWriter

    return ParquetWriter(file, schema, compression_level=3, **PARQUET)


_WRITERS: dict[str, Callable[[Any, Any], Any]] = {
    "csv": _csv,
    "parquet": _parquet,
}
