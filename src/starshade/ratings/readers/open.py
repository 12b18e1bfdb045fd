"""From found files to a table whose rows can be read: dialect, columns, and the fast path."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from starshade.errors import ConfigError, InputError
from starshade.naming import called, named, together
from starshade.plain import counted
from starshade.ratings.readers.columns import NUMBER, NullValues
from starshade.ratings.readers.formats.dialects import (
    DIALECTS,
    amazon_order,
    is_typed,
    name_format,
    untyped,
)
from starshade.ratings.readers.formats.parts import Parts
from starshade.ratings.readers.formats.plain import plain_batches
from starshade.ratings.readers.formats.shapes import LongTable
from starshade.ratings.readers.formats.tables import ParquetSource, Source, Table
from starshade.ratings.readers.formats.wide import WideTable
from starshade.ratings.readers.recognise.aliases import (
    headless,
    listing,
    matching,
    resolve,
    title_column,
    unread,
)
from starshade.ratings.readers.recognise.detect import Keys, Recognised, bare
from starshade.ratings.readers.recognise.inputs import Input, is_parquet, plain_text
from starshade.ratings.readers.recognise.sniff import Head, look
from starshade.ratings.readers.text import TextSource
from starshade.ratings.scale import Scale
from starshade.ratings.settings import OF_LONG, OF_WIDE, ReadingSettings
from starshade.ratings.staging import Batch
from starshade.ratings.vocabulary import is_canonical_integer
from starshade.setting import check

_ROLES = ("user", "item", "rating", "day")
_FEWEST = 3


@dataclass(frozen=True)
class Opened:
    """A table that can be read: its rows, batch after batch.

    `where`: the (first) file, or the kind of frame. `mapping`: role → column, as a person should
    see it, in the order of the columns; ``delimiter`` where it is not the format's usual one.
    `plain`: reads all rows by the fast path, or raises `NotPlain`, where the head gives hope.
    """

    table: LongTable | WideTable
    where: str
    format: str
    mapping: dict[str, str]
    plain: Callable[[], Iterator[Batch]] | None = None
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Batch]:
        return some(self.table.batches(), self.where)


def some(batches: Iterator[Batch], where: str) -> Iterator[Batch]:
    """Yield all batches; refuse a source without a row."""
    n_rows = 0
    for batch in batches:
        n_rows += len(batch)
        yield batch
    if not n_rows:
        raise InputError(
            f"{where}: it contains no ratings", advice="Check the rows below its header."
        )


def open_text(inputs: Recognised, request: Request, scratch: Path) -> Opened:
    """Open text files."""
    files, keys, empty = _parts(inputs, scratch)
    head = agreeing_head(files, request)
    where = files[0].shown
    typed = is_typed(head.columns)
    if request.format == "recbole" and not typed:
        raise InputError(
            f"{where}: no RecBole header",
            advice="A RecBole header looks like user_id:token, rating:float.",
        )
    columns = untyped(head.columns)
    format_, head = _format(Path(inputs.files[0].path).name, head, typed, request, where)
    source: Source = TextSource(files, head.dialect, columns)
    if keys:
        if not head.dialect.header:
            raise InputError(
                f"{where}: its folders name columns, and the file has no header",
                advice="Give the files headers, or list the files one by one.",
            )
        each = [TextSource([file], head.dialect, columns) for file in files]
        source = Parts(each, keys, where)
        columns = source.columns
    notes = _files_read(len(files))
    notes += (f"{counted(empty, 'empty file')} skipped",) if empty else ()
    if request.wide:
        if request.header is None and all(NUMBER.fullmatch(cell.strip()) for cell in columns):
            notes += (
                (
                    "the first line contains only numbers and is taken as the header; "
                    f"if it is a row: {headless()}"
                ),
            )
        return replace(_wide(source, where, request), notes=notes)
    if head.dialect.header:
        # numbers below words: those words are names, not the first row's ids
        is_table = any(NUMBER.fullmatch(cell.strip()) for row in head.rows[:1] for cell in row)
        listed = True if request.header or is_table else None
        roles = _resolved(columns, request, where, listed)
    else:
        roles, format_, remarks = by_place(head, format_, request, where)
        notes += remarks
    opened = _long(
        source, where, roles, format_, request, head.dialect.delimiter, is_named=head.dialect.header
    )
    is_plain = not (request.null_values or keys)
    plain = _plain(files, head, roles, columns) if is_plain else None
    return replace(opened, plain=plain, notes=(*notes, *opened.notes))


def open_table(source: Table, request: Request) -> Opened:
    """Open Parquet files, an Arrow-capable frame, or a database."""
    if request.wide:
        return _wide(source, source.shown, request)
    roles = _resolved(source.columns, request, source.shown, True)
    return _long(source, source.shown, roles, source.format, request)


def open_parquet(inputs: Recognised, request: Request) -> Opened:
    """Open Parquet files."""
    source: Table = ParquetSource(inputs.files)
    if inputs.keys:
        each = [ParquetSource([file]) for file in inputs.files]
        source = Parts(each, inputs.keys, each[0].shown)
    opened = open_table(source, request)
    return replace(opened, notes=(*_files_read(len(inputs.files)), *opened.notes))


def _files_read(n_files: int) -> tuple[str, ...]:
    """Say of how many files a table consists, if of several."""
    return (f"{counted(n_files, 'file')} read as one table",) if n_files > 1 else ()


def _long(
    source: Source,
    where: str,
    roles: dict[str, str],
    format_: str,
    request: Request,
    delimiter: str | None = None,
    *,
    is_named: bool = True,
) -> Opened:
    table = LongTable(source, roles, request.nulls, request.show_values, where)
    in_order = sorted(roles.items(), key=lambda entry: source.columns.index(entry[1]))
    mapping = {role: name if is_named else f"column {name}" for role, name in in_order}
    usual = DIALECTS[format_].delimiter if format_ in DIALECTS else ","
    if delimiter not in (None, usual):
        mapping["delimiter"] = delimiter
    notes = unread(source.columns, roles, dates=request.dates) if is_named else ()
    if roles["item"] == title_column(source.columns) and not request.given().get("item"):
        title = listing([roles["item"]])
        notes = (f"no column has item ids: {title} is used, and one title is one item", *notes)
    return Opened(table, where, format_, mapping, notes=notes)


def _wide(source: Source, where: str, request: Request) -> Opened:
    table = WideTable(
        source,
        where,
        id_col=request.id_col,
        item_cols=request.item_cols,
        attribute_cols=request.attribute_cols,
        nulls=request.nulls,
        show_values=request.show_values,
    )
    return Opened(table, where, "wide", table.mapping())


def _resolved(
    columns: Sequence[str], request: Request, where: str, listed: bool | None = None
) -> dict[str, str]:
    optional = ["day"] if request.dates else []
    given, required = settled(columns, request), ["user", "item", "rating"]
    return resolve(columns, given, required=required, optional=optional, where=where, listed=listed)


def settled(columns: Sequence[str], request: Request) -> dict[str, str | None]:
    """Return the columns that were named, by role; a column of titles where none has item ids."""
    given = request.given() if request.dates else {**request.given(), "day": None}
    if not given.get("item") and not matching(columns, "item"):
        given = {**given, "item": title_column(columns, [v for v in given.values() if v])}
    return given


def _parts(inputs: Recognised, scratch: Path) -> tuple[list[Input], list[Keys], int]:
    """Return the files as plain text, their keys, and how many more are empty.

    One file may be empty.
    """
    for file in inputs.files:
        if is_parquet(file):
            raise InputError(f"{file.shown}: this is Parquet, not text")
    plain = [plain_text(file, scratch) for file in inputs.files]
    filled = [i for i, file in enumerate(plain) if file.path.stat().st_size] or range(len(plain))
    keys = [inputs.keys[i] for i in filled] if inputs.keys else []
    return [plain[i] for i in filled], keys, len(plain) - len(filled)


def agreeing_head(files: Sequence[Input], request: Request) -> Head:
    """Look at the first file, and hold the headers of the others against its."""
    fixed = DIALECTS.get(request.format or "")
    delimiter = request.delimiter or (fixed.delimiter if fixed else None)
    header = request.header
    if header is None and (fixed or request.wide):
        header = fixed.header if fixed else True
    named = [name for name in request.given().values() if name]
    quoted = fixed.quoted if fixed else True
    first, *others = files
    head = look(first, delimiter=delimiter, header=header, named=named, quoted=quoted)
    for file in others if head.dialect.header else []:
        other = look(file, delimiter=head.dialect.delimiter, header=True, quoted=quoted)
        if other.columns != head.columns:
            raise InputError(
                f"{file.shown}: its header differs from that of {first.shown}",
                advice="Name only files of one table.",
            )
    return head


def _format(name: str, head: Head, typed: bool, request: Request, where: str) -> tuple[str, Head]:
    """Name the format; MovieLens' old files know no quotes."""
    if request.format is not None:
        names = ("userId", "movieId", "rating", "timestamp")
        if request.format == "movielens-csv" and head.columns not in (names, names[:3]):
            raise InputError(
                f"{where}: its header is not MovieLens' ({','.join(names)})",
                advice=f"Give {named('format', 'csv')}.",
            )
        return request.format, head
    if typed:
        return "recbole", head
    format_ = name_format(bare(name), head.dialect, head.columns)
    if format_ in ("movielens-100k", "movielens-dat"):
        head = replace(head, dialect=DIALECTS[format_])
    return format_, head


