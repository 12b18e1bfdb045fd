"""Files and folders that appear whole or not at all.

Work goes to a temporary sibling (``.tmp-…``, folders 0700), is flushed to the disk, and takes its
name in one rename. An error or Ctrl-C removes the sibling; a process that was killed leaves at
most the sibling, which the next writer of the same target sweeps away: a living writer holds a
lock on its sibling, so a sibling that can be locked belongs to nobody.
"""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from starshade.errors import OutputError, StarshadeError

__all__ = [
    "atomic_file",
    "atomic_folder",
    "holds_release",
    "output_error",
    "refuse_in_release",
    "try_place",
]

_ATTEMPTS = 100  # at a temporary sibling that others keep sweeping away
_FULL = (errno.ENOSPC, errno.EDQUOT)
_LONGEST = 200  # bytes of a target's name that its sibling repeats: 255 are allowed in all


@contextmanager
def atomic_folder(path: Path, *, needs: int | None = None) -> Iterator[Path]:
    """Write a folder that must not exist yet: all of it or nothing.

    Yields the temporary folder (mode 0700); a caller that wants another final mode changes it
    there.

    Parameters
    ----------
    path : Path
        The folder to be.
    needs : int, optional
        Bytes that will be written, for the message on a full disk.

    Raises
    ------
    OutputError
        `path` exists, its parent is missing, or the disk refuses (any OSError from the body).

    Examples
    --------
    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "out"
    >>> with atomic_folder(place) as folder:
    ...     _ = (folder / "a.txt").write_text("a")
    >>> (place / "a.txt").read_text()
    'a'
    """
    path = _absolute(path)
    with _whole_or_nothing(path, needs):
        _sweep(path)
        temporary, lock = _own(path, _make_folder)
        try:
            yield temporary
            _flush_tree(temporary)
            _rename(temporary, path)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)  # gone already after the rename
            os.close(lock)


