"""From anything that holds ratings to a sharded store, in bounded memory."""

from __future__ import annotations

import os
import secrets
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from starshade.engine.job import Engine
from starshade.engine.local import Local
from starshade.errors import ConfigError, InputError, OutputError
from starshade.naming import named
from starshade.plain import counted
from starshade.progress import announced, note
from starshade.ratings.places.atomic import atomic_folder, together, vacant
from starshade.ratings.places.place import Place, Where
from starshade.ratings.read import take_in, tell
from starshade.ratings.readers.beside import attach_names
from starshade.ratings.scale import Scale
from starshade.ratings.settings import ReadingSettings
from starshade.ratings.shards.manifest import ShardEntry, is_sharded
from starshade.ratings.shards.settings import number_of
from starshade.ratings.shards.shards import open_shards
from starshade.ratings.shards.sort import Sorted, sort
from starshade.ratings.shards.unfinished import (
    CannotLocateError,
    Unfinished,
    unfinished_beside,
)
from starshade.ratings.shards.write import fill, shards_for
from starshade.ratings.table import Ratings
from starshade.scratch import scratch_folder
from starshade.setting import settings_of


@dataclass(frozen=True)
class Written:
    """What a sharded store came to hold."""

    users: int
    items: int
    ratings: int
    shards: int


@announced("writing partitions")
def convert_to_shards(
    source: Any,
    path: Where,
    shards: int | str = "auto",
    *,
    append: str | Path | None = None,
    resume: bool = False,
    engine: Engine | None = None,
    **reading: Any,
) -> Written:
    """Read ratings and write them as a partitioned store, sorted on the disk next to it.

    Memory is bounded by `starshade.budget`, not by the ratings; that of the items, of the distinct
    ratings, of personal attributes and of one shard is needed. What is one store already, or is
    wide, is read as a whole.

    Parameters
    ----------
    source : see `starshade.ratings.read.read_ratings`
        A sharded store is cut anew.
    path : path
        A folder that does not exist yet.
    shards : int or "auto"
        About how many: a shard holds whole users, at least one. "auto": so many that sorting one,
        64 bytes for each of its ratings, fits the memory that may be used.
    append : path, optional
        A sharded store to which the ratings are added; what comes out is what its ratings and
        these, read together in this order, would give. It stays as it is.
    resume : bool
        Go on with what the same call had finished when it was killed, or the disk was full.
    engine : Engine, optional
        Who reads the files of Parquet, one by one, and writes the shards; None: this process, in
        order, as also what is gone on with.
    **reading
        As of `starshade.ratings.read.read_ratings`.

    Raises
    ------
    InputError, ConfigError, OutputError, EngineError
        As of reading and writing; nothing is left behind but, of a full disk, what is finished.
    """
    wanted = number_of(shards)
    settings = {each.name: each.default for each in settings_of(ReadingSettings)} | reading
    place = Place.of(path)
    if not (resume and os.path.lexists(place)):  # the same run may have made it
        vacant(place)
    if append is not None and Path(append).resolve() in place.path.resolve().parents:
        raise OutputError(
            f"{place}: is inside the store that is added to, which does not change",
            advice="Choose a place outside it.",
        )
    asked = {"source": source, "append": append, "shards": shards} | settings
    with unfinished_beside(place, asked, resume=resume) as kept:
        if (told := kept.done.found()) is not None:
            return Written(**told)
        vacant(place)
        with scratch_folder() as scratch:
            write = partial(_sorted_and_cut, source, append, wanted, settings, kept, engine)
            try:
                like, entries, n = write(scratch)
            except CannotLocateError:
                kept.clear()
                like, entries, n = write(scratch)
        written = Written(
            sum(entry.users for entry in entries),
            like.n_items,
            sum(entry.ratings for entry in entries),
            len(entries),
        )
        with together() as parts:
            with atomic_folder(place) as folder:
                for part in kept.store.iterdir():
                    part.replace(folder / part.name)
            kept.done.leave(parts, asdict(written))
        tell(like.report, like.scale)
    if wanted != "auto" and len(entries) < n:
        note(f"{counted(len(entries), 'partition')}, not {n:,}: a partition contains whole users")
    return written


def _sorted_and_cut(
    source: Any,
    append: str | Path | None,
    wanted: int | Literal["auto"],
    settings: dict[str, Any],
    kept: Unfinished,
    engine: Engine | None,
    scratch: Path,
) -> tuple[Ratings, list[ShardEntry], int]:
    """Write the shards; returns one, what the manifest says of each, and how many were meant.

    `scratch`: where files are unpacked, of which rows may be named until the shards are written.
    """
    found = kept.found()
    if found is None:
        kept.clear()
        table = _taken_in(source, append, settings, kept.runs, engine, scratch)
        n_rows = table.n_rows if isinstance(table, Sorted) else table.n_ratings
        n = shards_for(n_rows) if wanted == "auto" else wanted
        if not isinstance(table, Sorted):
            kept.store.mkdir(mode=0o700)
            return *fill(kept.store, table, n), n
        kept.keep(table, n)
    else:
        table, n = found
        engine = None  # where rows stood nobody else can be told any more
    return *table.write(kept.store, n, kept.folder, kept.shards, engine or Local()), n


def _taken_in(
    source: Any,
    append: str | Path | None,
    settings: dict[str, Any],
    runs: Path,
    engine: Engine | None,
    scratch: Path,
) -> Sorted | Ratings:
    """Read the source into runs; what is a table already is returned as it is."""
    make = partial(sort, runs, engine=engine)
    if append is None:
        alone: Sorted | Ratings = take_in(source, settings, make, scratch=scratch)
        return alone
    if not is_sharded(Path(append)):
        there = "is not a partitioned store" if Path(append).exists() else "does not exist"
        raise InputError(
            f"{append}: {there}; ratings can be added to a partitioned store only",
            advice="Write one first: starshade data convert RATINGS --shards auto --out STORE.",
        )
    store = open_shards(append)
    if settings["scale"] is None and not store.report.scale_inferred:
        settings = settings | {"scale": store.scale}
    both = take_in(source, settings, partial(make, after=[store]), scratch=scratch)
    own = isinstance(both, Ratings) or settings["users"] is None
    if (both.attributes is not None and own) or (store.manifest.attributes and own):
        raise ConfigError(
            f"{append}: only some of the users have personal attributes; all users need them",
            advice=f"Give the attributes of all users: {named('users', 'FILE')}.",
            setting="users",
        )
    of_items = [store, both]
    if isinstance(both, Ratings):
        scale = settings["scale"]
        both = make(
            (),
            scale=Scale.parse(scale) if isinstance(scale, str) else scale,
            on_duplicate=settings["on_duplicate"],
            locate=str,
            report=both.report,
            show_values=settings["show_values"],
            after=[store],
            tables=[both],
        )
    names = {
        key: name
        for each in of_items
        for key, name in zip(each.items, each.item_names or (), strict=False)
        if key != name
    }
    both = both.annotate(lineage=secrets.token_hex(16))
    return attach_names(both, names) if names else both
