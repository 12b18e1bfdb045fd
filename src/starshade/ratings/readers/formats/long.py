"""Long tables: one row per rating."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from starshade.errors import InputError
from starshade.plain import counted
from starshade.ratings.building.batch import Batch
from starshade.ratings.readers.columns import NullValues, RatingColumn
from starshade.ratings.readers.dates import DayColumn
from starshade.ratings.readers.faults import Faults
from starshade.ratings.readers.ids import IdColumn
from starshade.ratings.readers.source import Source

__all__ = ["IN_1970", "KeptRows", "LongTable", "id_notes"]

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


@dataclass
class LongTable:
    """A source whose columns are users, items, ratings and perhaps dates.

    `roles`: ``user``, ``item``, ``rating`` and perhaps ``day`` → column. `nulls`: rows with such a
    rating say "not rated"; they are left out and counted. `show_values`: whether messages may name
    ids. `where`: the source's name, for messages.
    """

    source: Source
    roles: Mapping[str, str]
    nulls: NullValues
    show_values: bool = False
    where: str = ""

    def __post_init__(self) -> None:
        self._kept = KeptRows()
        self.notes: list[str] = []  # what a person should know, after all was read

    def locate(self, row: int) -> str:
        """Say where a row handed on (from 0) stands."""
        return self.source.locate(self._kept.original(row))

    def batches(self) -> Iterator[Batch]:
        """Yield all rows in file order."""
        faults = Faults(self.source.locate)
        users = IdColumn("user", faults, show_values=self.show_values)
        items = IdColumn("item", faults, show_values=self.show_values)
        ratings, days = RatingColumn(self.nulls, faults), DayColumn(self.nulls, faults)
        read = handed = 0
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
        faults.refuse()
        self.notes += [*id_notes(users), *id_notes(items)]
        if days.n_missing:
            self.notes.append(f"{counted(days.n_missing, 'row')} without a date")
        if days.all_in_1970:
            self.notes.append(IN_1970)
        if read > handed:
            self.notes.append(f"{counted(read - handed, 'row')} not rated: left out")


def id_notes(column: IdColumn) -> Iterator[str]:
    """Say what a person should know about a column of ids."""
    if column.was_float:
        yield f"{column.role} ids are stored as decimal numbers and are read as whole ones"
    if column.n_padded:
        yield f"some {column.role} ids begin or end with a blank, which is part of the id"
