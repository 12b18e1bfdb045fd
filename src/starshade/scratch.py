"""What is temporary has an owner: a lock, which a killed process lets go of.

A process that is killed cannot tidy up. So the name of whatever is in the making ends in 16
random hex digits, and its maker holds a lock (flock) on it for as long as it lives: what can be
locked belongs to nobody, and whoever works in the same place next removes it. Only what this
user owns is touched, and nothing through a link.
"""

from __future__ import annotations

import atexit
import errno
import fcntl
import mmap
import os
import re
import secrets
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakSet

from starshade.errors import OutputError
from starshade.naming import named

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FULL = (errno.ENOSPC, errno.EDQUOT)
#: how the name of a file ends that is the last to be removed from its folder
LAST = ".done"
#: and that of what is not yet, or no longer, whole
PART = ".part"
_ATTEMPTS = 100  # at a name that others keep sweeping away
_TOKEN = re.compile("[0-9a-f]{16}")
_KINDS = ("scratch", "kernels")
#: what is in the making, or finished, beside the results
_LEFT = re.compile(r"\.(?:tmp|runs|rows|journal)-(?:.*-)?[0-9a-f]{16}")
_IN_MEMORY = 2**28  # bytes of an array that is not worth a file
_mapped: WeakSet[mmap.mmap] = WeakSet()


def own(parent: Path, prefix: str, make: Callable[[Path], int]) -> tuple[Path, int]:
    """Make something temporary and hold a lock on it; again if a sweeper was faster.

    `make` makes it and returns a handle of it: while that is open nobody sweeps it.
    """
    for attempt in range(_ATTEMPTS):
        path = parent / f"{prefix}{secrets.token_hex(8)}"
        try:
            handle = make(path)
        except FileNotFoundError:
            # a sweeper may take a folder away at once; some places (/proc) never make one
            if not parent.is_dir() or attempt == _ATTEMPTS - 1:
                raise
            continue
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            kept = _is_at(path, handle)
        except BlockingIOError:
            kept = False  # a sweeper has it
        except OSError:
            kept = True  # a file system without locks: nobody can sweep there either
        except BaseException:
            os.close(handle)
            raise
        if kept:
            return path, handle
        os.close(handle)
    raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), str(parent))


def make_folder(path: Path) -> int:
    """Make a folder for its owner alone, for `own`."""
    path.mkdir(mode=0o700)
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)


@contextmanager
def orphan(path: Path) -> Iterator[int]:
    """Take a file or folder that its maker let go of; yields a handle.

    OSError where its maker lives, or it is another user's, a link or something else, or gone.
    """
    # a pipe would keep us waiting for whoever writes
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        status = os.fstat(handle)
        plain = stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)
        if not plain or status.st_uid != os.geteuid():
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), str(path))
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not _is_at(path, handle):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
        yield handle
    finally:
        os.close(handle)


def orphans(parent: Path, prefix: str) -> Iterator[tuple[Path, int]]:
    """Take one by one what killed processes left behind under names that begin so."""
    with suppress(OSError):  # a folder that cannot be listed may still be written to
        for name in os.listdir(parent):
            if is_temporary(name, prefix):
                with suppress(OSError), orphan(parent / name) as handle:
                    yield parent / name, handle


def is_temporary(name: str, prefix: str) -> bool:
    """Tell whether a name is one that `own` gives to what begins so."""
    return name.startswith(prefix) and _TOKEN.fullmatch(name.removeprefix(prefix)) is not None


def leftovers(folders: Iterable[Path]) -> list[Path]:
    """List what lies in folders and may be of runs that were killed; sweep the scratch folders."""
    sweep_scratch()
    found: set[Path] = set()
    for folder in {each.resolve() for each in folders}:
        with suppress(OSError):
            found |= {folder / name for name in os.listdir(folder) if _LEFT.fullmatch(name)}
    return sorted(found)


def sweep(parent: Path, prefix: str) -> None:
    """Remove what killed processes left behind under names that begin so."""
    for path, handle in orphans(parent, prefix):
        with suppress(OSError):
            remove(path, handle)


