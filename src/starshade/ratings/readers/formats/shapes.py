"""Long tables, a row per rating; which of the rows were read."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from starshade.errors import InputError
from starshade.plain import counted
from starshade.ratings.readers.columns import ODD_IDS, IdColumn, NullValues, RatingColumn
from starshade.ratings.readers.dates import DayColumn, all_in_1970
from starshade.ratings.readers.faults import Fault, Faults
from starshade.ratings.readers.formats.tables import ParquetSource, Source
from starshade.ratings.rows.wrong import Wrong
from starshade.ratings.staging import Batch

IN_1970 = (
    "all dates are read as seconds since 1970-01-01 and fall in 1970: if they are Excel's day "
    "numbers (44000) or years (2020), write them as YYYY-MM-DD"
)


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

    `faults`: what is wrong with them. `left_out`: those that say "not rated". `odd`: roles and what
    is odd about their ids, by `ODD_IDS`. `undated`: rows without a date. `form`: of the dates, by
    the first of them; None: there is none. `latest`: day.
    """

    faults: Mapping[Fault, Wrong]
    left_out: int
    odd: frozenset[tuple[str, str]]
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
            self.odd | other.odd,
            self.undated + other.undated,
            self.form or other.form,
            max(self.latest, other.latest),
        )

    def notes(self) -> Iterator[str]:
        """Say what a person should know."""
        for role in ("user", "item"):
            odd = [text for what, text in ODD_IDS.items() if (role, what) in self.odd]
            yield from (text.format(role=role) for text in odd)
        if self.undated:
            yield f"{counted(self.undated, 'row')} without a date"
        if all_in_1970(self.form, self.latest):
            yield IN_1970
        if self.left_out:
            yield f"{counted(self.left_out, 'row')} not rated: skipped"


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
            frozenset((column.role, what) for column in ids for what in column.odd),
            days.n_missing,
            days.form,
            days.latest,
        )


def id_notes(column: IdColumn) -> Iterator[str]:
    """Say what a person should know about a column of ids."""
    return (ODD_IDS[what].format(role=column.role) for what in ODD_IDS if what in column.odd)
