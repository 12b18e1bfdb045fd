"""The verifier against the truth: every original cell lies inside its generalized one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from starshade.release.verify.rare import claimed_k, least_raters
from starshade.release.verify.rows import Failed, Written

if TYPE_CHECKING:
    import pyarrow as pa

    from starshade.ratings.table import Ratings
    from starshade.release.table import Part, Private

_SLACK = 1e-9
_BLOCK = 2**22  # ratings looked at together
_TOGETHER = 2**25  # ratings of parts that are looked at before these are opened anew

#: cell positions, ratings -> whether each rating is a member of its cell
Inside = Callable[[NDArray[np.int64], NDArray[np.float64]], NDArray[np.bool_]]


def check_truth(
    written: Written, private: Private, facts: dict[str, Any], quasi: list[str]
) -> None:
    """Check the written cells against the original table.

    The link must be one-to-one; every rating must be a member of its class's cell; a cell
    without a null member must have been rated by the whole class; a cell that nobody of the
    class rated may not be there unless the method says that it invents; released attributes are
    the users' own, but for the generalized ones, `quasi`; no released item is rare.
    """
    import pyarrow.parquet as pq

    original = check_link(written, private)
    record = private.link.record
    with (written.folder / "cells.parquet").open("rb") as file:
        cells = pq.ParquetFile(file).read(use_threads=False)
    class_of_user = written.group_of_record[record]
    n_items = len(written.items)
    owner = cells.column("group").to_numpy().astype(np.int64)
    # class × items + item of each written cell; they ascend
    place = owner * n_items + written.positions(cells.column("item").combine_chunks())
    inside, null = (_masks if written.step is not None else _reals)(cells, written)
    raters = _count_raters(original, class_of_user, place, inside, n_items)
    sizes = np.bincount(class_of_user)
    if (raters[~null] < sizes[owner[~null]]).any():
        raise Failed("truth", "an original null is outside its cell")
    invented = int((raters == 0).sum())
    check_attributes(written.attributes.drop_columns(quasi), original.attributes, record)
    if len(private.forgotten):
        return  # what they rated is in cells, and is known no more
    if facts["imputed_cells"] is not None:
        check_stated(private.exact.imputed_cells, invented / max(len(raters), 1), "imputed")
    elif invented:
        raise Failed("truth", "a cell without a rating of its class")
    check_rare(original, facts, left_out(private))


def check_link(written: Written, private: Private) -> Ratings:
    """Check that users and records correspond; return the original table."""
    original = private.original
    if original is None:
        raise Failed("truth", "no original given")
    n, record = len(written.group_of_record), private.link.record
    once = len(np.unique(record)) == original.n_users == len(record) == n - private.nobodys
    if not once or record.min(initial=0) < 0 or record.max(initial=-1) >= n:
        raise Failed("link", "users and records do not correspond one to one")
    invented = 0 if private.chain is None else len(private.chain.invented)
    if invented != (private.exact.dummy_records or 0):
        raise Failed("link", "the number of dummy records is not the one stated")
    if list(original.items) != list(written.items):
        raise Failed("items", "not those of the anonymized table")
    return original


def _count_raters(
    original: Ratings,
    class_of_user: NDArray[np.int64],
    place: NDArray[np.int64],
    inside: Inside,
    n_items: int,
) -> NDArray[np.int64]:
    """Find each rating's cell, check that it is a member; return raters per cell."""
    raters = np.zeros(len(place), dtype=np.int64)
    start = 0
    while start < original.n_users:
        stop = int(np.searchsorted(original.indptr, original.indptr[start] + _BLOCK, "right"))
        stop = min(max(stop - 1, start + 1), original.n_users)
        a, b = int(original.indptr[start]), int(original.indptr[stop])
        users = np.repeat(np.arange(start, stop), np.diff(original.indptr[start : stop + 1]))
        wanted = class_of_user[users] * n_items + original.columns[a:b]
        cell = np.searchsorted(place, wanted)
        present = cell < len(place)
        present[present] = place[cell[present]] == wanted[present]
        if not present.all():
            raise Failed("truth", "an original rating has no cell")
        if not inside(cell, original.levels[original.codes[a:b]]).all():
            raise Failed("truth", "an original rating is outside its cell")
        raters += np.bincount(cell, minlength=len(place))
        start = stop
    return raters