def remove(path: Path, handle: int) -> None:
    """Remove what `handle` is, and then its name; a folder's entries are found by the handle.

    Files go before the folders beside them, which they may stand for, and after both what says that
    all was done (`LAST`); a folder is called a `PART` first. Whoever is killed in between leaves
    nothing that stands for what is gone, and no half of a folder under its name.
    """
    if stat.S_ISDIR(os.fstat(handle).st_mode):
        for entry in sorted(os.scandir(handle), key=_turn):
            if entry.is_dir(follow_symlinks=False):
                part = f"{entry.name}{PART}"
                with suppress(OSError, RecursionError):  # nested deeper than anything of ours
                    os.rename(entry.name, part, src_dir_fd=handle, dst_dir_fd=handle)
                    shutil.rmtree(part, ignore_errors=True, dir_fd=handle)
            else:
                with suppress(OSError):
                    os.unlink(entry.name, dir_fd=handle)
        path.rmdir()
    else:
        path.unlink()


def _turn(entry: os.DirEntry[str]) -> tuple[bool, bool]:
    return entry.name.endswith(LAST), entry.is_dir(follow_symlinks=False)


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Work with a temporary folder that nobody else may look into; removed at the end."""
    folder, handle = _scratch("scratch")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(handle)


def scratch_bytes(*shape: int) -> NDArray[np.uint8]:
    """Return room for bytes: in memory, or of what is large on disk, as long as it is held.

    The file has no name from the beginning, so nothing is left behind, and all of its space is
    there before anything is written: a disk that is full is an error now, and no crash later.
    """
    import numpy as np

    size = int(np.prod(shape, dtype=np.int64))
    if size <= _IN_MEMORY:
        return np.empty(shape, dtype=np.uint8)
    with scratch_folder() as folder, filling(folder), open(folder / "bytes", "w+b") as file:
        if hasattr(os, "posix_fallocate"):  # elsewhere a full disk shows only when it is full
            os.posix_fallocate(file.fileno(), 0, size)
        else:
            file.truncate(size)
        mapped = mmap.mmap(file.fileno(), size)
    _mapped.add(mapped)
    return np.frombuffer(mapped, dtype=np.uint8).reshape(shape)


def put_down() -> None:
    """Hold nothing of `scratch_bytes` that lie on disk in memory until they are read again."""
    for mapped in list(_mapped):
        mapped.flush()
        mapped.madvise(mmap.MADV_DONTNEED)


def keep_scratch(kind: str) -> Path:
    """Make a temporary folder, of one of `_KINDS`, that lasts as long as this process."""
    folder, _ = _scratch(kind)  # the handle stays open, and with it the lock
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def sweep_scratch() -> None:
    """Remove the temporary folders of processes that were killed."""
    with suppress(FileNotFoundError):  # there is no temporary folder
        for kind in _KINDS:
            sweep(_temporary(), _prefix(kind))


@contextmanager
def filling(folder: Path) -> Iterator[None]:
    """Blame a temporary folder (OutputError) for any OSError inside, and not what is being read."""
    try:
        yield
    except OSError as error:
        raise _refused(error, folder) from error


def _scratch(kind: str) -> tuple[Path, int]:
    try:
        place = _temporary()
    except FileNotFoundError:
        raise OutputError(
            "no temporary folder is writable",
            advice="Name a writable one: TMPDIR=FOLDER before the command.",
        ) from None
    sweep_scratch()
    with filling(place):
        return own(place, _prefix(kind), make_folder)


def _temporary() -> Path:
    import tempfile  # not needed to say --help

    return Path(tempfile.gettempdir())


def _prefix(kind: str) -> str:
    return f"starshade-{kind}-"


def _refused(error: OSError, folder: Path) -> OutputError:
    subject = f"{_temporary()}: the temporary folder"
    if error.errno not in FULL:
        return OutputError(
            f"{subject} cannot be written to: {os.strerror(error.errno or 0)}",
            advice="Name another one: TMPDIR=FOLDER before the command.",
        )
    free = ""
    with suppress(OSError):
        free = f", {shutil.disk_usage(folder).free / 1e6:,.1f} MB free"
    return OutputError(
        f"{subject} has no space left for unpacked files{free} ({error.strerror})",
        advice="Free some space there, or work on another disk: TMPDIR=FOLDER before a command, "
        f"{named('work')} for the studio.",
    )


def _is_at(path: Path, handle: int) -> bool:
    """Tell whether a name still leads to what is held."""
    try:
        return os.path.samestat(os.lstat(path), os.fstat(handle))
    except FileNotFoundError:
        return False
