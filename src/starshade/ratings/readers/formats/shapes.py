"""Long tables, a row per rating; wide ones, a row per respondent."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from starshade.errors import ConfigError, InputError
from starshade.naming import named
from starshade.plain import counted
from starshade.ratings.readers.columns import IdColumn, NullValues, RatingColumn
from starshade.ratings.readers.dates import DayColumn, all_in_1970
from starshade.ratings.readers.faults import Fault, Faults
from starshade.ratings.readers.formats.tables import ParquetSource, Source
from starshade.ratings.readers.recognise.aliases import ROW_NUMBER, resolve
from starshade.ratings.rows.wrong import Wrong
from starshade.ratings.staging import Batch
from starshade.ratings.vocabulary import is_canonical_integer

if TYPE_CHECKING:
    import pyarrow as pa


IN_1970 = "all dates fall in 1970: are they seconds since 1970-01-01?"


class KeptRows:
    """Which of the rows read were handed on: one bit each, and only where some were not.

    >>> kept = KeptRows()
    >>> kept.add(np.array([True, False, True]))
    >>> kept.original(1)
    2
    """

    def __init__(self) -> None:
        self._read = [0]
        self._handed = [0]
        self._bits: list[NDArray[np.uint8] | None] = []

    def add(self, kept: NDArray[np.bool_]) -> None:
        """Note the next block of rows."""
        self._bits.append(None if kept.all() else np.packbits(kept))
        self._read.append(self._read[-1] + len(kept))
        self._handed.append(self._handed[-1] + int(np.count_nonzero(kept)))

    def original(self, row: int) -> int:
        """Return the number that a row handed on had when it was read."""
        block = min(bisect_right(self._handed, row) - 1, len(self._bits) - 1)
        if block < 0:
            return row
        offset = row - self._handed[block]
        bits = self._bits[block]
        if bits is not None:
            offset = int(np.flatnonzero(np.unpackbits(bits))[offset])
        return self._read[block] + offset


@dataclass(frozen=True)
class Seen:
    """What is to be said of rows that were read.

    `faults`: what is wrong with them. `left_out`: those that say "not rated". `decimal`: roles
    whose ids were stored as decimals. `padded`: those with blanks around some id. `undated`: rows
    without a date. `form`: of the dates, by the first of them; None: there is none. `latest`: day.
    """

    faults: Mapping[Fault, Wrong]
    left_out: int
    decimal: frozenset[str]
    padded: frozenset[str]
    undated: int
    form: str | None
    latest: int

    def __add__(self, other: Seen) -> Seen:
        """Add what was seen of later rows, whose dates are of the same form."""
        faults = dict(self.faults)
        for fault, wrong in other.faults.items():
            faults[fault] = faults.get(fault, Wrong()) + wrong
        return Seen(
            faults,
            self.left_out + other.left_out,
            self.decimal | other.decimal,
            self.padded | other.padded,
            self.undated + other.undated,
            self.form or other.form,
            max(self.latest, other.latest),
        )

    def notes(self) -> Iterator[str]:
        """Say what a person should know."""
        for role in ("user", "item"):
            yield from _notes_on(role, decimal=role in self.decimal, padded=role in self.padded)
        if self.undated:
            yield f"{counted(self.undated, 'row')} without a date"
        if all_in_1970(self.form, self.latest):
            yield IN_1970
        if self.left_out:
            yield f"{counted(self.left_out, 'row')} not rated: left out"


@dataclass
class LongTable:
    """A source whose columns are users, items, ratings and perhaps dates.

    `roles`: ``user``, ``item``, ``rating`` and perhaps ``day`` → column. `nulls`: rows with such a
    rating say "not rated"; they are left out and counted. `show_values`: whether messages may name
    ids. `where`: the source's name, for messages. `first_row`: number of its first row.
    """

    source: Source
    roles: Mapping[str, str]
    nulls: NullValues
    show_values: bool = False
    where: str = ""
    first_row: int = 0

    def __post_init__(self) -> None:
        self._kept = KeptRows()
        self.seen: Seen | None = None  # after all was read
        self.notes: list[str] = []  # what a person should know, after all was read

    def locate(self, row: int) -> str:
        """Say where a row handed on (from 0) stands."""
        return self.source.locate(self._kept.original(row))

    def parts(self) -> list[LongTable]:
        """Return a table of each file, to be read apart.

        None where rows have to be left out, or of files that are fetched: others would be told the
        keys to them.
        """
        if self.nulls or not isinstance(self.source, ParquetSource):
            return []
        if any(file.remote for file in self.source.files):
            return []
        files = zip(self.source.files, self.source.first_rows, strict=True)
        return [replace(self, source=ParquetSource([f]), first_row=row) for f, row in files]

    def batches(self) -> Iterator[Batch]:
        """Yield all rows in file order, and refuse what is wrong with any."""
        yield from self.rows()
        assert self.seen is not None
        self.tell(self.seen)

    def tell(self, seen: Seen) -> None:
        """Refuse what is wrong with any row, or note what is to be said of them."""
        faults = Faults(self.source.locate)
        faults.noted.update(seen.faults)
        faults.refuse()
        self.notes += seen.notes()

    def rows(self) -> Iterator[Batch]:
        """Yield all rows in file order, none after one that is wrong; then `seen` is known."""
        faults = Faults(self.source.locate)
        users = IdColumn("user", faults, show_values=self.show_values)
        items = IdColumn("item", faults, show_values=self.show_values)
        ratings, days = RatingColumn(self.nulls, faults), DayColumn(self.nulls, faults)
        read = handed = self.first_row
        for block in self.source.batches(list(self.roles.values())):
            rows = np.arange(read, read + len(block))
            arrays = dict(zip(self.roles, block.columns, strict=True))
            try:
                values = ratings.take(arrays["rating"], rows)
                of_users = users.take(arrays["user"], rows)
                of_items = items.take(arrays["item"], rows)
                dates = days.take(arrays["day"], rows) if "day" in arrays else None
            except InputError as error:  # a type that holds no such values
                raise InputError(f"{self.where}: {error.message}", advice=error.advice) from None
            read += len(block)
            if faults:  # nothing can come of it any more; the rest is read to count
                continue
            kept = ~np.isnan(values)
            self._kept.add(kept)
            if not kept.all():
                of_users, of_items, values = of_users[kept], of_items[kept], values[kept]
                dates = None if dates is None else dates[kept]
            yield Batch(of_users, of_items, values, dates, handed)
            handed += len(values)
        ids = (users, items)
        self.seen = Seen(
            faults.noted,
            read - handed,
            frozenset(column.role for column in ids if column.was_float),
            frozenset(column.role for column in ids if column.n_padded),
            days.n_missing,
            days.form,
            days.latest,
        )


def id_notes(column: IdColumn) -> Iterator[str]:
    """Say what a person should know about a column of ids."""
    return _notes_on(column.role, decimal=column.was_float, padded=column.n_padded > 0)


def _notes_on(role: str, *, decimal: bool, padded: bool) -> Iterator[str]:
    if decimal:
        yield f"{role} ids are stored as decimal numbers and are read as whole ones"
    if padded:
        yield f"some {role} ids begin or end with a blank, which is part of the id"


__all__ = ["ROW_NUMBER", "WideTable"]

_NAMED = 10  # columns named in a message
_REPEATED = Fault("respondents that stand in the table more than once", "Keep one row for each.")


class WideTable:
    """A source with one row per respondent.

    `where`: the source's name, for messages. `id_col`: column of the respondents' ids; `ROW_NUMBER`
    numbers the rows; None: a known name. `attribute_cols`: columns of personal attributes. All
    others are items. `nulls`: values that stand for "not rated"; a blank always does.
    """

    def __init__(
        self,
        source: Source,
        where: str,
        *,
        id_col: str | None,
        attribute_cols: Sequence[str],
        nulls: NullValues,
        show_values: bool = False,
    ) -> None:
        self.source = source
        self._nulls = nulls
        self._show = show_values
        self._where = where
        self.id_col = None if id_col == ROW_NUMBER else self._respondent(id_col)
        roles = {f"attribute {i}": name for i, name in enumerate(attribute_cols, 1)}
        columns = resolve(source.columns, roles, required=list(roles), where=where, listed=False)
        self.attribute_cols = tuple(columns.values())
        beside = {self.id_col, *self.attribute_cols}
        if self.id_col in self.attribute_cols:
            raise ConfigError(f"{where}: column {self.id_col!r} cannot be id and attribute at once")
        self.item_cols = tuple(name for name in source.columns if name not in beside)
        if not self.item_cols:
            raise ConfigError(f"{where}: no column is left for the items")
        self._items = _item_ids(self.item_cols)
        self._kept = KeptRows()
        self._attributes: list[pa.RecordBatch] = []
        self._ids: list[NDArray[Any]] = []
        self.notes: list[str] = []  # what a person should know, after all was read
        self._strange: Counter[str] = Counter()  # item column → cells that are none, less rated
        self.empty_rows = self.empty_columns = 0

    def _respondent(self, id_col: str | None) -> str:
        try:
            given, where = {"respondent": id_col}, self._where
            roles = resolve(
                self.source.columns, given, required=["respondent"], where=where, listed=False
            )
        except InputError as error:
            hint = f" To number the respondents, give {named('id_col', ROW_NUMBER)}."
            advice = f"{error.advice}{hint}".strip()
            raise InputError(error.message, advice=advice, setting=error.setting) from None
        return roles["respondent"]

    def mapping(self) -> dict[str, str]:
        """Return which column is what, items counted."""
        mapping = {"user": self.id_col or "row number", "item": f"{len(self.item_cols)} columns"}
        if self.attribute_cols:
            mapping["attributes"] = ", ".join(self.attribute_cols)
        return mapping

    def locate(self, cell: int) -> str:
        """Say where a cell handed on (from 0) stands: its row, and its column from 1."""
        return self._place(self._kept.original(cell))

    def _place(self, cell: int) -> str:
        row, item = divmod(cell, len(self.item_cols))
        column = self.source.columns.index(self.item_cols[item]) + 1
        name = f" {self.item_cols[item]!r}" if self._show else ""
        return f"{self.source.locate(row)}, column {column}{name}"

    def batches(self) -> Iterator[Batch]:
        """Yield all cells that are rated, row by row."""
        cell_faults, row_faults = Faults(self._place, "cells"), Faults(self.source.locate)
        ids = IdColumn("respondent", row_faults, show_values=self._show)
        ratings = RatingColumn(self._nulls, cell_faults, blank_is_null=True)
        seen: set[object] = set()
        rated = np.zeros(len(self.item_cols), dtype=np.bool_)
        read = handed = 0
        names = [*([self.id_col] if self.id_col else []), *self.attribute_cols, *self.item_cols]
        for block in self.source.batches(names):
            rows = np.arange(read, read + len(block))
            users = ids.take(block.column(self.id_col), rows) if self.id_col else rows + 1
            values = self._cells(block, ratings, read, cell_faults)
            self._refuse_repeated(users, rows, seen, row_faults)
            read += len(block)
            if cell_faults or row_faults:
                continue
            kept = ~np.isnan(values)
            self._kept.add(kept.ravel())
            self._ids.append(users)
            self._attributes.append(block.select(list(self.attribute_cols)))
            self.empty_rows += int(np.count_nonzero(~kept.any(axis=1)))
            rated |= kept.any(axis=0)
            batch = Batch(
                np.repeat(users, kept.sum(axis=1)),
                np.broadcast_to(self._items, kept.shape)[kept],
                values[kept],
                None,
                handed,
            )
            handed += len(batch)
            yield batch
        row_faults.refuse()
        self._refuse(cell_faults)
        self.empty_columns = int(np.count_nonzero(~rated))
        self.notes += id_notes(ids)
        if ratings.n_declared:
            words = " or ".join(sorted(self._nulls.texts))
            self.notes.append(
                f"{counted(ratings.n_declared, 'cell')} with {words} counted as not rated"
            )
        if self.empty_rows:
            self.notes.append(
                f"{counted(self.empty_rows, 'respondent')} rated nothing and left out"
            )
        if self.empty_columns:
            self.notes.append(f"{counted(self.empty_columns, 'item')} that nobody rated left out")

    def attributes(self) -> tuple[list[str], pa.Table]:
        """Return the respondents' ids and their attributes, after all was read."""
        import pyarrow as pa

        ids = [str(user) for users in self._ids for user in users]
        return ids, pa.Table.from_batches(self._attributes)

    def _cells(
        self, block: pa.RecordBatch, ratings: RatingColumn, first: int, faults: Faults
    ) -> NDArray[np.float64]:
        n_items = len(self.item_cols)
        values = np.empty((len(block), n_items))
        for j, name in enumerate(self.item_cols):
            cells = np.arange(first, first + len(block)) * n_items + j
            before = faults.total
            try:
                values[:, j] = ratings.take(block.column(name), cells)
            except InputError as error:  # a type that holds no numbers
                raise InputError(
                    f"{self._where}, column {name!r}: {error.message}",
                    advice=f"{error.advice} {_no_items([name])}",
                ) from None
            if faults.total > before:
                rated = int(np.count_nonzero(~np.isnan(values[:, j])))
                self._strange[name] += faults.total - before - rated
        return values

    def _refuse(self, faults: Faults) -> None:
        """Refuse cells that are no ratings; a column of them is most likely no item."""
        try:
            faults.refuse()
        except InputError as error:
            columns = [name for name, surplus in self._strange.items() if surplus >= 0]
            if not columns:
                raise
            raise InputError(error.message, advice=f"{error.advice} {_no_items(columns)}") from None

    def _refuse_repeated(
        self, users: NDArray[Any], rows: NDArray[np.int64], seen: set[object], faults: Faults
    ) -> None:
        if len(users) != len(rows):  # some have no id, which is a mistake of its own
            return
        ids = [str(user) for user in users]
        repeated = np.zeros(len(ids), dtype=np.bool_)
        for i, user in enumerate(ids):
            repeated[i] = user in seen
            seen.add(user)
        where = np.flatnonzero(repeated)
        faults.add(_REPEATED, rows[where], lambda k: ids[where[k]] if self._show else "again")


def _no_items(columns: Sequence[str]) -> str:
    given = [*columns[:_NAMED], *(["…"] if len(columns) > _NAMED else [])]
    return f"If this says something about the respondents: {named('attribute_cols', given)}."


def _item_ids(names: Sequence[str]) -> NDArray[Any]:
    if all(is_canonical_integer(name) for name in names):
        return np.array([int(name) for name in names], dtype=np.int64)
    return np.array(names, dtype=np.object_)