def _masks(cells: pa.Table, written: Written) -> tuple[Inside, NDArray[np.bool_]]:
    """Return the member test of masks, and which cells have null."""
    members = cells.column("members").combine_chunks()
    width = members.type.byte_width
    raw = np.frombuffer(members.buffers()[1] or b"", np.uint8)
    raw = raw[members.offset * width : (members.offset + len(members)) * width]
    masks = raw.reshape(-1, width)
    step = written.step or 1.0

    def inside(cell: NDArray[np.int64], rating: NDArray[np.float64]) -> NDArray[np.bool_]:
        bit = 1 + np.rint((rating - written.minimum) / step).astype(np.int64)
        return np.asarray(masks[cell, bit >> 3] >> (bit & 7) & 1, dtype=np.bool_)

    return inside, (masks[:, 0] & 1).astype(np.bool_)


def _reals(cells: pa.Table, written: Written) -> tuple[Inside, NDArray[np.bool_]]:
    """Return the member test of ranges and value lists, and which cells have null."""
    low, high = (cells.column(c).fill_null(np.nan).to_numpy() for c in ("low", "high"))
    lists = cells.column("values").combine_chunks()
    lengths = lists.value_lengths().fill_null(0).to_numpy()
    ends = np.cumsum(lengths).astype(np.int64)
    values = np.append(lists.flatten().to_numpy(), np.inf)

    def inside(cell: NDArray[np.int64], rating: NDArray[np.float64]) -> NDArray[np.bool_]:
        in_range = (rating >= low[cell] - _SLACK) & (rating <= high[cell] + _SLACK)
        # the first value of the list that is not below the rating, all lists bisected at once
        a, b = ends[cell] - lengths[cell], ends[cell].copy()
        while (a < b).any():
            middle = (a + b) // 2
            below = (a < b) & (values[middle] < rating - _SLACK)
            a, b = np.where(below, middle + 1, a), np.where(below, b, middle)
        return np.asarray(in_range | ((a < ends[cell]) & (values[a] <= rating + _SLACK)))

    return inside, cells.column("null").to_numpy()


def check_attributes(
    released: pa.Table, original: pa.Table | None, record: NDArray[np.int64]
) -> None:
    """Each record's released attributes are those of the user it is linked to."""
    for name in released.column_names:
        if original is None or name not in original.column_names:
            raise Failed("forbidden column", "an attribute is not in the original")
        values = released.column(name).take(record).to_pylist()
        truth = [None if v != v else v for v in original.column(name).to_pylist()]
        if values != truth:
            raise Failed("truth", "a personal attribute is not the user's")


def left_out(private: Private) -> int:
    """Return how many people may have rated released items and are in no release, or forgotten."""
    return private.exact.users_deleted + len(private.forgotten)


def check_rare(original: Ratings, facts: dict[str, Any], left: int = 0) -> None:
    """Check that no item is released that fewer users rated than the settings say.

    `left`: of `left_out`.
    """
    raters = np.bincount(original.columns, minlength=original.n_items)
    check_raters(raters, facts, original.n_users, left)


def check_raters(
    raters: NDArray[np.int64], facts: dict[str, Any], people: int, left: int = 0
) -> None:
    """Check the same of items that so many of the released people rated."""
    k = claimed_k(facts, otherwise=0)
    if facts["rare_items"] != "keep" and raters.min(initial=k) < k:
        raise Failed("rare items", f"an item has fewer than {k} raters")
    # the item support is that of all people, those left out among them
    least = least_raters(facts, people + left)
    if raters.min(initial=least) + left < least:
        raise Failed("rare items", f"an item has fewer than {least} raters")


