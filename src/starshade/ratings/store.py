"""The compact store: a folder of raw ``.npy`` columns that opens memory-mapped.

::

    store.json              counts, scale, lineage, report; size and CRC-32 of every other file
    by_user.*, by_item.*    indptr, columns (indices of the other axis), codes, days: both ways
                            round, so that a range of items is read as it lies, too
    levels.npy              what a code stands for
    users.*, items.*        ids: integers; all other texts as UTF-8 with offsets
    names.*                 item names, likewise
    attributes.parquet      personal attributes

It holds what no release may hold, so only its owner may read it (0700). Writing is atomic;
opening checks every file, which costs about a second for a hundred million ratings that are in
the page cache, and keeps damaged indices away from kernels that trust them.
"""

from __future__ import annotations

import io
import json
import secrets
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from starshade import budget
from starshade._version import __version__
from starshade.checksum import parse
from starshade.errors import InputError
from starshade.progress import announced
from starshade.ratings.places.atomic import atomic_folder
from starshade.ratings.places.place import Where
from starshade.ratings.scale import Scale
from starshade.ratings.table import ByItem, Ratings, ReadReport
from starshade.ratings.vocabulary import Vocabulary

if TYPE_CHECKING:
    import pyarrow as pa


_MANIFEST = "store.json"
_ATTRIBUTES = "attributes.parquet"
_PARTS = ("indptr", "columns", "codes")
_CHUNK = 1 << 24
_AGAIN = "Read the original data again and save it anew."

Arrays = dict[str, NDArray[Any]]


def is_store(path: Path) -> bool:
    """Tell whether a folder is, or was meant to be, a store."""
    return (path / _MANIFEST).is_file()


@announced("writing the store")
def write_store(ratings: Ratings, path: Where) -> None:
    """Write a table as a store.

    A data set gets its lineage when it is stored for the first time: `ratings` has one from here
    on.

    `path`: a folder that does not exist yet.
    """
    arrays = _arrays_of(ratings)
    lineage = ratings.lineage or secrets.token_hex(16)
    needs = sum(array.nbytes for array in arrays.values())
    with atomic_folder(path, needs=needs) as folder:
        files = _on_threads(lambda name: _write_array(folder / name, arrays[name]), list(arrays))
        if ratings.attributes is not None:
            import pyarrow.parquet as pq

            content = io.BytesIO()
            pq.write_table(ratings.attributes, content)
            files[_ATTRIBUTES] = _write(folder / _ATTRIBUTES, [content.getvalue()])
        manifest = Manifest(
            lineage=lineage,
            scale=(ratings.scale.minimum, ratings.scale.maximum, ratings.scale.step),
            users=ratings.n_users,
            items=ratings.n_items,
            ratings=ratings.n_ratings,
            first_day=ratings.first_day,
            report=asdict(ratings.report),
            files=files,
        )
        (folder / _MANIFEST).write_text(manifest.to_json(), encoding="utf-8")
    object.__setattr__(ratings, "lineage", lineage)


@announced("opening the store")
def open_store(path: Path) -> Ratings:
    """Open a store, memory-mapped.

    Returns: with `by_item` as stored. Its arrays are private copies-on-write of the files.
    """
    try:
        manifest = Manifest.from_json((path / _MANIFEST).read_bytes(), str(path))
        _on_threads(lambda name: _check(path / name, manifest.files[name]), sorted(manifest.files))
        return _table(path, manifest)
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read as a store: {error.strerror or error}",
            advice="Check the path and that you may read it.",
        ) from None
    except (KeyError, ValueError, TypeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: the store is damaged", advice=_AGAIN) from None


def _arrays_of(ratings: Ratings) -> Arrays:
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
        "users.integers": ratings.users.integers,
        "items.integers": ratings.items.integers,
        **_texts("users", ratings.users.texts),
        **_texts("items", ratings.items.texts),
        **({} if ratings.item_names is None else _texts("names", ratings.item_names)),
    }
    return {f"{name}.npy": np.ascontiguousarray(a) for name, a in out.items() if a is not None}


def _texts(name: str, texts: Sequence[str]) -> Arrays:
    encoded = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    return {
        f"{name}.text": np.frombuffer(b"".join(encoded), dtype=np.uint8),
        f"{name}.offsets": ends,
    }


def _on_threads(work: Callable[[str], Any], names: Sequence[str]) -> dict[str, Any]:
    with ThreadPoolExecutor(max(1, min(budget.threads(), 4))) as pool:
        try:
            return dict(zip(names, pool.map(work, names), strict=True))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _write_array(path: Path, array: NDArray[Any]) -> StoredFile:
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, np.lib.format.header_data_from_array_1_0(array))
    content = array.view(np.uint8).reshape(-1)
    chunks = (content[i : i + _CHUNK] for i in range(0, len(content), _CHUNK))
    return _write(path, [header.getvalue(), *chunks])


def _write(path: Path, chunks: Sequence[Any]) -> StoredFile:

    checksum = size = 0
    with open(path, "wb", buffering=0) as file:
        for chunk in chunks:
            written = memoryview(chunk)
            while len(written):  # a raw write may take only a part
                written = written[file.write(written) :]
            checksum = zlib.crc32(chunk, checksum)
            size += len(chunk)
    return StoredFile(bytes=size, crc32=checksum)


