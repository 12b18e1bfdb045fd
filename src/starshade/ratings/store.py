"""The compact store: a folder of raw ``.npy`` columns that opens memory-mapped.

::

    store.json              counts, scale, lineage, report; size and CRC-32 of every other file
    by_user.*, by_item.*    indptr, columns (indices of the other axis), codes, days: both ways
                            round, so that a range of items is read as it lies, too
    levels.npy              what a code stands for
    users.*, items.*        ids: integers; all other texts as UTF-8 with offsets
    names.*                 item names, likewise
    attributes.parquet      personal attributes

It holds what no release may hold, so only its owner may read it (0700). Writing is atomic.
Opening checks every file, and that the columns are those of a table: kernels trust indices, and a
store may come from anybody.

A *shard* (`starshade.ratings.shards`) is such a folder without items and names: it holds some of
the users of a larger store, whose items stand beside it once for all.
"""

from __future__ import annotations

import io
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, TypeAdapter

from starshade._version import __version__
from starshade.errors import InputError
from starshade.files.parquet import open_texts, read_texts
from starshade.files.side import STORE_COLUMN, STORE_MANIFEST, open_side, read_side
from starshade.progress import announced
from starshade.ratings.levels import code_type
from starshade.ratings.places.atomic import atomic_folder
from starshade.ratings.places.checked import (
    AGAIN,
    FIRST_DAY,
    LAST_DAY,
    Arrays,
    CheckedManifest,
    Files,
    StoredFile,
    check_files,
    ids_as_arrays,
    load,
    load_ids,
    load_texts,
    texts_as_arrays,
    write_arrays,
    write_bytes,
)
from starshade.ratings.places.place import Where
from starshade.ratings.scale import Scale
from starshade.ratings.table import UNKNOWN_DAY, ByItem, Ratings, ReadReport
from starshade.ratings.vocabulary import Vocabulary, is_canonical_integer

if TYPE_CHECKING:
    import pyarrow as pa


MANIFEST = "store.json"
_ATTRIBUTES = "attributes.parquet"
_PARTS = ("indptr", "columns", "codes")
_CHECKED = 1 << 22  # cells that are checked together
Kind = Literal["starshade ratings", "starshade shard"]


def is_store(path: Path) -> bool:
    """Tell whether a folder is, or was meant to be, a store."""
    return (path / MANIFEST).is_file()


@announced("writing the store")
def write_store(ratings: Ratings, path: Where) -> None:
    """Write a table as a store.

    A data set gets its lineage when it is stored for the first time: `ratings` has one from here
    on.

    `path`: a folder that does not exist yet.
    """
    lineage = ratings.lineage or secrets.token_hex(16)
    arrays = _cells_of(ratings) | items_as_arrays(ratings.items, ratings.item_names)
    needs = sum(array.nbytes for array in arrays.values())
    with atomic_folder(path, needs=needs) as folder:
        _fill(folder, ratings, arrays, "starshade ratings", lineage)
    object.__setattr__(ratings, "lineage", lineage)


def write_shard(ratings: Ratings, folder: Path, lineage: str) -> bytes:
    """Write some of the users of a larger store into a new folder; returns its manifest."""
    folder.mkdir(mode=0o700)
    return _fill(folder, ratings, _cells_of(ratings), "starshade shard", lineage)


@announced("opening the store")
def open_store(path: Path) -> Ratings:
    """Open a store, memory-mapped.

    Returns: with `by_item` as stored. Its arrays are private copies-on-write of the files.
    """
    with in_words(path):
        manifest = Manifest.from_json(read_side(path / MANIFEST, STORE_MANIFEST), str(path))
        if manifest.kind == "starshade shard":
            raise InputError(
                f"{path}: is one partition of a larger store",
                advice="Name the folder that contains it.",
            )
        check_files(path, manifest.files)
        table = table_of(path, manifest, *load_items(path, manifest.files), named=str(path))
        refuse_unlike(table.items)
        refuse_no_table(table)
        return table