def check_stated(stated: float | None, found: float, what: str) -> None:
    """Check that the owner's share is the one counted."""
    if stated is None or abs(stated - found) > 1e-12:
        raise Failed("truth", f"the share of cells {what} is not the one stated")


class People:
    """Who is which record, and what they rated, part by part: each record once, no rating lost."""

    def __init__(self, written: Written, private: Private) -> None:
        self._private, self._looked = private, 0
        self.raters = np.zeros(len(written.items), dtype=np.int64)
        seen = np.zeros(len(written.group_of_record), dtype=np.bool_)
        self._users = [self._seen(part, written, seen) for part in private.parts()]
        self._parts = list(private.parts())
        invented = 0 if private.chain is None else len(private.chain.invented)
        if invented != (private.exact.dummy_records or 0):
            raise Failed("link", "the number of dummy records is not the one stated")
        if np.count_nonzero(seen) != len(seen) - private.nobodys:
            raise Failed("link", "users and records do not correspond one to one")
        n_classes = int(written.group_of_record.max(initial=-1)) + 1
        #: how many people each class has: records that are nobody's are in no mean
        self.sizes = np.bincount(written.group_of_record[seen], minlength=n_classes)

    def _seen(self, part: Part, written: Written, seen: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Mark the records of a part; return its users in the order of their records."""
        items, record = part.ratings.items, part.record
        if [items[i] for i in np.flatnonzero(part.item >= 0).tolist()] != list(written.items):
            raise Failed("items", "not those of the anonymized table")
        users = np.argsort(record)  # those without a record first
        own = record[users][int(np.count_nonzero(record < 0)) :]
        if own.max(initial=-1) >= len(seen) or (np.diff(own) == 0).any() or seen[own].any():
            raise Failed("link", "users and records do not correspond one to one")
        seen[own] = True
        for some in _some_at_a_time(part.ratings, np.arange(part.ratings.n_users)):
            row, column, _ = ratings_of(part.ratings, some)
            item = part.item[column]
            if (record[some][row[item >= 0]] < 0).any():
                raise Failed("truth", "a user without a record rated a released item")
            self.raters += np.bincount(item[item >= 0], minlength=len(self.raters))
        return users

    def rated(
        self, first: int, last: int
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]]:
        """Yield record, item and value of ratings of the records from `first` on, before `last`."""
        if self._looked > _TOGETHER:  # mapped files stay in memory as long as they are open
            self._parts, self._looked = [], 0
            self._parts = list(self._private.parts())
        for part, users in zip(self._parts, self._users, strict=True):
            record = part.record
            start, stop = np.searchsorted(record, [first, last], sorter=users)
            some = users[start:stop]
            row, column, value = ratings_of(part.ratings, some)
            item = part.item[column]
            there = item >= 0
            self._looked += len(row)
            yield record[some][row[there]], item[there], value[there]


def _some_at_a_time(ratings: Ratings, users: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Yield users of about so many ratings together."""
    ends = np.cumsum(np.diff(ratings.indptr)[users])
    edges = np.searchsorted(ends, np.arange(_BLOCK, ends[-1] if len(ends) else 0, _BLOCK))
    yield from np.split(users, np.unique(edges))


def users_by_record(private: Private) -> NDArray[np.int64]:
    """Return the users in the order of their records."""
    return np.argsort(private.link.record)


def ratings_of(
    original: Ratings, users: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    """Return of each rating of some users its place among them, its item and its value."""
    starts, lengths = original.indptr[users], np.diff(original.indptr)[users]
    within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    cells = np.repeat(starts, lengths) + within
    row = np.repeat(np.arange(len(users)), lengths)
    return row, original.columns[cells], original.levels[original.codes[cells]]
