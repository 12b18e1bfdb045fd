"""Shards as a method sees them: rows without ids, in an order of their content.

Each shard is put in order by itself, written once by user and once by item, and mapped from then
on: the recommender goes through them again and again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.anonymize.order import by_content
from starshade.engine.files import Desk, Desks, left_in
from starshade.engine.job import Engine, Job, Tables
from starshade.kernels.arrays import Ints
from starshade.ratings.scale import Scale
from starshade.ratings.shards.kept import KeptShards
from starshade.ratings.table import ByItem, Ratings
from starshade.ratings.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class RecordShards:
    """The rows of a table in shards, in each in an order of their content, named by their places.

    `folders`: of each shard. `users_of` says which of the table's users they are.
    """

    table: KeptShards
    folders: Sequence[Path]

    def __len__(self) -> int:
        return len(self.folders)

    @cached_property
    def keys(self) -> list[str]:
        """What each shard is known again by: the folder has the name of all that went into it."""
        return [folder.name for folder in self.folders]

    @cached_property
    def first_users(self) -> list[int]:
        """The number of each shard's first record among all."""
        return self.table.first_users

    @property
    def items(self) -> Vocabulary:
        """Of the table."""
        return self.table.items

    @property
    def item_names(self) -> tuple[str, ...] | None:
        """Their names."""
        return self.table.item_names

    @property
    def scale(self) -> Scale:
        """Of the ratings."""
        return self.table.scale

    @property
    def levels(self) -> NDArray[np.float64]:
        """As in `Ratings`."""
        return self.table.levels

    @property
    def n_users(self) -> int:
        """Records of all shards."""
        return self.table.n_users

    @property
    def n_items(self) -> int:
        """Items."""
        return self.table.n_items

    @property
    def n_ratings(self) -> int:
        """Ratings of all shards."""
        return self.table.n_ratings

    def bytes_of(self, number: int, /) -> int:
        """Return the bytes of memory that work on a shard takes, at most."""
        return self.table.bytes_of(number)

    def shard(self, number: int, /) -> Ratings:
        """Open a shard, memory-mapped, with its cells item by item."""
        folder, first = self.folders[number], self.first_users[number]
        indptr, columns, codes = (left_in(folder, name) for name in _BY_USER)
        places = Vocabulary(np.arange(first, first + len(indptr) - 1))
        table = rows_like(self.table, places, indptr, columns, codes)
        ends, raters, given = (left_in(folder, f"item.{name}") for name in _BY_USER)
        # what the cached property would compute
        table.__dict__["by_item"] = ByItem(ends, raters, given, None)
        return table

    def users_of(self, number: int) -> Ints:
        """Return which user of the table's shard each record is."""
        return left_in(self.folders[number], "users")


_BY_USER = ("indptr", "columns", "codes")


def rows_like(
    table: KeptShards, users: Vocabulary, indptr: Ints, columns: Any, codes: Any
) -> Ratings:
    """Return rows of a table's items and levels."""
    return Ratings(
        scale=table.scale,
        users=users,
        items=table.items,
        indptr=indptr,
        columns=columns,
        codes=codes,
        levels=table.levels,
    )


def in_order(table: KeptShards, engine: Engine, place: Path, seed: int) -> RecordShards:
    """Put every shard in order; `place`: where that is written."""
    # what is kept of a shard is not in its key
    said: dict[str, NDArray[Any]] = {"kept": table.kept}
    if table.codes is not None:
        said |= {"codes": table.codes, "levels": table.levels}
    job = Job("ordering records by content", _order, {"seed": seed}, threaded=True)
    desks = Desks.of(job, table, said, place)
    for _ in engine.run(job, desks, said):
        pass
    return RecordShards(table, desks.folders)


def _order(desk: Desk, _first: int, settings: Mapping[str, Any], _tables: Tables) -> Tables:
    records = by_content(desk.shard, settings["seed"])
    rows, turned = records.ratings, records.ratings.by_item
    desk.leave(
        {
            "indptr": rows.indptr,
            "columns": rows.columns,
            "codes": rows.codes,
            "users": records.users.astype(np.int32),
            "item.indptr": turned.indptr,
            "item.columns": turned.users,
            "item.codes": turned.codes,
        }
    )
    return {"users": np.array([rows.n_users])}
