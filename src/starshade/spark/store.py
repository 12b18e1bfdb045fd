"""A store of shards, for a Spark cluster to work on."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from starshade.engine.journal import Journal, journal_in
from starshade.engine.spark import Spark
from starshade.errors import ConfigError, InputError
from starshade.progress import task
from starshade.ratings.places.atomic import hidden, vacant
from starshade.ratings.places.place import Place
from starshade.ratings.readers.recognise.aliases import refuse_repeated
from starshade.ratings.shards.convert import convert_to_shards
from starshade.ratings.shards.manifest import is_sharded
from starshade.ratings.shards.shards import Shards, open_shards
from starshade.scratch import make_folder, own, remove, sweep


@contextmanager
def open(  # noqa: A001 - it is always said with its module
    session: Any,
    data: Any,
    *,
    out: str | Path | None = None,
    shards: int | str = "auto",
    resume: bool = False,
    **reading: Any,
) -> Iterator[tuple[Shards, Spark]]:
    """Open a store of shards, and let a Spark cluster work on it.

    Parameters
    ----------
    session : pyspark.sql.SparkSession
        Classic or Connect.
    data : path or pyspark.sql.DataFrame
        A store of shards; or ratings, as a frame, or as Parquet that Spark reads: they are written
        as a store first, by the rules of `starshade.read_ratings`.
    out : path, optional
        Where ratings that are no store are written as one; needed for them. The driver and all
        executors see it under the same name.
    shards : int or "auto"
        Of a store that is written; see `starshade.convert_to_shards`. As many executors as there
        are shards find work.
    resume : bool
        Go on with what was asked of the store when a run was killed. Ratings are written anew: a
        store that was made of them before is opened by its own name.
    **reading
        Of ratings that are no store, as of `starshade.read_ratings`.

    Yields
    ------
    shards : Shards
    engine : Spark
        For the functions that take an `engine`.

    Raises
    ------
    ConfigError
        No place to write to was given, or the driver cannot work in it.
    InputError, OutputError
        As of reading and writing.
    """
    store = Path(data) if isinstance(data, str | Path) else None
    if store is None or not is_sharded(store):
        if out is None:
            raise ConfigError(
                "ratings that are not a partitioned store are converted to one first, and no "
                "folder is given for it",
                advice="Name a folder that the executors see too: out=FOLDER.",
                setting="out",
            )
        store = Path(out)
        _write(session, data, store, shards, reading)
    # workers are told a whole path, a receipt what it was called
    opened = replace(open_shards(store.absolute()), named=str(store))
    with journal_in(opened.path, resume=resume) as journal:
        yield opened, Spark(session, journal)


def _write(session: Any, data: Any, out: Path, shards: int | str, reading: dict[str, Any]) -> None:
    """Let executors write the rows down, and sort them into shards."""
    with beside(session, vacant(out.absolute())) as engine:
        _sort(engine, data, out, shards, reading)


@contextmanager
def beside(session: Any, place: Place) -> Iterator[Spark]:
    """Let a Spark cluster work on what is written to a place; it has a folder beside it meanwhile.

    Parameters
    ----------
    session : pyspark.sql.SparkSession
        Classic or Connect.
    place : Place
        Its folder is seen by the driver and all executors under the same name.
    """
    prefix = hidden("rows", place.name)
    sweep(place.parent, prefix)
    folder, handle = own(place.parent, prefix, make_folder)
    try:
        yield Spark(session, Journal(folder))
    finally:
        remove(folder, handle)
        os.close(handle)


def _sort(engine: Spark, data: Any, out: Path, shards: int | str, reading: dict[str, Any]) -> None:
    folder = engine.folder
    assert folder is not None
    try:
        written = _written(engine.session, data, folder)
        files = {folder / row.file: row.rows for row in written if row.rows}
        if not files:
            raise InputError("the frame has no rows: no ratings to read")
        if not all(_is_whole(file, rows) for file, rows in files.items()):
            raise ConfigError(
                f"{out}: the driver and the executors do not see the same folder there",
                advice="Choose a folder that all of them see at the same path.",
                setting="out",
            )
        convert_to_shards(sorted(files), out, shards, engine=engine, **reading)
    except InputError as error:
        # its rows are named where they are, and not where they were written
        file = rf"{re.escape(str(folder))}/partition-0*(\d+)-\w+\.parquet"
        raise InputError(
            re.sub(file, r"partition \1 of the frame", error.message),
            advice=error.advice,
            setting=error.setting,
        ) from error


def _written(session: Any, data: Any, folder: Path) -> list[Any]:
    """Let executors write the rows into a folder; returns which files, of how many rows."""
    try:
        frame = session.read.parquet(str(data)) if isinstance(data, str | Path) else data
        refuse_repeated(frame.columns, "the frame")
        with task("writing the frame's rows"):
            rows = frame.mapInArrow(_rows_into(str(folder)), "file string, rows long")
            return list(rows.collect())
    except Exception as error:
        if "PATH_NOT_FOUND" not in str(error):
            raise
        raise InputError("Spark found no such file or folder", advice="Check the path.") from error


def _is_whole(file: Path, rows: int) -> bool:
    return file.is_file() and pq.read_metadata(file).num_rows == rows


def _rows_into(folder: str) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Return what Spark sends to executors: a file of each partition's rows, and how many."""

    def write(batches: Iterable[Any]) -> Iterator[Any]:
        import os
        import uuid

        import pyarrow as pa
        import pyarrow.parquet as pq
        from pyspark import TaskContext

        context = TaskContext.get()
        part = 0 if context is None else context.partitionId()
        # in the order of the frame's partitions; the same one may be written twice at once
        file, rows, writer = f"partition-{part:08}-{uuid.uuid4().hex}.parquet", 0, None
        for batch in batches:
            if not os.path.isdir(folder):  # rows are left nowhere else
                yield pa.RecordBatch.from_pydict({"file": [""], "rows": [-1]})
                return
            if writer is None:
                writer = pq.ParquetWriter(os.path.join(folder, file), batch.schema)
            writer.write_batch(batch)
            rows += batch.num_rows
        if writer is not None:
            writer.close()
        yield pa.RecordBatch.from_pydict({"file": [file], "rows": [rows]})

    return write
