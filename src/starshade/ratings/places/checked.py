"""Columns as ``.npy`` files with a checksum each, and the manifest that holds these."""

from __future__ import annotations

import io
import json
import os
import zlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from starshade import budget
from starshade.engine.journal import HEADERS
from starshade.errors import InputError
from starshade.files.checksum import parse
from starshade.files.side import STORE_COLUMN, check_side, open_side
from starshade.ratings.vocabulary import Vocabulary

FORMAT_VERSION = 1
AGAIN = "Read the original data again and save a new store."
_CHUNK = 1 << 24
#: 0001-01-01 and 9999-12-31, in days since 1970-01-01
FIRST_DAY, LAST_DAY = -719_162, 2_932_896

Arrays = dict[str, NDArray[Any]]


class Closed(BaseModel):
    """Of a manifest: nothing that is not known, and nothing changes."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class StoredFile(Closed):
    """One file: its size and checksum."""

    bytes: int = Field(ge=0)
    crc32: int = Field(ge=0, lt=2**32)


Files = Mapping[str, StoredFile]


class CheckedManifest(Closed):
    """A manifest with a checksum of its own, of a kind and a format."""

    KINDS: ClassVar[tuple[str, ...]]
    kind: str
    format: int = FORMAT_VERSION

    def to_json(self) -> str:
        """Write it, with a checksum over itself."""
        content = self.model_dump(mode="json")
        return json.dumps({**content, "crc32": _checksum(content)}, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: bytes, where: str) -> Self:
        """Read and check it."""
        try:
            content = parse(text)
            claimed = content.pop("crc32")
            kind, version = content["kind"], content["format"]
        except (ValueError, KeyError, AttributeError, TypeError):
            raise InputError(
                f"{where}: not a starshade store, or a damaged one", advice=AGAIN
            ) from None
        if kind in cls.KINDS and version != FORMAT_VERSION:
            raise InputError(
                f"{where}: a store of format {version}; this version of starshade "
                f"reads {FORMAT_VERSION}",
                advice="Use the version of starshade that wrote it, or write a new store "
                "from the original data.",
            )
        try:
            if claimed != _checksum(content):
                raise ValueError("the checksum does not match")
            return cls.model_validate(content)
        except (ValueError, ValidationError):
            raise InputError(f"{where}: the store is damaged", advice=AGAIN) from None


def write_arrays(folder: Path, arrays: Arrays) -> dict[str, StoredFile]:
    """Write columns, each as ``name.npy``; returns the files."""
    named = {f"{name}.npy": np.ascontiguousarray(array) for name, array in arrays.items()}
    return on_threads(lambda name: _write_array(folder / name, named[name]), list(named))


def write_bytes(path: Path, chunks: Sequence[Any]) -> StoredFile:
    """Write a file and return its size and checksum."""
    checksum = size = 0
    with open(path, "wb", buffering=0) as file:
        for chunk in chunks:
            written = memoryview(chunk)
            while len(written):  # a raw write may take only a part
                written = written[file.write(written) :]
            checksum = zlib.crc32(chunk, checksum)
            size += len(chunk)
    return StoredFile(bytes=size, crc32=checksum)


def check_files(folder: Path, files: Files) -> None:
    """Read every file and compare; InputError where one is not what was written."""
    on_threads(lambda name: _check(folder / name, files[name]), sorted(files))


def load(folder: Path, name: str) -> NDArray[Any]:
    """Map a column: a private copy-on-write of the file."""
    # copy-on-write rather than read-only: the type of arrays in memory, so that Numba compiles
    # a kernel once for both
    check_side(folder / f"{name}.npy", STORE_COLUMN)
    with HEADERS:
        return np.asarray(np.load(folder / f"{name}.npy", mmap_mode="c", allow_pickle=False))


def texts_as_arrays(name: str, texts: Sequence[str]) -> Arrays:
    """Lay texts out as UTF-8 with offsets."""
    encoded = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    return {
        f"{name}.text": np.frombuffer(b"".join(encoded), dtype=np.uint8),
        f"{name}.offsets": ends,
    }


def load_texts(folder: Path, name: str) -> tuple[str, ...]:
    """Read what `texts_as_arrays` laid out."""
    return _texts(load(folder, f"{name}.text"), load(folder, f"{name}.offsets"))


def _texts(letters: NDArray[np.uint8], ends: NDArray[np.int64]) -> tuple[str, ...]:
    text = letters.tobytes()
    return tuple(text[a:b].decode() for a, b in pairwise(ends.tolist()))


def ids_as_arrays(name: str, ids: Vocabulary) -> Arrays:
    """Lay ids out: integers; all others as texts."""
    return {f"{name}.integers": ids.integers, **texts_as_arrays(name, ids.texts)}


def ids_in(name: str, arrays: Mapping[str, NDArray[Any]]) -> Vocabulary:
    """Read what `ids_as_arrays` laid out, among other columns too."""
    texts = _texts(arrays[f"{name}.text"], arrays[f"{name}.offsets"])
    return Vocabulary(arrays[f"{name}.integers"], texts)


def load_ids(folder: Path, name: str) -> Vocabulary:
    """Read what `ids_as_arrays` laid out."""
    integers = load(folder, f"{name}.integers")
    if integers.dtype != np.int64:
        raise ValueError("ids of another kind")
    return Vocabulary(integers, load_texts(folder, name))


def on_threads(work: Callable[[str], Any], names: Sequence[str]) -> dict[str, Any]:
    """Do ``work(name)`` for every name, on a few threads."""
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
    return write_bytes(path, [header.getvalue(), *chunks])


def _check(path: Path, expected: StoredFile) -> None:
    buffer = bytearray(_CHUNK)
    with open_side(path, STORE_COLUMN) as file:
        size = os.fstat(file.fileno()).st_size
        checksum = read = 0
        while size == expected.bytes >= read and (n := file.readinto(buffer)):  # type: ignore[attr-defined]
            checksum = zlib.crc32(memoryview(buffer)[:n], checksum)
            read += n
        size = max(size, read)
    if size != expected.bytes:
        raise InputError(
            f"{path}: {size:,} bytes instead of {expected.bytes:,}: the store is damaged",
            advice=AGAIN,
        )
    if checksum != expected.crc32:
        raise InputError(f"{path}: the checksum does not match: it is damaged", advice=AGAIN)


def _checksum(content: Any) -> int:
    return zlib.crc32(json.dumps(content, sort_keys=True).encode())
