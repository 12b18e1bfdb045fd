"""Rows on their way in: numbered compactly in file order, and what is wrong with them counted.

A row takes 9 to 16 bytes here (user, item, rating, day as numbers), so that a hundred million
rows wait in 0.9 to 1.3 GB until their order is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.errors import InputError, InternalError
from starshade.kernels.text.numbering import KeyTable
from starshade.progress import task
from starshade.ratings.rows.learned import Learned
from starshade.ratings.rows.wrong import NAMED, Wrong
from starshade.ratings.scale import Scale
from starshade.ratings.table import UNKNOWN_DAY, Ratings
from starshade.ratings.vocabulary import Vocabulary, is_canonical_integer

NO_DAY = -(2**31)  # a day number that says "no date in this row"


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows as read, nothing sorted, nothing dropped.

    `users`, `items`: int64 where the reader has *proved* every id of this block to be a canonical
    integer (no sign, no leading zero); otherwise an object array of str. `ratings` (n,): NaN where
    the cell was empty, null or no number (the reader reports those itself or leaves them to
    `build`, which refuses them). `days`: days since 1970-01-01 (UTC); `NO_DAY` where the row has
    none. None: no date column. `first_row`: number of the first row, counted from 0 over the whole
    input.
    """

    users: NDArray[np.int64] | NDArray[np.object_]
    items: NDArray[np.int64] | NDArray[np.object_]
    ratings: NDArray[np.float64]
    days: NDArray[np.int32] | None
    first_row: int

    def __len__(self) -> int:
        return len(self.ratings)


class IdNumbering:
    """Numbers ids, block after block, and ends in a `Vocabulary`."""

    def __init__(self) -> None:
        self._integers = KeyTable()
        self._texts: dict[str, int] = {}

    @property
    def count(self) -> int:
        """Ids numbered so far."""
        return self._integers.count

    def number(self, ids: NDArray[Any]) -> NDArray[np.int32]:
        """Return the number of each id, shape (n,).

        `ids` (int64 or of str objects): as in `Batch`.
        """
        if ids.dtype == object:
            numbers = self._number_texts(ids)
        else:
            if len(ids) and ids.min() < 0:
                raise InternalError("a reader called a negative id a canonical integer")
            numbers = self._integers.number(np.asarray(ids, dtype=np.int64))
        if self._integers.count > 2**31 - 1:
            raise InputError("more than 2,147,483,647 distinct ids in one column")
        return numbers

    def _number_texts(self, ids: NDArray[np.object_]) -> NDArray[np.int32]:
        import pyarrow as pa

        try:
            encoded = pa.array(ids, type=pa.large_string()).dictionary_encode()
        except UnicodeEncodeError:
            raise InputError("an id is not valid Unicode text (a lone surrogate)") from None
        of_distinct = np.fromiter(
            (self._number_text(text) for text in encoded.dictionary.to_pylist()), dtype=np.int32
        )
        return np.asarray(of_distinct[encoded.indices.to_numpy()])

    def _number_text(self, text: str) -> int:
        if is_canonical_integer(text):
            return int(self._integers.number(np.array([int(text)]))[0])
        known = self._texts.get(text)
        if known is None:
            known = self._texts[text] = self._integers.count
            self._integers.count += 1
        return known

    def finish(self) -> tuple[Vocabulary, NDArray[np.int32]]:
        """Return the vocabulary and, for each number given out, its index there."""
        integers, numbers = self._integers.distinct()
        order = np.argsort(integers)
        texts = sorted(self._texts)
        rank = np.empty(self._integers.count, dtype=np.int32)
        rank[numbers[order]] = np.arange(len(order), dtype=np.int32)
        rank[[self._texts[text] for text in texts]] = np.arange(len(order), len(rank))
        return Vocabulary(integers[order], texts), rank


_PIECE = 1 << 24  # rows


