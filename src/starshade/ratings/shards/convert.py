"""From anything that holds ratings to a sharded store, in bounded memory."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from functools import partial
from typing import Any

from starshade.plain import counted
from starshade.progress import announced, note
from starshade.ratings.places.atomic import atomic_folder
from starshade.ratings.places.place import Where
from starshade.ratings.read import take_in, tell
from starshade.ratings.settings import ReadingSettings
from starshade.ratings.shards.settings import number_of
from starshade.ratings.shards.sort import Sorted, sort
from starshade.ratings.shards.write import fill, shards_for
from starshade.setting import settings_of


@dataclass(frozen=True)
class Written:
    """What a sharded store came to hold."""

    users: int
    items: int
    ratings: int
    shards: int


@announced("writing shards")
def convert_to_shards(
    source: Any, path: Where, shards: int | str = "auto", **reading: Any
) -> Written:
    """Read ratings and write them as a sharded store, sorted on the disk beside it.

    Memory is bounded by `starshade.budget`, not by the ratings; that of the items, of the distinct
    ratings and of one shard is needed. What is a store already, is wide or brings personal
    attributes is read as a whole.

    Parameters
    ----------
    source : see `starshade.ratings.read.read_ratings`
    path : path
        A folder that does not exist yet.
    shards : int or "auto"
        About how many: a shard holds whole users, at least one. "auto": so many that sorting one,
        64 bytes for each of its ratings, fits the memory that may be used.
    **reading
        As of `starshade.ratings.read.read_ratings`.

    Raises
    ------
    InputError, ConfigError, OutputError
        As of reading and writing; nothing is left behind.
    """
    wanted = number_of(shards)
    settings = {each.name: each.default for each in settings_of(ReadingSettings)} | reading
    with atomic_folder(path) as folder:
        runs = folder / "runs"
        table = take_in(source, settings, partial(sort, runs))
        n_rows = table.n_rows if isinstance(table, Sorted) else table.n_ratings
        n = shards_for(n_rows) if wanted == "auto" else wanted
        if isinstance(table, Sorted):
            like, entries = table.write(folder, n)
        else:
            like, entries = fill(folder, table, n)
        shutil.rmtree(runs, ignore_errors=True)
        tell(like.report, like.scale)
    if wanted != "auto" and len(entries) < n:
        note(f"{counted(len(entries), 'shard')}, not {n:,}: a shard holds whole users")
    return Written(
        sum(entry.users for entry in entries),
        like.n_items,
        sum(entry.ratings for entry in entries),
        len(entries),
    )
