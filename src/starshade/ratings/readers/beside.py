"""Small tables beside the ratings: attributes, item names, public ratings, mappings of items."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from starshade.errors import ConfigError, InputError
from starshade.plain import counted
from starshade.ratings.readers.columns import NUMBER, IdColumn, NullValues, as_text, numbers
from starshade.ratings.readers.faults import Fault, Faults, quoted
from starshade.ratings.readers.formats.dialects import USERS_1M, USERS_100K, is_typed, untyped
from starshade.ratings.readers.formats.tables import FrameSource, ParquetSource, Source, is_frame
from starshade.ratings.readers.recognise.aliases import matching, normalized, resolve
from starshade.ratings.readers.recognise.inputs import (
    Input,
    is_parquet,
    only_file,
    plain_text,
    reading,
)
from starshade.ratings.readers.recognise.sniff import Head, look
from starshade.ratings.readers.text import Dialect, TextSource
from starshade.ratings.table import Ratings

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Beside:
    """An opened table.

    `where`: the file as its owner calls it, or the kind of frame. `named`: whether its columns have
    names; otherwise they are called 1, 2, ….
    """

    source: Source
    where: str
    named: bool

    @property
    def counted(self) -> str:
        """What `lines` counts: "line" or "row"."""
        return "line" if isinstance(self.source, TextSource) else "row"

    def lines(self, n_rows: int) -> NDArray[np.int64]:
        """Return where each row stands: its line in a text, else its number; both from 1."""
        if isinstance(self.source, TextSource):
            return self.source.lines(n_rows)
        return np.arange(1, n_rows + 1)


def open_beside(
    source: Any,
    scratch: Path,
    *,
    known: Collection[str],
    what: str,
    delimiter: str | None = None,
    header: bool | None = None,
) -> Beside:
    """Open a text file (perhaps compressed), a Parquet file or a frame.

    `scratch`: a folder for what has to be unpacked. `known`: names, normalized, of which a header
    must hold one: a first row of words may be data. `what`: what the table should hold, for
    messages. `delimiter`, `header`: as in `read_ratings`.
    """
    if is_frame(source):
        frame = FrameSource(source)
        return Beside(frame, frame.shown, True)
    if not isinstance(source, (str, Path)):
        raise ConfigError(
            f"{what} cannot be read from {type(source).__name__}",
            advice="Give a path, or a frame with columns.",
        )
    if not str(source):
        raise ConfigError(f"{what}: an empty path", advice="Name a file.")
    item = only_file(source, scratch)
    if is_parquet(item):
        return Beside(ParquetSource([item]), item.shown, True)
    plain = plain_text(item, scratch)
    head = _head(plain, known, what, delimiter, header)
    text = TextSource([plain], head.dialect, untyped(head.columns))
    return Beside(text, item.shown, head.dialect.header)


def _head(
    item: Input, known: Collection[str], what: str, delimiter: str | None, header: bool | None
) -> Head:
    if header is not None:
        return look(item, delimiter=delimiter, header=header, what=what)
    bare = look(item, delimiter=delimiter, header=False, what=what)
    if not any(normalized(cell) in known for cell in untyped(bare.rows[0])):
        return bare
    return look(item, delimiter=delimiter, header=True, what=what)


_CODE = re.compile(r"zip|post(al)?code|plz|phone|occupationid")  # numbers that do not count
_LEADING_ZERO = re.compile(r"[+-]?0\d")
_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
_REPEATED = Fault("users with more than one row of attributes", "Keep one row for each user.")


def read_attributes(
    users: str | Path | Input | Any, scratch: Path, *, user_col: str | None, show_values: bool
) -> tuple[list[str], pa.Table, str]:
    """Read personal attributes: ids, a table with one row each, and the source's name.

    `users`: u.user, users.dat, CSV or TSV with a header, Parquet, RecBole ``.user``. `scratch`: a
    folder for what has to be unpacked. `user_col`: the column of the user ids, where it has one of
    that name. `show_values`: whether messages may name users.
    """
    import pyarrow as pa

    source, where = _source(users, scratch)
    given = user_col if user_col in source.columns else None
    columns = source.columns
    role = resolve(columns, {"user": given}, required=["user"], where=where)["user"]
    faults = Faults(source.locate)
    ids = IdColumn("user", faults, show_values=show_values)
    beside = [name for name in columns if name != role]
    texts: list[str] = []
    blocks: list[pa.RecordBatch] = []
    first_row: dict[str, int] = {}
    for block in source.batches([role, *beside]):
        rows = np.arange(len(texts), len(texts) + len(block))
        block_texts = [str(value) for value in ids.take(block.column(0), rows)]
        if not faults:
            again = [
                i for i, t in enumerate(block_texts) if first_row.setdefault(t, rows[i]) != rows[i]
            ]
            faults.add(
                _REPEATED,
                rows[again],
                lambda k, again=again, block_texts=block_texts: (  # type: ignore[misc]
                    quoted(block_texts[again[k]]) if show_values else "again"
                ),
            )
        texts += block_texts
        blocks.append(block.select(beside))
    faults.refuse()
    if not texts:
        raise InputError(f"{where}: it contains no users")
    return texts, pa.Table.from_batches(blocks), where


def attach(
    ratings: Ratings, ids: Sequence[str], table: pa.Table, where: str, nulls: NullValues
) -> Ratings:
    """Return the ratings with these attributes, one row per user, and notes on who lacks what."""
    import pyarrow as pa

    place = np.full(ratings.n_users, -1, dtype=np.int64)
    indices = ratings.users.indices(ids)
    known = indices >= 0
    place[indices[known]] = np.flatnonzero(known)
    if not known.any():
        raise InputError(
            f"{where}: none of its users is in the ratings",
            advice="Ids are text: 7 and 007 are two users.",
        )
    rows = pa.array(place, mask=place < 0)
    notes: list[str] = []
    columns = {
        name: _typed(name, table.column(name).combine_chunks().take(rows), nulls, where, notes)
        for name in table.column_names
    }
    if (unknown := int(np.count_nonzero(~known))) > 0:
        notes.append(f"{counted(unknown, 'user')} with attributes but without ratings skipped")
    if (lacking := int(np.count_nonzero(place < 0))) > 0:
        notes.append(f"{counted(lacking, 'user')} without attributes: set to null")
    report = replace(ratings.report, notes=(*ratings.report.notes, *notes))
    return ratings.annotate(attributes=pa.table(columns) if columns else None, report=report)


def _source(users: Any, scratch: Path) -> tuple[Source, str]:
    if is_frame(users):
        frame = FrameSource(users)
        return frame, frame.shown
    item = users if isinstance(users, Input) else only_file(users, scratch)
    where = item.shown
    if is_parquet(item):
        return ParquetSource([item]), where
    item = plain_text(item, scratch)
    head = look(item, what="personal attributes")
    width = len(head.columns)
    if head.dialect.header:
        return TextSource([item], head.dialect, untyped(head.columns)), where
    first = head.rows[0]
    if head.dialect.delimiter == "|" and width == 5 and first[2] in ("M", "F"):
        return TextSource([item], Dialect("|", False, False), USERS_100K), where
    if head.dialect.delimiter == "::" and width == 5 and first[1] in ("M", "F"):
        return TextSource([item], head.dialect, USERS_1M), where
    raise InputError(
        f"{where}: no header that names the columns",
        advice="A file of personal attributes needs a header; name the user column user "
        "or the like.",
    )


def _typed(name: str, array: pa.Array, nulls: NullValues, where: str, notes: list[str]) -> pa.Array:
    """Return an attribute as float64 or as text; note it when numbers are too long for that."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    kind = array.type
    if pa.types.is_integer(kind) and not all(
        _is_kept(str(v)) for v in array.drop_null().to_pylist()
    ):
        array, kind = array.cast(pa.string()), pa.string()
    if pa.types.is_integer(kind) or pa.types.is_decimal(kind) or pa.types.is_floating(kind):
        exact = numbers(array)
        return pa.array(exact, mask=~np.isfinite(exact) | np.isin(exact, nulls.numbers))
    text = as_text(array)
    if text is None:
        if not (pa.types.is_boolean(kind) or pa.types.is_temporal(kind) or pa.types.is_null(kind)):
            raise InputError(
                f"{where}: attribute {name!r} is of type {kind} (allowed: text or numbers)"
            )
        text = array.cast(pa.string())
    values = text.to_pylist()
    bare = [None if v is None or not v.strip() or nulls.has(v.strip()) else v for v in values]
    known = [v.strip() for v in bare if v is not None]
    is_number = known and all(NUMBER.fullmatch(v) and not _LEADING_ZERO.match(v) for v in known)
    if is_number and not all(map(_is_kept, known)):
        notes.append(f"attribute {name!r} has numbers too long to be stored exactly: kept as text")
    elif is_number and not _CODE.search(normalized(name)):
        return pa.array([None if v is None else float(v) for v in bare], type=pa.float64())
    return pc.cast(pa.array(bare, type=pa.string()), pa.string())