def _check(path: Path, expected: StoredFile) -> None:
    checksum = size = 0
    buffer = bytearray(_CHUNK)
    with open(path, "rb", buffering=0) as file:
        while n := file.readinto(buffer):
            checksum = zlib.crc32(memoryview(buffer)[:n], checksum)
            size += n
    if size != expected.bytes:
        raise InputError(
            f"{path}: {size:,} bytes instead of {expected.bytes:,}: the store is damaged",
            advice=_AGAIN,
        )
    if checksum != expected.crc32:
        raise InputError(f"{path}: the checksum does not match: it is damaged", advice=_AGAIN)


def _table(path: Path, manifest: Manifest) -> Ratings:
    indptr, columns, codes, days = _cells(path, manifest, "by_user", manifest.users)
    table = Ratings(
        scale=Scale(*manifest.scale),
        users=_vocabulary(path, "users"),
        items=_vocabulary(path, "items"),
        indptr=indptr,
        columns=columns,
        codes=codes,
        levels=_load(path, "levels"),
        days=days,
        first_day=manifest.first_day,
        attributes=_attributes(path) if _ATTRIBUTES in manifest.files else None,
        item_names=_load_texts(path, "names") if "names.text.npy" in manifest.files else None,
        lineage=manifest.lineage,
        report=_report(manifest, path),
    )
    # what the cached property would compute
    table.__dict__["by_item"] = ByItem(*_cells(path, manifest, "by_item", manifest.items))
    if len(table.users) != manifest.users or len(table.items) != manifest.items:
        raise ValueError("ids of another table")
    return table


def _load(path: Path, name: str) -> NDArray[Any]:
    # copy-on-write rather than read-only: the type of arrays in memory, so that Numba compiles
    # a kernel once for both
    return np.asarray(np.load(path / f"{name}.npy", mmap_mode="c", allow_pickle=False))


def _cells(
    path: Path, manifest: Manifest, axis: str, n: int
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any] | None]:
    indptr, columns, codes = (_load(path, f"{axis}.{part}") for part in _PARTS)
    days = _load(path, f"{axis}.days") if f"{axis}.days.npy" in manifest.files else None
    lengths = {len(array) for array in (columns, codes, days) if array is not None}
    if len(indptr) != n + 1 or lengths != {manifest.ratings}:
        raise ValueError("columns of different lengths")
    return indptr, columns, codes, days


def _vocabulary(path: Path, name: str) -> Vocabulary:
    return Vocabulary(_load(path, f"{name}.integers"), _load_texts(path, name))


def _load_texts(path: Path, name: str) -> tuple[str, ...]:
    text = _load(path, f"{name}.text").tobytes()
    ends = _load(path, f"{name}.offsets").tolist()
    return tuple(text[a:b].decode() for a, b in pairwise(ends))


def _attributes(path: Path) -> pa.Table:
    import pyarrow.parquet as pq

    with (path / _ATTRIBUTES).open("rb") as file:  # Python's: a name need not be UTF-8
        return pq.ParquetFile(file).read()


def _report(manifest: Manifest, path: Path) -> ReadReport:
    report = ReadReport(**manifest.report)
    return replace(report, source=str(path), format="store", notes=tuple(report.notes))


FORMAT_VERSION = 1


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class StoredFile(_Closed):
    """One file of a store."""

    bytes: int = Field(ge=0)
    crc32: int = Field(ge=0, lt=2**32)


class Manifest(_Closed):
    """Contents of ``store.json``, its own checksum aside."""

    kind: Literal["starshade ratings"] = "starshade ratings"
    format: int = FORMAT_VERSION
    starshade: str = __version__
    lineage: str = Field(pattern=r"^[0-9a-f]{32}$")
    #: minimum, maximum, step (None: real-valued)
    scale: tuple[float, float, float | None]
    users: int = Field(ge=0)
    items: int = Field(ge=0)
    ratings: int = Field(ge=0)
    first_day: int
    #: fields of `ReadReport`
    report: dict[str, Any]
    files: dict[str, StoredFile]

    def to_json(self) -> str:
        """Write it, with a checksum over itself."""
        content = self.model_dump(mode="json")
        return json.dumps({**content, "crc32": _checksum(content)}, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: bytes, where: str) -> Manifest:
        """Read and check it."""
        try:
            content = parse(text)
            claimed = content.pop("crc32")
            kind, version = content["kind"], content["format"]
        except (ValueError, KeyError, AttributeError, TypeError):
            raise InputError(
                f"{where}: no store of starshade, or a damaged one",
                advice="Read the original data again and save it anew.",
            ) from None
        if kind == cls.model_fields["kind"].default and version != FORMAT_VERSION:
            raise InputError(
                f"{where}: a store of format {version}; this version reads {FORMAT_VERSION}",
                advice="Use the version of starshade that wrote it, or save the data anew.",
            )
        try:
            if claimed != _checksum(content):
                raise ValueError("the checksum does not match")
            return cls.model_validate(content)
        except (ValueError, ValidationError):
            raise InputError(
                f"{where}: the store is damaged",
                advice="Read the original data again and save it anew.",
            ) from None


def _checksum(content: Any) -> int:
    return zlib.crc32(json.dumps(content, sort_keys=True).encode())
