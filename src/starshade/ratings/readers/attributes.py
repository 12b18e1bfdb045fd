"""Personal attributes and item names: small tables beside the ratings.

A numeric column becomes float64 and any other text; null is a value of its own. A column is
numeric when every value is a number and none begins with a zero that a number would lose (the zip
code 02139) and no whole number is so long that a number would round it, and its name does not say
that it is a code.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from starshade.errors import InputError
from starshade.plain import counted
from starshade.ratings.readers.columns import NUMBER, NullValues, as_text, numbers
from starshade.ratings.readers.faults import Fault, Faults, quoted
from starshade.ratings.readers.formats.movielens import USERS_1M, USERS_100K
from starshade.ratings.readers.formats.recbole import untyped
from starshade.ratings.readers.formats.tables import FrameSource, ParquetSource, is_frame
from starshade.ratings.readers.ids import IdColumn
from starshade.ratings.readers.recognise.aliases import normalized, resolve
from starshade.ratings.readers.recognise.inputs import Input, is_parquet, plain_text
from starshade.ratings.readers.recognise.sniff import look
from starshade.ratings.readers.source import Source
from starshade.ratings.readers.text import Dialect, TextSource
from starshade.ratings.table import Ratings

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["attach", "read_attributes"]

_CODE = re.compile(r"zip|post(al)?code|plz|phone|occupationid")  # numbers that do not count
_LEADING_ZERO = re.compile(r"[+-]?0\d")
_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
_REPEATED = Fault("users that stand in the attributes more than once", "Keep one row for each.")


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
        raise InputError(f"{where}: no users in it")
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
        notes.append(f"{counted(unknown, 'user')} with attributes but without ratings left out")
    if (lacking := int(np.count_nonzero(place < 0))) > 0:
        notes.append(f"{counted(lacking, 'user')} without attributes: theirs are null")
    report = replace(ratings.report, notes=(*ratings.report.notes, *notes))
    return ratings.annotate(attributes=pa.table(columns) if columns else None, report=report)


def _source(users: Any, scratch: Path) -> tuple[Source, str]:
    if is_frame(users):
        frame = FrameSource(users)
        return frame, frame.shown
    item = users if isinstance(users, Input) else Input(Path(users), str(users))
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
        advice="Personal attributes need one, with the user column named user or the like.",
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
            raise InputError(f"{where}: attribute {name!r} is of type {kind}: text or numbers only")
        text = array.cast(pa.string())
    values = text.to_pylist()
    bare = [None if v is None or not v.strip() or nulls.has(v.strip()) else v for v in values]
    known = [v.strip() for v in bare if v is not None]
    is_number = known and all(NUMBER.fullmatch(v) and not _LEADING_ZERO.match(v) for v in known)
    if is_number and not all(map(_is_kept, known)):
        notes.append(f"attribute {name!r} has numbers too long to be kept exactly: it stays text")
    elif is_number and not _CODE.search(normalized(name)):
        return pa.array([None if v is None else float(v) for v in bare], type=pa.float64())
    return pc.cast(pa.array(bare, type=pa.string()), pa.string())


def _is_kept(text: str) -> bool:
    """Tell whether a number is finite as float64 and, if written as whole, exactly itself."""
    value = float(text)
    return isfinite(value) and (not _WHOLE.fullmatch(text) or int(text) == int(value))
