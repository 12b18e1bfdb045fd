"""The one door through which ratings go out (a release has its own, `release.folder.write`)."""

from __future__ import annotations

from pathlib import Path

from starshade.errors import ConfigError
from starshade.naming import aside, called
from starshade.progress import note
from starshade.ratings.places.atomic import atomic_file, together
from starshade.ratings.places.place import Place, Where
from starshade.ratings.readers.formats.movielens import DIALECTS
from starshade.ratings.readers.text import Dialect
from starshade.ratings.table import Ratings
from starshade.ratings.write.parquet import ids_of, write_parquet
from starshade.ratings.write.text import (
    LongForm,
    shortest_decimal,
    write_long,
    write_table,
    write_wide,
)

__all__ = ["WRITTEN", "format_of", "write_ratings"]

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
            f"{path}: the ending {ending} names no format that can be written",
            advice=f"Known endings: {', '.join(_BY_ENDING)}; without one, a store. "
            f"Or name the format{aside('out.format')}: {', '.join(WRITTEN)}.",
        )
    return _BY_ENDING.get(ending, "store")


def write_ratings(ratings: Ratings, path: Where, format: str | None = None) -> str:  # noqa: A002
    """Write a rating table to a file that must not exist yet: all of it or nothing.

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
            f"{called('out.format')} {format!r}: cannot be written; known: {', '.join(WRITTEN)}"
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
            note("a wide table holds no dates: they are left out")
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