def by_place(
    head: Head, format_: str, request: Request, where: str
) -> tuple[dict[str, str], str, tuple[str, ...]]:
    """Give the columns of a file without a header their roles; also the format and notes."""
    width = len(head.columns)
    if any(request.given().values()):
        return _resolved(head.columns, request, where), format_, ()
    if width not in (3, 4):
        row = f" If every row is one user: {headless(('wide', True))}." if width > 4 else ""
        raise _unordered(where, f"{counted(width, 'field')} in a row", row)
    _refuse_order(head, where)
    order: tuple[str, ...] = _ROLES
    notes: tuple[str, ...] = ()
    if head.dialect.delimiter == "," and format_ in ("csv", "amazon"):
        known = amazon_order(head.rows)
        if known is not None:
            order, format_ = (*known, "rating", "day"), "amazon"
    if format_ in ("csv", "tsv") or (format_ == "amazon" and order == _ROLES and not known):
        notes = (f"no header: columns taken as {', '.join(_WORDS[:width])}",)
    roles = dict(zip(order, head.columns, strict=False))
    if not request.dates:
        roles.pop("day", None)
    return roles, format_, notes


_WORDS = ("user", "item", "rating", "date")
_SECONDS = 10**8  # a number above is a date rather than a rating: seconds after March 1973


