"""The records of a table in an order of their content, and draws for them.

A method must not see what people are called: whatever decides for it (who comes first, where a
tie goes, in which order floats are summed) would depend on it. So it works on *records*: the rows
of the table without ids, in an order that the seed and their content decide, each with its place
as its name. Everything drawn for a record is keyed by the seed and that place. Rows that are
equal in all that is released or read stand next to each other, and may go either way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from starshade import budget
from starshade.errors import ConfigError
from starshade.kernels.arrays import Array, Ints, Words, fixed
from starshade.kernels.csr import keep_rows
from starshade.kernels.fingerprint import keyed_numbers, row_fingerprints
from starshade.naming import aside
from starshade.progress import task
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.attributes import check_attributes, plain_attributes, ranks
from starshade.rng import stream_key

if TYPE_CHECKING:
    import pyarrow as pa

_PER_USER = 64  # bytes: two fingerprints, their order, row bounds
_PARTS = (0, 1)  # of a fingerprint


@dataclass(frozen=True, eq=False)
class Records:
    """The rows of a table without ids, in an order of their content, and where each came from."""

    ratings: Ratings
    users: Ints

    def by_user(self, groups: Ints) -> Ints:
        """Return what is told of each record as it is told of each row of the table."""
        return put_back(self.users, groups)

    def table_by_user(self, changed: Ratings, users: Vocabulary) -> Ratings:
        """Return these records, with other ratings, as rows of the table's users again."""
        place = self.by_user(np.arange(len(self.users)))
        indptr, columns, codes, _ = keep_rows(
            changed.indptr, changed.columns, changed.codes, None, place
        )
        return replace(
            changed, users=users, indptr=indptr, columns=columns, codes=codes, attributes=None
        )


def by_content(table: Ratings, seed: int, attributes: Sequence[str] = ()) -> Records:
    """Put the rows of a table into a seeded order of their content.

    Content is the ratings, as numbers, then personal attributes that are released or read: these
    decide between equal ratings alone, so that to release more of them changes no group. Both are
    compared by two keyed fingerprints of 64 bits: that two different rows among a million share
    both has a probability below 10⁻²⁶, whatever is in them, as the seed is not known beforehand.

    `attributes`: names of those that count; the records have no others.
    """
    counted = table.attributes.select(list(attributes)) if attributes and table.attributes else None
    plain = plain_attributes(counted)
    with task("ordering the records by content"):
        users = np.lexsort([*_of_attributes(plain, table.n_users, seed), *_of_rows(table, seed)])
        indptr, columns, codes, _ = keep_rows(table.indptr, table.columns, table.codes, None, users)
    records = replace(
        table,
        users=Vocabulary(np.arange(table.n_users)),
        indptr=indptr,
        columns=columns,
        codes=codes,
        days=None,
        first_day=0,
        attributes=None if counted is None else counted.take(users),
    )
    return Records(records, users)


def content_marks(table: Ratings, seed: int, purpose: str) -> Words:
    """Return a number for each row that looks random, the same for equal rows."""
    levels = (table.levels + 0.0).view(np.uint64)  # -0.0 is 0.0
    cells = fixed(table.indptr), fixed(table.columns), fixed(table.codes), fixed(levels)
    return row_fingerprints(*cells, np.uint64(stream_key(seed, f"content: {purpose}")))


def check_copy(table: Ratings) -> None:
    """Refuse a second copy of the ratings that would not fit."""
    held = table.n_ratings * (table.columns.itemsize + table.codes.itemsize)
    need, allowed = held + table.n_users * _PER_USER, budget.left(held)
    if need > allowed:
        raise ConfigError(
            f"a copy of {table.n_ratings:,} ratings in another order needs {budget.amount(need)} "
            f"of memory; {budget.amount(max(0, allowed))} may be used",
            advice=f"Release fewer items, or allow more memory{aside('memory')} if the machine has "
            "it.",
        )


def exact_names(table: Ratings, attributes: str) -> tuple[str, ...]:
    """Return the attributes that are released as they are: with ``"exact"`` all, else none."""
    check_attributes(table, attributes)
    if attributes != "exact" or table.attributes is None:
        return ()
    return tuple(table.attributes.column_names)


def put_back(order: Array, found: Array) -> Array:
    """Return what was found of records in an order, in the order that they had before."""
    out = np.empty_like(found)
    out[order] = found
    return out


def seeded_order(n_records: int, seed: int, purpose: str) -> Ints:
    """Return a permutation of the records that looks random."""
    return np.argsort(seeded_numbers(n_records, seed, purpose), kind="stable")


def seeded_numbers(n_records: int, seed: int, purpose: str) -> Words:
    """Return a number for each record that looks random; see `seeded_order`."""
    places = np.arange(n_records, dtype=np.uint64)
    return keyed_numbers(places, np.uint64(stream_key(seed, purpose)))


def _of_rows(table: Ratings, seed: int) -> list[Words]:
    return [content_marks(table, seed, f"ratings {part}") for part in _PARTS]


def _of_attributes(plain: pa.Table | None, n: int, seed: int) -> list[Words]:
    """Return the fingerprints of each row's attributes; none where there are no attributes."""
    marks = []
    for part in _PARTS if plain is not None else ():
        key = _key(seed, "attributes", part)
        mark = np.full(n, key)
        for rank in ranks(plain):
            mark = keyed_numbers(mark ^ rank.astype(np.uint64), key)
        marks.append(mark)
    return marks


def _key(seed: int, what: str, part: int) -> np.uint64:
    return np.uint64(stream_key(seed, f"content: {what} {part}"))