@contextmanager
def atomic_file(path: Path, mode: int = 0o666, *, needs: int | None = None) -> Iterator[Path]:
    """Write a file that must not exist yet: all of it or nothing.

    Yields the temporary file, empty, to be opened for writing by its name (not to be replaced
    by another file, which would lose `mode`).

    Parameters
    ----------
    path : Path
        The file to be.
    mode : int
        Permissions from the start, less the umask; 0o600 for what only the owner may read.
    needs : int, optional
        Bytes that will be written, for the message on a full disk.

    Raises
    ------
    OutputError
        `path` exists, its parent is missing, or the disk refuses (any OSError from the body).
    """
    path = _absolute(path)
    with _whole_or_nothing(path, needs):
        _sweep(path)
        temporary, lock = _own(path, lambda name: _make_file(name, mode))
        try:
            yield temporary
            os.fsync(lock)
            _rename(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
            os.close(lock)


def output_error(error: OSError, path: Path, needs: int | None = None) -> OutputError:
    """Say in words why `path` cannot be written."""
    if error.errno in _FULL:
        size = "" if needs is None else f", {_megabytes(needs)} needed"
        with suppress(OSError):
            size += f", {_megabytes(shutil.disk_usage(path.parent).free)} free"
        return OutputError(
            f"{path}: no space left{size} ({os.strerror(error.errno)}); nothing was kept",
            advice="Free some space or choose a place on another disk.",
        )
    if error.errno == errno.EFBIG:
        size = "" if needs is None else f", {_megabytes(needs)} needed"
        return OutputError(
            f"{path}: larger than a file may be here{size}; nothing was kept",
            advice="Raise the limit of the shell (ulimit -f) or choose another file system.",
        )
    if isinstance(error, PermissionError):
        return OutputError(
            f"{path}: no permission to write there",
            advice="Choose a place that you may write to.",
        )
    reason = os.strerror(error.errno) if error.errno else str(error)
    return OutputError(f"{path}: cannot be written: {reason}", advice="Choose another place.")


def holds_release(folder: Path) -> bool:
    """Tell whether a folder holds ``release.json`` and cells or profiles."""
    # os.path: a folder that may not be looked into is none
    return os.path.isfile(folder / "release.json") and any(
        os.path.isfile(folder / f"{name}.parquet") for name in ("cells", "profiles")
    )


def refuse_in_release(path: Path, said: str = "") -> None:
    """Refuse a place inside a release: one file more and the release is no longer whole.

    Parameters
    ----------
    path : Path
        Links in the folders that lead there are followed.
    said : str
        How a message names it; by default as it is.

    Raises
    ------
    OutputError
        A folder above it holds ``release.json`` and cells or profiles.
    """
    parent = os.path.realpath(path.parent)
    for folder in (Path(parent), *Path(parent).parents):
        if holds_release(folder):
            raise OutputError(
                f"{said or path}: would lie inside the release {folder}",
                advice="Choose a place outside: a release holds what it was checked with, "
                "and nothing else.",
            )


def try_place(path: Path) -> None:
    """Refuse a place that cannot be written to, before long work: asking for permission lies.

    Root may do everything but what cannot be done. What a kill leaves here is swept like the rest.

    Raises
    ------
    OutputError
    """
    try:
        temporary, lock = _own(path, _make_folder)
        os.close(lock)
        temporary.rmdir()
    except OSError as error:
        raise output_error(error, path) from error


@contextmanager
def _whole_or_nothing(path: Path, needs: int | None) -> Iterator[None]:
    """Refuse a target that is there or has no parent; turn the disk's refusals into words."""
    _refuse_existing(path)
    refuse_in_release(path)
    if not path.parent.is_dir():
        raise OutputError(
            f"{path}: the folder {path.parent} does not exist", advice="Create it first."
        )
    try:
        yield
    except StarshadeError:
        raise
    except OSError as error:
        raise output_error(error, path, needs) from error


def _absolute(path: Path) -> Path:
    return Path(os.path.abspath(path))  # "." and ".." have no name to put a sibling beside


def _refuse_existing(path: Path) -> None:
    if os.path.lexists(path):
        raise OutputError(
            f"{path}: exists already",
            advice="Choose another name, or move it away first: nothing is overwritten.",
        )


def _temporary_prefix(path: Path) -> str:
    """Return how the names of temporary siblings begin, which a later write sweeps away."""
    # a character that the cut goes through is left out
    name = os.fsencode(path.name)[:_LONGEST].decode(errors="ignore")
    return f".tmp-{name}-"


def _make_folder(name: Path) -> int:
    name.mkdir(mode=0o700)
    return os.open(name, os.O_RDONLY)


def _make_file(name: Path, mode: int) -> int:
    return os.open(name, os.O_CREAT | os.O_EXCL | os.O_RDWR, mode)


def _own(path: Path, make: Callable[[Path], int]) -> tuple[Path, int]:
    """Make a temporary sibling and hold a lock on it; again if a sweeper was faster."""
    for attempt in range(_ATTEMPTS):
        temporary = path.parent / f"{_temporary_prefix(path)}{secrets.token_hex(8)}"
        try:
            lock = make(temporary)
        except UnicodeEncodeError as error:
            raise OutputError(
                "the place's name cannot be written in this system's encoding",
                advice="Set a UTF-8 locale (LC_ALL=C.UTF-8), or choose a plain name.",
            ) from error
        except FileNotFoundError:
            # a sweeper may take a sibling away at once; some places (/proc) never make one
            if not path.parent.is_dir() or attempt == _ATTEMPTS - 1:
                raise
            continue
        with suppress(OSError):  # a file system without locks: nobody can sweep there either
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if temporary.exists():
            return temporary, lock
        os.close(lock)
    raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), str(path))


def _sweep(path: Path) -> None:
    """Remove what killed writers of the same target left behind."""
    prefix = _temporary_prefix(path)
    with suppress(OSError):  # a folder that cannot be listed may still be written to
        for entry in list(os.scandir(path.parent)):
            token = entry.name.removeprefix(prefix)
            if not entry.name.startswith(prefix) or len(token) != 16 or "-" in token:
                continue
            if entry.is_dir(follow_symlinks=False) or entry.is_file(follow_symlinks=False):
                with suppress(OSError):
                    _sweep_one(Path(entry.path))


def _sweep_one(leftover: Path) -> None:
    lock = os.open(leftover, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # refused: its writer lives
        if leftover.is_dir():
            shutil.rmtree(leftover, ignore_errors=True)
        else:
            leftover.unlink(missing_ok=True)
    finally:
        os.close(lock)


def _flush_tree(folder: Path) -> None:
    """Flush every file, then every folder, to the disk."""
    for root, _, names in os.walk(folder, topdown=False):
        for name in names:
            _flush(Path(root) / name)
        _flush(Path(root))


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _rename(temporary: Path, path: Path) -> None:
    _refuse_existing(path)  # somebody may have made it meanwhile
    temporary.rename(path)
    _flush(path.parent)


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.0f} MB" if size >= 1_000_000 else f"{size:,} bytes"
