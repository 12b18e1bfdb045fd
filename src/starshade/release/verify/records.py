"""The verifier's own reading of layout "record": a row of ratings for each record.

A record of a survey has a few ratings, a release millions of records: they are read and compared
as arrays, block by block, where classes are walked one by one (`verify.rows`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from starshade.release.verify.rows import Failed, Written, batches_of, contents_of, require_columns
from starshade.release.verify.truth import (
    check_attributes,
    check_link,
    check_rare,
    check_stated,
    left_out,
    ratings_of,
    users_by_record,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from starshade.ratings.table import Ratings
    from starshade.release.table import Private


_SLACK = 1e-9
_BLOCK = 2**22  # cells laid out together


@dataclass(frozen=True, eq=False)
class RatingRows:
    """The ratings that were written, record by record.

    `indptr` (records + 1,). `item` (cells,): positions among the items, strictly ascending within a
    record. `level` (cells,): on a stepped scale the number of the level, from 1; on a real one the
    rating.
    """

    indptr: NDArray[np.int64]
    item: NDArray[np.int32]
    level: NDArray[np.float64]

    def blocks(self, n_items: int) -> Iterator[tuple[int, NDArray[np.float64]]]:
        """Yield the first record and the table of some records at a time; NaN is null."""
        n = len(self.indptr) - 1
        step = max(1, _BLOCK // max(n_items, 1))
        for start in range(0, n, step):
            stop = min(start + step, n)
            cells = slice(int(self.indptr[start]), int(self.indptr[stop]))
            out = np.full((stop - start, n_items), np.nan)
            row = np.repeat(np.arange(stop - start), np.diff(self.indptr[start : stop + 1]))
            out[row, self.item[cells]] = self.level[cells]
            yield start, out

    def column(self, item: int) -> NDArray[np.float64]:
        """Return the ratings of one item, NaN where there is none."""
        out = np.full(len(self.indptr) - 1, np.nan)
        cells = np.flatnonzero(self.item == item)
        out[np.searchsorted(self.indptr, cells, side="right") - 1] = self.level[cells]
        return out


def read_ratings_of(written: Written) -> RatingRows:
    """Read ``cells.parquet``; check keys, order and that every cell is one rating."""
    contents = contents_of(written)
    require_columns(written.folder, "cells.parquet", ("group", "record", "item", *contents))
    n, n_items = len(written.group_of_record), len(written.items)
    read = _levels if written.step is not None else _reals
    parts: list[tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]] = []
    last = -1
    for batch in batches_of(written.folder / "cells.parquet"):
        names = ("group", "record", "item", contents[-1])
        if any(batch.column(name).null_count for name in names):
            raise Failed("columns", "cells.parquet: a null")
        group, record = (batch.column(c).to_numpy().astype(np.int64) for c in names[:2])
        if len(record) and not 0 <= record.min() <= record.max() < n:
            raise Failed("cells", "a record is not listed")
        if not np.array_equal(written.group_of_record[record], group):
            raise Failed("cells", "a record is in another class than in records.parquet")
        item = written.positions(batch.column("item"))
        if (item < 0).any():
            raise Failed("cells", "an item is not listed")
        place = record * n_items + item
        if (np.diff(place, prepend=last) <= 0).any():
            raise Failed("cell order", "records, or items within a record, do not ascend")
        last = int(place[-1]) if len(place) else last
        parts.append((record, item.astype(np.int32), read(batch, written)))
    count = sum(
        (np.bincount(record, minlength=n) for record, _, _ in parts), np.zeros(n, dtype=np.int64)
    )
    return RatingRows(
        np.concatenate([[0], np.cumsum(count)]).astype(np.int64),
        np.concatenate([np.empty(0, np.int32), *(item for _, item, _ in parts)]),
        np.concatenate([np.empty(0), *(level for _, _, level in parts)]),
    )


def _levels(batch: pa.RecordBatch, written: Written) -> NDArray[np.float64]:
    coded = batch.column("members").dictionary_encode()
    levels = []
    for mask in coded.dictionary.to_pylist():
        bits = int.from_bytes(mask, "little")
        if bits & (bits - 1) or not 1 < bits < 1 << (written.n_levels + 1):
            raise Failed("cells", "a mask is not a single rating of the scale")
        levels.append(float(bits.bit_length() - 1))
    return np.asarray(np.array(levels, dtype=np.float64)[coded.indices.to_numpy()])


def _reals(batch: pa.RecordBatch, written: Written) -> NDArray[np.float64]:
    values = batch.column("values")
    lengths = values.value_lengths().fill_null(0).to_numpy()
    if (lengths != 1).any() or batch.column("null").true_count:
        raise Failed("cells", "a cell is not a single rating")
    flat = values.flatten()
    ratings = flat.to_numpy(zero_copy_only=False).astype(np.float64)
    inside = (ratings >= written.minimum - _SLACK) & (ratings <= written.maximum + _SLACK)
    if flat.null_count or not inside.all():
        raise Failed("cells", "a rating is not on the scale")
    return np.asarray(ratings)


def check_classes(rows: RatingRows, written: Written) -> None:
    """Check that classes are what is equal on every cell, and ascend by content."""
    group = written.group_of_record
    before: NDArray[np.float64] | None = None
    for start, block in rows.blocks(len(written.items)):
        np.nan_to_num(block, copy=False, nan=-np.inf)  # a null is below every rating
        if before is not None:
            block = np.vstack([before, block])
            start -= 1
        differs = block[1:] != block[:-1]
        some = differs.any(axis=1) if block.shape[1] else np.zeros(len(block) - 1, np.bool_)
        if not np.array_equal(some, np.diff(group[start : start + len(block)]) == 1):
            raise Failed("classes", "equal records in different classes, or different ones in one")
        pair = np.flatnonzero(some)
        where = differs[pair].argmax(axis=1) if len(pair) else pair
        if (block[pair + 1, where] < block[pair, where]).any():
            raise Failed("class order", "two classes are not sorted by content")
        before = block[-1:]


def check_changes(
    rows: RatingRows, written: Written, private: Private, facts: dict[str, Any]
) -> None:
    """Check the written ratings against the original table.

    The link must be one-to-one; where a method invents no cell (``imputed_cells`` is null) every
    record must be exactly its user's ratings; elsewhere the share of cells whose user had no
    rating there must be the one that the owner knows, and ratings of sensitive items unchanged;
    released attributes are the users' own; no released item is rare.
    """
    original = check_link(written, private)
    sensitive = _sensitive(written, facts)
    exact = facts["imputed_cells"] is None
    invented = 0
    user = users_by_record(private)
    for start, shown in rows.blocks(len(written.items)):
        true = _true_rows(original, user[start : start + len(shown)], written)
        where = slice(None) if exact else sensitive
        if not _equal(shown[:, where], true[:, where]):
            raise Failed(
                "truth",
                "a rating changed by a method that changes none"
                if exact
                else "a rating of a sensitive item changed",
            )
        invented += int((np.isnan(true) & ~np.isnan(shown)).sum())
    share = invented / max(len(rows.item), 1)
    if not exact:
        check_stated(private.exact.imputed_cells, share, "imputed")
    check_attributes(written.attributes, original.attributes, private.link.record)
    check_rare(original, facts, left_out(private))


def _true_rows(
    original: Ratings, users: NDArray[np.int64], written: Written
) -> NDArray[np.float64]:
    """Lay out the ratings of some users as `RatingRows.blocks` does."""
    out = np.full((len(users), len(written.items)), np.nan)
    row, item, ratings = ratings_of(original, users)
    if written.step is not None:
        ratings = 1 + np.rint((ratings - written.minimum) / written.step)
    out[row, item] = ratings
    return out


def _equal(shown: NDArray[np.float64], true: NDArray[np.float64]) -> bool:
    same = (np.abs(shown - true) <= _SLACK) | (np.isnan(shown) & np.isnan(true))
    return bool(same.all())


def _sensitive(written: Written, facts: dict[str, Any]) -> NDArray[np.int64]:
    named = {key for claim in facts["claims"] for key in claim["parameters"].get("sensitive", ())}
    return np.flatnonzero([key in named for key in written.items])
