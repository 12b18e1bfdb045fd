"""Somebody's public ratings: what an adversary can look up (NS §5, the IMDb case)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.arguments import typed
from starshade.errors import ConfigError, InputError
from starshade.naming import aside, named, together
from starshade.plain import counted
from starshade.progress import note
from starshade.ratings.auxiliary.repeats import one_row_each
from starshade.ratings.readers.beside import Beside, open_beside
from starshade.ratings.readers.columns import IdColumn, NullValues, RatingColumn
from starshade.ratings.readers.dates import DayColumn
from starshade.ratings.readers.faults import Faults
from starshade.ratings.readers.formats.shapes import IN_1970, id_notes
from starshade.ratings.readers.recognise.aliases import (
    PUBLIC,
    left_over,
    listing,
    matching,
    normalized,
    resolve,
)
from starshade.ratings.settings import OnDuplicate, ReadingSettings
from starshade.ratings.staging import NO_DAY
from starshade.scratch import scratch_folder
from starshade.setting import setting_of

_WHAT = "public ratings"
_ROLES = ("person", "item", "rating", "day")
_WORDS = {"person": "name", "day": "date"}
_SETTINGS = {role: f"aux.{'name' if role == 'person' else role}_col" for role in _ROLES}
_BY_PLACE = {1: ("item",), 3: _ROLES[:3], 4: _ROLES}  # fields of a file without a header
_ONE_PERSON = "1"
_ONE = "aux.one_person"


@dataclass(frozen=True, eq=False)
class Auxiliary:
    """Public ratings of some people, row by row (auxiliary knowledge).

    Attributes
    ----------
    names : tuple of str
        The people, each once, in order of first appearance.
    items : tuple of str
        What they rated, each once, as the source calls it.
    person, item : ndarray of int32, shape (rows,)
        Positions in `names` and `items`.
    ratings : ndarray of float64, shape (rows,)
        On the source's own scale; NaN where unknown.
    days : ndarray of int32, shape (rows,)
        Days since 1970-01-01 (UTC); -2**31 where unknown.
    lines : ndarray of int64, shape (rows,)
        Where each row stands, from 1.
    source : str
        Path, or kind of frame.
    counted : {"line", "row"}
        What `lines` count.
    on_duplicate : {"error", "first", "last", "latest", "mean", "sum", "max"}
        What becomes of several rows of one person on one item, also where a mapping makes two
        items one. Rows that say the same are one row in any case.
    notes : tuple of str
    named : bool
        Whether there was a column of names; otherwise all rows are one person's.
    """

    names: tuple[str, ...]
    items: tuple[str, ...]
    person: NDArray[np.int32]
    item: NDArray[np.int32]
    ratings: NDArray[np.float64]
    days: NDArray[np.int32]
    lines: NDArray[np.int64]
    source: str = ""
    counted: str = "row"
    on_duplicate: OnDuplicate = "error"
    notes: tuple[str, ...] = field(default=())
    named: bool = True

    def __len__(self) -> int:
        return len(self.person)

    @property
    def has_ratings(self) -> bool:
        """Whether any rating is known."""
        return not bool(np.isnan(self.ratings).all())

    @property
    def has_days(self) -> bool:
        """Whether any day is known."""
        return bool((self.days != NO_DAY).any())

    def locate(self, row: int) -> str:
        """Return the place of a row in its source."""
        return f"{self.source}, {self.counted} {self.lines[row]}"

    def __repr__(self) -> str:  # never the names
        return f"Auxiliary({len(self.names):,} names, {len(self):,} rows)"


@typed
def read_auxiliary(
    source: Any,
    *,
    name_col: str | None = None,
    item_col: str | None = None,
    rating_col: str | None = None,
    day_col: str | None = None,
    one_person: bool = False,
    null_values: Sequence[str] = (),
    on_duplicate: OnDuplicate = "error",
    delimiter: str | None = None,
    header: bool | None = None,
    dates: bool = True,
    show_values: bool = False,
) -> Auxiliary:
    """Read public ratings: a name, an item, and perhaps a rating and a date per row.

    Only the item must be there. Without a column of names all rows are one person's, named
    ``1``, unless a column is left that may hold the names: that is an error. Single ratings and
    dates may be empty (NS §5: a comment without a rating still says that the film was seen).
    Columns are recognised by their names as in `read_ratings` and by some more (``PUBLIC`` in
    `ratings.readers.recognise.aliases`), an item also by a catalogue's number or a title. A file
    without a header has, by number of fields: the item; name, item and rating; name, item, rating,
    date.

    Parameters
    ----------
    source : path or Arrow-capable frame
        CSV or TSV (perhaps gz, bz2, xz or zst), or Parquet.
    name_col, item_col, rating_col, day_col : str, optional
        Columns by name, or by number (from 1) in a file without a header.
    one_person : bool
        All rows are one person's, whatever columns are not read (an export of one's own).
    null_values : sequence of str
        Values that stand for an unknown rating or date; an empty cell always does.
    on_duplicate : {"error", "first", "last", "latest", "mean", "sum", "max"}
        When one person has several rows on one item that do not say the same. The mean is of
        the known ratings, with the day of the last row.
    delimiter, header, dates, show_values : optional
        As in `read_ratings`.

    Raises
    ------
    InputError
        What is wrong, with file, line, the value found and those allowed, how many rows, and
        the first five.
    ConfigError
        An unknown duplicate rule, an empty option, or a source that holds no table.

    Examples
    --------
    >>> import pyarrow as pa
    >>> read_auxiliary(pa.table({"name": ["ann", "ann"], "movie": [1, 7], "stars": [4, None]}))
    Auxiliary(1 names, 2 rows)
    """
    given = {"person": name_col, "item": item_col, "rating": rating_col, "day": day_col}
    _check(given, on_duplicate)
    if one_person and name_col is not None:
        raise ConfigError(
            "all rows as one user, and a column of names: only one of the two is possible",
            advice=f"Leave one of the two out: {named(_ONE)} or {named(_SETTINGS['person'])}.",
        )
    # a first row that holds a name of these is a header; people may be called Nick
    known = set().union(PUBLIC["person"][0], *(n for role in _ROLES[1:] for n in PUBLIC[role]))
    known |= {normalized(name) for name in given.values() if name and not name.isdigit()}
    with scratch_folder() as folder:
        opened = open_beside(
            source, folder, known=known, what=_WHAT, delimiter=delimiter, header=header
        )
        roles, notes = _roles(opened, given, dates, one_person)
        auxiliary, remarks = _read(opened, roles, NullValues(null_values), show_values)
    auxiliary = replace(auxiliary, on_duplicate=on_duplicate, notes=notes + remarks)
    one_row_each(auxiliary, auxiliary.item)  # what contradicts itself is refused here
    columns = ", ".join(f"{_WORDS.get(role, role)} = {name}" for role, name in roles.items())
    note(f"{opened.where}: public ratings; {columns}")
    for sentence in auxiliary.notes:
        note(sentence)
    return auxiliary


def _check(given: dict[str, str | None], on_duplicate: str) -> None:
    for role, name in given.items():
        if name == "":
            raise ConfigError(
                f"{named(_SETTINGS[role])}: empty", advice="Name a column, or leave the option out."
            )
    setting_of(ReadingSettings, "on_duplicate").checked(on_duplicate)


def _roles(
    opened: Beside, given: dict[str, str | None], dates: bool, one_person: bool
) -> tuple[dict[str, str], tuple[str, ...]]:
    columns = opened.source.columns
    notes: tuple[str, ...] = ()
    if not dates:
        given = {**given, "day": None}
    if not opened.named and not any(given.values()):
        roles = _by_place(opened, columns)
        words = ", ".join(_WORDS.get(role, role) for role in roles)
        notes = (f"no header: columns taken as {words}",)
        if not dates:
            roles.pop("day", None)
        if one_person:
            roles.pop("person", None)
    else:
        free = [name for name in columns if name not in given.values()]
        left_out = {"item", *(["person"] * one_person), *(["day"] * (not dates))}
        roles = resolve(
            columns,
            given,
            required=["item"],
            optional=[role for role in _ROLES if role not in left_out],
            where=opened.where,
            listed=opened.named,
            settings=_SETTINGS,
            aliases={role: _names_of(role, free) for role in _ROLES},
        )
        notes = _left(columns, roles, opened.where, dates, one_person)
    if "person" not in roles:
        notes += (f"no column of names: all rows belong to one user, named {_ONE_PERSON}",)
    return {role: roles[role] for role in _ROLES if role in roles}, notes


def _names_of(role: str, columns: Sequence[str]) -> frozenset[str]:
    """Return the first of a role's sets of names that any column has."""
    fitting = (names for names in PUBLIC[role] if matching(columns, role, {role: names}))
    return next(fitting, PUBLIC[role][0])


