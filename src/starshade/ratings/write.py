"""The one door through which ratings go out (a release has its own, `release.folder.write`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import numpy as np
from numpy.typing import NDArray

from starshade.arguments import typed
from starshade.errors import ConfigError
from starshade.naming import aside, called
from starshade.progress import note, task
from starshade.ratings.frames import ROWS
from starshade.ratings.places.atomic import atomic_file, together
from starshade.ratings.places.place import Place, Where
from starshade.ratings.readers.formats.dialects import DIALECTS
from starshade.ratings.readers.text import Dialect
from starshade.ratings.table import UNKNOWN_DAY, Ratings
from starshade.ratings.vocabulary import Vocabulary

if TYPE_CHECKING:
    import pyarrow as pa


#: what `write_ratings` can write
WRITTEN = ("store", "parquet", "wide", *DIALECTS)
_BY_ENDING = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".inter": "recbole",
    ".data": "movielens-100k",
    ".dat": "movielens-dat",
}
_OWNER = 0o600  # a rating table is personal data
_COLUMNS = {"user": "user", "item": "item", "rating": "rating", "day": "date"}
_HEADERS = {
    "movielens-csv": ("userId", "movieId", "rating", "timestamp"),
    "recbole": ("user_id:token", "item_id:token", "rating:float", "timestamp:float"),
}


def format_of(path: Where) -> str:
    """Tell by a path's ending what `write_ratings` will write there; without one, a store."""
    ending = Path(path).suffix.lower()
    if ending and ending not in _BY_ENDING:
        raise ConfigError(
            f"{path}: the extension {ending} is not a format that can be written",
            advice=f"Known extensions: {', '.join(_BY_ENDING)}; without one, a store. Or name "
            f"the format{aside('out.format')}: {', '.join(WRITTEN)}.",
        )
    return _BY_ENDING.get(ending, "store")


@typed
def write_ratings(ratings: Ratings, path: Where, format: str | None = None) -> str:  # noqa: A002
    """Write a rating table to a new file, completely or not at all.

    Personal attributes and item names, where there are any, go to files beside it
    (``x.users.csv``, ``x.items.csv``; RecBole ``x.user``, ``x.item``); a wide table holds the
    attributes itself. Files are readable by their owner only.

    Parameters
    ----------
    ratings : Ratings
    path : path
    format : str, optional
        One of `WRITTEN`. ``csv`` means the dialect and the columns that the ratings were read
        from, where that was text, else a comma, a header and ISO dates. None: see `format_of`.

    Returns
    -------
    str
        The format written.

    Raises
    ------
    OutputError
        A file exists already or cannot be written.
    ConfigError
        An unknown format, or one that cannot hold these ratings.
    """
    place = Place.of(path)
    if format is None:
        format = format_of(place)  # noqa: A001
    if format not in WRITTEN:
        raise ConfigError(
            f"{called('out.format')} {format!r}: cannot be written; allowed: {', '.join(WRITTEN)}"
        )
    if format == "store":
        ratings.save(place)
        return format
    if format == "csv" and ratings.report.format in (*DIALECTS, "wide"):
        format = ratings.report.format  # noqa: A001
        format = "csv" if format == "recbole" else format  # noqa: A001
    with together():
        _write_beside(ratings, place, format)
        with atomic_file(place, _OWNER) as target:
            _write_rows(ratings, target, format)
    return format


def _write_rows(ratings: Ratings, target: Path, format_: str) -> None:
    mapping = ratings.report.mapping
    if format_ == "parquet":
        named = {r: c for r, c in mapping.items() if ratings.report.format in ("parquet", "frame")}
        write_parquet(ratings, target, _COLUMNS | named)
    elif format_ == "wide":
        is_wide = ratings.report.format == "wide" and mapping["user"] != "row number"
        if ratings.has_days:
            note("a wide table has no dates: they are left out")
        write_wide(ratings, target, mapping["user"] if is_wide else "id")
    else:
        write_long(ratings, target, _long_form(ratings, format_))


def _long_form(ratings: Ratings, format_: str) -> LongForm:
    """Say how a text format is written: as it was read, where it was read from that format."""
    report = ratings.report
    dialect = DIALECTS[format_]
    columns = dict(_COLUMNS)
    if format_ in _HEADERS:
        columns = dict(zip(_COLUMNS, _HEADERS[format_], strict=True))
    elif report.format == format_:
        delimiter = report.mapping.get("delimiter", dialect.delimiter)
        read = {role: name for role, name in report.mapping.items() if role in _COLUMNS}
        columns = read | {role: name for role, name in columns.items() if role not in read}
        header = dialect.header and not report.mapping["user"].startswith("column ")
        dialect = Dialect(delimiter, header, dialect.quoted and delimiter != "::")
    epoch = format_ not in ("csv", "tsv")
    return LongForm(
        dialect, columns, repr if format_ == "movielens-csv" else shortest_decimal, epoch
    )


