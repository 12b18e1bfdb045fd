"""Rating tables as lines of text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

from starshade.errors import ConfigError
from starshade.naming import aside
from starshade.progress import task
from starshade.ratings.readers.text import Dialect
from starshade.ratings.table import UNKNOWN_DAY, Ratings

__all__ = ["LongForm", "shortest_decimal", "write_long", "write_table", "write_wide"]

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
            f"an id holds {dialect.delimiter!r} or a line break, which this format cannot hold",
            advice="Write CSV or Parquet.",
        )
    return text


def write_long(ratings: Ratings, path: Path, form: LongForm) -> None:
    """Write one line per rating, users in canonical order."""
    columns = dict(form.columns)
    if not ratings.has_days:
        columns.pop("day", None)
    users = _fields(ratings.users, form.dialect)
    items = _fields(ratings.items, form.dialect)
    levels = np.array([form.number(float(level)) for level in ratings.levels], dtype=np.object_)
    with _opened(path) as out, task("writing ratings", ratings.n_ratings) as step:
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
            _join(out, form.dialect, zip(*(texts[role].tolist() for role in columns), strict=True))
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
        raise ConfigError("an item's key, the id column or an attribute have the same name")
    dialect = Dialect(",", True)
    known = [] if attributes is None else [c.to_pylist() for c in attributes.columns]
    levels = [shortest_decimal(float(level)) for level in ratings.levels]
    with _opened(path) as out:
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
    with _opened(path) as out:
        _write(out, dialect, [header])
        _write(out, dialect, ([_cell(cell) for cell in row] for row in zip(*columns, strict=True)))


def shortest_decimal(value: float) -> str:
    """Write a number as short as it can be read back exactly.

    >>> shortest_decimal(4.0), shortest_decimal(3.5)
    ('4', '3.5')
    """
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def _fields(texts: Iterable[str], dialect: Dialect) -> NDArray[np.object_]:
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


def _opened(path: Path) -> TextIO:
    return open(path, "w", encoding="utf-8", newline="")


def _write(out: TextIO, dialect: Dialect, rows: Iterable[Iterable[str]]) -> None:
    """Add rows of plain texts."""
    _join(out, dialect, ((_field(text, dialect) for text in row) for row in rows))


def _join(out: TextIO, dialect: Dialect, rows: Iterable[Iterable[str]]) -> None:
    """Add rows of fields that are written out already."""
    out.writelines(f"{line}\n" for line in map(dialect.delimiter.join, rows))