def _unordered(where: str, what: str, hint: str = "") -> InputError:
    numbered = together(("user_col", 1), ("item_col", 2), ("rating_col", 3))
    return InputError(
        f"{where}: no header, and {what}: the columns of user, item and rating are unknown",
        advice=f"Name them by number, e.g. {numbered}, or name the delimiter.{hint}",
    )


def _refuse_order(head: Head, where: str) -> None:
    """Refuse columns of which the third cannot be ratings while another one can."""
    columns = [[cell.strip() for cell in cells] for cells in zip(*head.rows, strict=False)]
    are_numbers = [all(map(NUMBER.fullmatch, cells)) for cells in columns]
    if len(columns) < _FEWEST or not any(are_numbers):
        return
    if not any(NUMBER.fullmatch(cell) for cell in columns[2]) and len(set(columns[2])) > 1:
        raise _unordered(where, "no number in column 3")
    if are_numbers[2] and all(float(cell) > _SECONDS for cell in columns[2]):
        raise _unordered(where, "numbers as large as dates in column 3")


def _plain(
    files: Sequence[Input], head: Head, roles: dict[str, str], columns: tuple[str, ...]
) -> Callable[[], Iterator[Batch]] | None:
    """Return the fast path if the first row may pass it: integer ids, and a date that is one."""
    place = {role: columns.index(name) for role, name in roles.items()}
    if not head.rows or len(head.rows[0]) != len(columns):
        return None
    first = head.rows[0]
    if not all(is_canonical_integer(first[place[role]]) for role in ("user", "item")):
        return None
    # the fast path would take 20031231 for seconds, and says nothing of dates that are all in 1970
    if "day" in place and len(first[place["day"]]) <= 8:
        return None
    if head.dialect.header and not all(_is_one_line(file) for file in files):
        return None
    return partial(
        plain_batches,
        [file.path for file in files],
        delimiter=head.dialect.delimiter,
        header=head.dialect.header,
        columns=(place["user"], place["item"], place["rating"], place.get("day")),
        n_columns=len(columns),
    )