@contextmanager
def in_words(path: Path) -> Iterator[None]:
    """Say in words why a store cannot be opened."""
    try:
        yield
    except OSError as error:
        within = "" if error.filename is None else f"{Path(error.filename).name}: "
        raise InputError(
            f"{path}: cannot be read as a store: {within}{error.strerror or error}",
            advice="Check the path and your permission to read it.",
        ) from None
    except (KeyError, ValueError, TypeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: the store is damaged", advice=AGAIN) from None


def items_as_arrays(items: Vocabulary, names: tuple[str, ...] | None) -> Arrays:
    """Lay out the items, and their names where they have some."""
    return ids_as_arrays("items", items) | (
        {} if names is None else texts_as_arrays("names", names)
    )


def load_items(path: Path, files: Files) -> tuple[Vocabulary, tuple[str, ...] | None]:
    """Read what `items_as_arrays` laid out."""
    return load_ids(path, "items"), load_texts(path, "names") if "names.text.npy" in files else None


def table_of(
    path: Path, manifest: Manifest, items: Vocabulary, names: tuple[str, ...] | None, *, named: str
) -> Ratings:
    """Map the columns of a store, or of a shard of these items; `named`: the report's source."""
    indptr, columns, codes, days = _cells(path, manifest, "by_user", manifest.users)
    table = Ratings(
        scale=Scale(*manifest.scale),
        users=load_ids(path, "users"),
        items=items,
        indptr=indptr,
        columns=columns,
        codes=codes,
        levels=load(path, "levels"),
        days=days,
        first_day=manifest.first_day,
        attributes=_attributes(path, manifest.users) if _ATTRIBUTES in manifest.files else None,
        item_names=names,
        lineage=manifest.lineage,
        report=stored_report(manifest.report, named),
    )
    # what the cached property would compute
    table.__dict__["by_item"] = ByItem(*_cells(path, manifest, "by_item", manifest.items))
    if len(table.users) != manifest.users or len(table.items) != manifest.items:
        raise ValueError("ids of another table")
    return table


def refuse_no_table(table: Ratings) -> None:
    """Raise ValueError where columns are not those of a table, whatever their checksums say."""
    levels, cells = table.levels, table.by_item
    refuse_other_levels(levels, table.scale)
    refuse_unlike(table.users)
    by_user = table.indptr, table.columns, table.codes, table.days
    by_item = cells.indptr, cells.users, cells.codes, cells.days
    for axis, n in ((by_user, table.n_items), (by_item, len(table.users))):
        _refuse_axis(*axis, n, len(levels), table.first_day)
    names = table.item_names
    if names is not None and len(names) != table.n_items:
        raise ValueError("names of other items")
    if table.attributes is not None and table.attributes.num_rows != len(table.users):
        raise ValueError("attributes of other users")


def refuse_other_levels(levels: NDArray[Any], scale: Scale) -> None:
    """Raise ValueError where codes would not stand for ratings of a scale."""
    if levels.dtype != np.float64 or levels.ndim != 1 or not scale.contains(levels).all():
        raise ValueError("levels of another scale")
    stepped = scale.step is not None
    if not (np.diff(levels) > 0).all() or (stepped and len(levels) != len(scale.levels)):
        raise ValueError("levels of another scale")


def refuse_unlike(ids: Vocabulary) -> None:
    """Raise ValueError where ids are not in canonical order."""
    known = ids.integers
    if known.ndim != 1 or (len(known) and known[0] < 0) or not (np.diff(known) > 0).all():
        raise ValueError("ids out of order")
    if any(a >= b for a, b in pairwise(ids.texts)) or any(map(is_canonical_integer, ids.texts)):
        raise ValueError("ids out of order")


def _refuse_axis(
    indptr: NDArray[Any],
    columns: NDArray[Any],
    codes: NDArray[Any],
    days: NDArray[Any] | None,
    n: int,
    n_levels: int,
    first_day: int,
) -> None:
    columns_of = [each for each in (indptr, columns, codes, days) if each is not None]
    if any(each.ndim != 1 for each in columns_of):
        raise ValueError("columns of more than one axis")
    if indptr.dtype != np.int64 or indptr[0] != 0 or indptr[-1] != len(columns):
        raise ValueError("rows of other cells")
    if (np.diff(indptr) < 0).any():
        raise ValueError("rows out of order")
    if columns.dtype != np.int32 or codes.dtype != code_type(n_levels):
        raise ValueError("cells of another kind")
    if days is not None and days.dtype != np.uint16:
        raise ValueError("days of another kind")
    if days is not None and first_day + int(days[days != UNKNOWN_DAY].max(initial=0)) > LAST_DAY:
        raise ValueError("days after all calendars")
    for start in range(0, len(columns), _CHECKED):
        part = columns[start : start + _CHECKED + 1]
        if part.min() < 0 or part.max() >= n or codes[start : start + _CHECKED].max() >= n_levels:
            raise ValueError("cells outside of the table")
        falls = start + 1 + np.flatnonzero(np.diff(part) <= 0)  # allowed where a row begins
        if not (indptr[np.searchsorted(indptr, falls)] == falls).all():
            raise ValueError("cells out of order")


def stored_report(fields: dict[str, Any], named: str) -> ReadReport:
    """Return what reading found, as a manifest has it; ValueError where it is something else."""
    report = TypeAdapter(ReadReport).validate_python(fields)
    return replace(report, source=named, format="store", notes=tuple(report.notes))


def _fill(folder: Path, ratings: Ratings, arrays: Arrays, kind: Kind, lineage: str) -> bytes:
    files = write_arrays(folder, arrays)
    if ratings.attributes is not None:
        import pyarrow.parquet as pq

        content = io.BytesIO()
        pq.write_table(ratings.attributes, content)
        # what could not be read again is refused now
        read_texts(*open_texts(content, _ATTRIBUTES, InputError), _ATTRIBUTES, InputError)
        files[_ATTRIBUTES] = write_bytes(folder / _ATTRIBUTES, [content.getvalue()])
    manifest = Manifest(
        kind=kind,
        lineage=lineage,
        scale=(ratings.scale.minimum, ratings.scale.maximum, ratings.scale.step),
        users=ratings.n_users,
        items=ratings.n_items,
        ratings=ratings.n_ratings,
        first_day=ratings.first_day,
        report=asdict(ratings.report),
        files=files,
    )
    text = manifest.to_json().encode()
    (folder / MANIFEST).write_bytes(text)
    return text


def _cells_of(ratings: Ratings) -> Arrays:
    cells = ratings.by_item
    out: dict[str, NDArray[Any] | None] = {
        "by_user.indptr": ratings.indptr,
        "by_user.columns": ratings.columns,
        "by_user.codes": ratings.codes,
        "by_user.days": ratings.days,
        "by_item.indptr": cells.indptr,
        "by_item.columns": cells.users,
        "by_item.codes": cells.codes,
        "by_item.days": cells.days,
        "levels": ratings.levels,
        **ids_as_arrays("users", ratings.users),
    }
    return {name: np.asarray(array) for name, array in out.items() if array is not None}


def _cells(
    path: Path, manifest: Manifest, axis: str, n: int
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any] | None]:
    indptr, columns, codes = (load(path, f"{axis}.{part}") for part in _PARTS)
    days = load(path, f"{axis}.days") if f"{axis}.days.npy" in manifest.files else None
    lengths = {len(array) for array in (columns, codes, days) if array is not None}
    if len(indptr) != n + 1 or lengths != {manifest.ratings}:
        raise ValueError("columns of different lengths")
    return indptr, columns, codes, days


def _attributes(path: Path, users: int) -> pa.Table:
    place = path / _ATTRIBUTES
    with open_side(place, STORE_COLUMN) as file:  # Python's: a name need not be UTF-8
        stored, schema = open_texts(file, str(place), InputError)
        if stored.metadata.num_rows != users:
            raise ValueError("attributes of other users")
        return read_texts(stored, schema, str(place), InputError)


class Manifest(CheckedManifest):
    """Contents of ``store.json``, its own checksum aside."""

    KINDS: ClassVar[tuple[str, ...]] = ("starshade ratings", "starshade shard")
    kind: Kind = "starshade ratings"
    starshade: str = __version__
    lineage: str = Field(pattern=r"^[0-9a-f]{32}$")
    #: minimum, maximum, step (None: real-valued)
    scale: tuple[float, float, float | None]
    users: int = Field(ge=0)
    items: int = Field(ge=0)
    ratings: int = Field(ge=0)
    first_day: int = Field(ge=FIRST_DAY, le=LAST_DAY)
    #: fields of `ReadReport`
    report: dict[str, Any]
    files: dict[str, StoredFile]
