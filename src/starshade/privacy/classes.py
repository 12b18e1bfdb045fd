"""Which records are alike (KL Def. 9): equal on every cell and every released quasi-identifier."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from starshade.ratings.table import Ratings
from starshade.release.cells import Cells, cells_of
from starshade.release.profiles import Profiles
from starshade.release.table import Release

_BLOCK = 65_536  # rows digested together


@dataclass(frozen=True, eq=False)
class Classes:
    """Maximal sets of records that are alike, numbered by their first records.

    `row` (n_classes,): the first row of each, counted from 0. `size` (n_classes,): its records.
    `of_record` (n_records,): the class of each record. `numbered`: whether rows number the classes
    of a release.
    """

    row: NDArray[np.int64]
    size: NDArray[np.int64]
    of_record: NDArray[np.int64]
    numbered: bool

    def __len__(self) -> int:
        return len(self.row)


def classes_of(data: Release | Ratings) -> Classes:
    """Find out, from the cells alone, which records are alike.

    `data`: on ratings with dates the days are part of the cells; personal attributes of ratings,
    and those of a release that are no quasi-identifiers, are not looked at.
    """
    cells = cells_of(data) if isinstance(data, Ratings) else data.classes
    beside = _quasi_identifiers(data)
    number_of: dict[bytes, int] = {}
    rows: list[int] = []
    of_record = np.empty(cells.n_records, dtype=np.int64)
    record = 0
    for row, (content, size) in enumerate(zip(_contents(cells), cells.sizes.tolist(), strict=True)):
        steps = range(record, record + size) if beside else (slice(record, record + size),)
        for place in steps:
            key = content + beside[place] if isinstance(place, int) else content
            of_record[place] = number_of.setdefault(key, len(rows))
            if len(number_of) > len(rows):
                rows.append(row)
        record += size
    return Classes(
        row=np.array(rows, dtype=np.int64),
        size=np.bincount(of_record, minlength=len(rows)).astype(np.int64),
        of_record=of_record,
        numbered=isinstance(data, Release) and data.manifest.layout != "record",
    )


def graphs_of(data: Release | Ratings) -> Classes:
    """Find out which records have the same review graph (PA Def. 2.1): items and ratings alone.

    `data`: neither days nor personal attributes are looked at.
    """
    if isinstance(data, Ratings):
        return classes_of(replace(data, days=None, attributes=None))
    return classes_of(replace(data, attributes=None))


def _contents(cells: Cells | Profiles) -> Iterator[bytes]:
    """Yield a digest of each row: equal exactly when every cell says the same.

    The digest (128 bits) does not depend on how the table numbers its symbols, nor on whether a
    cell that is null alone is written or left out.
    """
    if isinstance(cells, Profiles):
        for row in cells.levels:  # a level is a rating, 0 is null: the bytes say it all
            yield blake2b(row.tobytes(), digest_size=16).digest()
        return
    number, says_nothing = _symbol_numbers(cells)
    for block in range(0, cells.n_groups, _BLOCK):
        ends = cells.indptr[block : block + _BLOCK + 1]
        here = slice(int(ends[0]), int(ends[-1]))
        codes = cells.codes[here]
        says = ~says_nothing[codes]
        before = np.concatenate([[0], np.cumsum(says)])
        parts = [cells.columns[here][says], number[codes[says]]]
        if cells.days is not None:
            parts.append(cells.days[here][says].astype(np.int32))
        raw = np.stack(parts, axis=1)
        for first, last in pairwise(before[ends - ends[0]].tolist()):
            yield blake2b(raw[first:last].tobytes(), digest_size=16).digest()


def _symbol_numbers(cells: Cells) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Give symbols of equal content one number; tell which are null alone."""
    symbols = cells.symbols
    scale = symbols.scale
    if scale.step is None:
        members = symbols.members
    else:  # equal levels are equal whatever the float dust
        members = np.round((symbols.members - scale.minimum) / scale.step)
    seen: dict[tuple[object, ...], int] = {}
    number = np.empty(len(symbols), dtype=np.int32)
    for s, (first, last) in enumerate(pairwise(symbols.offsets.tolist())):
        content: tuple[object, ...] = (bool(symbols.null[s]), *members[first:last].tolist())
        if symbols.is_range[s]:
            low, high = float(symbols.low[s]), float(symbols.high[s])
            # a range of one point says no more than a set of one rating
            content = (False, high) if low == high else ("range", low, high)
        number[s] = seen.setdefault(content, len(seen))
    return number, symbols.null & ~symbols.has_rating


def _quasi_identifiers(data: Release | Ratings) -> list[bytes]:
    """Return what the released quasi-identifiers of each record say; empty without any."""
    if isinstance(data, Ratings) or data.attributes is None:
        return []
    columns = [data.attributes.column(c).to_pylist() for c in data.manifest.quasi_identifiers]
    return [repr(values).encode() for values in zip(*columns, strict=True)]
