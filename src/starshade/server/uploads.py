"""Uploads: streamed to disk, and kept only if complete."""

from __future__ import annotations

import os
import re
import shutil
import struct
import unicodedata
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import BinaryIO

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from starshade.errors import InputError, OutputError
from starshade.ratings.places.atomic import make_file
from starshade.ratings.places.place import output_error
from starshade.report.page import size

_CHUNK = 1 << 20  # bytes gathered before a thread writes them
_SPARE = 64 * 10**6  # bytes that must stay free: what was finished is remembered there too
_LOOK = 64  # chunks between two looks at the free space
_LONGEST = 100  # characters of a name


class TooLargeError(InputError):
    """Raised for an upload above the size limit."""


def shown_name(name: str) -> str:
    r"""Return the name that pages show: the last part of a path, without invisible characters.

    Examples
    --------
    >>> shown_name("C:\\data\\ratings.csv"), shown_name("../../etc/passwd")
    ('ratings.csv', 'passwd')
    """
    end = re.split(r"[/\\]", unicodedata.normalize("NFC", name))[-1]
    # control and format characters could turn the line round or end it (category C)
    seen = "".join(c for c in end if unicodedata.category(c)[0] != "C").strip()
    if not seen.strip("."):
        raise InputError(
            "the file has no name", advice="Give it a name with an extension, such as .csv or .zip."
        )
    if len(seen) <= _LONGEST:
        return seen
    return seen[: _LONGEST - 20] + "…" + seen[-19:]  # the ending stays


def file_name(shown: str) -> str:
    """Return the file name on disk: letters, digits, dots, dashes.

    Examples
    --------
    >>> file_name("<b>my ratings</b>.csv"), file_name(".hidden")
    ('b_my_ratings_b_.csv', 'hidden')
    """
    plain = re.sub(r"[^A-Za-z0-9.-]+", "_", shown).lstrip("._-")
    return plain or "upload"


async def receive(
    chunks: AsyncIterator[bytes], place: Path, *, declared: int | None, most: int
) -> None:
    """Write an upload to a new file; remove it if the upload is incomplete.

    The file `place` is in a folder of its own; `declared`: bytes that were announced; `most`: bytes
    that are taken at most, also of a zip file unpacked.
    """
    try:
        if declared is not None:
            _ensure_taken(declared, most)
            _ensure_space(place.parent, declared)
        with os.fdopen(make_file(place), "wb") as file:  # for the owner alone, from the start
            written = await _write(chunks, file, place.parent, most)
            if declared is not None and written != declared:
                raise _half(written, declared)
            if not written:
                raise InputError("the file is empty", advice="Choose the file again.")
            await run_in_threadpool(_settle, file)
        await run_in_threadpool(_ensure_unpacked, place, most)
    except BaseException as error:
        place.unlink(missing_ok=True)
        if isinstance(error, ClientDisconnect):
            raise _half(None, declared) from error
        if isinstance(error, OSError) and not isinstance(error, OutputError):
            raise output_error(error, place) from error
        raise


async def _write(chunks: AsyncIterator[bytes], file: BinaryIO, folder: Path, most: int) -> int:
    written, looks, gathered = 0, 0, bytearray()
    async for chunk in chunks:
        written += len(chunk)
        _ensure_taken(written, most)
        gathered += chunk
        if len(gathered) >= _CHUNK:
            if looks % _LOOK == 0:
                _ensure_space(folder, len(gathered))
            looks += 1
            await run_in_threadpool(file.write, bytes(gathered))
            gathered.clear()
    await run_in_threadpool(file.write, bytes(gathered))
    return written


def _settle(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _ensure_taken(length: int, most: int) -> None:
    if length > most:
        raise TooLargeError(
            f"the file has {size(length)} or more; the limit is {size(most)}",
            advice="Give the file's path on this machine instead, or start the studio with a "
            "larger --max-upload.",
        )


def _ensure_unpacked(file: Path, most: int) -> None:
    """Refuse a zip file that unpacks to more than the limit: it would block the worker."""
    try:
        with zipfile.ZipFile(file) as archive:
            held = sum(entry.file_size for entry in archive.infolist())
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError, struct.error):
        return  # none, or a broken one, which the reader refuses
    if held > most:
        raise TooLargeError(
            f"unpacked, the file has {size(held)}; the limit is {size(most)}",
            advice="Upload only what is needed, give the file's path on this machine instead, "
            "or start the studio with a larger --max-upload.",
        )


def _ensure_space(folder: Path, length: int) -> None:
    free = shutil.disk_usage(folder).free
    if length + _SPARE > free:
        raise OutputError(
            f"too little disk space: the file needs {size(length)}, {size(free)} are free in the "
            f"work folder, and {size(_SPARE)} must stay free",
            advice="Free disk space, or give the file's path on this machine instead, which "
            "makes no copy.",
        )


def _half(written: int | None, declared: int | None) -> InputError:
    got = "a part" if written is None else size(written)
    of = "" if declared is None else f" of {size(declared)}"
    return InputError(
        f"only {got}{of} arrived; the incomplete file was removed",
        advice="Upload the file again.",
    )