def _is_one_line(file: Input) -> bool:
    """Tell whether the header ends with the first line feed, as the fast path assumes."""
    with file.path.open("rb") as handle:
        line = handle.readline(1 << 16)
    return line.endswith(b"\n") and b'"' not in line and b"\r" not in line.rstrip(b"\r\n")


#: what `format` may be; the first ones are dialects of text
FORMATS = (*DIALECTS, "netflix", "parquet", "wide", "store")


@dataclass(frozen=True)
class Request(ReadingSettings):
    """The options of `read_ratings`, see there."""

    def __post_init__(self) -> None:
        check(self)
        if not isinstance(self.scale, Scale | None):
            raise ConfigError(
                f"{called('scale')} of type {type(self.scale).__name__}: must be a Scale or text",
                advice="For example 1:5:1, or 0.5:5:0.5.",
                setting="scale",
            )
        if self.format is not None and self.format not in FORMATS:
            raise ConfigError(
                f"{called('format')} {self.format!r}: unknown",
                advice=f"Known: {', '.join(FORMATS)}.",
                setting="format",
            )
        for setting in ("user_col", "item_col", "rating_col", "day_col", "id_col", "delimiter"):
            if getattr(self, setting) == "":
                raise ConfigError(
                    f"{named(setting)}: empty",
                    advice="Name one, or remove the option.",
                    setting=setting,
                )
        if self.format == "wide":
            object.__setattr__(self, "wide", True)
        long_only = [name for name in OF_LONG if getattr(self, name)]
        if self.wide and long_only:
            raise ConfigError(
                f"{named(long_only[0])} names a column of a long table; this table is wide",
                advice=f"A wide table has {_of_wide()}.",
                setting=long_only[0],
            )
        if self.wide and self.format not in (None, "wide"):
            raise ConfigError(f"{called('format')} {self.format!r} is not wide", setting="format")
        if not self.wide and any(getattr(self, name) for name in OF_WIDE):
            raise ConfigError(
                f"{_of_wide()} apply to wide tables only",
                advice=f"Add {named('wide', True)}, or name the columns by {named('user_col')} and "
                f"{named('users', 'FILE')}.",
            )

    def given(self) -> dict[str, str | None]:
        """Return the columns that were named, by role."""
        return {role: getattr(self, f"{role}_col") for role in ("user", "item", "rating", "day")}

    @property
    def nulls(self) -> NullValues:
        """The values that stand for "not rated"."""
        return NullValues(self.null_values)

    @property
    def names_columns(self) -> bool:
        """Whether anything was said that a format with fixed columns has no use for."""
        return any((*self.given().values(), self.wide, self.delimiter, self.header is not None))


def _of_wide() -> str:
    *most, last = map(named, OF_WIDE)
    return f"{', '.join(most)} and {last}"