def _left(
    columns: Sequence[str], roles: Mapping[str, str], where: str, dates: bool, one_person: bool
) -> tuple[str, ...]:
    """Say which columns are not read; refuse where one of them may say who is who."""
    left = left_over(columns, roles, dates=dates)
    items = frozenset().union(*PUBLIC["item"])  # what else an item is called names nobody
    people = any(normalized(name) not in items for name in left)
    if people and "person" not in roles and not one_person:
        raise InputError(
            f"{where}: no column is recognised as the name, so all rows would belong to one "
            f"user; but these columns would not be read: {listing(left)}",
            advice=f"Name the columns: {', '.join(map(named, _SETTINGS.values()))}. If all rows "
            f"belong to one user, declare it{aside(_ONE)}.",
        )
    if not left:
        return ()
    missing = [role for role in ("rating", "day") if role not in roles and (dates or role != "day")]
    words = " or ".join(_WORDS.get(role, role) for role in missing)
    settings = ", ".join(named(_SETTINGS[role]) for role in missing)
    hint = f" (if one of them holds the {words}, name it: {settings})" if missing else ""
    return (f"columns not read: {listing(left)}{hint}",)


def _by_place(opened: Beside, columns: Sequence[str]) -> dict[str, str]:
    order = _BY_PLACE.get(len(columns))
    if order is None:
        numbered = together((_SETTINGS["person"], 1), (_SETTINGS["item"], 2))
        raise InputError(
            f"{opened.where}: no header, and {len(columns)} fields in a row: their "
            "meaning is unknown",
            advice=f"Name them by number, e.g. {numbered}, or name the delimiter.",
        )
    return dict(zip(order, columns, strict=True))


