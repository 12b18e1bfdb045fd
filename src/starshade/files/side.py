"""Side files: what an option, a setting or a project file names beside the ratings.

A side file must be regular, after links are followed, and no larger than its kind allows. Anything
else is refused before a byte is read: a pipe or a socket would wait for its other end, and a device
may never end.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO

from starshade.errors import ConfigError, InputError, ReleaseError, UserError

_MIB, _GIB = 2**20, 2**30
_BLOCK = 16 * _MIB
_LONGEST = 200  # characters of a path in a message
#: what to do about what is no regular file
SAVE = "Save it to a file first, and name that."


@dataclass(frozen=True)
class SideFile:
    """A kind of side file.

    Attributes
    ----------
    most : int
        The largest size that is read, in bytes.
    name : str
        What messages call it; empty: its path alone.
    advice : str
        What to do where it cannot be read.
    error : type of UserError
        What a refusal is.
    unread : str
        How a refusal begins where it cannot be opened.
    instead : str
        What to do where it is no regular file.
    """

    most: int
    name: str = ""
    advice: str = "Check the path and your permission to read it."
    error: type[UserError] = ConfigError
    unread: str = "cannot be read"
    instead: str = SAVE


PROJECT_FILE = SideFile(_MIB, advice="`starshade init RATINGS` writes one.")
CONTEXT_FILE = SideFile(_MIB, advice="Name a file with [context], such as starshade.toml.")
POLICY_FILE = SideFile(_MIB, "policy", "`starshade list policies` names those that come with it.")
PROJECT_STATE = SideFile(64 * _MIB, advice="Restore it from a backup.")
ITEM_LIST = SideFile(
    256 * _MIB, "items", "Give top:N, or the path of a file with one item id per line."
)
USER_LIST = SideFile(
    256 * _MIB,
    advice="Give a file with one id per line, written as in the ratings, or - for standard input.",
)
HIERARCHY = SideFile(
    64 * _MIB,
    "hierarchy",
    "Known: ndgh, range, fixed-intervals, dgh, dgh-a, dgh-b, dgh-c; or give the path of a "
    "hierarchy file.",
    unread="neither a known name nor a file",
)
ATTRIBUTE_HIERARCHY = SideFile(64 * _MIB, "hierarchy file")
#: attributes of users, item names, auxiliary ratings, mappings of items
SIDE_TABLE = SideFile(8 * _GIB, error=InputError)
KEY_FILE = SideFile(4 * _GIB, error=ReleaseError)
RELEASE_MANIFEST = SideFile(256 * _MIB, error=ReleaseError)
STORE_MANIFEST = SideFile(256 * _MIB, error=InputError, unread="cannot be read as a store")
#: as large as its manifest says, and not more
STORE_COLUMN = SideFile(
    2**62,
    error=InputError,
    unread="cannot be read as part of a store",
    instead="Restore the file from a copy, or read the original data again and save a new store.",
)
REPRODUCTION = SideFile(
    64 * _MIB, advice="Name folders that `starshade reproduce … --out` wrote.", error=InputError
)
REPORT = SideFile(256 * _MIB, error=InputError)


def open_side(path: str | Path, kind: SideFile) -> BinaryIO:
    """Open a side file.

    Raises
    ------
    UserError
        Of the kind's class: it cannot be opened, is not regular, or is too large.
    """
    shown = _called(path, kind)
    try:
        _refuse_other(path, shown, kind)  # a device may act when it is opened
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
        try:
            _refuse_other(handle, shown, kind)
            return os.fdopen(handle, "rb")
        except BaseException:
            os.close(handle)
            raise
    except UserError:
        raise
    except (OSError, ValueError, TypeError) as error:
        raise _unread(shown, kind, error) from None


def check_side(path: str | Path, kind: SideFile) -> None:
    """Refuse what `open_side` would not open, for readers that open a path themselves."""
    open_side(path, kind).close()


def read_side(path: str | Path, kind: SideFile) -> bytes:
    """Return the bytes of a side file; errors as of `open_side`."""
    with open_side(path, kind) as file:
        return read_stream(file, kind, _called(path, kind))


def read_side_text(path: str | Path, kind: SideFile) -> str:
    r"""Return the text of a side file: UTF-8, every line end written ``\n``."""
    raw = read_side(path, kind)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise kind.error(
            f"{_called(path, kind)}: not UTF-8 (byte {error.start})",
            advice="Save it as UTF-8 text.",
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_stream(file: IO[bytes], kind: SideFile, shown: str) -> bytes:
    """Return all that a stream has; refuse more than the kind allows, however it grows."""
    blocks, size = [], 0
    try:
        while block := file.read(_BLOCK):
            blocks.append(block)
            size += len(block)
            if size > kind.most:
                raise _too_large(shown, kind)
    except OSError as error:
        raise _unread(shown, kind, error) from None
    return b"".join(blocks)


def open_appending(path: Path) -> int:
    """Return a handle that appends to a regular file, which is made where there is none; OSError.

    Nothing of it is read, so it may be of any size.
    """
    with suppress(FileNotFoundError):
        _refuse_irregular(path)  # a device may act when it is opened
    return open_regular(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)


def open_regular(path: Path, flags: int) -> int:
    """Return a handle of a regular file; OSError where it is something else."""
    handle = os.open(path, flags | os.O_NONBLOCK, 0o666)
    try:
        _refuse_irregular(handle)
    except BaseException:
        os.close(handle)
        raise
    return handle


def _refuse_other(place: str | Path | int, shown: str, kind: SideFile) -> None:
    """Refuse what is no regular file, or a larger one than the kind allows."""
    if what := irregular(place):
        raise kind.error(
            f"{shown}: {kind.unread} (it is {what}, not a regular file)", advice=kind.instead
        )
    if (size := os.stat(place).st_size) > kind.most:
        raise _too_large(shown, kind, f"{size:,} bytes")


def irregular(place: str | Path | int) -> str:
    """Return what a path or a handle is, in words, if it is no regular file; else nothing.

    Nor is a file of the kernel (as in ``/proc``): it says no size, and reading it may wait for
    ever.
    """
    status = os.stat(place)
    mode = status.st_mode
    if stat.S_ISREG(mode):
        virtual = not status.st_size and not os.statvfs(place).f_blocks
        return "a file of the kernel" if virtual else ""
    kinds = ((stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"))
    return next((what for is_kind, what in kinds if is_kind(mode)), "a device")


def shown_path(path: object) -> str:
    """Return a path for a message, shortened where it is overlong.

    >>> shown_path("items.txt"), shown_path("a" * 10**6)[-28:]
    ('items.txt', 'aaaa… (1,000,000 characters)')
    """
    text = str(path)
    if len(text) <= _LONGEST:
        return text
    return f"{text[:_LONGEST]}… ({len(text):,} characters)"


def _refuse_irregular(place: Path | int) -> None:
    if what := irregular(place):
        raise OSError(errno.EINVAL, f"is {what}, not a regular file")


def _called(path: object, kind: SideFile) -> str:
    return f"{kind.name} {shown_path(path)!r}" if kind.name else shown_path(path)


def _too_large(shown: str, kind: SideFile, size: str = "more") -> UserError:
    return kind.error(
        f"{shown}: {size}; at most {kind.most:,} bytes are read",
        advice="Check that this is the intended file.",
    )


def _unread(shown: str, kind: SideFile, error: Exception) -> UserError:
    reason = getattr(error, "strerror", None) or error
    return kind.error(f"{shown}: {kind.unread} ({reason})", advice=kind.advice)