@dataclass
class Staged:
    """All rows, or some, in file order, in blocks.

    `user_blocks`, `item_blocks`: numbers in order of first appearance. `code_blocks`: positions in
    `distinct`. `day_blocks`: days since 1970-01-01, `NO_DAY` where unknown. `first_rows`: row
    number that each block begins with. `distinct`: the distinct ratings in order of first
    appearance. `first_day`: the earliest; None: no row has a day. `row_of`: place among all blocks
    → row number, where blocks hold rows that were not next to each other.
    """

    users: IdNumbering = field(default_factory=IdNumbering)
    items: IdNumbering = field(default_factory=IdNumbering)
    user_blocks: list[NDArray[np.int32]] = field(default_factory=list)
    item_blocks: list[NDArray[np.int32]] = field(default_factory=list)
    code_blocks: list[NDArray[Any]] = field(default_factory=list)
    day_blocks: list[NDArray[np.int32] | None] = field(default_factory=list)
    first_rows: list[int] = field(default_factory=list)
    distinct: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    first_day: int | None = None
    row_of: Callable[[NDArray[np.int64]], NDArray[np.int64]] | None = None

    def forget_values(self) -> None:
        """Let go of ratings and days; users and items stay."""
        self.code_blocks.clear()
        self.day_blocks.clear()

    def forget_rows(self) -> None:
        """Let go of users and items as well."""
        self.user_blocks.clear()
        self.item_blocks.clear()

    def rows(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the row numbers of places among all blocks."""
        if self.row_of is not None:
            return self.row_of(places)
        ends = np.cumsum([len(users) for users in self.user_blocks])
        starts = np.concatenate([[0], ends[:-1]])
        block = np.searchsorted(starts, places, side="right") - 1
        return np.asarray(np.array(self.first_rows)[block] + places - starts[block])


class Staging:
    """Takes rows in, batch by batch, and counts what no later step could repair."""

    def __init__(self, scale: Scale | None) -> None:
        self.staged = Staged()
        self.n_rows = 0  # since the last cut
        self._scale = scale
        self._any = False
        self._ratings = _RatingColumn(scale)
        self._days = _DayColumn()
        self._shelves = [_Shelf() for _ in range(4)]

    def take(self, batch: Batch) -> None:
        """Take in one batch."""
        if not len(batch):
            return
        self._any = True
        staged = self.staged
        user, item, code, day = self._shelves
        staged.first_rows.append(batch.first_row)
        staged.user_blocks.append(user(staged.users.number(batch.users)))
        staged.item_blocks.append(item(staged.items.number(batch.items)))
        staged.code_blocks.append(code(self._ratings.take(batch)))
        known = self._days.take(batch)
        staged.day_blocks.append(None if known is None else day(known))
        self.n_rows += len(batch)

    def learn(self, table: Ratings, first_row: int) -> tuple[NDArray[np.int32], NDArray[Any]]:
        """Take in what a table's rows hold, but not the rows; they begin at a number.

        Returns the number of each of its items, and the position of each of its levels.
        """
        self._any |= table.n_ratings > 0
        ids = table.items
        numbers = [ids.integers, np.array(ids.texts, dtype=object)]
        items = np.concatenate([self.staged.items.number(each) for each in numbers])
        used = np.flatnonzero(np.bincount(table.codes, minlength=len(table.levels)))
        none = np.empty(0, dtype=np.int64)
        given = Batch(none, none, table.levels[used], None, first_row)
        positions = np.zeros(len(table.levels), dtype=np.int32)
        positions[used] = self._ratings.take(given)
        if table.days is not None:
            known = table.days[table.days != UNKNOWN_DAY]
            if len(known):
                span = np.array([known.min(), known.max()], np.int32) + table.first_day
                self._days.take(replace(given, days=span))
        return items, positions.astype(np.min_scalar_type(positions.max(initial=0)))

    def cut(self) -> Staged:
        """Hand over the rows so far; users are numbered anew from here on, items are not."""
        before = self.staged
        self.staged = Staged(items=before.items)
        self._shelves = [_Shelf() for _ in range(4)]
        self.n_rows = 0
        return before

    def finish(self, locate: Callable[[int], str]) -> Staged:
        """Return the rows with what is known at their end; refuse what was wrong with any."""
        if not self._any:
            raise InputError("no ratings in the input", advice="Check the rows below its header.")
        learned = self.learned()
        learned.refuse(self._scale, locate)
        self.staged.distinct = learned.distinct
        if learned.first is not None:
            self.staged.first_day = learned.first[0]
        return self.staged

    def learned(self) -> Learned:
        """Return what all rows hold."""
        column, days = self._ratings, self._days
        return Learned(column.distinct(), column.empty, column.foreign, days.first, days.last)


def stage(batches: Iterable[Batch], scale: Scale | None, locate: Callable[[int], str]) -> Staged:
    """Take in all batches; refuse what no later step could repair."""
    staging = Staging(scale)
    with task("reading ratings") as step:
        for batch in batches:
            staging.take(batch)
            step(len(batch))
    return staging.finish(locate)


class _Shelf:
    """Keeps blocks side by side in large pieces of memory.

    Blocks of a few megabytes, kept one by one between others that go, would leave the heap full
    of holes; a large piece goes back to the system when the last of its blocks is let go.
    """

    def __init__(self) -> None:
        self._piece: NDArray[Any] = np.empty(0)
        self._used = 0

    def __call__(self, block: NDArray[Any]) -> NDArray[Any]:
        """Return a copy of `block` that lies on the shelf."""
        end = self._used + len(block)
        if block.dtype != self._piece.dtype or end > len(self._piece):
            room = min(_PIECE, 2 * len(self._piece))
            self._piece = np.empty(max(room, len(block)), dtype=block.dtype)
            self._used, end = 0, len(block)
        kept = self._piece[self._used : end]
        kept[:] = block
        self._used = end
        return kept


class _RatingColumn:
    """Ratings as positions in the list of distinct ones, and those that are refused."""

    def __init__(self, scale: Scale | None) -> None:
        self._scale = scale
        self._table = KeyTable()
        self._off = np.empty(0, dtype=np.bool_)  # per distinct rating: off the declared scale
        self.empty = self.foreign = Wrong()

    def take(self, batch: Batch) -> NDArray[Any]:
        ratings = np.asarray(batch.ratings, dtype=np.float64) + 0.0  # -0.0 and 0.0 are one rating
        wrong = np.flatnonzero(~np.isfinite(ratings))
        if len(wrong):
            texts = [
                "no rating" if np.isnan(value) else f"rating {value:g} is not finite"
                for value in ratings[wrong[:NAMED]]
            ]
            self.empty += _in_rows(batch, wrong, texts)
            ratings[wrong] = np.nan  # one key for all
        known = self._table.count
        codes = self._table.number(ratings.view(np.int64))
        if self._scale is not None:
            if self._table.count > known:
                self._judge(ratings[codes >= known], codes[codes >= known], self._scale)
            if self._off.any():
                wrong = np.flatnonzero(self._off[codes])
                texts = [f"rating {rating:.12g}" for rating in ratings[wrong[:NAMED]]]
                self.foreign += _in_rows(batch, wrong, texts)
        narrow = np.min_scalar_type(max(0, self._table.count - 1))
        return codes.astype(narrow) if narrow.itemsize < 4 else codes

    def _judge(self, ratings: NDArray[np.float64], codes: NDArray[np.int32], scale: Scale) -> None:
        """Extend `_off` by ratings met for the first time."""
        self._off = np.concatenate(
            [self._off, np.zeros(self._table.count - len(self._off), dtype=np.bool_)]
        )
        self._off[codes] = np.isfinite(ratings) & ~scale.contains(ratings)

    def distinct(self) -> NDArray[np.float64]:
        """Return the distinct ratings by position."""
        keys, numbers = self._table.distinct()
        out = np.empty(len(keys))
        out[numbers] = keys.view(np.float64)
        return out


def _in_rows(batch: Batch, places: NDArray[np.int64], texts: list[str]) -> Wrong:
    """Note what is wrong at some places of a batch; `texts`: of the first of them."""
    rows = (batch.first_row + int(place) for place in places)
    return Wrong(len(places), tuple(zip(rows, texts, strict=False)))


class _DayColumn:
    """The span of the days, with the rows that mark it."""

    def __init__(self) -> None:
        self.first: tuple[int, int] | None = None  # day, row
        self.last: tuple[int, int] | None = None

    def take(self, batch: Batch) -> NDArray[np.int32] | None:
        if batch.days is None:
            return None
        days = batch.days
        known = days if days.min() != NO_DAY else days[days != NO_DAY]
        if not len(known):
            return None
        low, high = int(known.min()), int(known.max())
        if self.first is None or low < self.first[0]:
            self.first = (low, batch.first_row + int(np.argmax(days == low)))
        if self.last is None or high > self.last[0]:
            self.last = (high, batch.first_row + int(np.argmax(days == high)))
        return days