def _is_kept(text: str) -> bool:
    """Tell whether a number is finite as float64 and, if written as whole, exactly itself."""
    value = float(text)
    return isfinite(value) and (not _WHOLE.fullmatch(text) or int(text) == int(value))


_AGAIN = "an earlier row gives this item another name"
_BARE = {"u.item": "|", "movies.dat": "::"}  # id and name first, no header, often Latin-1


def read_names(item: Input, scratch: Path) -> dict[str, str] | None:
    """Read item names: id → name; None where a RecBole ``.item`` file has no column of names."""
    if is_parquet(item):
        return _of_source(ParquetSource([item]), item.shown)
    name = item.path.name
    plain = plain_text(item, scratch)
    delimiter = next((d for ending, d in _BARE.items() if name.startswith(ending)), None)
    if delimiter is not None:
        return _bare_names(plain, delimiter)
    head = look(plain, what="item names")
    if not head.dialect.header:
        raise InputError(
            f"{item.shown}: no header that names the columns",
            advice="Item names need a header, e.g. item,title.",
        )
    columns = untyped(head.columns)
    if is_typed(head.columns) and not matching(columns, "name"):
        return None
    return _of_source(TextSource([plain], head.dialect, columns), item.shown)


def attach_names(ratings: Ratings, names: Mapping[str, str]) -> Ratings:
    """Return the ratings with a name per item; the key stands in where there is none."""
    keys = list(ratings.items)
    lacking = sum(not names.get(key, "").strip() for key in keys)
    if lacking == len(keys):
        return _noted(ratings, "none of the named items is in the ratings")
    known = tuple(names.get(key, "").strip() or key for key in keys)
    ratings = ratings.annotate(item_names=known)
    if lacking:
        return _noted(ratings, f"{counted(lacking, 'item')} without a name: the id is used")
    return ratings