def _read(
    opened: Beside, roles: dict[str, str], nulls: NullValues, show_values: bool
) -> tuple[Auxiliary, tuple[str, ...]]:
    columns = _Columns(Faults(opened.source.locate), nulls, show_values)
    for block in opened.source.batches(list(roles.values())):
        try:
            columns.take(dict(zip(roles, block.columns, strict=True)), len(block))
        except InputError as error:  # a type that holds no such values
            raise InputError(f"{opened.where}: {error.message}", advice=error.advice) from None
    columns.faults.refuse()
    if not columns.n_rows:
        raise InputError(
            f"{opened.where}: it contains no {_WHAT}", advice="Check the rows below its header."
        )
    auxiliary = Auxiliary(
        names=tuple(columns.names),
        items=tuple(columns.items),
        person=np.concatenate(columns.person),
        item=np.concatenate(columns.item),
        ratings=np.concatenate(columns.ratings),
        days=np.concatenate(columns.days),
        lines=opened.lines(columns.n_rows),
        source=opened.where,
        counted=opened.counted,
        named="person" in roles,
    )
    return auxiliary, columns.notes()


class _Columns:
    """The four converters, and what they made of the blocks so far."""

    def __init__(self, faults: Faults, nulls: NullValues, show_values: bool) -> None:
        self.faults = faults
        self.n_rows = 0
        self.names: dict[str, int] = {}
        self.items: dict[str, int] = {}
        self.person: list[NDArray[np.int32]] = []
        self.item: list[NDArray[np.int32]] = []
        self.ratings: list[NDArray[np.float64]] = []
        self.days: list[NDArray[np.int32]] = []
        self._name_ids = IdColumn("person", faults, show_values=show_values)
        self._item_ids = IdColumn("item", faults, show_values=show_values)
        self._ratings = RatingColumn(nulls, faults, blank_is_null=True)
        self._days = DayColumn(nulls, faults)

    def take(self, arrays: dict[str, Any], n: int) -> None:
        """Convert one block."""
        rows = np.arange(self.n_rows, self.n_rows + n)
        self.n_rows += n
        unnamed = np.full(n, _ONE_PERSON, dtype=np.object_)
        person = self._name_ids.take(arrays["person"], rows) if "person" in arrays else unnamed
        item = self._item_ids.take(arrays["item"], rows)
        ratings, days = np.full(n, np.nan), np.full(n, NO_DAY, dtype=np.int32)
        if "rating" in arrays:
            ratings = self._ratings.take(arrays["rating"], rows)
        if "day" in arrays:
            days = self._days.take(arrays["day"], rows)
        if self.faults:  # nothing can come of it any more; the rest is read to count
            return
        self.person.append(_numbered(person, self.names))
        self.item.append(_numbered(item, self.items))
        self.ratings.append(ratings)
        self.days.append(days)

    def notes(self) -> tuple[str, ...]:
        sentences = [*id_notes(self._name_ids), *id_notes(self._item_ids)]
        unknown = sum(int(np.count_nonzero(np.isnan(block))) for block in self.ratings)
        if 0 < unknown < self.n_rows:
            sentences.append(f"{counted(unknown, 'row')} without a rating")
        if 0 < self._days.n_missing < self.n_rows:
            sentences.append(f"{counted(self._days.n_missing, 'row')} without a date")
        if self._days.all_in_1970:
            sentences.append(IN_1970)
        return tuple(sentences)


def _numbered(texts: NDArray[Any], numbers: dict[str, int]) -> NDArray[np.int32]:
    """Return ids as numbers in order of first appearance; new ones join `numbers`."""
    numbered = (numbers.setdefault(str(text), len(numbers)) for text in texts.tolist())
    return np.fromiter(numbered, dtype=np.int32, count=len(texts))