def _write_beside(ratings: Ratings, place: Place, format_: str) -> None:
    recbole, parquet = format_ == "recbole", format_ == "parquet"
    ending = ".parquet" if parquet else ".csv"
    attributes = ratings.attributes
    if attributes is not None and format_ != "wide":
        beside = _beside(place, ".user" if recbole else f".users{ending}")
        names = attributes.column_names
        types = ["float" if str(t) == "double" else "token" for t in attributes.schema.types]
        header = ["user", *names]
        if recbole:
            typed = (f"{name}:{kind}" for name, kind in zip(names, types, strict=True))
            header = ["user_id:token", *typed]
        _write_columns(beside, format_, header, [ids_of(ratings.users), *attributes.columns])
        note(f"personal attributes: {beside.name}")
    if ratings.item_names is not None:
        import pyarrow as pa

        beside = _beside(place, ".item" if recbole else f".items{ending}")
        header = ["item_id:token", "title:token_seq"] if recbole else ["item", "name"]
        columns = [ids_of(ratings.items), pa.array(ratings.item_names)]
        _write_columns(beside, format_, header, columns)
        note(f"item names: {beside.name}")


def _beside(place: Place, ending: str) -> Place:
    return place.beside(Path(place.name).with_suffix(ending).name)


def _write_columns(place: Place, format_: str, header: list[str], columns: list[object]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with atomic_file(place, _OWNER) as target:
        if format_ == "parquet":
            with target.open("wb") as file:
                pq.write_table(pa.Table.from_arrays(columns, names=header), file)
            return
        dialect = DIALECTS["recbole" if format_ == "recbole" else "csv"]
        write_table(target, dialect, header, [column.to_pylist() for column in columns])  # type: ignore[attr-defined]


_USERS = 20_000  # users written at once
_MOST_CELLS = 500_000_000  # of a wide table
_SECONDS_A_DAY = 86_400


@dataclass(frozen=True)
class LongForm:
    """How one row per rating is written.

    `columns`: role (user, item, rating, day) → name of its column, in the order written. `number`:
    writes a rating. `epoch`: dates as seconds since 1970-01-01 at midnight UTC; otherwise as
    YYYY-MM-DD.
    """

    dialect: Dialect
    columns: dict[str, str]
    number: Callable[[float], str]
    epoch: bool


def _field(text: str, dialect: Dialect) -> str:
    needs = any(mark in text for mark in (dialect.delimiter, '"', "\n", "\r"))
    if dialect.quoted:
        # a byte order mark at the start of a file would be taken for one
        return '"' + text.replace('"', '""') + '"' if needs or text[:1] == "\ufeff" else text
    if any(mark in text for mark in (*dialect.delimiter, "\n", "\r", "\ufeff")):
        raise ConfigError(
            f"an id contains {dialect.delimiter!r} or a line break, which this format cannot store",
            advice="Write CSV or Parquet.",
        )
    return text


def write_long(ratings: Ratings, path: Path, form: LongForm) -> None:
    """Write one line per rating, users in canonical order."""
    columns = dict(form.columns)
    if not ratings.has_days:
        columns.pop("day", None)
    users = fields(ratings.users, form.dialect)
    items = fields(ratings.items, form.dialect)
    levels = np.array([form.number(float(level)) for level in ratings.levels], dtype=np.object_)
    with opened(path) as out, task("writing ratings", ratings.n_ratings) as step:
        if form.dialect.header:
            _write(out, form.dialect, [columns.values()])
        for start in range(0, ratings.n_users, _USERS):
            stop = min(start + _USERS, ratings.n_users)
            cells = slice(int(ratings.indptr[start]), int(ratings.indptr[stop]))
            texts = {
                "user": np.repeat(users[start:stop], np.diff(ratings.indptr[start : stop + 1])),
                "item": items[ratings.columns[cells]],
                "rating": levels[ratings.codes[cells]],
            }
            if "day" in columns and ratings.days is not None:
                texts["day"] = _dates(ratings.days[cells], ratings.first_day, form.epoch)
            join(out, form.dialect, zip(*(texts[role].tolist() for role in columns), strict=True))
            step(cells.stop - cells.start)


def write_wide(ratings: Ratings, path: Path, id_name: str) -> None:
    """Write one line per user: id, personal attributes, a field per item; null is blank."""
    attributes = ratings.attributes
    beside = [id_name, *([] if attributes is None else attributes.column_names)]
    if ratings.n_users * ratings.n_items > _MOST_CELLS:
        raise ConfigError(
            f"a wide table of {ratings.n_users:,} users x {ratings.n_items:,} items is too large",
            advice=f"Choose fewer items{aside('items', 'top:N')}, or another format.",
        )
    if any(ratings.items.index(name) >= 0 for name in beside) or len(set(beside)) < len(beside):
        raise ConfigError("an item's id, the id column or an attribute have the same name")
    dialect = Dialect(",", True)
    known = [] if attributes is None else [c.to_pylist() for c in attributes.columns]
    levels = [shortest_decimal(float(level)) for level in ratings.levels]
    with opened(path) as out:
        _write(out, dialect, [[*beside, *ratings.items]])
        for i, user in enumerate(ratings.users):
            row = [""] * ratings.n_items
            for p in range(int(ratings.indptr[i]), int(ratings.indptr[i + 1])):
                row[ratings.columns[p]] = levels[ratings.codes[p]]
            _write(out, dialect, [[user, *(_cell(column[i]) for column in known), *row]])


def write_table(
    path: Path, dialect: Dialect, header: Sequence[str], columns: Sequence[Sequence[object]]
) -> None:
    """Write columns of equal length as text; null is blank."""
    with opened(path) as out:
        _write(out, dialect, [header])
        _write(out, dialect, ([_cell(cell) for cell in row] for row in zip(*columns, strict=True)))


def shortest_decimal(value: float) -> str:
    """Write a number as short as it can be read back exactly.

    >>> shortest_decimal(4.0), shortest_decimal(3.5)
    ('4', '3.5')
    """
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def fields(texts: Iterable[str], dialect: Dialect) -> NDArray[np.object_]:
    """Return ids as a format writes them; one that it cannot hold is refused."""
    return np.array([_field(text, dialect) for text in texts], dtype=np.object_)


def _dates(days: NDArray[np.uint16], first_day: int, epoch: bool) -> NDArray[np.object_]:
    distinct, places = np.unique(days, return_inverse=True)
    texts = [_date(int(day), first_day, epoch) for day in distinct]
    return np.asarray(np.array(texts, dtype=np.object_)[places])


def _date(day: int, first_day: int, epoch: bool) -> str:
    if day == UNKNOWN_DAY:
        return ""
    number = day + first_day
    return str(number * _SECONDS_A_DAY) if epoch else str(np.datetime64(number, "D"))


def _cell(value: object) -> str:
    if value is None:
        return ""
    return shortest_decimal(value) if isinstance(value, float) else str(value)


def opened(path: Path) -> TextIO:
    """Open a text file to write lines as they are."""
    return open(path, "w", encoding="utf-8", newline="")


def _write(out: TextIO, dialect: Dialect, rows: Iterable[Iterable[str]]) -> None:
    """Add rows of plain texts."""
    join(out, dialect, ((_field(text, dialect) for text in row) for row in rows))


def join(out: TextIO, dialect: Dialect, rows: Iterable[Iterable[str]]) -> None:
    """Add rows of fields that are written out already."""
    out.writelines(f"{line}\n" for line in map(dialect.delimiter.join, rows))


def write_parquet(ratings: Ratings, path: Path, names: Mapping[str, str]) -> None:
    """Write one row per rating; `names`: see `rows_of`."""
    import pyarrow.parquet as pq

    rows = rows_of(ratings, names)
    with (
        path.open("wb") as file,  # Python's: a name need not be UTF-8
        pq.ParquetWriter(file, rows.schema, compression="zstd") as out,
        task("writing ratings", ratings.n_ratings) as step,
    ):
        for block in rows:
            out.write_batch(block)
            step(block.num_rows)


def rows_of(ratings: Ratings, names: Mapping[str, str]) -> pa.RecordBatchReader:
    """Return one row per rating, block by block: ids are int64 where all are canonical integers.

    `names`: role (user, item, rating, day) → column; the last is there if there are dates.
    """
    import pyarrow as pa

    users, items = ids_of(ratings.users), ids_of(ratings.items)
    fields = [
        pa.field(names["user"], users.type),
        pa.field(names["item"], items.type),
        pa.field(names["rating"], pa.float64()),
    ]
    if ratings.has_days:
        fields.append(pa.field(names["day"], pa.date32()))
    schema = pa.schema(fields)

    def blocks() -> Iterator[pa.RecordBatch]:
        for start in range(0, ratings.n_ratings, ROWS):
            stop = min(start + ROWS, ratings.n_ratings)
            places = np.arange(start, stop)
            rows = np.searchsorted(ratings.indptr, places, side="right") - 1
            columns = [
                users.take(pa.array(rows)),
                items.take(pa.array(ratings.columns[start:stop])),
                pa.array(ratings.levels[ratings.codes[start:stop]]),
            ]
            if ratings.days is not None:
                days = ratings.days[start:stop]
                numbers = days.astype(np.int32) + np.int32(ratings.first_day)
                known = pa.array(numbers, mask=days == UNKNOWN_DAY)
                columns.append(known.cast(pa.date32()))
            yield pa.RecordBatch.from_arrays(columns, schema=schema)

    return pa.RecordBatchReader.from_batches(schema, blocks())


def ids_of(vocabulary: Vocabulary) -> pa.Array:
    """Return the ids as an Arrow column."""
    import pyarrow as pa

    if not vocabulary.texts:
        return pa.array(vocabulary.integers)
    return pa.array(list(vocabulary), type=pa.string())