def _noted(ratings: Ratings, note: str) -> Ratings:
    return ratings.annotate(report=replace(ratings.report, notes=(*ratings.report.notes, note)))


def _bare_names(item: Input, delimiter: str) -> dict[str, str]:
    with reading(item):
        raw = item.path.read_bytes()
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    names: dict[str, str] = {}
    # str.splitlines would also split at characters that may stand in a name
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        if not line:
            continue
        key, separator, rest = line.partition(delimiter)
        if not separator:
            raise InputError(f"{item.shown}, line {number}: no {delimiter!r} between id and name")
        name = rest.partition(delimiter)[0]
        if names.setdefault(key, name) != name:
            raise InputError(f"{item.shown}, line {number}: {_AGAIN}")
    return names


def _of_source(source: Source, where: str) -> dict[str, str]:
    roles = resolve(source.columns, {}, required=["item", "name"], where=where)
    faults = Faults(source.locate)
    ids = IdColumn("item", faults)
    names: dict[str, str] = {}
    read = 0
    for block in source.batches(list(roles.values())):
        keys = ids.take(block.column(0), np.arange(read, read + len(block)))
        read += len(block)
        column = as_text(block.column(1))
        if column is None:
            raise InputError(f"{where}: item names of type {block.column(1).type} (allowed: text)")
        if not faults:
            for i, (key, name) in enumerate(zip(keys, column.to_pylist(), strict=True)):
                if names.setdefault(str(key), name or "") != (name or ""):
                    raise InputError(f"{source.locate(read - len(block) + i)}: {_AGAIN}")
    faults.refuse()
    return names
