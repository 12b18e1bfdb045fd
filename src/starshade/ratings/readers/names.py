"""A name per item: u.item, movies.dat, movies.csv, RecBole ``.item``, or any table with both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from starshade.errors import InputError
from starshade.plain import counted
from starshade.ratings.readers.columns import as_text
from starshade.ratings.readers.faults import Faults
from starshade.ratings.readers.formats.recbole import is_typed, untyped
from starshade.ratings.readers.formats.tables import ParquetSource
from starshade.ratings.readers.ids import IdColumn
from starshade.ratings.readers.recognise.aliases import matching, resolve
from starshade.ratings.readers.recognise.inputs import Input, is_parquet, plain_text, reading
from starshade.ratings.readers.recognise.sniff import look
from starshade.ratings.readers.source import Source
from starshade.ratings.readers.text import TextSource
from starshade.ratings.table import Ratings

__all__ = ["attach_names", "read_names"]

_AGAIN = "an item that has another name further up"
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
            advice="Item names need one, e.g. item,title.",
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
        return _noted(ratings, "none of the item names belongs to an item that was rated")
    known = tuple(names.get(key, "").strip() or key for key in keys)
    ratings = ratings.annotate(item_names=known)
    if lacking:
        return _noted(ratings, f"{counted(lacking, 'item')} without a name: the key stands in")
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
            raise InputError(f"{where}: item names of type {block.column(1).type}: text only")
        if not faults:
            for i, (key, name) in enumerate(zip(keys, column.to_pylist(), strict=True)):
                if names.setdefault(str(key), name or "") != (name or ""):
                    raise InputError(f"{source.locate(read - len(block) + i)}: {_AGAIN}")
    faults.refuse()
    return names
