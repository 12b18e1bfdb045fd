"""Wide tables: a row per respondent, a column per item, and columns that are probably no items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from starshade.errors import ConfigError, InputError
from starshade.naming import named
from starshade.plain import counted
from starshade.ratings.readers.columns import (
    NUMBER,
    YES_OR_NO,
    IdColumn,
    NullValues,
    RatingColumn,
    as_text,
    not_a_number,
)
from starshade.ratings.readers.faults import Fault, Faults, outlying
from starshade.ratings.readers.formats.shapes import KeptRows, id_notes
from starshade.ratings.readers.formats.tables import Source
from starshade.ratings.readers.recognise.aliases import (
    ALIASES,
    RECORDS,
    ROW_NUMBER,
    SURVEY,
    is_like_an_id,
    listing,
    matching,
    normalized,
    resolve,
)
from starshade.ratings.rows.wrong import NAMED, Wrong
from starshade.ratings.staging import Batch
from starshade.ratings.vocabulary import is_canonical_integer, is_nothing

if TYPE_CHECKING:
    import pyarrow as pa


_NAMED = 60  # columns named in advice, to be typed
_TOP = 3  # rows below the header that may be further lines of it
_IMPORT_ID = '"ImportId"'  # what Qualtrics writes below the questions
_WORDS = 12  # different texts at most that are taken for answers in words
_LOOKED = 1 << 20  # cells by which columns are compared, from the first rows
_LEAST = 3  # columns that make most
_REPEATED = Fault("respondents with more than one row", "Keep one row for each respondent.")
_NO_IDS = Fault(
    "respondents whose id is a word for a missing value, such as NULL or nan",
    "Remove those rows, or give each respondent an id.",
)


@dataclass
class _Column:
    """What was read of a column of items. `top`: rows from the first that hold no number."""

    name: str
    faults: Faults
    ratings: RatingColumn
    n_rated: int = 0
    top: set[int] = field(default_factory=set)
    words: set[str] = field(default_factory=set)

    @property
    def is_strange(self) -> bool:
        """Whether most cells are no ratings at all."""
        kinds = (not_a_number(), YES_OR_NO)
        words = sum(self.faults.noted.get(kind, Wrong()).total for kind in kinds)
        numbers = self.n_rated + self.ratings.n_declared
        return words > 2 * numbers and 2 * words > self.faults.total


class WideTable:
    """A source with one row per respondent.

    `where`: the source's name, for messages. `id_col`: column of the respondents' ids; `ROW_NUMBER`
    numbers the rows; None: a known name. `item_cols`: columns of the items, in which ``*`` stands
    for any text; empty: all others, and those that are unlike most of them are refused.
    `attribute_cols`: columns of personal attributes. `nulls`: values that stand for "not rated"; a
    blank always does.
    """

    def __init__(
        self,
        source: Source,
        where: str,
        *,
        id_col: str | None,
        item_cols: Sequence[str],
        attribute_cols: Sequence[str],
        nulls: NullValues,
        show_values: bool = False,
    ) -> None:
        self.source = source
        self._nulls = nulls
        self._show = show_values
        self._where = where
        # of pandas: ids, or numbers of rows, but no item unless it is named
        self._index: tuple[str, ...] = getattr(source, "index", ())
        self.id_col = None if id_col == ROW_NUMBER else self._respondent(id_col)
        roles = {f"attribute {i}": name for i, name in enumerate(attribute_cols, 1)}
        columns = resolve(source.columns, roles, required=list(roles), where=where, listed=False)
        self.attribute_cols = tuple(columns.values())
        beside = {self.id_col, *self.attribute_cols}
        if self.id_col in self.attribute_cols:
            raise ConfigError(f"{where}: column {self.id_col!r} cannot be both id and attribute")
        self._is_given = bool(item_cols)
        self.item_cols = self._chosen(item_cols, beside)
        if not self.item_cols:
            raise ConfigError(f"{where}: no column is left for the items")
        self._items = _item_ids(self.item_cols)
        self._kept = KeptRows()
        self._attributes: list[pa.RecordBatch] = []
        self._ids: list[NDArray[Any]] = []
        self._head: list[NDArray[np.float64]] = []  # cells of the first rows
        self._n_looked = max(100, _LOOKED // len(self.item_cols))
        self.notes: list[str] = []  # what a person should know, after all was read
        left = [name for name in source.columns if name not in {*beside, *self.item_cols}]
        if left:
            self.notes.append(f"columns not read: {listing(left)}")
        self.empty_rows = self.empty_columns = 0

    def _respondent(self, id_col: str | None) -> str:
        try:
            usual = matching(self.source.columns, "respondent")
            if not usual and len(self._index) == 1:
                id_col = id_col or self._index[0]
            roles = resolve(
                self.source.columns,
                {"respondent": id_col},
                required=["respondent"],
                where=self._where,
                listed=False,
                aliases=ALIASES if usual else {"respondent": RECORDS},
            )
        except InputError as error:
            alike = [] if id_col else [name for name in self.source.columns if is_like_an_id(name)]
            first = [_ids(alike)] if alike else [error.advice] if error.advice else []
            hint = f"To number the respondents, give {named('id_col', ROW_NUMBER)}."
            advice = " ".join([*first, hint])
            raise InputError(error.message, advice=advice, setting=error.setting) from None
        return roles["respondent"]

    def _chosen(self, item_cols: Sequence[str], beside: set[str | None]) -> tuple[str, ...]:
        """Return the columns of the items in the table's order."""
        columns = self.source.columns
        if not item_cols:
            beside = {*beside, *self._index}
            return tuple(name for name in columns if name.strip() and name not in beside)
        chosen: set[str] = set()
        for name in item_cols:
            alike = [name] if name in columns else []
            if not alike and "*" in name:
                pattern = name.replace("[", "[[]").replace("?", "[?]")
                alike = [each for each in columns if fnmatchcase(each, pattern)]
                alike = [each for each in alike if each not in beside]
            if not alike:
                roles = {"items": name}
                found = resolve(
                    columns,
                    roles,
                    required=["items"],
                    where=self._where,
                    listed=False,
                    settings={"items": "item_cols"},
                )
                alike = list(found.values())
            chosen.update(alike)
        if both := [name for name in columns if name in chosen and name in beside]:
            raise ConfigError(
                f"{self._where}: column {both[0]!r} cannot be both an item and the "
                "id or an attribute"
            )
        return tuple(name for name in columns if name in chosen)

    def mapping(self) -> dict[str, str]:
        """Return which column is what, items counted."""
        mapping = {
            "user": self.id_col or "row number",
            "item": counted(len(self.item_cols), "column"),
        }
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
        row_faults = Faults(self.source.locate)
        ids = IdColumn("respondent", row_faults, show_values=self._show)
        columns = [self._column(name) for name in self.item_cols]
        seen: set[object] = set()
        rated = np.zeros(len(columns), dtype=np.bool_)
        read = handed = 0
        for block in self._blocks():
            if not read and (skipped := _descriptions(block)):
                self._kept.add(np.zeros(skipped * len(columns), dtype=np.bool_))
                block, read = block.slice(skipped), skipped
                self.notes.append(
                    f"{counted(skipped, 'row')} below the header skipped: the questions, as "
                    "Qualtrics repeats them"
                )
            rows = np.arange(read, read + len(block))
            users = ids.take(block.column(self.id_col), rows) if self.id_col else rows + 1
            values = self._cells(block, columns, read)
            self._refuse_repeated(users, rows, seen, row_faults)
            read += len(block)
            self._look(values)
            if row_faults or any(column.faults for column in columns):
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
        self._refuse_lines(columns, read)
        row_faults.refuse()
        self._refuse(columns)
        self.empty_columns = int(np.count_nonzero(~rated))
        self.notes += [*id_notes(ids), *self._counts(columns), *self._constant()]

    def attributes(self) -> tuple[list[str], pa.Table]:
        """Return the respondents' ids and their attributes, after all was read."""
        import pyarrow as pa

        ids = [str(user) for users in self._ids for user in users]
        return ids, pa.Table.from_batches(self._attributes)

    def _blocks(self) -> Iterator[pa.RecordBatch]:
        names = [*([self.id_col] if self.id_col else []), *self.attribute_cols, *self.item_cols]
        return self.source.batches(names)

    def _column(self, name: str) -> _Column:
        faults = Faults(self._place, "cells")
        return _Column(name, faults, RatingColumn(self._nulls, faults, blank_is_null=True))

    def _counts(self, columns: Sequence[_Column]) -> Iterator[str]:
        """Say how many cells, respondents and items are left out."""
        if declared := sum(column.ratings.n_declared for column in columns):
            words = " or ".join(sorted(self._nulls.texts))
            yield f"{counted(declared, 'cell')} with {words} counted as not rated"
        if self.empty_rows:
            yield f"{counted(self.empty_rows, 'respondent')} without a rating left out"
        if self.empty_columns:
            yield f"{counted(self.empty_columns, 'item')} without a rating left out"

    def _constant(self) -> Iterator[str]:
        """Name the columns that hold one value in every row: they may be no items."""
        values = np.concatenate(self._head) if self._head else np.empty((0, len(self.item_cols)))
        if len(values) < _IN_ORDER:
            return
        same = (values == values[0]).all(axis=0)
        names = [name for name, is_one in zip(self.item_cols, same, strict=True) if is_one]
        if names and len(names) < len(same):
            yield f"columns with one value in all rows: {listing(names)}. {_attributes(names)[:-1]}"

    def _cells(
        self, block: pa.RecordBatch, columns: Sequence[_Column], first: int
    ) -> NDArray[np.float64]:
        n_items = len(columns)
        values = np.empty((len(block), n_items))
        for j, column in enumerate(columns):
            cells = np.arange(first, first + len(block)) * n_items + j
            array, before = self._plain(block.column(column.name), column.name), column.faults.total
            values[:, j] = column.ratings.take(array, cells)
            column.n_rated += int(np.count_nonzero(~np.isnan(values[:, j])))
            if column.faults.total > before:
                named_first = [r for w in column.faults.noted.values() for r, _ in w.first]
                column.top.update(r // n_items for r in named_first if r // n_items < _TOP)
                column.words.update(_words(array, _WORDS + 1 - len(column.words)))
        return values

    def _plain(self, array: pa.Array, name: str) -> pa.Array:
        """Return a column of dates or truth values as text, of which each is no number."""
        import pyarrow as pa

        kind = array.type
        if not (pa.types.is_temporal(kind) or pa.types.is_boolean(kind)):
            if not pa.types.is_nested(kind):
                return array
            raise InputError(
                f"{self._where}, column {name!r}: ratings of type {kind} (allowed: numbers)",
                advice=_attributes([name]),
            )
        return array.cast(pa.string())

    def _look(self, values: NDArray[np.float64]) -> None:
        wanted = self._n_looked - sum(map(len, self._head))
        if wanted > 0 and not self._is_given:
            self._head.append(values[:wanted].copy())

    def _refuse_lines(self, columns: Sequence[_Column], n_rows: int) -> None:
        """Refuse rows below the header that hold words where all others hold ratings."""
        numeric = [column for column in columns if column.n_rated and not column.is_strange]
        most = Counter(row for column in numeric for row in column.top)
        rows = [row for row in range(_TOP) if 2 * most[row] > len(numeric)]
        first = rows == list(range(len(rows)))
        alone = all(len(column.top) == column.faults.total for column in numeric)
        if rows and first and alone and n_rows > len(rows) and len(numeric) > 1:
            where = "\n".join(f"  {self.source.locate(row)}" for row in rows)
            raise InputError(
                f"rows that contain words where the others contain ratings\n{where}",
                advice="Remove them if they are further lines of the header.",
            )

    def _refuse(self, columns: Sequence[_Column]) -> None:
        """Refuse cells that are no ratings, and columns that are probably no items."""
        faults = Faults(self._place, "cells")
        named_so, outside = ([], []) if self._is_given else self._unlike(columns)
        ids = [] if self.id_col or self._is_given else self._numbering(columns)
        named_so, outside = ([n for n in each if n not in ids] for each in (named_so, outside))
        for column in columns:
            if not (column.is_strange or column.name in (*ids, *named_so, *outside)):
                for fault, wrong in column.faults.noted.items():
                    faults.noted[fault] = faults.noted.get(fault, Wrong()) + wrong
        strange = [each for each in columns if each.is_strange and each.name not in ids]
        answers, words = _in_words(strange)
        found = {
            "ids of the respondents, by their names or because their values number the rows": ids,
            "answers as text": answers,
            "without numbers": words,
            "by their names": named_so,
            "with values outside the range of most columns": outside,
        }
        lines = [f"  {what}: {listing(names)}" for what, names in found.items() if names]
        title = f"{self._where}: columns that contain no ratings, or probably none"
        parts = ["\n".join([title, *lines])] if lines else []
        advice = self._advice(ids, answers, [*words, *named_so], outside)
        if (ids or named_so) and not outside:
            advice.append(_items("they are items"))
        try:
            faults.refuse()
        except InputError as error:
            parts, advice = [error.message, *parts], [error.advice, *advice]
        if parts:
            raise InputError("\n".join(parts), advice=" ".join(advice))

    def _advice(
        self, ids: list[str], answers: list[str], described: list[str], outside: list[str]
    ) -> list[str]:
        """Say what to do about columns of each kind; those `outside` may yet be items."""
        advice = [_ids(ids)] if ids else []
        if answers:
            advice.append(
                "Ratings are numbers: export answers as numbers, or replace words (1 for yes, 0 "
                "for no)."
            )
        for names in (described, outside):
            if names and (names is described or not described):
                beside = {*self.attribute_cols, *names}
                advice.append(_attributes([name for name in self.source.columns if name in beside]))
        if outside and described:
            advice.append(f"If {listing(outside)} describe them too, add them. {_items('not')}")
        elif outside:
            advice.append(_items("they are items"))
        return advice

    def _unlike(self, columns: Sequence[_Column]) -> tuple[list[str], list[str]]:
        """Name the columns that are probably no items: by their names, and by values alone."""
        values = np.concatenate(self._head) if self._head else np.empty((0, len(columns)))
        strange = np.array([column.is_strange for column in columns])
        values[:, strange] = np.nan
        names = [column.name for column in columns]
        known = np.array([normalized(name) in SURVEY for name in names])
        known &= ~np.isnan(values).all(axis=0)
        values[:, known] = np.nan
        kinds = known, unlike_most(values)
        of_each = ([n for n, is_one in zip(names, kind, strict=True) if is_one] for kind in kinds)
        by_name, outside = of_each
        return by_name, outside

    def _numbering(self, columns: Sequence[_Column]) -> list[str]:
        """Name the columns that hold the respondents' ids, by their name or values."""
        values = np.concatenate(self._head) if self._head else np.empty((0, len(columns)))
        found = []
        for column, cells in zip(columns, values.T, strict=True):
            known = normalized(column.name) in ALIASES["respondent"] | RECORDS
            differ = column.is_strange or len(np.unique(cells)) == len(cells)
            by_name = known or (is_like_an_id(column.name) and differ)
            filled = column.is_strange or not np.isnan(cells).all()
            if counts_rows(cells) or (by_name and filled):
                found.append(column.name)
        return found

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
        nothing = np.array([is_nothing(user) for user in ids], dtype=np.bool_)
        for fault, wrong in ((_REPEATED, repeated & ~nothing), (_NO_IDS, repeated & nothing)):
            where = np.flatnonzero(wrong)
            again = [ids[k] if self._show else "again" for k in where[:NAMED]]
            faults.add(fault, rows[where], again.__getitem__)


def counts_rows(cells: NDArray[np.float64]) -> bool:
    """Tell whether a column counts the rows: whole numbers, each larger, or 1 to n in any order.

    >>> counts_rows(np.arange(100.0, 140, 2)), counts_rows(np.array([1.0, 2, 2, 3, 4, 5]))
    (True, False)
    """
    if len(cells) < _IN_ORDER or np.isnan(cells).any() or (cells != np.floor(cells)).any():
        return False
    steps = np.diff(cells)
    return bool((steps > 0).all()) or (
        len(cells) >= 2 * _IN_ORDER and bool((np.diff(np.sort(cells)) == 1).all())
    )


_IN_ORDER = 6  # numbers that rise row by row by no chance
_RANGES = 1000  # tried at most
_SOME = 0.25  # share of a column's cells that lie outside, or off the grid
_ALL = 0.9  # share of a column's cells that lie outside though not far


def unlike_most(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Mark the columns whose values lie outside what most columns hold.

    Codes for "no answer" are left aside. Most columns are those with about one range, if they are
    more than half. A column is unlike them if a quarter of its cells lies outside that range and
    some by more than twice its width; if nearly all lie outside by half its width; or if a quarter
    is no multiple of 0.5 while theirs are.

    `values` (n_rows, n_columns): NaN where there is no rating.
    """
    cells = [_without_codes(column[~np.isnan(column)]) for column in values.T]
    filled = np.flatnonzero([len(each) > 0 for each in cells])
    unlike = np.zeros(len(cells), dtype=np.bool_)
    if not len(filled):
        return unlike
    lows = np.array([cells[j].min() for j in filled])
    highs = np.array([cells[j].max() for j in filled])
    fine = np.array([np.mean(2 * cells[j] != np.floor(2 * cells[j])) > _SOME for j in filled])
    low, high, alike = _usual_range(lows, highs)
    coarse = 2 * fine[alike].sum() < alike.sum()
    if alike.sum() < _LEAST or 2 * alike.sum() <= (
        np.count_nonzero(~fine) if coarse else len(fine)
    ):
        return unlike
    width = high - low
    for place, j in enumerate(filled):
        off = np.maximum(low - cells[j], cells[j] - high)
        far = np.mean(off > 0) > _SOME and off.max() > 2 * width
        near = np.mean(off > width / 2) >= _ALL
        unlike[j] = far or near or (coarse and fine[place])
    return unlike


def _usual_range(
    lows: NDArray[np.float64], highs: NDArray[np.float64]
) -> tuple[float, float, NDArray[np.bool_]]:
    """Return the narrowest range that most columns lie in and fill by 3/4, and which do."""
    best = (0, 0.0)
    found = (0.0, 0.0, np.zeros(len(lows), dtype=np.bool_))
    ranges = sorted(set(zip(lows.tolist(), highs.tolist(), strict=True)))
    for low, high in ranges[:: 1 + len(ranges) // _RANGES]:
        within = (lows >= low) & (highs <= high)
        alike = within & (4 * (highs - lows) >= 3 * (high - low)) & (high > low)
        if (rank := (int(alike.sum()), low - high)) > best:
            best, found = rank, (low, high, alike)
    return found


def _without_codes(ratings: NDArray[np.float64]) -> NDArray[np.float64]:
    levels, places, counts = np.unique(ratings, return_inverse=True, return_counts=True)
    return ratings[~outlying(levels, counts)[places]]


def _in_words(columns: Sequence[_Column]) -> tuple[list[str], list[str]]:
    """Part columns without numbers: those with the same few words are answers."""
    shared = Counter(word for column in columns for word in column.words)
    answers: list[str] = []
    others: list[str] = []
    for column in columns:
        few = len(column.words) <= _WORDS
        several = 1 + (len(column.words) == 1)  # one word in two columns is no answer yet
        common = sum(shared[word] > several for word in column.words)
        (answers if few and 2 * common > len(column.words) else others).append(column.name)
    return answers, others


def _words(array: pa.Array, most: int) -> list[str]:
    """Return some different texts that are no numbers."""
    texts = as_text(array.dictionary_decode() if hasattr(array, "dictionary_decode") else array)
    distinct = () if texts is None or most <= 0 else texts.unique().to_pylist()
    words = (text.strip() for text in distinct if text and text.strip())
    return [word for word in words if not NUMBER.fullmatch(word)][:most]


def _descriptions(block: pa.RecordBatch) -> int:
    """Count the rows that Qualtrics writes below the header: the questions, then their ids."""
    top = block.slice(0, _TOP).to_pydict().values()
    marked = [
        row
        for column in top
        for row, cell in enumerate(column)
        if isinstance(cell, str) and _IMPORT_ID in cell
    ]
    return max(marked, default=-1) + 1


def _items(case: str) -> str:
    return f"If {case}, name all items: {named('item_cols', ['A', 'B'])}."


def _ids(columns: Sequence[str]) -> str:
    ids = " or ".join(named("id_col", name) for name in columns[:_LEAST])
    return f"If a column contains the respondents' ids, name it: {ids}."


def _attributes(columns: Sequence[str]) -> str:
    given = [*columns[:_NAMED], *(["…"] if len(columns) > _NAMED else [])]
    return f"If these describe the respondents: {named('attribute_cols', given)}."


def _item_ids(names: Sequence[str]) -> NDArray[Any]:
    if all(is_canonical_integer(name) for name in names):
        return np.array([int(name) for name in names], dtype=np.int64)
    return np.array(names, dtype=np.object_)
